"""One subject under examination: clauses are judged on what shared, memoised scenarios have shown.

`Examination.judge` is all that a runner needs. It settles prerequisites first, judges per-tool clauses tool by tool,
and turns whatever a clause raises into a `Judgement`.
"""

from __future__ import annotations

import asyncio
import platform
import sys
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import asdict, replace
from importlib.metadata import version
from typing import Any, Self, TypeVar

from conformance.backing import Backing, backing_of
from conformance.contracts.registry import Catalogue, Clause, catalogue
from conformance.known_good import MODULE, known_good
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
from conformance.rig import scenarios
from conformance.rig.rig import Rig
from conformance.rig.samples import takes_address
from conformance.rig.scenarios import Bench, Seen
from conformance.rig.surroundings import Placement
from conformance.rig.trial import Trial
from conformance.settings import Settings
from conformance.subject import Subject

T = TypeVar("T")

PLACEMENTS: tuple[Placement, ...] = ("some", "nowhere", "disabled-first")
"""How a plugin is placed among the hosts when routing is tried."""

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
        self._memory: dict[object, asyncio.Task[Any]] = {}
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
            self.subject = await prepare(self.subject, self.rig)
        except BaseException:
            await self._stack.aclose()
            raise
        self.bench = Bench(rig=self.rig, subject=self.subject, profile=self.profile)
        return self

    async def __aexit__(self, *_: object) -> None:
        """Stop what still runs, and the rig where it is our own."""
        for task in self._memory.values():
            task.cancel()
        await asyncio.gather(*self._memory.values(), return_exceptions=True)
        await self._stack.aclose()

    # What has been seen

    async def _once(self, key: object, act: Callable[[], Awaitable[T]]) -> T:
        """Run `act` at most once for `key`; everybody who asks waits for the same run."""
        if key not in self._memory:
            self._memory[key] = asyncio.ensure_future(act())
        made: T = await asyncio.shield(self._memory[key])
        return made

    async def survey(self) -> Trial:
        """Give the trial in which the subject was loaded and listed, and nothing else.

        Raises:
            Blocked: the host did not even come to the point of importing the subject.
        """
        trial: Trial = await self._once("survey", lambda: scenarios.loaded(self.bench))
        if not trial.told("importing"):
            why = "; ".join(str(fact["text"]) for fact in trial.told("crash")) or trial.stderr().strip()[-300:]
            raise Blocked(f"the host did not start: {why or 'it said nothing'}", by="host")
        return trial

    async def configured(self) -> dict[str, Trial]:
        """Give the trials under each form of settings, by a name for the form."""
        survey = await self.survey()
        asked = [str(about["name"]) for about in survey.told("extension_config")]
        name = self.profile.extension.config_name or (asked[0] if asked else None)
        return await self._once("configured", lambda: scenarios.configured(self.bench, name))

    async def aftermath(self) -> Seen:
        """Give the calls of all tools that answer, and what came a while after them."""
        return await self._once("aftermath", self._aftermath)

    async def _aftermath(self) -> Seen:
        return await scenarios.aftermath(self.bench, list((await self._answering()).values()))

    async def tools(self) -> list[Mapping[str, Any]]:
        """Give the subject's own tools as `tools/list` shows them."""
        survey = await self.survey()
        own = {str(about["name"]) for about in survey.told("tool")}
        return [tool for tool in survey.tools if tool["name"] in own]

    async def tool(self, name: str) -> Mapping[str, Any]:
        """Give one tool's entry in `tools/list`."""
        return next(tool for tool in await self.tools() if tool["name"] == name)

    async def plain(self) -> Seen:
        """Give the plainest call of each tool on healthy hosts that have every plugin it asks for."""
        return await self._once("plain", self._plain)

    async def _plain(self) -> Seen:
        survey, tools = await self.survey(), await self.tools()
        wanted = {str(about["plugin"]) for about in survey.told("decorated")} | {
            one.plugin for one in self.profile.canned
        }
        self._place(wanted)
        seen = await scenarios.plain(self.bench, tools)
        asked = {str(fact["name"]) for call in seen.calls.values() for fact in call.told("registry_asked")}
        if self._place(asked):
            seen = await scenarios.plain(self.bench, tools)
        return seen

    def _place(self, plugins: set[str]) -> bool:
        """Add plugins to those of the surroundings; True where one is new."""
        new = plugins - set(self.bench.plugins)
        self.bench = replace(self.bench, plugins=(*self.bench.plugins, *sorted(new)))
        return bool(new)

    async def _answering(self) -> dict[str, Mapping[str, Any]]:
        """Give the tools that gave an answer to the plainest call: the others would only be waited for."""
        calls = (await self.plain()).calls
        return {str(t["name"]): t for t in await self.tools() if (c := calls.get((str(t["name"]), ""))) and c.reply}

    async def not_found(self, *, returns_http_errors: bool) -> Seen:
        """Give the call of each tool while its first own request is answered by 404, on one kind of host."""
        return await self._once(("not found", returns_http_errors), lambda: self._not_found(returns_http_errors))

    async def _not_found(self, returns_http_errors: bool) -> Seen:  # noqa: FBT001 - handed on by the memory
        tools, usual = await self._answering(), await self.plain()
        return await scenarios.not_found(self.bench, tools, usual, returns_http_errors=returns_http_errors)

    async def typed_addresses(self) -> Seen:
        """Give the calls of each tool that takes an address, and does not do without Gerrit, with it in every form."""
        return await self._once("addresses", self._typed_addresses)

    async def _typed_addresses(self) -> Seen:
        plain = await self.plain()
        tools = [tool for name, tool in (await self._answering()).items() if takes_address(tool)]
        asking = [tool for tool in tools if (usual := plain.call(str(tool["name"]))).own or not usual.succeeded]
        return await scenarios.typed_addresses(self.bench, asking)

    async def routed(self, placement: Placement) -> Seen:
        """Give the calls of each tool that asks for a plugin, where the plugin is placed so."""
        return await self._once(("routed", placement), lambda: self._routed(placement))

    async def _routed(self, placement: Placement) -> Seen:
        survey, plain = await self.survey(), await self.plain()
        tools = await self._answering()
        backings = {name: backing_of(name, survey, plain) for name in tools}
        parameters = {name: backing.parameter for name, backing in backings.items() if backing}
        backed = {name: tools[name] for name in parameters}
        return await scenarios.routed(self.bench, backed, parameters, placement)

    async def everything(self) -> list[Seen]:
        """Give every scenario in which tools are called: what must never happen may happen in any of them."""
        return [
            await self.plain(),
            *[await self.not_found(returns_http_errors=kind) for kind in (False, True)],
            await self.typed_addresses(),
            *[await self.routed(placement) for placement in PLACEMENTS],
            await self.aftermath(),
        ]

    async def backing(self, tool: str) -> Backing | None:
        """Tell how a tool is bound to a plugin; None for one that is not.

        A tool that looks at lists of plugins and then does the same whatever they say routes nothing by them.
        """
        found = backing_of(tool, await self.survey(), await self.plain())
        if found is None or found.by_host or await self._routes_by_plugin(tool):
            return found
        return None

    async def _routes_by_plugin(self, tool: str) -> bool:
        """Tell whether it matters to a tool that asks for plugins by itself where the plugin is."""
        plain, some, nowhere = await self.plain(), await self.routed("some"), await self.routed("nowhere")
        usual = plain.call(tool)
        refused = usual.succeeded and not some.call(tool, "lacks it").succeeded
        elsewhere = (some.call(tool, "no address"), nowhere.call(tool, "no address"))
        return refused or any((one.succeeded, one.hosts) != (usual.succeeded, usual.hosts) for one in elsewhere)

    async def foresee(self) -> None:
        """Begin every scenario beside each other, and return at once: worth it where most clauses will be judged."""
        self._memory["foreseen"] = asyncio.ensure_future(self._foresee())

    async def _foresee(self) -> None:
        if not (await self.survey()).in_session:
            return
        await asyncio.gather(self.plain(), self.configured(), return_exceptions=True)
        later = [self.not_found(returns_http_errors=kind) for kind in (False, True)]
        routes = [self.routed(placement) for placement in PLACEMENTS]
        await asyncio.gather(self.aftermath(), *later, self.typed_addresses(), *routes, return_exceptions=True)

    # Judging

    async def judge(self, clause: Clause) -> Judgement:
        """Judge one clause; never raises for what the subject does."""
        began = time.monotonic()
        judged = (
            await self._judge_tools(clause)
            if clause.per_tool
            else combine(clause, {"": await self._verdict(clause, "")})
        )
        return replace(judged, seconds=time.monotonic() - began)

    async def _judge_tools(self, clause: Clause) -> Judgement:
        barrier = await self._barrier(clause, "")
        if barrier is not None:
            return combine(clause, {"": barrier})
        tools = [str(tool["name"]) for tool in await self.tools()]
        verdicts = {tool: await self._verdict(clause, tool) for tool in tools}
        return combine(clause, verdicts or {"": NotApplicable("it registers no tools")})

    async def _verdict(self, clause: Clause, tool: str) -> Verdict:
        """Judge a clause on one tool (or on the whole subject), once."""
        return await self._once((clause.id, tool), lambda: self._decide(clause, tool))

    async def _decide(self, clause: Clause, tool: str) -> Verdict:
        barrier = await self._barrier(clause, tool)
        if barrier is not None:
            return barrier
        try:
            await (clause.check(self, tool) if clause.per_tool else clause.check(self))
        except Finding as finding:
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

    async def _is_of_the_host(self, clause: Clause) -> bool:
        """Tell whether the known good extension breaks the clause on this host as well."""
        if self.subject.name == MODULE:
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
            "host": {
                "kind": self.settings.host_kind,
                "name": "gerrit-mcp-reference",
                "version": version("gerrit-mcp-conformance"),
            },
            "sdk": {"name": "mcp", "version": version("mcp")},
            "python": platform.python_version(),
            "platform": f"{sys.platform}-{platform.machine()}",
            "containment": asdict(self.rig.warm.containment),
            "trials": self.rig.trials - self._trials,
            "gerrit_calls": self.rig.gerrit_calls - self._calls,
            "seconds": time.monotonic() - self._began,
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
