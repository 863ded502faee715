"""Processes in a Dock that outlive the connection and the program that started them."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from typing import List, Literal
from weakref import WeakKeyDictionary, WeakValueDictionary

from .. import models
from .._text import absolute_path
from ..results import OutputChunk, ProcessInfo, process_info
from .input import AsyncProcessInput
from .output import AsyncProcessOutputReader, Source, read_both
from .routes import AsyncClient
from .runtime import AsyncStream
from .waiting import until_reached

#: A name of a signal without `SIG`.
SignalName = Literal[
    "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2", "PIPE", "ALRM", "TERM",
    "CONT", "STOP", "TSTP", "TTIN", "TTOU", "WINCH",
]  # fmt: skip

_LONGEST_WAIT_SECONDS = 60

_inputs: WeakKeyDictionary[AsyncClient, WeakValueDictionary[str, AsyncProcessInput]] = WeakKeyDictionary()
_inputs_lock = threading.Lock()


def _input_of(source: Source) -> AsyncProcessInput:
    """Return the one input of a process, so that two handles do not send the same offset."""
    with _inputs_lock:
        known = _inputs.setdefault(source.client, WeakValueDictionary())
        return known.setdefault(source.id, AsyncProcessInput(source))


class AsyncProcess:
    """A process in a Dock."""

    def __init__(
        self, client: AsyncClient, dock_id: str, id: str, offset: int | None = None, stderr_offset: int | None = None
    ) -> None:
        #: The process's id, for `dock.processes.attach`.
        self.id = id
        self._source = Source(client, dock_id, id)
        self._offset = offset
        self._stderr_offset = stderr_offset
        #: Sends input. The process must have been started with `stdin=True`.
        self.stdin = _input_of(self._source)
        self.stdout = AsyncProcessOutputReader(self._source, "stdout", offset)
        self.stderr = AsyncProcessOutputReader(self._source, "stderr", stderr_offset)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.id}>"

    def output(
        self, *, offset: int | None = None, stderr_offset: int | None = None, follow: bool = True
    ) -> AsyncStream[OutputChunk]:
        """Yield both outputs as they come. After a broken connection it goes on where it was."""
        return read_both(
            self._source,
            self._offset if offset is None else offset,
            self._stderr_offset if stderr_offset is None else stderr_offset,
            follow,
        )

    def __aiter__(self) -> AsyncStream[OutputChunk]:
        return self.output()

    async def info(self) -> ProcessInfo:
        """Read state and exit code."""
        return process_info(await self._source.client.read_dock_process(self._source.dock_id, self.id))

    async def wait(self, timeout_seconds: float | None = None) -> ProcessInfo:
        """Return the process when it has ended, or as it is after `timeout_seconds`."""
        deadline = None if timeout_seconds is None else time.monotonic() + timeout_seconds
        client, dock_id = self._source.client, self._source.dock_id
        while True:
            left = _LONGEST_WAIT_SECONDS if deadline is None else max(0, round(deadline - time.monotonic() + 0.5))
            seconds = min(_LONGEST_WAIT_SECONDS, left)
            process = await until_reached(
                lambda: client.wait_for_dock_process(dock_id, self.id, timeout_seconds=seconds)
            )
            if process["state"] == "ended" or (deadline is not None and time.monotonic() >= deadline):
                return process_info(process)

    async def kill(
        self, signal: SignalName = "TERM", *, target: Literal["process", "group", "tree"] = "group"
    ) -> None:
        """Send a signal to the process's group; `target` changes that. A process that has ended is no error."""
        body: models.SignalDockProcessBody = {"signal": signal, "target": target}
        await self._source.client.signal_dock_process(self._source.dock_id, self.id, body)

    async def resize(self, cols: int, rows: int) -> None:
        """Change the size of the process's terminal."""
        body: models.TerminalCells = {"cols": cols, "rows": rows}
        await self._source.client.resize_dock_process(self._source.dock_id, self.id, body)


class AsyncDockProcesses:
    """The processes of one Dock."""

    def __init__(self, client: AsyncClient, dock_id: str) -> None:
        self._client = client
        self._dock_id = dock_id

    async def start(
        self,
        command: str | Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
        pty: models.TerminalCells | None = None,
        timeout_seconds: int | None = None,
        stdin: bool = False,
        hold_output: bool = True,
        idempotency_key: str | None = None,
    ) -> AsyncProcess:
        """
        Start a line of shell, or words that no shell reads. Give `stdin=True` to send input, and
        `pty={"cols": 80, "rows": 24}` for a terminal. Its first output waits for you for up to 30 seconds, and the
        process with it once 4 MiB are kept; `hold_output=False` if you never read it.
        """
        body: models.StartDockProcessBody = {"stdin": stdin, "holdOutput": hold_output}
        if isinstance(command, str):
            body["command"] = command
        else:
            body["argv"] = [*command]
        if env is not None:
            body["env"] = dict(env)
        if cwd is not None:
            body["cwd"] = absolute_path(cwd)
        if pty is not None:
            body["pty"] = pty
        if timeout_seconds is not None:
            body["timeoutSeconds"] = timeout_seconds
        process = await self._client.start_dock_process(self._dock_id, body, idempotency_key=idempotency_key)
        return AsyncProcess(self._client, self._dock_id, process["id"])

    def attach(self, id: str, *, offset: int | None = None, stderr_offset: int | None = None) -> AsyncProcess:
        """
        Return a process that was started before, also by another program. `offset` is the first byte of stdout to
        read: the number of bytes that you have.
        """
        return AsyncProcess(self._client, self._dock_id, id, offset, stderr_offset)

    async def list(self) -> List[ProcessInfo]:
        """Return those that run, and the latest that have ended."""
        return [process_info(each) for each in await self._client.list_dock_processes(self._dock_id)]
