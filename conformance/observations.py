"""What has been seen of one subject: each scenario is played at most once, whoever asks for it first.

This is what a clause is given. It holds no opinion; `conformance.examine` judges.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from typing import Any

from conformance.backing import Backing, backing_of
from conformance.memory import Memory
from conformance.outcomes import Blocked
from conformance.playing import Playing
from conformance.profile import Profile
from conformance.rig import scenarios
from conformance.rig.rig import Rig
from conformance.rig.samples import BASE_URL_PARAMETER, takes_address
from conformance.rig.scenarios import Bench, Seen
from conformance.rig.second_tries import with_other_arguments
from conformance.rig.surroundings import Placement
from conformance.rig.trial import Trial
from conformance.scenes import CALLING, FORESEEN
from conformance.scenes.loading import unbidden
from conformance.subject import Subject

PLACEMENTS: tuple[Placement, ...] = ("some", "nowhere", "disabled-first")
"""How a plugin is placed among the hosts when routing is tried."""


class Observations(Playing):
    """The scenarios of one subject on one rig, and what they show."""

    def __init__(self, subject: Subject, *, rig: Rig, profile: Profile, memory: Memory) -> None:
        """Play nothing yet."""
        self.rig = rig
        self.profile = profile
        self.bench = Bench(rig=rig, subject=subject, profile=profile)
        super().__init__(memory)

    async def survey(self) -> Trial:
        """Give the trial in which the subject was loaded and listed, and nothing else.

        Raises:
            Blocked: the subject asks for another interpreter, or names no module to import, or the host did not come to
                the point of importing one.
        """
        if why_not := self.bench.subject.blocked:
            raise Blocked(why_not, by="python")
        if not self.bench.subject.modules:
            raise Blocked("no entry point leads a host to a module of it", by="EXT-ENTRY")
        trial: Trial = await self._memory.once("survey", lambda: scenarios.loaded(self.bench))
        if not trial.told("importing"):
            why = "; ".join(str(fact["text"]) for fact in trial.told("crash")) or trial.stderr().strip()[-300:]
            raise Blocked(f"the host did not start: {why or 'it said nothing'}", by="host")
        return trial

    async def configured(self) -> dict[str, Trial]:
        """Give the trials under each form of settings, by a name for the form."""
        survey = await self.survey()
        asked = [str(about["name"]) for about in survey.told("extension_config")]
        name = self.profile.extension.config_name or (asked[0] if asked else None)
        return await self._memory.once("configured", lambda: scenarios.configured(self.bench, name))

    async def aftermath(self) -> Seen:
        """Give the calls of all tools that answer, and what came a while after them."""
        return await self.of(Observations._aftermath)

    async def _aftermath(self) -> Seen:
        return await scenarios.aftermath(self.bench, list((await self.answering()).values()))

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
        return await self.of(Observations._plain)

    async def _plain(self) -> Seen:
        survey, tools = await self.survey(), await self.tools()
        wanted = {str(about["plugin"]) for about in survey.told("decorated")} | {
            one.plugin for one in self.profile.canned if one.plugin is not None
        }
        self._place(wanted)
        self.bench = replace(self.bench, unbidden=await self.of(unbidden))
        seen = await scenarios.plain(self.bench, tools)
        asked = {str(fact["name"]) for call in seen.calls.values() for fact in call.told("registry_asked")}
        if self._place(asked):
            seen = await scenarios.plain(self.bench, tools)
        self.bench = await with_other_arguments(self.bench, tools, seen)
        return seen

    def _place(self, plugins: set[str]) -> bool:
        """Add plugins to those of the surroundings; True where one is new."""
        new = plugins - set(self.bench.plugins)
        self.bench = replace(self.bench, plugins=(*self.bench.plugins, *sorted(new)))
        return bool(new)

    async def answering(self) -> dict[str, Mapping[str, Any]]:
        """Give the tools that gave an answer to the plainest call: the others would only be waited for."""
        calls = (await self.plain()).calls
        return {str(t["name"]): t for t in await self.tools() if (c := calls.get((str(t["name"]), ""))) and c.reply}

    async def not_found(self, *, returns_http_errors: bool) -> Seen:
        """Give the calls of each tool while its first own request is answered by 404, on one kind of host."""
        return await self.of(Observations._not_found, returns_http_errors=returns_http_errors)

    async def _not_found(self, *, returns_http_errors: bool) -> Seen:
        tools, usual = await self.answering(), await self.plain()
        parameters = await self._routing_parameters()
        parameters |= {name: BASE_URL_PARAMETER for name, tool in tools.items() if takes_address(tool)}
        return await scenarios.not_found(self.bench, tools, usual, parameters, returns_http_errors=returns_http_errors)

    async def typed_addresses(self) -> Seen:
        """Give the calls of each tool that takes an address, and does not do without Gerrit, with it in every form."""
        return await self.of(Observations._typed_addresses)

    async def _typed_addresses(self) -> Seen:
        plain = await self.plain()
        tools = [tool for name, tool in (await self.answering()).items() if takes_address(tool)]
        asking = [tool for tool in tools if (usual := plain.call(str(tool["name"]))).own or not usual.succeeded]
        return await scenarios.typed_addresses(self.bench, asking)

    async def routed(self, placement: Placement) -> Seen:
        """Give the calls of each tool that asks for a plugin, where the plugin is placed so."""
        return await self.of(Observations._routed, placement)

    async def _routed(self, placement: Placement) -> Seen:
        tools, parameters = await self.answering(), await self._routing_parameters()
        backed = {name: tools[name] for name in parameters}
        return await scenarios.routed(self.bench, backed, parameters, placement)

    async def _routing_parameters(self) -> dict[str, str]:
        """Give the parameter that takes the address, for each tool that answers and asks for a plugin."""
        survey, plain = await self.survey(), await self.plain()
        backings = {name: backing_of(name, survey, plain) for name in await self.answering()}
        return {name: backing.parameter for name, backing in backings.items() if backing}

    async def everything(self) -> AsyncIterator[Seen]:
        """Yield every scenario in which tools are called: what must never happen may happen in any of them.

        The plainest comes first, and none is played before it is asked for: whoever has seen enough stops.
        """
        yield await self.plain()
        for kind in (False, True):
            yield await self.not_found(returns_http_errors=kind)
        yield await self.typed_addresses()
        for placement in PLACEMENTS:
            yield await self.routed(placement)
        yield await self.aftermath()
        for scene in CALLING:
            yield await self.of(scene)

    async def trials_with_calls(self) -> AsyncIterator[Trial]:
        """Yield the trials of `everything`, in order."""
        async for seen in self.everything():
            for trial in seen.trials:
                yield trial

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

    async def _foresee(self) -> None:
        if not (await self.survey()).in_session:
            return
        await asyncio.gather(self.plain(), self.configured(), return_exceptions=True)
        later = [self.not_found(returns_http_errors=kind) for kind in (False, True)]
        routes = [self.routed(placement) for placement in PLACEMENTS]
        scenes = [self.of(scene) for scene in FORESEEN]
        await asyncio.gather(self.aftermath(), *later, self.typed_addresses(), *routes, *scenes, return_exceptions=True)
