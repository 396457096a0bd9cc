"""The examinations that one process has open, each opened when first needed and all closed together."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable
from typing import Any, TypeVar

from conformance.bridge import Bridge
from conformance.contracts.registry import Clause
from conformance.examine import Examination
from conformance.outcomes import Judgement
from conformance.plan import Plan
from conformance.settings import Settings

T = TypeVar("T")


class Workbench:
    """Judges clauses for a caller without an event loop."""

    def __init__(self, settings: Settings) -> None:
        """Open nothing yet."""
        self._settings = settings
        self._bridge: Bridge | None = None
        self._examinations: dict[str, Examination] = {}
        self._owners: list[asyncio.Task[None]] = []
        self._end: asyncio.Event | None = None

    def open(self, plan: Plan) -> None:
        """Open the examination of the plan's subject, unless it is open already.

        Raises:
            UsageError: if the subject cannot be examined at all.
            KeyboardInterrupt: after the work in progress has been cancelled.
        """
        self._run(self._opened(plan))

    def judge(self, plan: Plan, clause: Clause) -> Judgement:
        """Judge one clause on the plan's subject; opens the examination where needed, and raises what `open` raises."""
        return self._run(self._judge(plan, clause))

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        if self._bridge is None:
            self._bridge = Bridge()
        return self._bridge.run(work)

    async def _judge(self, plan: Plan, clause: Clause) -> Judgement:
        return await (await self._opened(plan)).judge(clause)

    async def _opened(self, plan: Plan) -> Examination:
        """Give the examination, opened in a task that owns it to the end, so that it is closed where it was opened."""
        if plan.slug not in self._examinations:
            opened: asyncio.Future[Examination] = asyncio.get_running_loop().create_future()
            owner = asyncio.create_task(self._own(plan, opened))
            self._owners.append(owner)
            try:
                self._examinations[plan.slug] = await opened
            except asyncio.CancelledError:
                owner.cancel()
                raise
        return self._examinations[plan.slug]

    async def _own(self, plan: Plan, opened: asyncio.Future[Examination]) -> None:
        self._end = self._end or asyncio.Event()
        try:
            async with Examination(plan.subject, profile=plan.profile, settings=self._settings) as examination:
                opened.set_result(examination)
                await self._end.wait()
        except Exception as problem:
            if opened.done():
                raise
            opened.set_exception(problem)  # the one who asked for it is told, not the one who closes

    def about(self) -> dict[str, dict[str, Any]]:
        """Tell about each subject examined here and its surroundings, by slug."""
        return {slug: dict(examination.about()) for slug, examination in self._examinations.items()}

    def close(self) -> None:
        """End every examination and the event loop; safe to call twice."""
        if self._bridge is None:
            return
        bridge, self._bridge = self._bridge, None
        try:
            bridge.run(self._close())
        finally:
            bridge.close()

    async def _close(self) -> None:
        if self._end is not None:
            self._end.set()
        for ended in await asyncio.gather(*self._owners, return_exceptions=True):
            if isinstance(ended, Exception):
                raise ended


def merged(abouts: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Join what several processes tell of one subject: facts of the first, counters added up, the longest time."""
    joined: dict[str, Any] = {}
    for about in abouts:
        counters = {word: joined.get(word, 0) + about.get(word, 0) for word in ("trials", "gerrit_calls")}
        seconds = max(joined.get("seconds", 0.0), about.get("seconds", 0.0))
        joined = {**about, **joined, **counters, "seconds": seconds}
    return joined
