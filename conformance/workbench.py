"""The examinations that one process has open, each opened when first needed and all closed together."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from typing import Any

from conformance.bridge import Bridge
from conformance.contracts.registry import Clause
from conformance.examine import Examination
from conformance.outcomes import Judgement, Verdictless
from conformance.plan import Plan
from conformance.settings import Settings


class Workbench:
    """Judges clauses for a caller without an event loop."""

    def __init__(self, settings: Settings) -> None:
        """Open nothing yet."""
        self._settings = settings
        self._bridge: Bridge | None = None
        self._examinations: dict[str, Examination] = {}
        self._open = ExitStack()

    def open(self, plan: Plan) -> Examination:
        """Give the examination of the plan's subject, opened if it is not yet.

        Raises:
            UsageError: if the subject cannot be examined at all.
            KeyboardInterrupt: after the work in progress has been cancelled.
        """
        if plan.slug not in self._examinations:
            examination = Examination(plan.subject, profile=plan.profile, settings=self._settings)
            self._examinations[plan.slug] = self._open.enter_context(self._running().held(examination))
        return self._examinations[plan.slug]

    def foresee(self, plan: Plan) -> None:
        """Let the examination of the plan's subject begin all that its clauses will want to see."""
        self._running().run(self.open(plan).foresee())

    def judge(self, plan: Plan, clause: Clause) -> Judgement:
        """Judge one clause on the plan's subject; opens its examination where needed, and raises what `open` raises."""
        examination = self.open(plan)
        return self._running().run(examination.judge(clause))

    def tool_names(self, plan: Plan) -> list[str]:
        """Name the tools of the plan's subject; none where it does not load, for which its clauses give the reason.

        Raises:
            UsageError: if the subject cannot be examined at all.
        """
        return self._running().run(_tool_names(self.open(plan)))

    def about(self) -> dict[str, dict[str, Any]]:
        """Tell about each subject examined here and its surroundings, by slug."""
        return {slug: dict(examination.about()) for slug, examination in self._examinations.items()}

    def close(self) -> None:
        """End every examination and the event loop; safe to call twice."""
        self._open.close()
        self._bridge = None

    def _running(self) -> Bridge:
        if self._bridge is None:
            self._bridge = Bridge()
            self._open.callback(self._bridge.close)
        return self._bridge


async def _tool_names(examination: Examination) -> list[str]:
    if examination.subject.blocked:
        return []
    if examination.subject.kind == "server":
        return (await examination.server.alone()).names
    try:
        return [str(tool["name"]) for tool in await examination.observed.tools()]
    except Verdictless:
        return []


def merged(abouts: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Join what several processes tell of one subject: facts of the first, counters added up, the longest time."""
    joined: dict[str, Any] = {}
    for about in abouts:
        counters = {word: joined.get(word, 0) + about.get(word, 0) for word in ("trials", "gerrit_calls")}
        seconds = max(joined.get("seconds", 0.0), about.get("seconds", 0.0))
        measured = joined.get("measurements") or about.get("measurements", [])
        joined = {**about, **joined, **counters, "seconds": seconds, "measurements": measured}
    return joined
