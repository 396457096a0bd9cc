"""One subject under examination: clauses are judged on what shared, memoised scenarios have shown.

`Examination.judge` is all that a runner needs. It settles prerequisites first, judges per-tool clauses tool by tool,
and turns whatever a clause raises into a `Judgement`.
"""

from __future__ import annotations

import platform
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import AsyncExitStack
from copy import copy
from dataclasses import asdict, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, Self

from conformance.contracts.registry import Catalogue, Clause, catalogue
from conformance.known_good import MODULE, known_good
from conformance.memory import Memory
from conformance.observations import Observations
from conformance.outcomes import (
    Blocked,
    Finding,
    Inconclusive,
    Judgement,
    NotApplicable,
    Outcome,
    Verdictless,
)
from conformance.preparing import prepare
from conformance.profile import Profile
from conformance.rig.rig import Rig
from conformance.server_observations import ServerObservations
from conformance.server_targets import with_command
from conformance.settings import Settings
from conformance.subject import Subject

Verdict = Verdictless | None
"""What a clause came to on one tool: None is PASS."""


class Examination:
    """Judges clauses on one subject.

    Args:
        subject: what to examine, as `targets.resolve_target` gave it.
        profile: what its owner tells about it.
        settings: limits, host and so on.
        rig: a running rig to share; one of its own is started where it is left out.
        without: clauses that do not exist for this examination, not even as prerequisites.

    A finding is held against the subject only if an extension that is known to be good does not show it on the same
    host.
    """

    def __init__(
        self,
        subject: Subject,
        *,
        profile: Profile | None = None,
        settings: Settings | None = None,
        rig: Rig | None = None,
        without: frozenset[str] = frozenset(),
    ) -> None:
        """Prepare; nothing is started before the context is entered."""
        self.subject = subject
        self.profile = profile or Profile()
        self.settings = settings or Settings()
        self._given_rig = rig
        self._without = without
        self._stack = AsyncExitStack()
        self._seen, self._verdicts = Memory(), Memory()
        self._began = time.monotonic()

    async def __aenter__(self) -> Self:
        """Start the rig where none was given, and build the subject where it has to be built.

        Raises:
            UsageError: the project cannot be built; the message holds the end of the backend's output.
        """
        given = self._given_rig
        self.rig = given if given is not None else await self._stack.enter_async_context(Rig(self.settings))
        self._trials, self._calls = self.rig.trials, self.rig.gerrit_calls
        try:
            self.subject = with_command(self.subject, self.profile.server.command, Path.cwd())
            self.subject = await prepare(self.subject, self.rig)
        except BaseException:
            await self._stack.aclose()
            raise
        told: dict[str, Any] = {"rig": self.rig, "profile": self.profile, "memory": self._seen}
        self.observed = Observations(self.subject, **told)
        self.server = ServerObservations(self.subject, **told)
        return self

    async def __aexit__(self, *_: object) -> None:
        """Stop what still runs, and the rig where it is our own."""
        await self._verdicts.forget()
        await self._seen.forget()
        await self._stack.aclose()

    @property
    def _judged_on(self) -> Observations | ServerObservations:
        return self.server if self.subject.kind == "server" else self.observed

    async def foresee(self) -> None:
        """Begin every scenario beside each other, and return at once: worth it where most clauses will be judged."""
        await self._judged_on.foresee()

    def leaving_out(self, clause_id: str) -> Examination:
        """Give an examination for which that clause does not exist, and which has seen all that this one has.

        It lives as long as this one, and is not to be entered.
        """
        other = copy(self)
        other._without = self._without | {clause_id}  # noqa: SLF001 - its own class
        other._verdicts = Memory()  # noqa: SLF001 - likewise
        return other

    async def judge(self, clause: Clause) -> Judgement:
        """Judge one clause; never raises for what the subject does."""
        began = time.monotonic()
        judged = (
            await self._judge_tools(clause)
            if clause.per_tool
            else combine(clause, {"": await self._verdict(clause, "")})
        )
        return replace(
            judged,
            reason=self.mask(judged.reason),  # it may quote what a tool gave back
            supply=self.mask(judged.supply),
            seconds=time.monotonic() - began,
        )

    async def _judge_tools(self, clause: Clause) -> Judgement:
        barrier = await self._barrier(clause, "")
        if barrier is not None:
            return combine(clause, {"": barrier})
        tools = [str(tool["name"]) for tool in await self.observed.tools()]
        verdicts = {tool: await self._verdict(clause, tool) for tool in tools}
        return combine(clause, verdicts or {"": NotApplicable("it registers no tools")})

    async def _verdict(self, clause: Clause, tool: str) -> Verdict:
        """Judge a clause on one tool (or on the whole subject), once."""
        return await self._verdicts.once((clause.id, tool), lambda: self._decide(clause, tool))

    async def _decide(self, clause: Clause, tool: str) -> Verdict:
        verdict = await self._look(clause, tool)
        if verdict is not None:  # its traceback would keep every trial and world alive that the clause has looked at
            verdict.__traceback__ = verdict.__context__ = verdict.__cause__ = None
        return verdict

    async def _look(self, clause: Clause, tool: str) -> Verdict:
        barrier = await self._barrier(clause, tool)
        if barrier is not None:
            return barrier
        try:
            await (clause.check(self._judged_on, tool) if clause.per_tool else clause.check(self._judged_on))
        except Finding as finding:
            if cause := await self._cause(clause, tool, finding):
                why = f"{cause} is broken, which explains that this fails too (saw: {finding.saw})"
                return Blocked(why, by=cause)
            if await self._is_of_the_host(clause):
                return Blocked(
                    f"an extension that is known to be good shows it too on this host: {finding.saw}", by="host"
                )
            finding.tool = finding.tool or tool or None
            finding.evidence = tuple(replace(one, text=self.mask(one.text)) for one in finding.evidence)
            finding.saw, finding.expected = self.mask(finding.saw), self.mask(finding.expected)
            return finding
        except Verdictless as verdict:
            return verdict
        return None

    async def _cause(self, clause: Clause, tool: str, finding: Finding) -> str:
        """Name the first clause whose failure explains that of `clause`; empty where none does."""
        for other in (*self._gated(clause), *clause.excused_by):
            if other in self._without:
                continue
            first = self.catalogue[other]
            if first.explains is not None and not first.explains(finding):
                continue
            if isinstance(await self._verdict(first, tool if first.per_tool else ""), Finding):
                return other
        return ""

    def _gated(self, clause: Clause) -> Iterator[str]:
        """Name the clauses of which only a part was judged before this one, the first of all first."""
        for need in clause.needs:
            first = self.catalogue[need]
            yield from self._gated(first)
            if first.gate is not None:
                yield need

    async def _passes_gate(self, clause: Clause) -> bool:
        """Tell whether the part of a clause holds on which others build, and all that it needs itself."""
        return await self._verdicts.once((clause.id, "gate"), lambda: self._look_at_gate(clause))

    async def _look_at_gate(self, clause: Clause) -> bool:
        if await self._barrier(clause, "") is not None:
            return False
        try:
            assert clause.gate is not None  # noqa: S101 - the caller has looked
            await clause.gate(self._judged_on)
        except Verdictless:
            return False
        return True

    async def _is_of_the_host(self, clause: Clause) -> bool:
        """Tell whether the known good extension breaks the clause on this host as well."""
        if self.subject.name == MODULE or self.subject.kind == "server" or clause.judges_host:
            return False
        async with self.rig.control_turn:
            if self.rig.control is None:
                control = Examination(known_good(), settings=self.settings, rig=self.rig)
                await self.rig.keep(control)
                self.rig.control = control
        judged = await self.rig.control.judge(clause)
        return isinstance(judged, Judgement) and judged.outcome is Outcome.FAIL

    async def _barrier(self, clause: Clause, tool: str) -> Verdict:
        """Give what keeps a clause from being judged: the first prerequisite that is not met."""
        for need in clause.needs:
            if need in self._without:
                continue
            first = self.catalogue[need]
            if first.per_tool and not tool:
                verdict = await self._barrier(first, "")
            elif first.gate is not None and await self._passes_gate(first):
                continue
            else:
                verdict = await self._verdict(first, tool if first.per_tool else "")
            if isinstance(verdict, Finding):
                return Blocked(f"{need} is not kept", by=need)
            if isinstance(verdict, Blocked | Inconclusive):
                return verdict
        return None

    @property
    def catalogue(self) -> Catalogue:
        """The clauses there are."""
        return catalogue()

    def _host(self) -> dict[str, str | None]:
        if self.subject.kind == "server":  # it is its own host
            return {
                "kind": "command" if self.subject.command else "factory",
                "name": self.subject.name,
                "version": None,
            }
        here = version("gerrit-mcp-conformance")
        return {"kind": self.settings.host_kind, "name": "gerrit-mcp-reference", "version": here}

    def mask(self, text: str) -> str:
        """Replace every credential of the rig in a text."""
        return self.rig.masking.mask(text)

    # About the run

    def about(self) -> dict[str, Any]:
        """Tell under what conditions the subject was examined, for the certificate."""
        return {
            "subject": {
                "kind": self.subject.kind,
                "name": self.subject.name,
                "version": self.subject.version,
                "sha256": self.subject.sha256(),
            },
            "host": self._host(),
            "sdk": {"name": "mcp", "version": version("mcp")},
            "python": platform.python_version(),
            "platform": f"{sys.platform}-{platform.machine()}",
            "containment": asdict(self.rig.warm.containment),
            "trials": self.rig.trials - self._trials,
            "gerrit_calls": self.rig.gerrit_calls - self._calls,
            "seconds": time.monotonic() - self._began,
            "measurements": [asdict(one) for one in self.server.measured],
        }


_ORDER = (Outcome.FAIL, Outcome.BLOCKED, Outcome.INCONCLUSIVE, Outcome.PASS, Outcome.NOT_APPLICABLE)


def outcome_of(verdict: Verdict) -> Outcome:
    """Name the outcome of what a clause raised, or did not raise."""
    if verdict is None:
        return Outcome.PASS
    if isinstance(verdict, Finding):
        return Outcome.FAIL
    if isinstance(verdict, Blocked):
        return Outcome.BLOCKED
    return Outcome.INCONCLUSIVE if isinstance(verdict, Inconclusive) else Outcome.NOT_APPLICABLE


def combine(clause: Clause, verdicts: Mapping[str, Verdict]) -> Judgement:
    """Make one judgement of the verdicts on all tools: the worst counts, and every finding is kept."""
    outcomes = {tool: outcome_of(verdict) for tool, verdict in verdicts.items()}
    worst = next(outcome for outcome in _ORDER if outcome in outcomes.values())
    deciding = next((v for v in verdicts.values() if v is not None and outcome_of(v) is worst), None)
    return Judgement(
        clause=clause.id,
        outcome=worst,
        findings=tuple(verdict for verdict in verdicts.values() if isinstance(verdict, Finding)),
        reason=str(getattr(deciding, "reason", "")),
        supply=str(getattr(deciding, "supply", "")),
        blocked_by=str(getattr(deciding, "by", "")),
        per_tool={tool: outcome for tool, outcome in outcomes.items() if tool},
    )
