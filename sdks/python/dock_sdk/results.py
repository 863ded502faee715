"""What commands and processes return. Everything else is a dictionary of `dock_sdk.models`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from . import models

OutputName = Literal["stdout", "stderr"]


@dataclass(frozen=True)
class ExecResult:
    """A command that has ended."""

    exit_code: int
    stdout: str
    stderr: str
    duration_ms: int
    #: One of the outputs was longer than 1 MiB and was cut.
    truncated: bool


@dataclass(frozen=True)
class OutputChunk:
    """A piece of output. `offset` is that of its first byte in its stream."""

    stream: OutputName
    offset: int
    data: bytes


@dataclass(frozen=True)
class ProcessInfo:
    """A process as it was when it was read. `details` is all that the service tells of it."""

    id: str
    command: str
    state: models.ProcessState
    exit_code: int | None
    signal: str | None
    reason: models.ProcessEndReason | None
    details: models.DockProcess = field(repr=False)


def exec_result(data: models.ExecResult) -> ExecResult:
    """Convert the response of the service."""
    return ExecResult(
        exit_code=data["exitCode"],
        stdout=data["stdout"],
        stderr=data["stderr"],
        duration_ms=data["durationMs"],
        truncated=data["truncated"],
    )


def process_info(data: models.DockProcess) -> ProcessInfo:
    """Convert the response of the service."""
    return ProcessInfo(
        id=data["id"],
        command=data["command"],
        state=data["state"],
        exit_code=data["exitCode"],
        signal=data["signal"],
        reason=data["reason"],
        details=data,
    )
