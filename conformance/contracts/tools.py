"""Family TOOL: what each tool of an extension does when it is called."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from conformance.contracts.registry import GUIDE, clause, field_sense, tells_of_an_end
from conformance.outcomes import Blocked, Evidence, Finding, Inconclusive, Level, NotApplicable
from conformance.rig.contacts import missing_host
from conformance.rig.samples import BASE_URL_PARAMETER, certain, stanza, takes_address
from conformance.rig.surroundings import BASE_FORMS, HOSTS, SIMULATED_PLUGINS
from conformance.rig.trial import Call, host_of

if TYPE_CHECKING:
    from conformance.observations import Observations
    from conformance.rig.scenarios import Seen
    from mock_gerrit.journal import Entry

MUST, SHOULD = Level.MUST, Level.SHOULD


@clause(
    "TOOL-EXIT",
    level=MUST,
    source=field_sense(
        "a tool that ends the process or reads its standard input takes every other tool with it; "
        "SystemExit gets through both majors of the SDK"
    ),
    needs=("EXT-NONEMPTY",),
    fix="Raise an ordinary exception: the host turns it into the call's error. Ask for what you need with a parameter.",
    example="""
        if not roots:
            raise RuntimeError(f"change {change_id} has no task roots")  # not SystemExit
    """,
    per_tool=True,
    explains=tells_of_an_end,
    neighbours=("TOOL-WORKS", "EXT-RESOURCES"),
)
async def a_call_leaves_the_process_running(observed: Observations, tool: str) -> None:
    """A call never ends the process nor reads its standard input, whether Gerrit answers well or with an error.

    Judged on every call that the suite makes: plain ones, with an address in every form, routed, and answered by 404.
    """
    (await observed.plain()).call(tool)
    async for seen in observed.everything():
        for call in seen.calls_of(tool):
            _judge_end(call, seen)


def _judge_end(call: Call, seen: Seen) -> None:
    if call.stdin_read:
        raise Finding(
            expected="the standard input left alone", saw="bytes read from it during the call", evidence=call.evidence()
        )
    record = next((t.record for t in seen.trials if call in t.calls), None)
    if record is not None and record.parent_attacked:
        raise Finding(expected="its parent left alone", saw="a signal sent to its parent", evidence=call.evidence())
    if not call.died:
        return
    if record is not None and record.exceeded and record.ended_by == "limit":
        raise Blocked("a limit was broken, and the process was ended for it", by="EXT-RESOURCES")
    how = "ended" if record is None else record.describe()
    raise Finding(
        expected="a process that goes on after the call", saw=f"the process {how}, during it", evidence=call.evidence()
    )


@clause(
    "TOOL-PREFIX",
    level=MUST,
    source=GUIDE.section("The ExtensionContext"),
    needs=("EXT-NONEMPTY",),
    fix=(
        'Put what `get_base_url` gives in front of the path as it is: f"{base_url}/changes/…". It already '
        "ends in /a where the host wants that."
    ),
    example="""
        base_url = ctx.get_base_url(gerrit_base_url)
        url = f"{base_url}/changes/{quote(change_id, safe='')}/detail"  # base_url ends in /a already
    """,
    per_tool=True,
    neighbours=("TOOL-WORKS", "TOOL-BASE"),
)
async def paths_begin_with_the_base_url_and_add_no_second_prefix(observed: Observations, tool: str) -> None:
    """The path of a request begins with that of what `get_base_url` gave, and what follows does not repeat `/a/`.

    Judged on the call without an address; what becomes of one that is given is TOOL-BASE's to judge.
    """
    call = (await observed.plain()).call(tool)
    if not call.own:
        raise NotApplicable("it asked Gerrit for nothing")
    for entry in call.own:
        base = f"{_context_path(entry)}/a/"
        if not entry.path.startswith(base):
            raise Finding(
                expected=f"a path that begins with {base}",
                saw=f"{entry.method} {entry.target}",
                evidence=call.evidence(),
            )
        if entry.path.removeprefix(base).startswith("a/"):
            raise Finding(
                expected=f"one /a after {_context_path(entry) or 'the host'}",
                saw=f"{entry.method} {entry.target}",
                evidence=call.evidence(),
            )


def _context_path(entry: Entry) -> str:
    plan = host_of(entry)
    return "" if plan is None else urlsplit(plan.url).path


@clause(
    "TOOL-WORKS",
    level=MUST,
    source=GUIDE.section("Writing an extension"),
    needs=("EXT-NONEMPTY",),
    excused_by=(
        "EXT-SURFACE",
        "TOOL-EXIT",
        "TOOL-PREFIX",
        "TOOL-ENCODE",
        "TOOL-HOSTILE",
        "TOOL-XSSI",
        "TOOL-AUTH",
        "TOOL-READONLY",
        "ROUTE-KEYWORD",
        "ROUTE-OPTIONAL",
        "ROUTE-ORDER",
    ),
    fix="Call the tool by hand with the arguments shown; the error text or server.log tells where it went wrong.",
    example="""
        body = await ctx.run_curl([f"{base_url}/changes/{quote(change_id, safe='')}"], base_url)
        return {"subject": json.loads(body)["subject"]}
    """,
    per_tool=True,
    neighbours=("TOOL-SCHEMA", "TOOL-VALID", "EXT-VISIBLE"),
)
async def a_plain_call_succeeds(observed: Observations, tool: str) -> None:
    """With valid arguments and a healthy host that has the plugin and the entity, the tool answers without an error."""
    call = (await observed.plain()).call(tool)
    if call.succeeded:
        return
    _judge_what_was_missing(call)
    if call.lists and not call.own and await observed.backing(tool) is None and _said_no_plugin(call):
        raise Inconclusive(
            "it looked for a plugin in the list and did not find it; which one it wants cannot be told",
            supply=_canned_stanza("…", "GET", "…"),
            evidence=call.evidence(),
        )
    if tool not in observed.profile.tools and (doubt := _doubt(call, await observed.tool(tool))):
        raise Inconclusive(f"{doubt}: {call.saw()}", supply=stanza(tool, call.arguments), evidence=call.evidence())
    raise Finding(expected="an answer without isError", saw=call.saw(), evidence=(*call.evidence(), *_log(call)))


def _doubt(call: Call, tool: Mapping[str, Any]) -> str:
    """Say why a failure may be that of the arguments, which the suite chose; empty where it cannot be."""
    if not call.own:
        optional = (tool.get("inputSchema") or {}).get("properties", {}).keys() - {BASE_URL_PARAMETER, *call.arguments}
        named = any(re.search(rf"\b{re.escape(name)}\b", call.text) for name in optional)
        return "it may need one of its optional arguments" if optional and (named or not call.arguments) else ""
    status = call.own[-1].status
    if status in STATES or (status == NOT_THERE and call.own[-1].method == "DELETE"):
        return f"Gerrit answered {status}, as the simulated world is not in the state that it needs"
    if status in REFUSALS and not certain(call.arguments):
        return f"Gerrit answered {status} to arguments that the suite chose"
    return ""


STATES = frozenset({405, 409, 412})
"""Statuses by which Gerrit refuses what cannot be done in the state that something is in."""

REFUSALS = STATES | {400, 403, 422}
"""Statuses by which Gerrit refuses what was asked; made-up arguments may be the cause."""


def _judge_what_was_missing(call: Call) -> None:
    """Say what to supply where the surroundings lacked something that the tool needs."""
    if other := missing_host(call):
        raise other
    for entry in call.own:
        view = re.search(r"/([a-z][\w-]*)~[\w.-]+(?:/|$)", entry.gerrit_path.removeprefix("/changes/"))
        unknown = view is not None and view[1] not in SIMULATED_PLUGINS
        if entry.unsimulated is not None or (entry.status == NOT_THERE and unknown):
            raise Inconclusive(
                f"it asked for {entry.method} {entry.gerrit_path}, which the simulated Gerrit does not have",
                supply=_canned_stanza(view[1] if view else "…", entry.method, entry.gerrit_path),
                evidence=call.evidence(),
            )


NOT_THERE = 404


def _canned_stanza(plugin: str, method: str, path: str) -> str:
    """Write the piece of a profile that gives a canned answer, ready to paste."""
    lines = [f'plugin = "{plugin}"', f'method = "{method}"', f'path = "{path}"', "json = {}"]
    return "\n".join(["[[tool.gerrit-conformance.canned]]", *lines])


def _said_no_plugin(call: Call) -> bool:
    return call.reply is not None and "plugin" in call.text.lower()


def _log(call: Call) -> tuple[Evidence, ...]:
    return tuple(Evidence(kind=place, text=text[-800:]) for place, text in call.let_out.items() if text.strip())


@clause(
    "TOOL-BASE",
    level=MUST,
    source=GUIDE.section("The ExtensionContext"),
    needs=("TOOL-WORKS",),
    excused_by=("TOOL-EXIT",),
    fix="Give the parameter to ctx.get_base_url(gerrit_base_url) and use nothing but what that gives back.",
    example="""
        async def get_state(change_id: str, gerrit_base_url: str | None = None) -> State:
            base_url = ctx.get_base_url(gerrit_base_url)
    """,
    per_tool=True,
    neighbours=("TOOL-WORKS", "TOOL-PREFIX", "ROUTE-GIVEN"),
)
async def every_form_of_an_address_reaches_its_host(observed: Observations, tool: str) -> None:
    """A `gerrit_base_url` is honoured in every form that a person types.

    The forms: as configured, without a scheme, with http, a trailing slash, the internal name, a context path. A host
    may well answer a request on the address as it was typed; one that goes out without https, or without the /a that
    signs in, breaks the clause all the same.
    """
    if not takes_address(await observed.tool(tool)):
        raise NotApplicable("it has no parameter gerrit_base_url")
    usual = (await observed.plain()).call(tool)
    if not usual.own:
        raise NotApplicable("it asked Gerrit for nothing")
    keeps_base = all(_keeps_base(entry) for entry in usual.own)  # where it does not, TOOL-PREFIX says so
    seen = await observed.typed_addresses()
    for form, (host, url) in BASE_FORMS.items():
        call = seen.call(tool, form)
        reached = call.hosts
        expected = (
            f"every request to reach {next(plan.url for plan in HOSTS if plan.name == host)} for {url!r} ({form})"
        )
        if reached - {host} or not reached:
            names = ", ".join(sorted(reached)) or "no host"
            raise Finding(
                expected=expected, saw=f"{names} was asked; {call.saw()}", evidence=(*call.evidence(), *_refusals(seen))
            )
        if not call.succeeded:
            raise Finding(expected=expected, saw=call.saw(), evidence=call.evidence())
        for raw in call.own:
            if raw.scheme == "https" and (_keeps_base(raw) or not keeps_base):
                continue
            raise Finding(
                expected=f"requests that begin with what get_base_url makes of {url!r} ({form}): {_base(raw)}",
                saw=f"the address in front of the path as it was typed: {raw.method} {raw.url}",
                evidence=call.evidence(),
            )


def _keeps_base(entry: Entry) -> bool:
    """Tell whether the path of a request begins with that of what `get_base_url` gives."""
    return entry.path.startswith(f"{_context_path(entry)}/a/")


def _base(entry: Entry) -> str:
    plan = host_of(entry)
    return "" if plan is None else f"{plan.url}/a"


def _refusals(seen: Seen) -> tuple[Evidence, ...]:
    """Quote the addresses outside the rig that were asked for."""
    targets = {refused.target for trial in seen.trials for refused in trial.gateway.refused}
    return tuple(Evidence(kind="request", text=f"refused by the proxy: {target}") for target in sorted(targets)[:5])
