"""What differs between asyncio and threads. This file and its counterpart in `_async` are written by hand."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager
from typing import ParamSpec, TypeVar

T = TypeVar("T")
P = ParamSpec("P")

Stream = Generator[T, None, None]
Lock = threading.Lock

__all__ = ["Home", "Lock", "Stream", "closing", "contextmanager", "in_thread", "pause", "stream_in_thread"]


class Home:
    """A client of threads works in all of them."""

    def check(self) -> None:
        pass


def pause(seconds: float) -> None:
    """Wait."""
    time.sleep(seconds)


def in_thread(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Do work that blocks."""
    return work(*args, **kwargs)


def stream_in_thread(items: Iterator[T]) -> Iterator[T]:
    """Yield the items."""
    yield from items
