"""Clauses about a server's `requires_plugin`: what it makes of a function, raises, and does about unreadable lists."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from conformance.contracts.registry import GUIDE, clause, field_sense
from conformance.contracts.routing_trouble import calls_it_absent, says_so
from conformance.contracts.server_routing import CAUSES, ENV, GIVEN, SCHEMA, TAKES_FIRST, judge_routed, made, see
from conformance.outcomes import Blocked, Evidence, Finding, Inconclusive, Level
from conformance.probes.routed import INSIDE, NAMED, PLAIN, ROUTED
from conformance.scenes import server_routing as scenes
from conformance.scenes.routing import FIRST, SECOND, UNCONFIGURED
from conformance.scenes.server_routing import DURING, FAILURES, LONG_OVER, OVER, comes_by

if TYPE_CHECKING:
    from conformance.scenes.server_routing import Routed
    from conformance.server_observations import ServerObservations

MUST, SHOULD = Level.MUST, Level.SHOULD
ERROR, REACHES = "SRV-ROUTE-ERROR", "SRV-ROUTE-REACHES"


@clause(
    SCHEMA,
    level=MUST,
    source=GUIDE.section("Routing behavior"),
    needs=(ENV,),
    fix="Wrap the function with functools.wraps, so that the SDK derives the same tool from it.",
    example="""
        @functools.wraps(function)
        async def routed(*args, **kwargs): ...
    """,
    neighbours=(TAKES_FIRST, ERROR),
)
async def decorating_keeps_what_the_tool_shows(observed: ServerObservations) -> None:
    """A function that went through `requires_plugin` makes a tool of the same name, description and schemas.

    One function is registered twice, decorated and not: description, input properties and output schema have to be
    equal. Another, decorated, is registered without a name, and has to get that of the function.
    """
    seen = await made(observed, scenes.routed)
    tools = {str(tool["name"]): tool for tool in seen.served.tools}
    for name in (ROUTED, NAMED):
        if name not in tools:
            why = seen.failures.get("requires_plugin") or seen.failures.get(name) or "no tool of that name in the list"
            raise Finding(
                expected=f"the tool {name} made of a decorated function",
                saw=why,
                evidence=(Evidence(kind="reply", text=f"tools/list: {', '.join(tools)}"),),
            )
    before, after = _shown(tools[PLAIN]), _shown(tools[ROUTED])
    for part in before:
        if before[part] != after[part]:
            raise Finding(
                expected=f"the {part} of the function kept by requires_plugin",
                saw=f"{after[part]!r} instead of {before[part]!r}",
            )


def _shown(tool: Mapping[str, Any]) -> dict[str, Any]:
    """Give what has to stay of a tool; the titles of schemas are the SDK's own invention."""
    output = tool.get("outputSchema")
    return {
        "description": str(tool.get("description") or "").strip(),
        "input properties": (tool.get("inputSchema") or {}).get("properties"),
        "output schema": {key: value for key, value in output.items() if key != "title"} if output else None,
    }


@clause(
    ERROR,
    level=MUST,
    source=GUIDE.section("Routing behavior"),
    needs=(ENV,),
    excused_by=CAUSES,
    fix="Raise a RuntimeError, or a class of its own that is one, where no host fits; never return content blocks.",
    example='raise RuntimeError(f"{url} lacks the plugin {name}; hosts that have it: {having}")',
    neighbours=("SRV-ROUTE-NAMES", "SRV-ROUTE-NONE", "SRV-ROUTE-SKIPPED"),
)
async def what_is_raised_is_a_runtime_error(observed: ServerObservations) -> None:
    """When no host fits, what `requires_plugin` made raises a RuntimeError, and returns no list of content.

    Seen from inside the server, by a tool of the probe that calls the decorated function.
    """
    refused = 0
    for scene, step in ((scenes.routed, "inside: lacks it"), (scenes.nowhere, "inside: nowhere")):
        seen = await see(observed, scene)
        if INSIDE not in seen.served.names:
            raise Blocked(f"the probe has no tool {INSIDE}: {seen.failures.get(INSIDE, '')}", by=ENV)
        call = seen.call(step)
        if not call.succeeded:
            raise Inconclusive(
                f"the tool that calls the decorated function has not told how it ended: {call.saw()}",
                supply="a server in which a tool can await a function that requires_plugin has decorated",
                evidence=call.evidence(),
            )
        end = json.loads(call.text)
        refused += "raised" in end
        _judge_end(seen, step, end)
    if not refused:
        raise Blocked("it refused nothing", by="SRV-ROUTE-NAMES")


def _judge_end(seen: Routed, step: str, end: Mapping[str, Any]) -> None:
    expected = "a RuntimeError raised by what requires_plugin made, as no host fits"
    evidence = (*seen.call(step).evidence(), Evidence(kind="fact", text=f"{step}: {end}"))
    if "returned" in end:
        if not seen.given(step):  # else it was run for some host, which is another fault
            raise Finding(expected=expected, saw=f"a {end['returned']} returned", evidence=evidence)
    elif "RuntimeError" not in end["bases"]:
        raise Finding(expected=expected, saw=f"{end['raised']}, which is none", evidence=evidence)


@clause(
    "SRV-ROUTE-FAULTY",
    level=MUST,
    source=field_sense("one host that is down, or tells nothing to this account, must not take the others with it"),
    needs=(ENV,),
    excused_by=CAUSES,
    fix=(
        "Catch what reading one host's list raises (also where the body is no JSON), go on with the next host, and "
        "keep nothing of what failed."
    ),
    example="""
        try:
            self._lists[url] = json.loads(await run_curl([f"{url}/plugins/?all"], url))
        except Exception as problem:
            return Unreadable(problem)  # not kept: the next call asks again
    """,
    neighbours=("SRV-ROUTE-UNREADABLE", TAKES_FIRST, "SRV-ROUTE-CACHE"),
)
async def a_list_that_cannot_be_read_stands_for_its_host_only(observed: ServerObservations) -> None:
    """A host whose list cannot be read neither hides the others nor is remembered as one without plugins.

    The lists of the hosts up to the first that has the plugin fail with 403, with 500, with a page of HTML, or not at
    all in time; the next that has it must serve the call. What is asked again within seconds is not remembered.
    """
    for before, first in FAILURES:
        seen = await see(observed, scenes.failing, before, first)
        try:
            _judge_failing(seen, (before, first))
        except Finding:  # perhaps only for a machine that is too slow
            again = await observed.of(scenes.failing, before, first, curl_seconds=5)
            _judge_failing(again, (before, first))


def _judge_failing(seen: Routed, kinds: tuple[str, str]) -> None:
    call = seen.call(DURING)
    how = " and ".join(kinds)
    if not any(entry.fault for entry in call.lists):
        raise Blocked("it asked no host for its plugins while they could not be told", by="SRV-ROUTE-LAZY")
    if call.reply is None and not call.died:
        raise Inconclusive(
            f"while a host kept silent the call did not end: {call.trouble}",
            supply="a limit for requests that is shorter than that, such as curl --max-time",
            evidence=call.evidence(),
        )
    judge_routed(seen, DURING, SECOND, f"the tool run for {SECOND.url}, as the lists before it cannot be read ({how})")
    if not any(comes_by(seen.call(step), FIRST.name) for step in (OVER, LONG_OVER) if step in seen.calls):
        raise Inconclusive(
            f"{FIRST.url} was not asked for its list again {scenes.PAUSE_SECONDS:g} s after it could not be read "
            f"({how}); for how long that goes on nobody waits to see",
            supply="a server that keeps nothing of a list that could not be read",
            evidence=seen.call(OVER).evidence(),
        )


@clause(
    "SRV-ROUTE-UNREADABLE",
    level=SHOULD,
    source=field_sense(
        "a plain account gets 403 for the list: whoever is told that the plugin is absent asks for the wrong help"
    ),
    needs=(ENV,),
    excused_by=(*CAUSES, ERROR, REACHES),
    fix="Say that the list could not be read, and why, or say no more than that the plugin is not known to be there.",
    example="""
        if listing.problem:
            raise RuntimeError(f"the plugin list of {url} cannot be read: {listing.problem}")
    """,
    neighbours=("SRV-ROUTE-FAULTY", "SRV-ROUTE-NAMES"),
)
async def what_could_not_be_read_is_not_called_absent(observed: ServerObservations) -> None:
    """When the list of the named host cannot be read, the error says that, and not that the plugin is not installed.

    The list is answered by 403. An error that leaves open whether the plugin is there passes.
    """
    call = (await see(observed, scenes.nowhere)).call("unreadable")
    if not any(entry.fault for entry in call.lists):
        raise Blocked("it did not ask the host that was named for its plugins", by=GIVEN)
    if not call.succeeded and calls_it_absent(call.text):
        raise Finding(
            expected=f"an error that says that the list of {SECOND.url} could not be read",
            saw=call.saw(),
            evidence=call.evidence(),
        )


@clause(
    "SRV-ROUTE-UNCONFIGURED",
    level=MUST,
    source=field_sense("an address that nobody configured may be a mistake or a trap: nothing is sent there"),
    needs=(ENV,),
    excused_by=(*CAUSES, ERROR, REACHES),
    fix="Refuse an address that is none of the configured hosts before asking anything, and say so.",
    example="""
        if normalize_url(requested) not in registry.configured_hosts():
            raise RuntimeError(f"{requested} is not a configured Gerrit host")
    """,
    neighbours=(GIVEN, "SRV-ROUTE-NAMES", "SRV-ROUTE-SAMEHOST"),
)
async def an_address_that_is_not_configured_is_refused(observed: ServerObservations) -> None:
    """An address that is not configured gives an error that says so; nothing is sent there, no credential above all.

    An error that names the address, or speaks of what is configured, is taken to say so.
    """
    seen = await see(observed, scenes.routed)
    call, host = seen.call("unconfigured"), UNCONFIGURED.removeprefix("https://")
    if sent := [target for target in call.refused if host in target.lower()]:
        raise Finding(
            expected=f"nothing sent to {UNCONFIGURED}, which is not configured",
            saw=f"{len(sent)} connections to it",
            evidence=(*(Evidence(kind="request", text=one) for one in dict.fromkeys(sent)), *call.evidence()),
        )
    given = seen.given("unconfigured")
    if given or call.succeeded or not says_so(call, host):
        where = f"the tool run with the address {given[0]}; " if given else ""
        raise Finding(
            expected=f"an error that says that {UNCONFIGURED} is not configured, and the tool not run",
            saw=f"{where}{call.saw()}",
            evidence=call.evidence(),
        )
