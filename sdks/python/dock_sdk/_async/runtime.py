"""What differs between asyncio and threads. This file and its counterpart in `_sync` are written by hand."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from contextlib import aclosing, asynccontextmanager
from typing import ParamSpec, TypeVar

from ..errors import ClosedError

T = TypeVar("T")
P = ParamSpec("P")

AsyncStream = AsyncGenerator[T, None]
AsyncLock = asyncio.Lock

__all__ = [
    "AsyncLock", "AsyncStream", "Home", "aclosing", "asynccontextmanager", "in_thread", "pause", "stream_in_thread",
]


class Home:
    """The event loop in which a client is used first. Its connections do not work in another one."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None

    def check(self) -> None:
        loop = asyncio.get_running_loop()
        if self._loop is None:
            self._loop = loop
        if self._loop is not loop:
            raise ClosedError("This client belongs to another event loop. Create one in each asyncio.run().")


async def pause(seconds: float) -> None:
    """Wait."""
    await asyncio.sleep(seconds)


async def in_thread(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Do work that blocks, such as reading a local file."""
    return await asyncio.to_thread(work, *args, **kwargs)


async def stream_in_thread(items: Iterator[T]) -> AsyncIterator[T]:
    """Yield the items of an iterator that blocks."""

    def following() -> list[T]:
        return list(itertools.islice(items, 1))

    while found := await asyncio.to_thread(following):
        yield found[0]
