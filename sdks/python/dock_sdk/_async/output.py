"""Reads the output of a process by offset, so that a broken connection neither loses nor repeats a byte."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from dataclasses import dataclass

from .._retry import Patience
from .._text import LineSplitter
from ..errors import DockError, OutputLostError, has_code
from ..results import OutputChunk, OutputName
from .routes import AsyncClient
from .runtime import AsyncStream, aclosing, pause

#: A silent connection may be a broken one, so it is opened again after this time.
_SILENCE_SECONDS = 300.0


@dataclass
class Position:
    """Where the reader is in one stream."""

    at: int
    #: False until the first byte that is kept is known.
    is_fixed: bool

    def take(self, name: OutputName, offset: int, data: bytes) -> OutputChunk:
        """Return the bytes that the reader does not have. Raise if there are missing ones before them."""
        if offset > self.at and self.is_fixed:
            raise OutputLostError(
                f"Bytes {self.at} to {offset} of {name} are no longer kept. Read from offset {offset} on, and read faster."
            )
        fresh = data[max(0, self.at - offset) :]
        start = max(offset, self.at)
        self.at = start + len(fresh)
        self.is_fixed = True
        return OutputChunk(name, start, fresh)


def _position(offset: int | None) -> Position:
    return Position(offset or 0, offset is not None)


@dataclass(frozen=True)
class Source:
    """A process, and who reads it."""

    client: AsyncClient
    dock_id: str
    id: str


async def read_output(
    source: Source, name: OutputName, offset: int | None, follow: bool
) -> AsyncStream[OutputChunk]:
    """Yield the bytes of one stream."""
    position = _position(offset)

    async def read() -> AsyncStream[OutputChunk]:
        async with source.client.read_dock_process_output_stream(
            source.dock_id, source.id, stream=name, offset=position.at, follow=follow, timeout=_SILENCE_SECONDS
        ) as response:
            at = int(response.headers.get("x-dock-start-offset", position.at))
            async with aclosing(response.chunks()) as chunks:
                async for data in chunks:
                    yield position.take(name, at, data)
                    at += len(data)

    async with aclosing(_resumed(source, {name: position}, follow, read)) as chunks:
        async for chunk in chunks:
            yield chunk


async def read_both(
    source: Source, offset: int | None, stderr_offset: int | None, follow: bool
) -> AsyncStream[OutputChunk]:
    """Yield the bytes of both streams in the order of their arrival at the service."""
    positions: dict[OutputName, Position] = {"stdout": _position(offset), "stderr": _position(stderr_offset)}

    async def read() -> AsyncStream[OutputChunk]:
        lines = LineSplitter(length_max=None)
        async with source.client.read_dock_process_output_stream(
            source.dock_id,
            source.id,
            stream="both",
            offset=positions["stdout"].at,
            stderr_offset=positions["stderr"].at,
            follow=follow,
            timeout=_SILENCE_SECONDS,
        ) as response:
            async with aclosing(response.chunks()) as chunks:
                async for data in chunks:
                    for text in lines.feed(data):
                        line = json.loads(text)
                        if "data" in line:
                            name: OutputName = line["stream"]
                            yield positions[name].take(name, line["offset"], base64.b64decode(line["data"]))

    async with aclosing(_resumed(source, positions, follow, read)) as chunks:
        async for chunk in chunks:
            yield chunk


async def _resumed(
    source: Source,
    positions: dict[OutputName, Position],
    follow: bool,
    read: Callable[[], AsyncStream[OutputChunk]],
) -> AsyncStream[OutputChunk]:
    """Repeat `read` until everything was read."""
    patience = Patience()
    while True:
        try:
            async with aclosing(read()) as chunks:
                async for chunk in chunks:
                    patience.renew()
                    if chunk.data:
                        yield chunk
            if not follow or await _is_complete(source, positions):
                return
            seconds = 0.1
        except DockError as error:
            seconds = 0.0 if has_code(error, "read_timeout") else patience.seconds_to_wait(error)
        await pause(seconds)


async def _is_complete(source: Source, positions: dict[OutputName, Position]) -> bool:
    """Return True if the reader has everything that will ever be in these streams."""
    process = await source.client.read_dock_process(source.dock_id, source.id)
    for name, position in positions.items():
        output = process["stdout"] if name == "stdout" else process["stderr"]
        if output is not None and (output["open"] or position.at < output["endOffset"]):
            return False
    return True


class AsyncProcessOutputReader:
    """One output of a process. Each iteration reads it from the start of what was asked for."""

    def __init__(self, source: Source, name: OutputName, offset: int | None) -> None:
        self._source = source
        self._name = name
        self._offset = offset

    async def bytes(self, *, offset: int | None = None, follow: bool = True) -> AsyncStream[bytes]:
        """Yield the bytes as they come, until the output ends; without `follow`, those that are there."""
        start = self._offset if offset is None else offset
        async with aclosing(read_output(self._source, self._name, start, follow)) as chunks:
            async for chunk in chunks:
                yield chunk.data

    async def lines(self, *, offset: int | None = None, follow: bool = True) -> AsyncStream[str]:
        """Yield the lines of text as they come."""
        splitter = LineSplitter()
        async with aclosing(self.bytes(offset=offset, follow=follow)) as chunks:
            async for data in chunks:
                for line in splitter.feed(data):
                    yield line
        for line in splitter.end():
            yield line

    async def text(self, *, offset: int | None = None, follow: bool = True) -> str:
        """Return all of it as text, at its end."""
        parts = []
        async with aclosing(self.bytes(offset=offset, follow=follow)) as chunks:
            async for data in chunks:
                parts.append(data)
        return b"".join(parts).decode("utf-8", "replace")

    def __aiter__(self) -> AsyncStream[bytes]:  # type: ignore[valid-type]
        return self.bytes()
