"""Family ROUTE: lists of plugins are asked for late, once, and for one host under one name.

The host's `requires_plugin` decides how long lists are kept, so CACHE and SAMEHOST are judged only on tools with
routing of their own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from conformance.contracts.registry import GUIDE, clause
from conformance.contracts.routing import backed, own_routing
from conformance.outcomes import Blocked, Evidence, Finding, Inconclusive, Level, NotApplicable
from conformance.rig.surroundings import HOSTS, HostPlan
from conformance.rig.trial import asks_for_plugins
from conformance.scenes import routing as scenes
from conformance.scenes.routing import BEFORE_FIRST, FIRST, SECOND, lists_in

if TYPE_CHECKING:
    from conformance.observations import Observations
    from conformance.rig.scenarios import Seen
    from mock_gerrit.journal import Entry

MUST, SHOULD = Level.MUST, Level.SHOULD

LAZILY = """
    async def has_plugin(base_url):
        if base_url not in lists:  # asked for when it is needed, one host at a time
            lists[base_url] = json.loads(await ctx.run_curl([f"{base_url}/plugins/?all"], base_url))
        return PLUGIN in lists[base_url]
"""
FOR_AN_HOUR = """
    now = time.monotonic()
    if base_url not in lists or now - read_at[base_url] >= 3600:
        lists[base_url], read_at[base_url] = await read_list(base_url), now
    return lists[base_url]
"""
UNDER_ONE_NAME = """
    base_url = ctx.normalize_url(gerrit_base_url)
    if base_url not in lists:
        lists[base_url] = await read_list(base_url)
"""


@clause(
    "ROUTE-LAZY",
    level=MUST,
    source=GUIDE.section("Plugin-backed tools and requires_plugin"),
    needs=("EXT-NONEMPTY",),
    excused_by=("ROUTE-KEYWORD", "ROUTE-GIVEN"),
    fix="Ask for a list when a call needs it, not while loading, and then only for that of the host that is named.",
    example=LAZILY,
    per_tool=True,
    neighbours=("ROUTE-LAZY-STOP", "ROUTE-GIVEN", "TOOL-WORKS"),
)
async def lists_are_asked_for_only_when_a_call_needs_them(observed: Observations, tool: str) -> None:
    """No list of plugins is asked for before the first call that needs one, and then only that of the host named.

    What happens while the extension is loaded, and in threads that it has started, is judged with its first tool; each
    plugin-backed tool is then called with the address of a host that has the plugin, when no list is remembered.
    """
    if tool == (await observed.tools())[0]["name"]:
        trial = await observed.of(scenes.started)
        early = [entry for entry in trial.world.journal if asks_for_plugins(entry)]
        if early:
            raise Finding(
                expected="no request for a list of plugins before a tool is called",
                saw=f"{lists_of(early)} asked for while the extension was loaded", evidence=requests_in(early),
            )  # fmt: skip
    await backed(observed, tool)
    if tool not in await observed.answering():
        raise Blocked("the tool gave no answer to the plainest call", by="TOOL-WORKS")
    call = (await observed.of(scenes.cold)).call(tool, "has it")
    others = [entry for entry in call.lists if entry.host != SECOND.name]
    if others:
        raise Finding(
            expected=f"no list but that of {SECOND.url}, which was named and has the plugin",
            saw=f"{lists_of(others)} asked for as well",
            evidence=call.evidence(),
        )


@clause(
    "ROUTE-LAZY-STOP",
    level=SHOULD,
    source=GUIDE.section("Plugin-backed tools and requires_plugin"),
    needs=("TOOL-WORKS",),
    excused_by=("ROUTE-FIRST", "ROUTE-LAZY"),
    fix="Without an address, go through the hosts in their order and stop at the first that has the plugin.",
    example="""
        for host in ctx.plugin_registry.configured_hosts():
            if await ctx.plugin_registry.host_has_plugin(host, PLUGIN):
                return host
    """,
    per_tool=True,
    neighbours=("ROUTE-LAZY", "ROUTE-FIRST"),
)
async def the_first_host_that_has_it_ends_the_search(observed: Observations, tool: str) -> None:
    """Without an address, no list is asked for beyond that of the first host that has the plugin."""
    await backed(observed, tool)
    call = (await observed.of(scenes.cold)).call(tool, "no address")
    needless = [entry for entry in call.lists if entry.host not in {BEFORE_FIRST.name, FIRST.name}]
    if needless:
        raise Finding(
            expected=f"no list asked for after that of {FIRST.url}, which has the plugin",
            saw=f"{lists_of(needless)} asked for as well",
            evidence=call.evidence(),
        )


@clause(
    "ROUTE-CACHE",
    level=MUST,
    source=GUIDE.section("Plugin-backed tools and requires_plugin"),
    needs=("TOOL-WORKS", "ROUTE-KEYWORD"),
    excused_by=("TOOL-EXIT", "ROUTE-LAZY", "ROUTE-GIVEN"),
    fix=(
        "Keep each host's list with the time at which it was read, and read it again once it is an hour old; "
        "ctx.plugin_registry does both."
    ),
    example=FOR_AN_HOUR,
    per_tool=True,
    neighbours=("ROUTE-SAMEHOST", "ROUTE-REFRESH", "ROUTE-FIRST"),
)
async def a_list_is_kept_for_its_time_and_no_longer(observed: Observations, tool: str) -> None:
    """Within the time to live (an hour by default) a host is asked for its list once, and after it again.

    The tool is called twice within half a minute, with the address of a host as well as without one, and once more when
    the clock of its process has gone on by more than an hour. A tool that keeps lists for a shorter time of its own is
    not held to the hour.
    """
    await own_routing(observed, tool)
    seen = await observed.of(scenes.remembering)
    first = _lists(seen, tool, "first")
    _judge_kept(seen, tool, first)
    again = {entry.host for name in ("late", "still later") for entry in _lists(seen, tool, name)}
    kept = _kept({entry.host for entry in first}, again)
    if kept is None:
        return
    trial = next(trial for trial in seen.trials if any(call.tool == tool for call in trial.calls))
    if not trial.told("clock"):
        raise Inconclusive("the clock of this host cannot be put forward", supply="run on the reference host as well")
    if trial.told("long_wait"):
        raise Inconclusive(
            "a thread of it waits for the hour to pass, and the suite cannot make a thread's time pass faster",
            supply="compare with time.monotonic() when a list is used",
        )
    raise Finding(
        expected=f"the list of {kept.url} asked for again after an hour",
        saw="it was not asked for again when an hour had passed",
        evidence=seen.call(tool, "late").evidence(),
    )


def _kept(asked: set[str], again: set[str]) -> HostPlan | None:
    """Name a host whose list was asked for first, and not again when its time was over; None where there is none.

    A tool that goes through the hosts in an order of its own need not come by the same ones again.
    """
    needed = [plan for plan in (BEFORE_FIRST, FIRST) if plan.name in asked]
    if needed:
        return next((plan for plan in needed if plan.name not in again), None)
    return None if asked & again else next((plan for plan in HOSTS if plan.name in asked), None)


def _judge_kept(seen: Seen, tool: str, first: list[Entry]) -> None:
    expected = "each host asked for its list once within an hour"
    twice = [host for host, times in Counter(entry.host for entry in first).items() if times > 1]
    if twice:
        raise Finding(
            expected=expected,
            saw=f"{_times(first, twice[0])} in one call",
            evidence=seen.call(tool, "first").evidence(),
        )
    known = {one.host for one in first}
    named, *_ = scenes.SAME_HOST
    for turn, before in (("soon", "first"), ("named again", named)):
        again = [entry for entry in _lists(seen, tool, turn) if turn != "soon" or entry.host in known]
        if again:
            raise Finding(
                expected=expected,
                saw=f"{lists_of(again)} asked for again within half a minute",
                evidence=(*seen.call(tool, before).evidence(), *seen.call(tool, turn).evidence()),
            )


@clause(
    "ROUTE-SAMEHOST",
    level=MUST,
    source=GUIDE.section("The ExtensionContext"),
    needs=("TOOL-WORKS", "ROUTE-KEYWORD"),
    excused_by=("TOOL-EXIT", "ROUTE-LAZY", "ROUTE-CACHE", "ROUTE-GIVEN", "TOOL-BASE"),
    fix="Keep lists under ctx.normalize_url(url): all forms of one host's address come out of it as one.",
    example=UNDER_ONE_NAME,
    per_tool=True,
    neighbours=("ROUTE-CACHE", "TOOL-BASE", "ROUTE-GIVEN"),
)
async def one_host_is_remembered_under_one_name(observed: Observations, tool: str) -> None:
    """Whatever form of its address a caller gives, a host is one: its remembered list serves all of them.

    `https://h`, `https://h/`, `h`, `https://h/a` and the internal name are given in turn.
    """
    await own_routing(observed, tool)
    seen = await observed.of(scenes.remembering)
    _lists(seen, tool, "first")
    known, *others = scenes.SAME_HOST
    for form in others:
        asked = _lists(seen, tool, form)
        if asked:
            raise Finding(
                expected=f"the list of {scenes.SAME_HOST[known]} to serve {scenes.SAME_HOST[form]} as well",
                saw=f"{lists_of(asked)} asked for again",
                evidence=seen.call(tool, form).evidence(),
            )


def _lists(seen: Seen, tool: str, turn: str) -> list[Entry]:
    """Give the whole lists that were asked for in a turn.

    Raises:
        NotApplicable: the tool asks for no lists, but for the state of the one plugin, which is another thing.
        Blocked: it asks for lists, but has them before it is called.
    """
    asked = lists_in(seen.call(tool, "first"))
    if not asked:
        raise Blocked("it asked for no list in its first call", by="ROUTE-LAZY")
    if not any(entry.is_plugin_list for entry in asked):
        raise NotApplicable("it asks for the state of its plugin and reads no lists")
    return [entry for entry in lists_in(seen.call(tool, turn)) if entry.is_plugin_list]


def lists_of(entries: Iterable[Entry], *only: str) -> str:
    """Name the lists that some requests ask for, those of all hosts or of these only."""
    hosts = {entry.host for entry in entries if entry.host in only or not only}
    urls = [plan.url for plan in HOSTS if plan.name in hosts]
    return f"the list of {urls[0]}" if len(urls) == 1 else f"the lists of {' and '.join(urls)}"


def _times(entries: Iterable[Entry], host: str) -> str:
    asked = [entry for entry in entries if entry.host == host]
    return f"{lists_of(asked)} asked for {len(asked)} times"


def requests_in(entries: Iterable[Entry]) -> tuple[Evidence, ...]:
    """Quote requests."""
    return tuple(Evidence(kind="request", text=f"{entry.method} {entry.url} → {entry.status}") for entry in entries)
