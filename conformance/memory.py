"""Work that is done at most once, however many ask for it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class Memory:
    """Keeps each piece of work by a key, running or done; an exception is kept as well as a result."""

    def __init__(self) -> None:
        """Remember nothing yet."""
        self._tasks: dict[object, asyncio.Task[Any]] = {}

    def begin(self, key: object, act: Callable[[], Coroutine[Any, Any, Any]]) -> asyncio.Task[Any]:
        """Start `act` unless that was done for `key` before."""
        if key not in self._tasks:
            self._tasks[key] = asyncio.ensure_future(act())
        return self._tasks[key]

    async def once(self, key: object, act: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Give what `act` gives, from the one time that it is run for `key`."""
        made: T = await asyncio.shield(self.begin(key, act))
        return made

    async def forget(self) -> None:
        """Cancel what still runs, and wait until it has cleaned up."""
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)
