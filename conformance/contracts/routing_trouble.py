"""Family ROUTE: what happens when a list cannot be read, changes in between, or no host fits at all.

APPEARS, FAULTY and UNREADABLE are judged only on tools with routing of their own; ERROR and SCHEMA judge the host of
the run by what its `requires_plugin` makes of the subject's functions.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from conformance.contracts.registry import GUIDE, clause, field_sense
from conformance.contracts.routing import backed, judge_reached, own_routing
from conformance.outcomes import Blocked, Evidence, Finding, Inconclusive, Level, NotApplicable
from conformance.profile import plain_host_name
from conformance.rig.surroundings import HOSTS
from conformance.rig.trial import Call, Trial
from conformance.scenes import routing as scenes
from conformance.scenes.routing import DEFAULT, FIRST, KINDS, SECOND, UNCONFIGURED, lists_in

if TYPE_CHECKING:
    from conformance.observations import Observations
    from conformance.rig.scenarios import Seen
    from conformance.rig.surroundings import Placement

MUST, SHOULD = Level.MUST, Level.SHOULD

ONCE_MORE = """
    if not await registry.host_has_plugin(url, PLUGIN):
        registry.invalidate(url)
        if not await registry.host_has_plugin(url, PLUGIN):  # by now it may be there
            raise RoutingError(f"{url} is not known to have {PLUGIN}; hosts that have it: {having}")
"""
ONE_BY_ONE = """
    async def has_plugin(host):
        try:
            plugins = await read_list(host)  # kept only when it could be read
        except Exception as problem:
            unreadable[host] = problem
            return False
        return PLUGIN in plugins
"""
SAY_WHAT_IS_KNOWN = """
    if host in unreadable:
        raise RoutingError(f"the plugin list of {host} cannot be read: {unreadable[host]}")
    raise RoutingError(f"{host} lacks {PLUGIN}; hosts that have it: {having}")
"""
ONLY_CONFIGURED = """
    base_url = ctx.normalize_url(gerrit_base_url)
    if base_url not in ctx.plugin_registry.configured_hosts():
        raise RoutingError(f"{gerrit_base_url} is not a configured Gerrit host")
"""


@clause(
    "ROUTE-APPEARS",
    level=MUST,
    source=GUIDE.section("Routing behavior"),
    needs=("TOOL-WORKS", "ROUTE-KEYWORD"),
    excused_by=("TOOL-EXIT", "ROUTE-REFRESH", "ROUTE-GIVEN"),
    fix="Decide by the list that was fetched again: when the plugin is on it, go on with the call.",
    example=ONCE_MORE,
    per_tool=True,
    neighbours=("ROUTE-REFRESH", "ROUTE-GIVEN", "ROUTE-NAMES"),
)
async def a_plugin_that_has_come_in_the_meantime_is_used(observed: Observations, tool: str) -> None:
    """When the named host lacked the plugin, and has it by the list that is fetched again, the call goes on there.

    The tool is refused at a host without the plugin; then the plugin is installed, and the tool is called again.
    """
    await own_routing(observed, tool)
    seen = await observed.of(scenes.changing)
    if seen.call(tool, "lacks it").succeeded:
        raise Blocked(f"it did not refuse {DEFAULT.url}, which lacks the plugin", by="ROUTE-NAMES")
    expected = f"{DEFAULT.url} to be asked, as the plugin has been installed there since the last call"
    judge_reached(seen.call(tool, "has it now"), DEFAULT.name, expected)


@clause(
    "ROUTE-FAULTY",
    level=MUST,
    source=field_sense("one host that is down, or tells nothing to this account, must not take the others with it"),
    needs=("TOOL-WORKS", "ROUTE-KEYWORD"),
    excused_by=("TOOL-EXIT", "ROUTE-FIRST"),
    fix=(
        "Catch what reading one host's list raises (also where the body is no JSON), go on with the next host, and "
        "keep nothing of what failed."
    ),
    example=ONE_BY_ONE,
    per_tool=True,
    neighbours=("ROUTE-UNREADABLE", "ROUTE-FIRST", "ROUTE-CACHE"),
)
async def a_list_that_cannot_be_read_stands_for_its_host_only(observed: Observations, tool: str) -> None:
    """A host whose list cannot be read neither hides the others nor is remembered as one without plugins.

    The lists of the hosts up to the first that has the plugin fail with 403, with 500, with a page of HTML, or not at
    all in time; the next that has it must serve the call. Five minutes after the fault the host must be asked again.
    """
    await own_routing(observed, tool)
    seen = await observed.of(scenes.failing)
    felt = [how for how in KINDS if any(entry.fault for entry in seen.call(tool, how).lists)]
    if not felt:
        raise Blocked("it asked no host for its plugins while they could not be told", by="ROUTE-CACHE")
    for how in felt:
        try:
            _judge_failing(seen, tool, how)
        except Finding:  # perhaps only for a machine that is too slow, or for what an earlier call left behind
            _judge_failing(await observed.of(scenes.failing_again, how), tool, how)


def _judge_failing(seen: Seen, tool: str, how: str) -> None:
    during, after = seen.call(tool, how), seen.call(tool, f"{how} is over")
    expected = f"{SECOND.url} to be asked, as the plugins before it cannot be read ({how})"
    judge_reached(during, SECOND.name, expected)
    if FIRST.name in {entry.host for entry in lists_in(after)} | after.hosts:
        return
    if any(trial.told("long_wait") for trial in seen.trials):
        raise Inconclusive(
            "a thread of it waits until a host may be asked again, and the suite cannot make its time pass faster",
            supply="compare with time.monotonic() when a host is to be asked",
        )
    raise Finding(
        expected=f"{FIRST.url} asked for its plugins again five minutes after they could not be read ({how})",
        saw="it is remembered as having none",
        evidence=(*after.evidence(), *during.evidence()),
    )


@clause(
    "ROUTE-UNREADABLE",
    level=SHOULD,
    source=field_sense(
        "a plain account gets 403 for the list: whoever is told that the plugin is absent asks for the wrong help"
    ),
    needs=("TOOL-WORKS", "ROUTE-KEYWORD"),
    excused_by=("TOOL-EXIT", "ROUTE-REACHES"),
    fix="Say that the list could not be read, and why, or say no more than that the plugin is not known to be there.",
    example=SAY_WHAT_IS_KNOWN,
    per_tool=True,
    neighbours=("ROUTE-FAULTY", "ROUTE-NAMES"),
)
async def what_could_not_be_read_is_not_called_absent(observed: Observations, tool: str) -> None:
    """When the list of the named host cannot be read, the error says that, and not that the plugin is not installed.

    The list is answered by 403. An error that leaves open whether the plugin is there passes.
    """
    await own_routing(observed, tool)
    call = (await observed.of(scenes.changing)).call(tool, "unreadable")
    if not any(entry.fault for entry in call.lists):
        raise Blocked("it did not ask the host that was named for its plugins", by="ROUTE-LAZY")
    expected = f"an error that says that the list of {FIRST.url} could not be read"
    if call.succeeded and call.hosts - {FIRST.name}:
        raise Finding(expected=expected, saw=f"another host asked; {call.saw()}", evidence=call.evidence())
    if not call.succeeded and calls_it_absent(call.text):
        raise Finding(expected=expected, saw=call.saw(), evidence=call.evidence())


_ABSENT = re.compile(
    r"(?<!may )(?<!might )\bnot (?:be |been |currently |yet )?(?:installed|available|enabled|present|active|loaded"
    r"|deployed|found|there|have|offer|provide|support|run|carry|include|exist)\b"
    r"|\b(?:has|have|is|with) no\b|\black(?:s|ing)?\b|\bmissing\b|\babsent\b|\bunavailable\b|\bno such\b"
    r"|\bwithout (?:\w+ ){0,2}plugin\b(?! list)"
    r"|\bno (?:\w+ ){0,2}(?:plugin\b(?! list)|hosts? (?:has|have|offers?|provides?)\b)"
)
_UNREADABLE = re.compile(
    r"\b(?:40[13]|5\d\d)\b|forbid|permi(?:t|ss)|denied|unauthori|unread|unreachable|inaccessible|tim(?:ed |e)-?out|curl"
    r"|\b(?:could|can|is|was|were|are|did|would) not (?:be )?(?:able to )?(?:tell|told|read|fetch|list|get|retriev"
    r"|determin|check|verif|confirm|find out|see|ask|reach|load|quer|kn[eo]w|access|view|look|decid|answer|obtain)"
    r"|\b(?:unable|impossible) to\b|\bunknown\b|\bno answer\b"
    r"|\bfail\w* (?:to (?!have)|while|when|reading|fetching|asking|listing|loading|getting)"
    r"|\b(?:read|list|fetch|look|check|quer|request)\w*(?: \S+){0,3} fail"
    r"|\berror (?:while|when|reading|fetching|asking|listing|loading|getting|from)"
    r"|\blist\b.{0,40}\b(?:unavailable|not available|missing|not found|absent)"
)


def calls_it_absent(text: str) -> bool:
    """Tell whether an error claims that a plugin is not there, and says nothing of a list that could not be read."""
    plain = re.sub(r"^Error (?:executing|calling) tool \S+", "", text.strip()).lower()
    for written, meant in (("\N{RIGHT SINGLE QUOTATION MARK}", "'"), ("n't", " not"), ("cannot", "can not")):
        plain = plain.replace(written, meant)
    return bool(_ABSENT.search(plain)) and not _UNREADABLE.search(plain)


@clause(
    "ROUTE-UNCONFIGURED",
    level=MUST,
    source=field_sense("an address that nobody configured may be a mistake or a trap: nothing is sent there"),
    needs=("TOOL-WORKS", "ROUTE-KEYWORD"),
    excused_by=("TOOL-EXIT",),
    fix="Refuse an address that is none of ctx.plugin_registry.configured_hosts() before asking anything, and say so.",
    example=ONLY_CONFIGURED,
    per_tool=True,
    neighbours=("ROUTE-GIVEN", "ROUTE-NAMES", "ROUTE-REACHES"),
)
async def an_address_that_is_not_configured_is_refused(observed: Observations, tool: str) -> None:
    """An address that is not configured gives an error that says so; nothing is sent there, no credential above all.

    An error that names the address, or speaks of what is configured, is taken to say so. A tool that calls run_curl
    with the address has asked it, even where the host of the run refuses: other hosts do not, and their `get_base_url`
    takes any address, too. What the host's own registry does with the address is not held against the tool.
    """
    backing = await backed(observed, tool)
    call = (await observed.of(scenes.cold)).call(tool, "unconfigured")
    host = UNCONFIGURED.removeprefix("https://")
    sent = [target for target in call.refused if host in target.lower()]
    if sent:
        raise Finding(
            expected=f"nothing sent to {UNCONFIGURED}, which is not configured",
            saw=f"{len(sent)} connections to it", evidence=(*_targets(sent), *call.evidence()),
        )  # fmt: skip
    handed = [about for about in call.told("run_curl") if about["tool"] in {"", tool} and _is_for(about, host)]
    if handed and backing.wrapper_used:  # else ROUTE-ORDER has it: the routing that would refuse was thrown away
        raise Finding(
            expected=f"run_curl not called with {UNCONFIGURED}, which is not configured",
            saw=f"it called, and left it to the host of the run to refuse; {call.saw()}",
            evidence=(*_lines(handed), *call.evidence()),
        )
    expected = f"an error that says that {UNCONFIGURED} is not configured"
    if call.succeeded or not says_so(call, host):
        raise Finding(expected=expected, saw=_where(call), evidence=call.evidence())


def _is_for(about: Mapping[str, Any], host: str) -> bool:
    return any(plain_host_name(url) == host for url in (*about["asked"], *about["base_urls"]))


def _lines(handed: Sequence[Mapping[str, Any]]) -> tuple[Evidence, ...]:
    return tuple(Evidence(kind="line", text=str(about["line"])) for about in handed[:1] if about["line"])


def says_so(call: Call, host: str) -> bool:
    """Tell whether an error says that a host is not configured: it names that, or speaks of what is configured."""
    text = unquote(call.text).lower()
    return any(word in text for word in (host, "configur", "unknown host", "gerrit_hosts"))


def _where(call: Call) -> str:
    urls = [plan.url for plan in HOSTS if plan.name in call.hosts]
    return f"{' and '.join(urls)} asked instead; {call.saw()}" if call.succeeded and urls else call.saw()


def _targets(sent: list[str]) -> tuple[Evidence, ...]:
    return tuple(Evidence(kind="request", text=target) for target in dict.fromkeys(sent))


@clause(
    "ROUTE-ERROR",
    level=MUST,
    source=GUIDE.section("Routing behavior"),
    needs=("EXT-NONEMPTY",),
    fix="This is a fault of the host, not of the extension: its requires_plugin has to raise a RuntimeError.",
    example='raise RuntimeError(f"{url} lacks the plugin {name}; hosts that have it: {having}")',
    judges_host=True,
    neighbours=("ROUTE-NAMES", "ROUTE-NONE", "ROUTE-SKIPPED"),
)
async def the_host_raises_when_routing_fails(observed: Observations) -> None:
    """When no host fits, what the host's `requires_plugin` made raises a RuntimeError, and returns no list of content.

    Judged on the host of the run, inside its process, with the functions that the subject hands to `requires_plugin`.
    """
    _uses_requires_plugin(await observed.survey())
    must_fail: dict[Placement, tuple[str, ...]] = {"some": ("lacks it", "lacks it, again"), "nowhere": ("no address",)}
    usual = await observed.plain()
    refused = [
        call
        for placement, steps in must_fail.items()
        for (tool, step), call in (await observed.routed(placement)).calls.items()
        if step in steps and usual.call(tool).own and not call.own and call.told("routing_ended")
    ]
    if not refused:
        raise Inconclusive(
            "the host refused no call of a tool that it routes",
            supply="see ROUTE-NAMES, ROUTE-NONE and ROUTE-SKIPPED of this run",
        )
    for call in refused:
        _judge_end(call, call.told("routing_ended")[-1])


def _uses_requires_plugin(survey: Trial) -> list[Mapping[str, Any]]:
    decorated = survey.told("decorated")
    if not decorated:
        raise NotApplicable("it hands no function to requires_plugin")
    return decorated


def _judge_end(call: Call, ended: Mapping[str, Any]) -> None:
    expected = "a RuntimeError raised by what requires_plugin made, as no host fits"
    if "returned" in ended:
        raise Finding(
            expected=expected, saw=f"a {ended['returned']} returned", tool=call.tool, evidence=call.evidence()
        )
    if "RuntimeError" not in ended["bases"]:
        raise Finding(
            expected=expected, saw=f"{ended['raised']}, which is none", tool=call.tool, evidence=call.evidence()
        )


@clause(
    "ROUTE-SCHEMA",
    level=MUST,
    source=GUIDE.section("Routing behavior"),
    needs=("EXT-NONEMPTY",),
    fix="This is a fault of the host, not of the extension: its requires_plugin has to wrap with functools.wraps.",
    example="""
        @functools.wraps(function)
        async def routed(*args, **kwargs): ...
    """,
    judges_host=True,
    neighbours=("TOOL-SCHEMA", "TOOL-WORKS"),
)
async def decorating_keeps_what_the_tool_shows(observed: Observations) -> None:
    """A function that went through the host's `requires_plugin` makes a tool of the same name, description and schemas.

    Judged on the host of the run: the SDK derives a tool from each function before and after decorating; name,
    description, input properties and output schema have to be equal.
    """
    decorated = _uses_requires_plugin(await observed.survey())
    compared = await observed.of(scenes.compared)
    for fact in compared:
        for part, (before, after) in fact.get("changes", {}).items():
            raise Finding(
                expected=f"the {part} of {decorated[int(fact['index'])]['function']} kept by requires_plugin",
                saw=f"{after!r} instead of {before!r}",
            )
    if not any("changes" in fact for fact in compared):
        why = next((str(fact["unknown"]) for fact in compared), "no function was compared")
        raise Inconclusive(
            f"the SDK makes no tool of the undecorated function: {why}",
            supply="hand a plain function to requires_plugin",
        )
