"""What is done with a subject so that clauses can look at it; nothing is judged here.

Each scenario is one trial (or a few alike), closed when it returns. Clauses of several families look at the same
scenario, so an `Examination` runs each at most once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from conformance.outcomes import Inconclusive
from conformance.profile import Profile
from conformance.rig.rig import Rig
from conformance.rig.samples import BASE_URL_PARAMETER, sample_arguments
from conformance.rig.surroundings import BASE_FORMS, NO_EXTENSIONS_KEY, NULL, Placement, Surroundings
from conformance.rig.trial import Call, Trial
from conformance.subject import Subject

if TYPE_CHECKING:
    from mock_gerrit.faults import Fault

SIMULATED_PLUGINS = ("code-owners", "depends-on", "task")
LATE_SECONDS = 1.5
"""How long EXT-VISIBLE waits for tools that come after the first list."""
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

    def surroundings(self, **changes: Any) -> Surroundings:  # noqa: ANN401 - fields of Surroundings
        """Give the usual surroundings of this subject, with `changes`."""
        usual: dict[str, Any] = {
            "plugins": self.plugins,
            "extensions": self.block(),
            "canned": tuple(self.profile.canned),
        }
        return Surroundings(**{**usual, **changes})

    def block(self) -> dict[str, Any]:
        """What stands under `extensions` in the configuration: the profile's block under its name."""
        told = self.profile.extension
        return {told.config_name: told.config} if told.config_name else {}

    def arguments(self, tool: ToolEntry) -> dict[str, Any]:
        """Give sample arguments for a tool; raises Inconclusive where they cannot be known."""
        told = self.profile.tools.get(str(tool["name"]))
        return sample_arguments(tool, told.arguments if told else None)


@dataclass(kw_only=True)
class Seen:
    """What a scenario left behind: its trials, all closed, and the calls by tool and by step."""

    trials: list[Trial] = field(default_factory=list)
    calls: dict[tuple[str, str], Call] = field(default_factory=dict)
    unknown: dict[str, Inconclusive] = field(default_factory=dict)
    """Tools that could not be called because nobody knows with what."""

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
    async with bench.rig.trial(bench.subject, bench.surroundings(**changes), declared_only=True) as trial:
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


async def listed_late(bench: Bench) -> tuple[list[str], list[str]]:
    """List the tools at once and again after a while; give both lists of names."""
    async with bench.rig.trial(bench.subject, bench.surroundings()) as trial:
        if not trial.in_session:
            return [], []
        first = _names(trial.tools)
        await asyncio.sleep(LATE_SECONDS)  # waiting is the point: a tool may come from a timer or a task
        return first, await trial.names_now() or first


def _names(tools: list[dict[str, Any]]) -> list[str]:
    return [str(tool["name"]) for tool in tools]


@dataclass(frozen=True, kw_only=True)
class Step:
    """One call that a scenario makes."""

    tool: ToolEntry
    name: str = ""
    added: Mapping[str, Any] = field(default_factory=dict)
    """Arguments on top of the plainest ones."""
    faults: tuple[Fault, ...] = ()
    """What goes wrong at the hosts during the call."""


async def play(bench: Bench, steps: Iterable[Step], **changes: Any) -> Seen:  # noqa: ANN401 - fields of Surroundings
    """Make all calls in one trial, each in a world that no earlier call has changed.

    A call without an answer costs a new trial: what did not answer once may not answer again.
    """
    seen, surroundings = Seen(), bench.surroundings(**changes)
    todo = [step for step in steps if _can_be_called(bench, step.tool, seen)]
    while todo:
        async with bench.rig.trial(bench.subject, surroundings) as trial:
            seen.trials.append(trial)
            while todo and trial.in_session and trial.alive:
                step = todo.pop(0)
                trial.enter(bench.rig.world(surroundings), step.faults)
                tool = str(step.tool["name"])
                call = await trial.call(tool, {**bench.arguments(step.tool), **step.added})
                seen.calls[tool, step.name] = call
                if call.reply is None:
                    break
            else:
                trial.tools_after = await trial.names_now()
        if not trial.in_session:
            break
    return seen


def _can_be_called(bench: Bench, tool: ToolEntry, seen: Seen) -> bool:
    """Tell whether arguments are known for a tool; where they are not, `seen` keeps what to supply."""
    try:
        bench.arguments(tool)
    except Inconclusive as unknown:
        seen.unknown[str(tool["name"])] = unknown
        return False
    return True


async def plain(bench: Bench, tools: list[ToolEntry]) -> Seen:
    """Call each tool with the plainest arguments where every host has every plugin, and no list is remembered."""
    steps = [Step(tool=tool) for tool in tools]
    return await play(bench, steps, placement="everywhere", plugin_list_ttl_seconds=0)


async def not_found(bench: Bench, tools: list[ToolEntry], *, returns_http_errors: bool) -> Seen:
    """Call each tool while the first request of its own is answered by 404."""
    from mock_gerrit.faults import Fault  # noqa: PLC0415 - loaded with the first trial

    fault = Fault(kind="status", status=404, body=NOT_FOUND, not_path=r"^/plugins/?$", nth=1)
    steps = [Step(tool=tool, faults=(fault,)) for tool in tools]
    return await play(bench, steps, returns_http_errors=returns_http_errors)


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
    "disabled-first": {"no address": None, "disabled there": "https://alder.example.com"},
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
        Step(tool=tool, name=step, added={} if url is None else {parameters[name]: url})
        for name, tool in tools.items()
        for step, url in ADDRESSES[placement].items()
    ]
    return await play(bench, steps, placement=placement, masks_errors=True)
