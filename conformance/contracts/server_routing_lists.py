"""Clauses about the lists behind a server's `requires_plugin`: asked for late and once, kept, and looked at again."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from conformance.contracts.registry import GUIDE, clause, field_sense
from conformance.contracts.routing_lists import lists_of, requests_in
from conformance.contracts.server_routing import CAUSES, ENV, GIVEN, TAKES_FIRST, judge_routed, see
from conformance.outcomes import Blocked, Finding, Inconclusive, Level
from conformance.scenes import server_routing as scenes
from conformance.scenes.routing import BEFORE_FIRST, DEFAULT, FIRST, SAME_HOST, SECOND, lists_in

if TYPE_CHECKING:
    from conformance.scenes.server_routing import Routed
    from conformance.server_observations import ServerObservations

MUST, SHOULD = Level.MUST, Level.SHOULD
LAZY, CACHE, REFRESH = "SRV-ROUTE-LAZY", "SRV-ROUTE-CACHE", "SRV-ROUTE-REFRESH"

ONCE_MORE = """
    if not await registry.host_has_plugin(url, name):
        registry.invalidate(url)
        if not await registry.host_has_plugin(url, name):  # by now it may be there
            raise RuntimeError(...)
"""


@clause(
    LAZY,
    level=MUST,
    source=GUIDE.section("Plugin-backed tools and requires_plugin"),
    needs=(ENV,),
    excused_by=CAUSES,
    fix="Ask for a list when a call needs it, not while the server starts, and then only for that of the host named.",
    example="""
        async def listing(self, url):  # the only place where lists are read, called for one host at a time
            if url not in self._lists:
                self._lists[url] = await self._read(url)
            return self._lists[url]
    """,
    neighbours=(TAKES_FIRST, GIVEN, CACHE),
)
async def lists_are_asked_for_only_when_a_call_needs_them(observed: ServerObservations) -> None:
    """No list of plugins is asked for before the first call that needs one, and then only that of the host named.

    A tool that is backed by no plugin is called first; then one that is, with the address of a host that has it.
    """
    seen = await see(observed, scenes.routed)
    early = [*seen.early, *lists_in(seen.call("undecorated"))]
    if early:
        raise Finding(
            expected="no request for a list of plugins before a plugin-backed tool is called",
            saw=f"{lists_of(early)} asked for",
            evidence=requests_in(early),
        )
    call = seen.call("has it")
    if others := [entry for entry in call.lists if entry.host != SECOND.name]:
        raise Finding(
            expected=f"no list but that of {SECOND.url}, which was named and has the plugin",
            saw=f"{lists_of(others)} asked for as well",
            evidence=call.evidence(),
        )


@clause(
    CACHE,
    level=MUST,
    source=GUIDE.section("Plugin-backed tools and requires_plugin"),
    needs=(ENV,),
    excused_by=(*CAUSES, LAZY),
    fix="Keep each host's list with the time at which it was read, and read it again once its time to live is over.",
    example="""
        if listing is None or time.monotonic() - listing.read_at >= ttl:
            listing = self._lists[url] = await self._read(url)
    """,
    neighbours=("SRV-ROUTE-SAMEHOST", REFRESH, "SRV-ROUTE-SINGLE"),
)
async def a_list_is_kept_for_its_time_and_no_longer(observed: ServerObservations) -> None:
    """Within the time to live (an hour by default) a host is asked for its list once, and after it again.

    Nobody waits for an hour: the end of that time is seen on servers that take `plugin_list_ttl_seconds` from the
    configuration, as the reference server does; on others it stays INCONCLUSIVE.
    """
    seen = await see(observed, scenes.routed)
    known: Counter[str] = Counter()
    expected = "each host asked for its list once within an hour"
    for step in ("has it", "no address", "no address, again", "has it, again"):
        asked = Counter(entry.host for entry in lists_in(seen.call(step)))
        if again := [host for host, times in asked.items() if known[host] or times > 1]:
            raise Finding(
                expected=expected,
                saw=f"{lists_of(lists_in(seen.call(step)), *again)} asked for again within seconds",
                evidence=seen.call(step).evidence(),
            )
        known += asked
    if not known:
        raise Blocked("it asked for no list in its first calls", by=LAZY)
    _judge_expiry(await see(observed, scenes.expiring))


def _judge_expiry(seen: Routed) -> None:
    """Raise a Finding where lists are seen to have an end, and that of a host that is needed has none.

    A server that asks for no list again may keep them for an hour of its own, whatever the configuration says; then
    that is Inconclusive.
    """
    first, late = ({entry.host for entry in lists_in(seen.call(step))} for step in ("first", "late"))
    if not first & late:
        raise Inconclusive(
            f"no list was asked for again within {scenes.TTL_SECONDS} s and a little, as if it were kept for longer",
            supply="a server that takes plugin_list_ttl_seconds from the top of its configuration, or a waiver",
            evidence=seen.call("late").evidence(),
        )
    in_use = {entry.host for step in scenes.IN_USE for entry in lists_in(seen.call(step))}
    for asked, when, step in ((late, "after a pause", "late"), (in_use, "while in use", scenes.IN_USE[-1])):
        kept = [plan for plan in (BEFORE_FIRST, FIRST) if plan.name in first - asked]
        if kept:
            raise Finding(
                expected=f"the list of {kept[0].url} asked for again after {scenes.TTL_SECONDS} s, as configured",
                saw=f"it was not asked for again {when}",
                evidence=seen.call(step).evidence(),
            )


@clause(
    REFRESH,
    level=MUST,
    source=GUIDE.section("Routing behavior"),
    needs=(ENV,),
    excused_by=(*CAUSES, CACHE),
    fix="When the given host lacks the plugin, fetch its list once more before refusing, and no more than once.",
    example=ONCE_MORE,
    neighbours=("SRV-ROUTE-NAMES", "SRV-ROUTE-APPEARS", CACHE),
)
async def a_list_without_the_plugin_is_fetched_once_more(observed: ServerObservations) -> None:
    """When the given host lacks the plugin, its list is fetched again, exactly once for each call that fails.

    Judged on a second call, when the list is remembered.
    """
    seen = await see(observed, scenes.routed)
    call = seen.call("lacks it, again")
    lists = [entry for entry in call.lists if entry.host == DEFAULT.name]
    if len(lists) != 1:
        raise Finding(
            expected=f"one request for the list of {DEFAULT.url}", saw=f"{len(lists)} of them", evidence=call.evidence()
        )


@clause(
    "SRV-ROUTE-APPEARS",
    level=MUST,
    source=GUIDE.section("Routing behavior"),
    needs=(ENV,),
    excused_by=(*CAUSES, CACHE, REFRESH),
    fix="Decide by the list that was fetched again: when the plugin is on it, go on with the call.",
    example=ONCE_MORE,
    neighbours=(REFRESH, GIVEN, "SRV-ROUTE-NAMES"),
)
async def a_plugin_that_has_come_in_the_meantime_is_used(observed: ServerObservations) -> None:
    """When the named host lacked the plugin, and has it by the list that is fetched again, the call goes on there.

    The tool is refused at a host without the plugin; then the plugin is installed, and the tool is called again.
    """
    seen = await see(observed, scenes.routed)
    if seen.call("lacks it").succeeded:
        raise Blocked(f"it did not refuse {DEFAULT.url}, which lacks the plugin", by="SRV-ROUTE-NAMES")
    expected = f"the tool run for {DEFAULT.url}, as the plugin has been installed there since the last call"
    judge_routed(seen, "has it now", DEFAULT, expected)


@clause(
    "SRV-ROUTE-SAMEHOST",
    level=MUST,
    source=GUIDE.section("The ExtensionContext"),
    needs=(ENV,),
    excused_by=(*CAUSES, CACHE, "SRV-CTX-NORMALIZE-URL"),
    fix="Bring an address to the base URL of its host before anything is looked up by it.",
    example="""
        url = normalize_url(requested)  # all forms of one host's address come out of it as one
        listing = self._lists.get(url)
    """,
    neighbours=(CACHE, GIVEN, "SRV-ROUTE-UNCONFIGURED"),
)
async def one_host_is_remembered_under_one_name(observed: ServerObservations) -> None:
    """Whatever form of its address a caller gives, a host is one: its remembered list serves all of them.

    `https://h`, `https://h/`, `h`, `https://h/a` and the internal name are given in turn.
    """
    seen = await see(observed, scenes.routed)
    known, *others = SAME_HOST
    for form in others:
        judge_routed(seen, form, FIRST, f"{SAME_HOST[form]} to mean {FIRST.url}, which has the plugin")
        if asked := lists_in(seen.call(form)):
            raise Finding(
                expected=f"the list of {SAME_HOST[known]} to serve {SAME_HOST[form]} as well",
                saw=f"{lists_of(asked)} asked for again",
                evidence=seen.call(form).evidence(),
            )


@clause(
    "SRV-ROUTE-SINGLE",
    level=SHOULD,
    source=field_sense(
        "after a restart many calls come at once, and a host must not be asked the same by each of them"
    ),
    needs=(ENV,),
    excused_by=(*CAUSES, CACHE),
    fix="Keep a lock for each host around the look-up and the request for its list.",
    example="""
        async with self._locks.setdefault(url, asyncio.Lock()):
            if url not in self._lists:
                self._lists[url] = await self._read(url)
    """,
    neighbours=(CACHE, TAKES_FIRST),
)
async def first_calls_at_once_ask_each_host_for_its_list_once(observed: ServerObservations) -> None:
    """When the first calls come at the same time, each host is asked for its list of plugins once.

    Five calls are made at once after a start, and each list is held back until no further request comes for it.
    """
    seen = await see(observed, scenes.crowded)
    if not seen.crowding:
        raise Blocked("its first calls asked for no list", by=LAZY)
    for host, count in Counter(entry.host for entry in seen.crowding).items():
        if count > 1:
            raise Finding(
                expected=f"one request for {lists_of(seen.crowding, host)}, shared by all calls that need it",
                saw=f"{count} of them for {len(seen.crowd)} calls at the same time",
                evidence=requests_in(seen.crowding),
            )


@clause(
    "SRV-ROUTE-DISABLED",
    level=MUST,
    source=GUIDE.section("Plugin-backed tools and requires_plugin"),
    needs=(ENV,),
    excused_by=(*CAUSES, "SRV-ROUTE-ERROR"),
    fix='Leave out entries of the list with "disabled": true; an enabled plugin has no such key, or false.',
    example="""
        enabled = {name for name, entry in plugins.items() if entry.get("disabled") is not True}
    """,
    neighbours=(TAKES_FIRST, "SRV-ROUTE-NAMES"),
)
async def a_disabled_plugin_counts_as_absent(observed: ServerObservations) -> None:
    """A plugin that is listed with `disabled: true` counts as absent; without the key, or with false, as present."""
    seen = await see(observed, scenes.crowded)
    expected = f"the tool run for {FIRST.url}, as {BEFORE_FIRST.url} has the plugin disabled"
    judge_routed(seen, "no address", FIRST, expected)
    call = seen.call("disabled there")
    if call.succeeded:
        raise Finding(
            expected=f"a refusal, as {BEFORE_FIRST.url} has the plugin disabled",
            saw=call.saw(),
            evidence=call.evidence(),
        )
