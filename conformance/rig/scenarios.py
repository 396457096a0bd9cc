"""What is done with a subject so that clauses can look at it; nothing is judged here.

Each scenario is one trial (or a few alike), closed when it returns. Clauses of several families look at the same
scenario, so an `Examination` runs each at most once.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from conformance.outcomes import Inconclusive
from conformance.profile import Profile
from conformance.rig.rig import Rig
from conformance.rig.samples import BASE_URL_PARAMETER, sample_arguments
from conformance.rig.surroundings import (
    BASE_FORMS,
    HOSTS,
    NO_EXTENSIONS_KEY,
    NULL,
    SIMULATED_PLUGINS,
    Placement,
    Surroundings,
)
from conformance.rig.trial import ASKING_FOR_PLUGINS, Call, Trial
from conformance.subject import Subject

if TYPE_CHECKING:
    from mock_gerrit.faults import Fault
    from mock_gerrit.journal import Entry
    from mock_gerrit.world import World

LATE_SECONDS = 1.5
"""How long tools that come after the first list are waited for."""
MORE_STARTS = 1
"""How often a subject that has been loaded before is given another try when it does not load again."""
STALLED_SECONDS = 2.0
"""A call that took longer may have met the limits of the host or of a tool by no fault of its own."""
NOT_FOUND = "Not found: 1\n"
"""What a Gerrit says of a change that it does not have."""

ToolEntry = Mapping[str, Any]


@dataclass(kw_only=True)
class Bench:
    """A subject, what its owner told, and the rig to try it on."""

    rig: Rig
    subject: Subject
    profile: Profile
    plugins: tuple[str, ...] = SIMULATED_PLUGINS
    chosen: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Arguments with which tools work that the plainest ones did not suit."""
    unbidden: frozenset[tuple[str, str]] = frozenset()
    """What the subject asks of Gerrit by itself, by method and path; no call answers for it."""

    def surroundings(self, **changes: Any) -> Surroundings:  # noqa: ANN401 - fields of Surroundings
        """Give the usual surroundings of this subject, with `changes`."""
        usual: dict[str, Any] = {
            "plugins": self.plugins,
            "extensions": self.block(),
            "canned": tuple(self.profile.canned),
            "third_parties": self.profile.third_parties(),
            "unbidden": self.unbidden,
        }
        return Surroundings(**{**usual, **changes})

    def block(self) -> dict[str, Any]:
        """What stands under `extensions` in the configuration: the profile's block under its name."""
        told = self.profile.extension
        return {told.config_name: told.config} if told.config_name else {}

    def arguments(self, tool: ToolEntry) -> dict[str, Any]:
        """Give sample arguments for a tool; raises Inconclusive where they cannot be known."""
        told = self.profile.tools.get(str(tool["name"]))
        return sample_arguments(tool, told.arguments if told else self.chosen.get(str(tool["name"])))


@dataclass(kw_only=True)
class Seen:
    """What a scenario left behind: its trials, all closed, and the calls by tool and by step."""

    trials: list[Trial] = field(default_factory=list)
    calls: dict[tuple[str, str], Call] = field(default_factory=dict)
    unknown: dict[str, Inconclusive] = field(default_factory=dict)
    """Tools that could not be called because nobody knows with what."""
    hung: set[str] = field(default_factory=set)
    """Tools that kept a caller waiting for good after earlier calls in the process."""

    def call(self, tool: str, step: str = "") -> Call:
        """Give the call of a tool in a step; raises Inconclusive where it could not be made."""
        if tool in self.unknown:
            raise self.unknown[tool]
        if (tool, step) not in self.calls:
            why = self.trials[-1].session_trouble if self.trials else ""
            raise Inconclusive(
                f"{tool} could not be called, as the subject did not load again: {why or 'it did not say why'}",
                supply="run again on a machine with less to do",
            )
        return self.calls[tool, step]

    def calls_of(self, tool: str) -> list[Call]:
        """Give every call of a tool in this scenario, in order."""
        return [call for (name, _), call in self.calls.items() if name == tool]


async def loaded(bench: Bench, **changes: Any) -> Trial:  # noqa: ANN401 - fields of Surroundings
    """Load the subject, initialise, list the tools, and close."""
    async with bench.rig.trial(bench.subject, bench.surroundings(**changes)) as trial:
        pass
    return trial


async def configured(bench: Bench, config_name: str | None) -> dict[str, Trial]:
    """Load the subject under each form that its settings can have."""
    blocks: dict[str, Any] = {"no extensions key": NO_EXTENSIONS_KEY, "extensions: null": None, "extensions: {}": {}}
    if bench.profile.extension.config_name:
        blocks["the profile's block"] = bench.block()
    if config_name:
        blocks["a block with an unknown key"] = {
            config_name: {**bench.profile.extension.config, "unknown_to_everybody": True}
        }
    trials = await asyncio.gather(*(loaded(bench, extensions=block) for block in blocks.values()))
    return dict(zip(blocks, trials, strict=True))


async def aftermath(bench: Bench, tools: list[ToolEntry]) -> Seen:
    """Load the subject, call each tool, and wait: what comes later comes from a timer, a task or a thread.

    The names in `tools_after` are those of a list that was asked for after the wait.
    """
    seen = Seen()
    surroundings = bench.surroundings()
    async with bench.rig.trial(bench.subject, surroundings) as trial:
        seen.trials.append(trial)
        for tool in tools if trial.in_session else ():
            if trial.age > bench.rig.settings.limit_seconds / 2:
                break
            trial.enter(bench.rig.world(surroundings), ())
            seen.calls[str(tool["name"]), ""] = await trial.call(str(tool["name"]), bench.arguments(tool))
        if trial.in_session:
            await bench.rig.rest(trial, LATE_SECONDS)
            trial.tools_after = await trial.names_now()
    return seen


def is_odd(call: Call) -> bool:
    """Tell whether a call failed or asked Gerrit for nothing: perhaps for what an earlier call left in the process."""
    return not call.succeeded or not call.own


def is_no_refusal(call: Call) -> bool:
    """Tell whether a call that had to fail did not, or never came to the point of failing."""
    return call.succeeded or not any(entry.fault for entry in call.own)


@dataclass(frozen=True, kw_only=True)
class Step:
    """One call that a scenario makes."""

    tool: ToolEntry
    name: str = ""
    added: Mapping[str, Any] = field(default_factory=dict)
    """Arguments on top of the plainest ones."""
    instead: Mapping[str, Any] | None = None
    """All arguments, where the plainest ones do not count."""
    faults: tuple[Fault, ...] = ()
    """What goes wrong at the hosts during the call."""
    prepare: Callable[[World], None] | None = None
    """What is done to the hosts before the call."""
    odd: Callable[[Call], bool] | None = is_odd
    """Which outcome is worth another try alone; None where any is as good as another."""


async def play(bench: Bench, steps: Iterable[Step], **changes: Any) -> Seen:  # noqa: ANN401 - of Surroundings
    """Make all calls in one trial, each in a world that no earlier call has changed.

    A call without an answer costs a new trial. One that came out odd is made again, alone, and that is what counts:
    where it was not the first in its process, as a subject may well keep answers and connections, and where it took as
    long as nothing here takes, as the machine may have stood still. A tool that hung after other calls is called in
    processes of its own from then on, as it would only be waited for.
    """
    seen, surroundings = Seen(), bench.surroundings(**changes)
    todo = [step for step in steps if _can_be_called(bench, step.tool, seen)]
    failed = 0
    while todo and failed <= MORE_STARTS:
        async with bench.rig.trial(bench.subject, surroundings) as trial:
            seen.trials.append(trial)
            again = await _play_in(trial, todo, bench, seen)
        failed += not trial.in_session
        for step in again:
            async with bench.rig.trial(bench.subject, surroundings) as alone:
                seen.trials.append(alone)
                await _play_in(alone, [step], bench, seen)
    return seen


async def _play_in(trial: Trial, todo: list[Step], bench: Bench, seen: Seen) -> list[Step]:
    """Make calls in one trial until one has no answer; take them off `todo`, and give those to be made again alone."""
    again: list[Step] = []
    while todo and trial.in_session and trial.alive:
        step = todo.pop(0)
        tool = str(step.tool["name"])
        if tool in seen.hung and step.odd is not None and trial.calls:
            again.append(step)
            continue
        trial.enter(_world_of(step, bench, trial), step.faults)
        call = await trial.call(tool, _arguments_of(step, bench))
        seen.calls[tool, step.name] = call
        if call.reply is None and not call.died and len(trial.calls) > 1:
            seen.hung.add(tool)
        stalled = call.reply is not None and call.seconds > STALLED_SECONDS
        if step.odd is not None and (len(trial.calls) > 1 or stalled) and step.odd(call):
            again.append(step)
        if call.reply is None or trial.age > bench.rig.settings.limit_seconds / 2:
            return again  # many calls must not run into a limit that is meant for one
    trial.tools_after = await trial.names_now()
    return again


def _arguments_of(step: Step, bench: Bench) -> dict[str, Any]:
    return {**(bench.arguments(step.tool) if step.instead is None else step.instead), **step.added}


def _world_of(step: Step, bench: Bench, trial: Trial) -> World:
    """Give the hosts of a call as it finds them."""
    world = bench.rig.world(trial.surroundings)
    if step.prepare is not None:
        step.prepare(world)
    return world


def _can_be_called(bench: Bench, tool: ToolEntry, seen: Seen) -> bool:
    """Tell whether arguments are known for a tool; where they are not, `seen` keeps what to supply."""
    try:
        bench.arguments(tool)
    except Inconclusive as unknown:
        seen.unknown[str(tool["name"])] = unknown
        return False
    return True


PLAINLY: Mapping[str, Any] = {"placement": "everywhere", "plugin_list_ttl_seconds": 0}
"""The surroundings of the plainest call."""


async def plain(bench: Bench, tools: list[ToolEntry]) -> Seen:
    """Call each tool with the plainest arguments where every host has every plugin, and no list is remembered."""
    steps = [Step(tool=tool) for tool in tools]
    return await play(bench, steps, **PLAINLY)


NAMED = "naming a host"
"""The step in which a call names the host that answers by 404; all others are well."""
NAMED_HOST = next(plan for plan in HOSTS if plan.has_plugin and not plan.default)


async def not_found(
    bench: Bench,
    tools: Mapping[str, ToolEntry],
    usual: Seen,
    parameters: Mapping[str, str],
    *,
    returns_http_errors: bool,
) -> Seen:
    """Call each tool while the request that it usually makes first is answered by 404, however often it is made.

    Args:
        bench: the subject.
        tools: the tools by name.
        usual: their plain calls.
        parameters: for each tool that takes an address, the parameter; it is called once more, with the address of the
            one host that answers so.
        returns_http_errors: what the host's `run_curl` does with such an answer.
    """
    steps: list[Step] = []
    for name, tool in tools.items():
        calls = usual.calls_of(name)
        steps.append(Step(tool=tool, faults=(_missing(calls),), odd=is_no_refusal))
        if name in parameters and calls and calls[-1].own:
            there, address = _missing(calls, host=NAMED_HOST.name), {parameters[name]: NAMED_HOST.url}
            steps.append(Step(tool=tool, name=NAMED, added=address, faults=(there,), odd=lambda call: call.succeeded))
    return await play(bench, steps, returns_http_errors=returns_http_errors)


def _missing(usual: list[Call], host: str | None = None) -> Fault:
    from mock_gerrit.faults import Fault  # noqa: PLC0415 - loaded with the first trial

    told: dict[str, Any] = {"kind": "status", "status": 404, "body": NOT_FOUND, "host": host}
    if not (usual and usual[-1].own):
        return Fault(not_path=ASKING_FOR_PLUGINS, nth=1, **told)
    return fault_on(usual[-1].own[0], **told)


def fault_on(entry: Entry, **told: Any) -> Fault:  # noqa: ANN401 - fields of Fault
    """Make a fault that meets every request for the path of an earlier one, however often it is made."""
    from mock_gerrit.faults import Fault  # noqa: PLC0415 - loaded with the first trial

    return Fault(path=f"^{re.escape(entry.gerrit_path)}$", **told)


async def typed_addresses(bench: Bench, tools: list[ToolEntry]) -> Seen:
    """Call each tool with `gerrit_base_url` as null and in every form that a person types."""
    forms: dict[str, str | None] = {NULL: None, **{form: url for form, (_, url) in BASE_FORMS.items()}}
    steps = [
        Step(tool=tool, name=form, added={BASE_URL_PARAMETER: url}) for tool in tools for form, url in forms.items()
    ]
    return await play(bench, steps)


ADDRESSES: Mapping[Placement, Mapping[str, str | None]] = {
    "some": {
        "no address": None,
        "has it": "https://elm.example.com/r",
        "lacks it": "https://cedar.example.com",
        "lacks it, again": "https://cedar.example.com",
    },
    "nowhere": {"no address": None},
    "disabled-first": {"no address": None, "disabled there": "https://rowan.example.com"},
}
"""The steps of a routed call for each placement of the plugin, with the address that each gives."""


async def routed(
    bench: Bench, tools: Mapping[str, ToolEntry], parameters: Mapping[str, str], placement: Placement
) -> Seen:
    """Call plugin-backed tools where not every host has the plugin: with no, a right and a wrong address.

    Args:
        bench: the subject.
        tools: the tools by name.
        parameters: for each tool, the parameter that takes the address.
        placement: which hosts have the plugin.
    """
    steps = [
        Step(
            tool=tool,
            name=step,
            added={} if url is None else {parameters[name]: url},
            odd=is_odd if placement == "some" and step in {"no address", "has it"} else None,
        )
        for name, tool in tools.items()
        for step, url in ADDRESSES[placement].items()
    ]
    return await play(bench, steps, placement=placement, masks_errors=True)
