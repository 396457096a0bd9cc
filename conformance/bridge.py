"""The way from pytest's threadless world into asyncio: one background thread with one event loop.

Everything a clause does happens in that loop: each connection, process and server has one owner from start to end.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from concurrent.futures import CancelledError, Future, wait
from threading import Thread
from typing import Any, TypeVar

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

    def close(self) -> None:
        """Cancel what still runs, and end the loop and its thread."""
        if self._loop.is_closed():
            return
        self.run(_cancel_the_others())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(GRACE_SECONDS)
        if not self._thread.is_alive():
            self._loop.close()


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
