"""The SDK of Dock. Start with `Dock`, or with `AsyncDock` in asyncio."""

from . import models
from ._async.client import AsyncRawBody, AsyncRawResponse
from ._async.dock import AsyncDock
from ._async.files import AsyncDockFiles
from ._async.input import AsyncProcessInput
from ._async.output import AsyncProcessOutputReader
from ._async.process import AsyncDockProcesses, AsyncProcess
from ._async.routes import AsyncClient
from ._async.saved import AsyncEnvironments, AsyncSnapshots, AsyncTemplates
from ._async.service import AsyncDockService
from ._sync.client import RawBody, RawResponse
from ._sync.dock import Dock, OnExit
from ._sync.files import DockFiles
from ._sync.input import ProcessInput
from ._sync.output import ProcessOutputReader
from ._sync.process import DockProcesses, Process, SignalName
from ._sync.routes import Client
from ._sync.saved import Environments, Snapshots, Templates
from ._sync.service import DockService
from .errors import (
    BadRequestError,
    CapacityError,
    ClosedError,
    ConflictError,
    DockApiError,
    DockConnectionError,
    DockError,
    ForbiddenError,
    LocalFileError,
    NotFoundError,
    OutputLostError,
    RateLimitError,
    ServiceError,
    UnauthorizedError,
    has_code,
)
from .results import ExecResult, OutputChunk, OutputName, ProcessInfo

__all__ = [
    "AsyncClient",
    "AsyncDock",
    "AsyncDockFiles",
    "AsyncDockProcesses",
    "AsyncDockService",
    "AsyncEnvironments",
    "AsyncProcess",
    "AsyncProcessInput",
    "AsyncProcessOutputReader",
    "AsyncRawBody",
    "AsyncRawResponse",
    "AsyncSnapshots",
    "AsyncTemplates",
    "BadRequestError",
    "CapacityError",
    "Client",
    "ClosedError",
    "ConflictError",
    "Dock",
    "DockApiError",
    "DockConnectionError",
    "DockError",
    "DockFiles",
    "DockProcesses",
    "DockService",
    "Environments",
    "ExecResult",
    "ForbiddenError",
    "LocalFileError",
    "NotFoundError",
    "OnExit",
    "OutputChunk",
    "OutputLostError",
    "OutputName",
    "Process",
    "ProcessInfo",
    "ProcessInput",
    "ProcessOutputReader",
    "RateLimitError",
    "RawBody",
    "RawResponse",
    "ServiceError",
    "SignalName",
    "Snapshots",
    "Templates",
    "UnauthorizedError",
    "has_code",
    "models",
]
