"""The way from pytest's threadless world into asyncio: one background thread with one event loop.

Everything a clause does happens in that loop: each connection, process and server has one owner from start to end.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterator
from concurrent.futures import CancelledError, Future, wait
from contextlib import AbstractAsyncContextManager, contextmanager
from threading import Thread
from typing import Any, Generic, TypeVar

T = TypeVar("T")

GRACE_SECONDS = 10.0
"""How long cancelled work may take to clean up behind itself."""


class Bridge:
    """A running event loop in a thread of its own; close it when the last work is done."""

    def __init__(self) -> None:
        """Start the thread."""
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._loop.run_forever, name="gerrit-conformance", daemon=True)
        self._thread.start()

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine in the loop and wait for it.

        Ctrl-C cancels it, waits until it has cleaned up (at most `GRACE_SECONDS`), and goes on as KeyboardInterrupt.

        Returns:
            What the coroutine returns; what it raises is raised here.
        """
        outcome: Future[T] = Future()
        task: list[asyncio.Task[T]] = []

        def begin() -> None:
            task.append(self._loop.create_task(coroutine))
            task[0].add_done_callback(lambda done: _settle(done, outcome))

        self._loop.call_soon_threadsafe(begin)
        try:
            return outcome.result()
        except (KeyboardInterrupt, SystemExit):
            if not outcome.done():
                self._loop.call_soon_threadsafe(lambda: [one.cancel() for one in task])
                wait([outcome], timeout=GRACE_SECONDS)
            raise

    @contextmanager
    def held(self, context: AbstractAsyncContextManager[T]) -> Iterator[T]:
        """Enter an asynchronous context for the length of a `with` block, in a task that owns it from start to end."""
        owner = _Owner(context)
        value = self.run(owner.enter())
        try:
            yield value
        finally:
            self.run(owner.leave())

    def close(self) -> None:
        """Cancel what still runs, and end the loop and its thread."""
        if self._loop.is_closed():
            return
        self.run(_cancel_the_others())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(GRACE_SECONDS)
        if not self._thread.is_alive():
            self._loop.close()


class _Owner(Generic[T]):
    """A task that enters a context, waits, and leaves it: the scopes within may not be left by another task."""

    def __init__(self, context: AbstractAsyncContextManager[T]) -> None:
        self._context = context
        self._end = asyncio.Event()

    async def enter(self) -> T:
        entered: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(self._own(entered))
        try:
            return await entered
        except asyncio.CancelledError:
            self._task.cancel()
            raise

    async def leave(self) -> None:
        self._end.set()
        await self._task

    async def _own(self, entered: asyncio.Future[T]) -> None:
        try:
            async with self._context as value:
                entered.set_result(value)
                await self._end.wait()
        except Exception as problem:
            if entered.done():
                raise
            entered.set_exception(problem)  # the one who enters is told, not the one who leaves


def _settle(done: asyncio.Task[T], outcome: Future[T]) -> None:
    """Hand a task's end over to the waiting thread; cancellation is an exception there, too."""
    if done.cancelled():
        outcome.set_exception(CancelledError())
    elif problem := done.exception():
        outcome.set_exception(problem)
    else:
        outcome.set_result(done.result())


async def _cancel_the_others() -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for one in others:
        one.cancel()
    if others:
        await asyncio.wait(others, timeout=GRACE_SECONDS)
    await asyncio.get_running_loop().shutdown_asyncgens()
