"""Family TOOL: what each tool of an extension does when it is called."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from conformance.contracts.registry import GUIDE, MCP_SPEC, clause, field_sense
from conformance.outcomes import Blocked, Evidence, Finding, Inconclusive, Level, NotApplicable
from conformance.rig.samples import certain, stanza, takes_address
from conformance.rig.surroundings import BASE_FORMS, HOSTS, SIMULATED_PLUGINS
from conformance.rig.trial import Call, host_of

if TYPE_CHECKING:
    from conformance.examine import Examination
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
    per_tool=True,
    neighbours=("TOOL-WORKS", "EXT-RESOURCES"),
)
async def a_call_leaves_the_process_running(examination: Examination, tool: str) -> None:
    """A call never ends the process nor reads its standard input, whether Gerrit answers well or with an error.

    Judged on every call that the suite makes: plain ones, with an address in every form, routed, and answered by 404.
    """
    (await examination.plain()).call(tool)
    for seen in await examination.everything():
        for call in seen.calls_of(tool):
            _judge_end(call, seen)


def _judge_end(call: Call, seen: Seen) -> None:
    if call.stdin_read:
        raise Finding(
            expected="the standard input left alone", saw="bytes read from it during the call", evidence=call.evidence()
        )
    if not call.died:
        return
    record = next((t.record for t in seen.trials if call in t.calls), None)
    if record is not None and record.exceeded and record.ended_by == "limit":
        raise Blocked("a limit was broken, and the process was ended for it", by="EXT-RESOURCES")
    how = (
        "ended"
        if record is None
        else f"was ended by {record.signal_name}"
        if record.signal
        else f"exited with code {record.exit_code}"
    )
    raise Finding(
        expected="a process that goes on after the call",
        saw=f"the process {how} during the call",
        evidence=call.evidence(),
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
    per_tool=True,
    neighbours=("TOOL-WORKS", "TOOL-BASE"),
)
async def paths_begin_with_the_base_url_and_add_no_second_prefix(examination: Examination, tool: str) -> None:
    """The path of a request begins with that of what `get_base_url` gave, and what follows does not repeat `/a/`.

    Judged on the call without an address; what becomes of one that is given is TOOL-BASE's to judge.
    """
    call = (await examination.plain()).call(tool)
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
    return (
        ""
        if plan is None
        else plan.url.removeprefix("https://").partition("/")[1] + plan.url.removeprefix("https://").partition("/")[2]
    )


@clause(
    "TOOL-WORKS",
    level=MUST,
    source=GUIDE.section("Writing an extension"),
    needs=("EXT-NONEMPTY", "TOOL-EXIT", "TOOL-PREFIX", "ROUTE-KEYWORD", "ROUTE-OPTIONAL", "ROUTE-ORDER"),
    fix="Call the tool by hand with the arguments shown; the error text or server.log tells where it went wrong.",
    per_tool=True,
    neighbours=("TOOL-SCHEMA", "TOOL-VALID", "EXT-VISIBLE"),
)
async def a_plain_call_succeeds(examination: Examination, tool: str) -> None:
    """With valid arguments and a healthy host that has the plugin and the entity, the tool answers without an error."""
    call = (await examination.plain()).call(tool)
    if call.succeeded:
        return
    _judge_what_was_missing(call)
    if call.lists and not call.own and await examination.backing(tool) is None and _said_no_plugin(call):
        raise Inconclusive(
            "it looked for a plugin in the list and did not find it; which one it wants cannot be told",
            supply=_canned_stanza("…", "GET", "…"),
            evidence=call.evidence(),
        )
    guessed = tool not in examination.profile.tools and not certain(call.arguments)
    if guessed and (not call.own or call.own[-1].status in REFUSALS):
        why = f"Gerrit answered {call.own[-1].status}" if call.own else "it asked Gerrit for nothing"
        raise Inconclusive(
            f"it failed with arguments that the suite made up ({why}): {call.saw()}",
            supply=stanza(tool, call.arguments),
            evidence=call.evidence(),
        )
    if call.own and call.own[-1].status == CONFLICT and tool not in examination.profile.tools:
        raise Inconclusive(
            f"Gerrit refused it in the state that the simulated world is in: {call.saw()}",
            supply=stanza(tool, call.arguments),
            evidence=call.evidence(),
        )
    raise Finding(expected="an answer without isError", saw=call.saw(), evidence=(*call.evidence(), *_log(call)))


CONFLICT = 409
REFUSALS = frozenset({400, 403, 405, CONFLICT, 412, 422})
"""Statuses by which Gerrit refuses what was asked; made-up arguments may be the cause."""


def _judge_what_was_missing(call: Call) -> None:
    """Say what to supply where the surroundings lacked something that the tool needs."""
    if call.refused:
        raise Inconclusive(
            f"it asked {call.refused[0]}, which the suite does not let it reach",
            supply="arguments with which it needs no host but Gerrit",
            evidence=call.evidence(),
        )
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
    "TOOL-SCHEMA",
    level=SHOULD,
    source=GUIDE.section("Writing an extension"),
    needs=("TOOL-WORKS",),
    fix="Annotate the return type with a TypedDict (from typing_extensions), a dataclass or a pydantic model.",
    per_tool=True,
    neighbours=("TOOL-WORKS", "TOOL-VALID"),
)
async def the_result_is_typed(examination: Examination, tool: str) -> None:
    """The tool declares an `outputSchema` with a property of its own, more than a wrapper around a text."""
    entry = await examination.tool(tool)
    facts = next((about for about in (await examination.survey()).told("tool") if about["name"] == tool), {})
    schema = entry.get("outputSchema")
    if schema is None and facts.get("model_problem") == "sdk":
        raise Blocked("the SDK makes no outputSchema of a dataclass with slots", by="sdk")
    if schema is None and facts.get("model_problem") == "python":
        raise Blocked(
            "pydantic refuses a nested typing.TypedDict before Python 3.12: use Python 3.12, or typing_extensions",
            by="python",
        )
    if schema is None:
        raise Finding(expected="an outputSchema", saw="none in tools/list")
    inner = schema.get("properties", {}).get("result", {}) if facts.get("wrapped") else schema
    if not _has_property(inner, schema.get("$defs", {})):
        raise Finding(expected="an outputSchema with a property of its own", saw=f"only {_short(schema)}")


def _has_property(schema: Mapping[str, Any], definitions: Mapping[str, Any], depth: int = 6) -> bool:
    """Look for a described property in a schema, its items and its alternatives."""
    if depth == 0:
        return False
    if schema.get("properties"):
        return True
    parts: list[Any] = [
        *schema.get("anyOf", ()),
        *schema.get("oneOf", ()),
        *schema.get("allOf", ()),
        *schema.get("prefixItems", ()),
    ]
    parts += [schema[key] for key in ("items", "additionalProperties") if isinstance(schema.get(key), Mapping)]
    if isinstance(reference := schema.get("$ref"), str):
        parts.append(definitions.get(reference.rpartition("/")[2], {}))
    return any(_has_property(part, definitions, depth - 1) for part in parts if isinstance(part, Mapping))


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) < 300 else f"{text[:300]}…"


@clause(
    "TOOL-VALID",
    level=MUST,
    source=MCP_SPEC.section("Tools: Output Schema"),
    needs=("TOOL-WORKS",),
    fix="Return the declared type and let the SDK make the result; a result put together by hand is checked by nobody.",
    per_tool=True,
    neighbours=("TOOL-WORKS", "TOOL-SCHEMA"),
)
async def structured_results_keep_their_schema(examination: Examination, tool: str) -> None:
    """Where a tool declares an `outputSchema`, the `structuredContent` of every success validates against it."""
    schema = (await examination.tool(tool)).get("outputSchema")
    if schema is None:
        raise NotApplicable("it declares no outputSchema")
    calls = [(await examination.plain()).call(tool)]
    if takes_address(await examination.tool(tool)):
        calls += (await examination.typed_addresses()).calls_of(tool)
    for call in calls:
        if call.succeeded:
            _judge_structure(call, schema)


def _judge_structure(call: Call, schema: Mapping[str, Any]) -> None:
    from jsonschema import Draft202012Validator, SchemaError  # noqa: PLC0415 - only where a schema is to be judged

    assert call.reply is not None  # noqa: S101 - a success has a reply
    structured = call.reply.structured
    if structured is None:
        raise Finding(
            expected="structuredContent, as an outputSchema is declared", saw="none", evidence=call.evidence()
        )
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as problem:
        raise Finding(expected="an outputSchema that is a JSON Schema", saw=str(problem.message)) from None
    problems = sorted(
        Draft202012Validator(schema).iter_errors(structured), key=lambda one: [str(part) for part in one.absolute_path]
    )
    if problems:
        where = "/".join(str(part) for part in problems[0].absolute_path) or "the result"
        quoted = Evidence(kind="reply", text=_short(structured))
        raise Finding(
            expected="structuredContent that keeps the outputSchema",
            saw=f"at {where}: {_short(problems[0].message)}",
            evidence=(quoted, *call.evidence()),
        )


@clause(
    "TOOL-RAISES",
    level=MUST,
    source=GUIDE.section("Writing an extension"),
    needs=("TOOL-WORKS",),
    fix=(
        "Let the exception of run_curl or of json.loads go through, or raise one of your own; a caller "
        "takes a success for the truth."
    ),
    per_tool=True,
    neighbours=("TOOL-RAISES-RAW", "TOOL-WORKS", "TOOL-EXIT"),
)
async def a_404_becomes_an_error(examination: Examination, tool: str) -> None:
    """When Gerrit answers the tool's first own request with 404 and its text, the call is an error, never a success.

    Tried on both kinds of host: one whose `run_curl` raises on HTTP errors, and one that hands their body back. Passing
    such a body on unread is TOOL-RAISES-RAW's to judge.
    """
    for returns_http_errors in (False, True):
        call = (await examination.not_found(returns_http_errors=returns_http_errors)).call(tool)
        fault = _the_faulted(call)
        if call.succeeded and not (returns_http_errors and _passed_on_raw(call, fault)):
            kind = "hands the body of an HTTP error back" if returns_http_errors else "raises on HTTP errors"
            raise Finding(
                expected="isError when Gerrit answers 404",
                saw=f"{call.saw()} (on a host whose run_curl {kind})",
                evidence=call.evidence(),
            )


@clause(
    "TOOL-RAISES-RAW",
    level=SHOULD,
    source=field_sense(
        "upstream's run_curl hands the body of an HTTP error back: passed on unread, Gerrit's refusal "
        "looks like an answer"
    ),
    needs=("TOOL-WORKS",),
    fix=(
        "Parse the body (json.loads raises on Gerrit's plain text) and return its parts; do not return the "
        "text as it came."
    ),
    per_tool=True,
    neighbours=("TOOL-RAISES", "TOOL-WORKS"),
)
async def an_error_body_is_not_passed_on_as_a_result(examination: Examination, tool: str) -> None:
    """On a host that hands the body of an HTTP error back, the tool does not return that body as its result."""
    call = (await examination.not_found(returns_http_errors=True)).call(tool)
    fault = _the_faulted(call)
    if call.succeeded and _passed_on_raw(call, fault):
        raise Finding(
            expected="isError when Gerrit answers 404",
            saw=f"its body as a result: {call.saw()}",
            evidence=call.evidence(),
        )


def _the_faulted(call: Call) -> Entry:
    faulted = [entry for entry in call.own if entry.fault]
    if not faulted:
        raise NotApplicable("it asked Gerrit for nothing")
    return faulted[0]


def _passed_on_raw(call: Call, fault: Entry) -> bool:
    """Tell whether a text in the result is the body of the error, whole and unchanged."""
    body = fault.response_body.decode(errors="replace").strip()
    return any(text.strip() == body for text in _strings(call))


def _strings(call: Call) -> Iterator[str]:
    """Yield every text in a result: of its structure, or of its text blocks and of JSON in them."""
    if call.reply is None:
        return
    waiting: list[Any] = [call.reply.structured]
    for block in call.reply.content:
        text = block.get("text")
        if isinstance(text, str):
            yield text
            with suppress(ValueError):
                waiting.append(json.loads(text))
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value


@clause(
    "TOOL-BASE",
    level=MUST,
    source=GUIDE.section("The ExtensionContext"),
    needs=("TOOL-WORKS",),
    fix="Give the parameter to ctx.get_base_url(gerrit_base_url) and use nothing but what that gives back.",
    per_tool=True,
    neighbours=("TOOL-WORKS", "TOOL-PREFIX", "ROUTE-GIVEN"),
)
async def every_form_of_an_address_reaches_its_host(examination: Examination, tool: str) -> None:
    """A `gerrit_base_url` is honoured in every form that a person types.

    The forms: as configured, without a scheme, with http, a trailing slash, the internal name, a context path.
    """
    if not takes_address(await examination.tool(tool)):
        raise NotApplicable("it has no parameter gerrit_base_url")
    if not (await examination.plain()).call(tool).own:
        raise NotApplicable("it asked Gerrit for nothing")
    seen = await examination.typed_addresses()
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


def _refusals(seen: Seen) -> tuple[Evidence, ...]:
    """Quote the addresses outside the rig that were asked for."""
    targets = {refused.target for trial in seen.trials for refused in trial.gateway.refused}
    return tuple(Evidence(kind="request", text=f"refused by the proxy: {target}") for target in sorted(targets)[:5])


@clause(
    "TOOL-SECRETS",
    level=MUST,
    source=field_sense(
        "results and errors go to a model, and logs to people: neither may hold what signs in to Gerrit"
    ),
    needs=("TOOL-WORKS",),
    fix=(
        "Pick the settings that you need by name; never return, log or raise with the configuration or a "
        "request's headers."
    ),
    per_tool=True,
    neighbours=("TOOL-WORKS", "TOOL-RAISES"),
)
async def credentials_stay_inside(examination: Examination, tool: str) -> None:
    """No credential of the configuration reaches a result, an error text, stderr or server.log."""
    masking = examination.rig.masking
    for seen in await examination.everything():
        for call in seen.calls_of(tool):
            raw = call.reply.everything if call.reply is not None else ""
            _judge_leaks(masking.leaks_in({"the reply": raw, **call.let_out}), "during the call")
    for trial in [await examination.survey(), *(t for seen in await examination.everything() for t in seen.trials)]:
        if not any(masking.leaks(text) for call in trial.calls for text in call.let_out.values()):
            _judge_leaks(masking.leaks_in(trial.let_out()), "outside of any call")


def _judge_leaks(leaks: Iterable[tuple[str, str, str]], when: str) -> None:
    for place, host, around in leaks:
        raise Finding(
            expected="no credential outside the configuration",
            saw=f"the token of host {host} in {place}, {when}",
            evidence=(Evidence(kind=place, text=around),),
        )
