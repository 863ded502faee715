"""Writes the input of a process by offset, so that no byte is lost or written twice."""

from __future__ import annotations

from collections.abc import AsyncIterable

from .. import models
from .._retry import is_passing
from ..errors import ConflictError, DockError, has_code
from .output import Source
from .runtime import AsyncLock, AsyncStream
from .waiting import until_reached

#: Bytes of one request. What a broken request has to repeat stays small.
_PIECE_BYTES = 256 * 1024


class AsyncProcessInput:
    """
    The input of one process. All handles of a process that belong to one client share it, so their writes go one after
    the other.
    """

    def __init__(self, source: Source) -> None:
        self._source = source
        self._lock = AsyncLock()
        self._is_uncertain = False

    async def write(self, data: bytes | str | AsyncIterable[bytes | str]) -> None:
        """
        Send the data after everything that was written before. Return when the service has taken it, which waits for
        the process if that does not read. Concurrent writes are sent whole.
        """
        async with self._lock:
            self._check()
            # Ask each time, because another program may have written in the meantime.
            stdin = await self._state()
            if not stdin["open"]:
                reason = "it was started without stdin=True, its input was closed, or it has ended"
                raise ConflictError("conflict", 409, f"The process takes no input: {reason}.")
            at = stdin["offset"]
            async for piece in _pieces(data):
                await self._send(piece, at)
                at += len(piece)

    async def close(self) -> None:
        """End the input once everything was written."""
        async with self._lock:
            self._check()
            client, dock_id, id = self._source.client, self._source.dock_id, self._source.id
            await until_reached(lambda: client.close_dock_process_input(dock_id, id))

    def _check(self) -> None:
        if self._is_uncertain:
            raise DockError(
                "input_uncertain",
                "An earlier write broke off, so nobody knows how much of it arrived. Start the process again.",
            )

    async def _state(self) -> models.ProcessStdin:
        client, dock_id, id = self._source.client, self._source.dock_id, self._source.id
        process = await until_reached(lambda: client.read_dock_process(dock_id, id))
        return process["stdin"]

    async def _send(self, piece: bytes, start: int) -> None:
        source, end, at = self._source, start + len(piece), start

        async def send_rest() -> None:
            nonlocal at
            try:
                rest = piece[at - start :]
                answer = await source.client.write_dock_process_input(source.dock_id, source.id, rest, offset=at)
                at = answer["offset"]
            except DockError as error:
                if not is_passing(error):
                    raise
                # Some of it may have arrived.
                at = min(end, (await self._state())["offset"])
                if at < end:
                    raise

        try:
            await until_reached(send_rest)
        except BaseException as error:
            # After these codes the service has written no byte of the piece.
            self._is_uncertain = not has_code(error, "conflict", "not_found", "dock_not_running", "rate_limited")
            raise
        if at != end:
            raise DockError("input_shared", "Another program wrote to this process at the same moment.")


async def _pieces(data: bytes | str | AsyncIterable[bytes | str]) -> AsyncStream[bytes]:
    if isinstance(data, (bytes, str)):
        content = data.encode() if isinstance(data, str) else data
        for at in range(0, len(content), _PIECE_BYTES):
            yield content[at : at + _PIECE_BYTES]
        return
    async for part in data:
        async for piece in _pieces(part):
            yield piece
