"""What is done with a subject so that clauses can look at it; nothing is judged here.

Each scenario is one trial (or a few alike), closed when it returns. Clauses of several families look at the same
scenario, so an `Examination` runs each at most once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from conformance.outcomes import Inconclusive
from conformance.profile import Profile
from conformance.rig.rig import Rig
from conformance.rig.samples import BASE_URL_PARAMETER, sample_arguments
from conformance.rig.surroundings import BASE_FORMS, HOSTS, NO_EXTENSIONS_KEY, NULL, Placement, Surroundings
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
        """Give the call of a tool in a step; raises the Inconclusive where it could not be made."""
        if tool in self.unknown:
            raise self.unknown[tool]
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


Step = tuple[str, Mapping[str, Any], "tuple[Fault, ...]"]
"""A step's name, the arguments that it adds, and the faults in force during it."""


async def steps(bench: Bench, tools: list[ToolEntry], plan: list[Step], **changes: Any) -> Seen:  # noqa: ANN401
    """Call each tool once for each step of `plan`, in one trial; one that ends the process costs a new trial."""
    seen = Seen()
    todo: list[tuple[ToolEntry, Step]] = []
    for tool in tools:
        try:
            bench.arguments(tool)
        except Inconclusive as unknown:
            seen.unknown[str(tool["name"])] = unknown
            continue
        todo += [(tool, step) for step in plan]
    while todo:
        async with bench.rig.trial(bench.subject, bench.surroundings(**changes)) as trial:
            seen.trials.append(trial)
            if not trial.in_session:
                break
            while todo and trial.alive:
                tool, (name, added, faults) = todo.pop(0)
                trial.world.faults.clear()
                for fault in faults:
                    trial.world.faults.add(fault)
                call = await trial.call(str(tool["name"]), {**bench.arguments(tool), **added})
                seen.calls[str(tool["name"]), name] = call
                if call.reply is None:
                    break  # what does not answer may not answer the next call either
            else:
                trial.tools_after = await trial.names_now()
    return seen


async def plain(bench: Bench, tools: list[ToolEntry]) -> Seen:
    """Call each tool with the plainest arguments where every host has every plugin, and no list is remembered."""
    return await steps(bench, tools, [("", {}, ())], placement="everywhere", plugin_list_ttl_seconds=0)


async def not_found(bench: Bench, tools: list[ToolEntry], *, returns_http_errors: bool) -> Seen:
    """Call each tool while the first request of its own is answered by 404."""
    from mock_gerrit.faults import Fault  # noqa: PLC0415 - loaded with the first trial

    fault = Fault(kind="status", status=404, body=NOT_FOUND, not_path=r"^/plugins/?$", nth=1)
    return await steps(bench, tools, [("", {}, (fault,))], returns_http_errors=returns_http_errors)


async def typed_addresses(bench: Bench, tools: list[ToolEntry]) -> Seen:
    """Call each tool with `gerrit_base_url` as null and in every form that a person types."""
    plan: list[Step] = [(NULL, {BASE_URL_PARAMETER: None}, ())]
    plan += [(form, {BASE_URL_PARAMETER: url}, ()) for form, (_, url) in BASE_FORMS.items()]
    return await steps(bench, tools, plan, placement="everywhere")


async def routed(bench: Bench, tools: list[ToolEntry], placement: Placement) -> Seen:
    """Call each plugin-backed tool where not every host has the plugin: with no, a right and a wrong address."""
    urls = {plan.name: plan.url for plan in HOSTS}
    plan: list[Step] = [
        ("no address", {}, ()),
        ("has it", {BASE_URL_PARAMETER: urls["elm"]}, ()),
        ("lacks it", {BASE_URL_PARAMETER: urls["cedar"]}, ()),
        ("lacks it, again", {BASE_URL_PARAMETER: urls["cedar"]}, ()),
    ]
    if placement == "nowhere":
        plan = plan[:1]
    if placement == "disabled-first":
        plan = [plan[0], ("disabled there", {BASE_URL_PARAMETER: HOSTS[0].url}, ())]
    return await steps(bench, tools, plan, placement=placement, masks_errors=True)
