"""Waits for what the service has begun."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection
from typing import TypeVar

from .. import models
from .._retry import Patience
from ..errors import DockError
from .routes import AsyncClient
from .runtime import pause

T = TypeVar("T")


async def until_reached(work: Callable[[], Awaitable[T]]) -> T:
    """Call `work` until it succeeds or fails for good. `work` must be harmless to repeat."""
    patience = Patience()
    while True:
        try:
            return await work()
        except DockError as error:
            seconds = patience.seconds_to_wait(error)
        await pause(seconds)


async def until_completed(client: AsyncClient, operation: models.Operation) -> None:
    """Wait until an operation of the service is completed."""
    seconds = 0.05
    while True:
        current = await until_reached(lambda: client.read_operation(operation["id"]))
        if current["status"] == "completed":
            return
        await pause(seconds)
        seconds = min(1.0, seconds * 1.5)


async def until_state(
    read: Callable[[], Awaitable[models.Dock]], wanted: Collection[str], through: Collection[str]
) -> None:
    """
    Read the Dock until it is in one of the states `wanted`. Raise `state_unexpected` if it leaves the states `through`
    for another one. A host that is away for a moment (`unreachable`) is waited for.
    """
    seconds = 0.05
    while True:
        dock = await until_reached(read)
        if dock["state"] in wanted:
            return
        if dock["state"] not in through and dock["state"] != "unreachable":
            detail = dock["setupError"] or "Read it and try again."
            raise DockError("state_unexpected", f"The Dock is {dock['state']} now. {detail}")
        await pause(seconds)
        seconds = min(1.0, seconds * 1.3)
