"""Clauses about a server's `requires_plugin`: where it sends a call, and what it says where no host fits.

What routing hands to the tool decides, not what `get_base_url` and `run_curl` make of it afterwards.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from conformance.contracts.registry import GUIDE, clause, field_sense
from conformance.outcomes import Blocked, Finding, Inconclusive, Level
from conformance.probes.routed import PLAIN, ROUTED
from conformance.profile import plain_host_name
from conformance.rig.surroundings import HOSTS, HostPlan
from conformance.rig.trial import Call, names_host
from conformance.scenes import server_routing as scenes
from conformance.scenes.routing import DEFAULT, FIRST, SECOND

if TYPE_CHECKING:
    from conformance.scenes.server_routing import Routed
    from conformance.server_observations import ServerObservations

MUST = Level.MUST
HAVING = tuple(plan for plan in HOSTS if plan.has_plugin)
LACKING = tuple(plan for plan in HOSTS if not plan.has_plugin)
ENV, SCHEMA, TAKES_FIRST, GIVEN = "SRV-ENV", "SRV-ROUTE-SCHEMA", "SRV-ROUTE-FIRST", "SRV-ROUTE-GIVEN"
CAUSES = (SCHEMA, TAKES_FIRST, GIVEN)
"""What explains that calls go wrong which others judge by their end: where they are sent, and as what."""

Scene = Callable[..., Coroutine[Any, Any, "Routed"]]

FIRST_OF_ALL = """
    for url in registry.configured_hosts():
        if await registry.host_has_plugin(url, name):
            return url
    raise RuntimeError(f"no configured host has the plugin {name}")
"""
THE_NAMED_ONE = """
    if requested:
        if await registry.host_has_plugin(requested, name):
            return await tool(**{**arguments, "gerrit_base_url": requested})
"""
WHO_HAS_IT = """
    having = await registry.hosts_with_plugin(name)
    raise RuntimeError(f"{url} lacks the plugin {name}; hosts that have it: {', '.join(having)}")
"""


async def see(observed: ServerObservations, scene: Scene, *about: str) -> Routed:
    """Give what a scene has shown of a plugin-backed tool; raises where the probe has none in this server."""
    seen = await made(observed, scene, *about)
    if ROUTED not in seen.served.names:
        why = seen.failures.get("requires_plugin") or seen.failures.get(ROUTED) or "it is not among the tools"
        raise Blocked(f"no tool comes of a decorated function: {why}", by=SCHEMA, evidence=seen.served.evidence())
    return seen


async def made(observed: ServerObservations, scene: Scene, *about: str) -> Routed:
    """Give what a scene has shown; raises where the probe is not loaded, or gets no `requires_plugin`."""
    seen = await observed.of(scene, *about)
    served, failures = seen.served, seen.failures
    if PLAIN not in served.names:
        why = failures.get("undecorated") or served.session_trouble or "its tool is not there"
        raise Blocked(f"the probe is not loaded: {why}", by=ENV, evidence=served.evidence())
    if "import" in failures:
        raise Inconclusive(
            f"the server gives extensions no requires_plugin: {failures['import']}",
            supply="a function requires_plugin that an extension can import from gerrit_mcp_server.extensions",
            evidence=served.evidence(),
        )
    if "plugin_registry" in failures:
        why = f"the context has no plugin_registry: {failures['plugin_registry']}"
        raise Blocked(why, by="SRV-CTX-PLUGIN-REGISTRY", evidence=served.evidence())
    return seen


def judge_routed(seen: Routed, step: str, plan: HostPlan, expected: str) -> None:
    """Raise a Finding unless the tool was run in a call with the address of one host, and the call succeeded."""
    call, given = seen.call(step), seen.given(step)
    hosts = {name for url in given for name in ({_host_of(url)} if url else call.hosts)}
    if hosts != {plan.name}:
        where = f"the tool run for {' and '.join(sorted(hosts)) or 'no host'}" if given else "the tool not run"
        raise Finding(expected=expected, saw=f"{where}; {call.saw()}", evidence=call.evidence())
    if astray := sorted(call.hosts - {plan.name}):
        why = f"routing chose {plan.url}, and what the tool asked through the context went to {' and '.join(astray)}"
        raise Blocked(why, by="SRV-CTX-GET-BASE-URL", evidence=call.evidence())
    if not call.succeeded:
        raise Finding(expected=expected, saw=call.saw(), evidence=call.evidence())


def _host_of(url: str) -> str:
    """Name the host of the rig that an address means; the address itself where it means none."""
    named = plain_host_name(url)
    return next((one.name for one in HOSTS if named in map(plain_host_name, (one.url, one.internal_url))), url)


@clause(
    TAKES_FIRST,
    level=MUST,
    source=GUIDE.section("Routing behavior"),
    needs=(ENV,),
    excused_by=(SCHEMA,),
    fix="Ask the hosts in the order of gerrit_hosts, and hand the first that has the plugin to the tool.",
    example=FIRST_OF_ALL,
    neighbours=(GIVEN, "SRV-ROUTE-DISABLED", "SRV-ROUTE-LAZY"),
)
async def without_an_address_the_first_host_with_the_plugin_is_taken(observed: ServerObservations) -> None:
    """Without `gerrit_base_url`, a plugin-backed tool runs for the first of `gerrit_hosts` that has the plugin."""
    seen = await see(observed, scenes.routed)
    expected = f"the tool run for {FIRST.url}, the first configured host with the plugin"
    judge_routed(seen, "no address", FIRST, expected)
    judge_routed(seen, "no address, again", FIRST, expected)


@clause(
    GIVEN,
    level=MUST,
    source=GUIDE.section("Routing behavior"),
    needs=(ENV,),
    excused_by=(SCHEMA, TAKES_FIRST),
    fix="Where gerrit_base_url names a host that has the plugin, run the tool for that host; its list is enough.",
    example=THE_NAMED_ONE,
    neighbours=(TAKES_FIRST, "SRV-ROUTE-LAZY", "SRV-ROUTE-SAMEHOST"),
)
async def a_given_host_with_the_plugin_is_taken(observed: ServerObservations) -> None:
    """With the address of a host that has the plugin, the tool runs for that host, after one look at its list at most.

    Tried when no list is remembered, and again when all are.
    """
    seen = await see(observed, scenes.routed)
    expected = f"the tool run for {SECOND.url}, which was given and has the plugin"
    judge_routed(seen, "has it", SECOND, expected)
    judge_routed(seen, "has it, again", SECOND, expected)
    call = seen.call("has it")
    lists = [entry for entry in call.lists if entry.host == SECOND.name]
    if len(lists) > 1:
        raise Finding(
            expected=f"at most one request for the list of {SECOND.url}",
            saw=f"{len(lists)} of them",
            evidence=call.evidence(),
        )


@clause(
    "SRV-ROUTE-NAMES",
    level=MUST,
    source=GUIDE.section("Routing behavior"),
    needs=(ENV, "SRV-ROUTE-REACHES"),
    excused_by=(*CAUSES, "SRV-ROUTE-ERROR"),
    fix="Put the hosts that have the plugin into the error, each by its name or address, and no other.",
    example=WHO_HAS_IT,
    neighbours=("SRV-ROUTE-SKIPPED", "SRV-ROUTE-NONE", "SRV-ROUTE-REFRESH"),
)
async def a_refusal_names_every_host_with_the_plugin(observed: ServerObservations) -> None:
    """A call for a host without the plugin is refused, naming each configured host that has it.

    A host without it is named only as the one that was asked for.
    """
    seen = await see(observed, scenes.routed)
    call = seen.call("lacks it")
    expected = f"an error that names {' and '.join(plan.url for plan in HAVING)}"
    if call.succeeded:
        raise Finding(expected=expected, saw=call.saw(), evidence=call.evidence())
    if missing := [plan.url for plan in HAVING if not names_host(call.text, plan)]:
        raise Finding(expected=expected, saw=f"{call.saw()}, without {' and '.join(missing)}", evidence=call.evidence())
    if wrong := [plan.url for plan in LACKING if plan is not DEFAULT and names_host(call.text, plan)]:
        raise Finding(
            expected=f"{expected}, and no host without the plugin",
            saw=f"{' and '.join(wrong)} named too: {call.saw()}",
            evidence=call.evidence(),
        )


@clause(
    "SRV-ROUTE-NONE",
    level=MUST,
    source=GUIDE.section("Routing behavior"),
    needs=(ENV,),
    excused_by=(*CAUSES, "SRV-ROUTE-ERROR"),
    fix="Raise where no configured host has the plugin; there is no host to fall back to.",
    example=FIRST_OF_ALL,
    neighbours=("SRV-ROUTE-NAMES", "SRV-ROUTE-SKIPPED", "SRV-ROUTE-ERROR"),
)
async def nowhere_is_an_error(observed: ServerObservations) -> None:
    """When no configured host has the plugin, the call is an error."""
    call = (await see(observed, scenes.nowhere)).call("nowhere")
    if call.reply is None or call.succeeded:
        raise Finding(expected="isError, as no host has the plugin", saw=call.saw(), evidence=call.evidence())


@clause(
    "SRV-ROUTE-SKIPPED",
    level=MUST,
    source=field_sense("a refused call must not have acted: whoever reads the error would act again"),
    needs=(ENV,),
    excused_by=CAUSES,
    fix="Choose the host first; the function that was decorated is not called where that fails.",
    example="""
        chosen = await choose_host(name, registry, requested)  # may raise: first of all
        return await tool(**{**arguments, "gerrit_base_url": chosen})
    """,
    neighbours=("SRV-ROUTE-NAMES", "SRV-ROUTE-NONE", "SRV-ROUTE-ERROR"),
)
async def a_refused_call_does_not_run_the_tool(observed: ServerObservations) -> None:
    """When routing fails, the tool itself is not run, and nothing but lists of plugins is asked for."""
    for scene, steps in ((scenes.routed, ("lacks it", "lacks it, again")), (scenes.nowhere, ("nowhere",))):
        seen = await see(observed, scene)
        for call, step in ((seen.call(step), step) for step in steps):
            if not call.succeeded and (seen.given(step) or call.own):
                ran = f"the tool run with the address {seen.given(step)[0]}" if seen.given(step) else "the tool not run"
                asked = "".join(f"; {one.method} {one.url} asked" for one in call.own)
                raise Finding(
                    expected="a refused tool not to be run", saw=f"{ran}{asked}; {call.saw()}", evidence=call.evidence()
                )


@clause(
    "SRV-ROUTE-REACHES",
    level=MUST,
    source=GUIDE.section("Routing behavior"),
    needs=(ENV,),
    excused_by=(*CAUSES, "SRV-ROUTE-ERROR"),
    fix="Raise an error that is a ToolError of the SDK as well: version 2 hides the text of any other.",
    example="""
        class RoutingError(ToolError, RuntimeError):
            \"\"\"Its text reaches the caller on every SDK.\"\"\"
    """,
    neighbours=("SRV-ROUTE-ERROR", "SRV-ROUTE-SKIPPED"),
)
async def a_refusal_reaches_the_caller_with_its_text(observed: ServerObservations) -> None:
    """What routing raises reaches the caller as an error with its text, which speaks of a plugin or of a host."""
    for scene, step in ((scenes.routed, "lacks it"), (scenes.nowhere, "nowhere")):
        seen = await see(observed, scene)
        call = seen.call(step)
        if call.succeeded and not seen.given(step) and not call.own:
            raise Finding(expected="isError, as no host fits", saw=call.saw(), evidence=call.evidence())
        if call.reply is not None and call.reply.is_error and not _gives_a_reason(call):
            raise Finding(
                expected="an error that says why: a plugin, or a host",
                saw=f"only {call.text!r}",
                evidence=call.evidence(),
            )


def _gives_a_reason(call: Call) -> bool:
    """Tell whether more came than the SDK's mask: the word plugin, or a host, beside the name of the tool."""
    text = re.sub(rf"^Error (?:executing|calling) tool '?{ROUTED}'?:?", "", call.text.strip())
    return "plugin" in text.lower() or any(names_host(text, plan) for plan in HOSTS)
