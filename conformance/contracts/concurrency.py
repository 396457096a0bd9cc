"""Families EXT, TOOL and ROUTE where several calls are on their way at the same time."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from conformance.contracts.registry import GUIDE, clause, field_sense
from conformance.outcomes import Evidence, Finding, Inconclusive, Level, NotApplicable
from conformance.rig.surroundings import HOSTS
from conformance.scenes.concurrency import first_calls, watched
from conformance.scenes.crowds import Crowd, crowded, crowded_again, gone_astray
from conformance.scenes.mixed import mixed_up
from conformance.scenes.other_hosts import OTHER_URL, answered_for_another

if TYPE_CHECKING:
    from conformance.observations import Observations

MUST, SHOULD = Level.MUST, Level.SHOULD
AGAIN = "run again on a machine with less to do"


@clause(
    "EXT-ASYNC",
    level=MUST,
    source=field_sense("one server serves every client on one event loop: a tool that blocks it stops all the others"),
    needs=("TOOL-WORKS",),
    fix=(
        "Await whatever takes time: ctx.run_curl for Gerrit, asyncio.sleep for a pause, asyncio.to_thread for a "
        "library that blocks."
    ),
    example="""
        @ctx.mcp.tool()
        async def get_change(change_id: str) -> Change:
            body = await ctx.run_curl([url], base_url)
            return await asyncio.to_thread(parse_at_leisure, body)
    """,
    per_tool=True,
    neighbours=("EXT-ASYNC-COROUTINE", "TOOL-PARALLEL", "TOOL-WORKS"),
)
async def others_are_answered_while_a_call_is_on_its_way(observed: Observations, tool: str) -> None:
    """From the arrival of a call to its end, whatever Gerrit does meanwhile, the server answers others within 1 s.

    The server is asked for something small all the while; each of the tool's requests is held until that has been
    answered, and the first one is refused once on either kind of host. A late answer counts only if it is late again in
    a process of its own while an honest extension beside it is quick. Tools may make their own calls wait for each
    other.
    """
    found = (await observed.of(watched)).get(tool)
    if found is None:
        raise Inconclusive(f"{tool} could not be called again, as the subject did not load", supply=AGAIN)
    if not found.worst.too_late:
        return
    if not found.certain:
        raise Inconclusive("other requests were answered late, but the machine was too busy to tell why", supply=AGAIN)
    waiting = f" while it waited for {found.worst.asking}" if found.worst.asking else ""
    raise Finding(
        expected="another request to be answered within 1 s while the tool is at work",
        saw=f"an answer after {found.worst.seconds:.1f} s{waiting}",
        evidence=(Evidence(kind="call", text=f"{tool}, {found.step}"),),
    )


@clause(
    "EXT-ASYNC-COROUTINE",
    level=SHOULD,
    source=GUIDE.section("Writing an extension"),
    needs=("EXT-NONEMPTY",),
    fix="Write `async def` for every tool: version 1 of the SDK runs a plain function on the loop that serves all.",
    example="""
        @ctx.mcp.tool()
        async def get_change(change_id: str) -> Change: ...
    """,
    per_tool=True,
    neighbours=("EXT-ASYNC", "TOOL-WORKS"),
)
async def every_tool_is_a_coroutine_function(observed: Observations, tool: str) -> None:
    """Every tool is a coroutine function, so that the host awaits it.

    What counts is what the SDK is given: a plain function around a coroutine function is a plain function.
    """
    for fact in (await observed.survey()).told("tool"):
        if fact["name"] == tool and not fact["is_async"]:
            raise Finding(expected="a coroutine function", saw="a plain function")


@clause(
    "TOOL-PARALLEL",
    level=MUST,
    source=field_sense(
        "clients call tools at the same time, and nobody would notice an answer that is somebody else's"
    ),
    needs=("TOOL-WORKS",),
    excused_by=("TOOL-EXIT", "EXT-ASYNC"),
    fix=(
        "Keep what belongs to one call in local variables; what is kept between calls needs a key that holds all "
        "arguments and the host."
    ),
    example="""
        answers: dict[tuple[str, str], str] = {}

        async def read(base_url: str, path: str) -> str:
            if (base_url, path) not in answers:
                answers[base_url, path] = await ctx.run_curl([base_url + path], base_url)
            return answers[base_url, path]
    """,
    per_tool=True,
    neighbours=("TOOL-WORKS", "EXT-ASYNC", "TOOL-BASE"),
)
async def each_of_many_calls_gets_its_own_answer(observed: Observations, tool: str) -> None:
    """Twenty calls with different arguments, at once and in turn, each get the answer that belongs to theirs.

    Answers and requests are compared with what the same arguments get alone in a fresh process. Only what differs
    between arguments and is the same in every run alone is compared. Some arguments differ in one value only, which
    exists on every host, others in all; the host is among what differs, and each call has to ask the one that it names.
    A tool that writes is given each arguments once. Where there are several tools they share the twenty calls, with six
    for each at least.
    """
    crowd = (await observed.of(crowded)).get(tool)
    if crowd is not None and len(crowd.choices) < 2:
        raise NotApplicable("it takes no argument that can be varied")
    _not_without_calls(crowd, tool)
    if (call := await observed.of(answered_for_another, tool)) is not None:
        raise Finding(
            expected=f"{OTHER_URL} to be asked, which the call names",
            saw=f"nothing asked of it after a call for another host; {call.saw()}",
            evidence=call.evidence(),
        )
    if crowd is None or (mixed_up(crowd) is None and gone_astray(crowd, fresh=True) is None):
        return
    again = await observed.of(crowded_again, tool)
    _not_without_calls(again, tool)
    found = mixed_up(again) or mixed_up(again.with_rounds_of(crowd), errors=False)
    if found is not None:
        raise Finding(expected=found.expected, saw=found.saw, evidence=found.evidence)
    _each_host_is_asked(again, fresh=True)
    _each_host_is_asked(again.with_rounds_of(crowd), fresh=False)


def _each_host_is_asked(crowd: Crowd, *, fresh: bool) -> None:
    found = gone_astray(crowd, fresh=fresh)
    if found is None:
        return
    stray, company = found
    method, path, _ = stray.question
    asked = [f"{one.method} {one.gerrit_path} on {one.host}" for one in company.entries if one.method == method]
    raise Finding(
        expected=f"{method} {path} to be asked of {stray.host}, which the call names",
        saw=f"it asked of {stray.elsewhere} instead, among {len(company.answers)} calls for several hosts",
        evidence=(
            Evidence(kind="call", text=f"{crowd.alone[0][0].tool} {dict(crowd.choices[stray.which])}"),
            *(Evidence(kind="request", text=f"{count} times {one}") for one, count in Counter(asked).most_common(10)),
        ),
    )


def _not_without_calls(crowd: Crowd | None, tool: str) -> None:
    if crowd is None or not crowd.rounds:
        raise Inconclusive(f"{tool} could not be called again, as the subject did not load", supply=AGAIN)


@clause(
    "ROUTE-SINGLE",
    level=SHOULD,
    source=field_sense(
        "after a restart many calls come at once, and a host must not be asked the same by each of them"
    ),
    needs=("TOOL-WORKS",),
    excused_by=("ROUTE-CACHE",),
    fix="Ask ctx.plugin_registry, or keep a lock for each host around the look-up and the request for its list.",
    example="""
        async with self._locks.setdefault(host, asyncio.Lock()):
            if host not in self._lists:
                self._lists[host] = await self._fetch(host)
    """,
    per_tool=True,
    neighbours=("ROUTE-FIRST", "ROUTE-GIVEN"),
)
async def first_calls_at_once_ask_each_host_for_its_list_once(observed: Observations, tool: str) -> None:
    """When the first calls come at the same time, each host is asked for its list of plugins once.

    Five calls are made at once in a fresh process, and each list is held back until no further request comes for it. A
    tool that asks one host several times in a single call may do so here. Judged on tools that route by themselves.
    """
    backing = await observed.backing(tool)
    if backing is None:
        raise NotApplicable("it is backed by no plugin")
    if backing.by_host:
        raise NotApplicable("decided by the host: requires_plugin wraps it")
    alone = Counter(entry.host for entry in (await observed.plain()).call(tool).lists if entry.is_plugin_list)
    if not alone:
        raise NotApplicable("it routes without lists of plugins")
    seen = await observed.of(first_calls, tool)
    if not seen.answers:
        raise Inconclusive(f"{tool} could not be called again, as the subject did not load", supply=AGAIN)
    for plan in HOSTS:
        count = seen.at_the_same_time[plan.name]
        if count > max(1, *alone.values()):
            asked = [f"{one.method} {one.url}" for one in seen.entries if one.host == plan.name]
            raise Finding(
                expected=f"one request for the list of {plan.url}",
                saw=f"{count} on their way at the same time, of {len(seen.answers)} calls",
                evidence=tuple(Evidence(kind="request", text=one) for one in asked),
            )
