"""Family TOOL, continued: what a tool gives back, in good times and bad, and what it must keep to itself."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from conformance.contracts.registry import GUIDE, MCP_SPEC, clause, field_sense
from conformance.outcomes import Blocked, Evidence, Finding, Inconclusive, Level, NotApplicable
from conformance.rig.answers import READING, same_result, texts
from conformance.rig.samples import takes_address
from conformance.rig.scenarios import NAMED
from conformance.rig.surroundings import PLAIN_FORM
from conformance.rig.trial import Call, host_of, names_host

if TYPE_CHECKING:
    from conformance.observations import Observations
    from mock_gerrit.journal import Entry

MUST, SHOULD = Level.MUST, Level.SHOULD


@clause(
    "TOOL-SCHEMA",
    level=SHOULD,
    source=GUIDE.section("Writing an extension"),
    needs=("TOOL-WORKS",),
    fix="Annotate the return type with a TypedDict (from typing_extensions), a dataclass or a pydantic model.",
    example="""
        class State(TypedDict):
            status: str
            labels: list[str]

        async def get_state(change_id: str) -> State: ...
    """,
    per_tool=True,
    neighbours=("TOOL-WORKS", "TOOL-VALID"),
)
async def the_result_is_typed(observed: Observations, tool: str) -> None:
    """The tool declares an `outputSchema` with a property of its own, more than a wrapper around a text."""
    entry = await observed.tool(tool)
    facts = next((about for about in (await observed.survey()).told("tool") if about["name"] == tool), {})
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
    example="""
        async def get_state(change_id: str) -> State:
            return {"status": change["status"], "labels": list(change["labels"])}  # no CallToolResult by hand
    """,
    per_tool=True,
    neighbours=("TOOL-WORKS", "TOOL-SCHEMA"),
)
async def structured_results_keep_their_schema(observed: Observations, tool: str) -> None:
    """Where a tool declares an `outputSchema`, the `structuredContent` of every success validates against it."""
    schema = (await observed.tool(tool)).get("outputSchema")
    if schema is None:
        raise NotApplicable("it declares no outputSchema")
    calls = [(await observed.plain()).call(tool)]
    if takes_address(await observed.tool(tool)):
        calls += (await observed.typed_addresses()).calls_of(tool)
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
    "TOOL-VALID-TEXT",
    level=SHOULD,
    source=MCP_SPEC.section("Tools: Output Schema"),
    needs=("TOOL-WORKS",),
    fix="Put the same data as JSON into a text block of the result; returning the declared type does it for you.",
    example="""
        content = [{"type": "text", "text": json.dumps(answer)}]
        return CallToolResult.model_validate({"content": content, "structuredContent": answer})
    """,
    per_tool=True,
    neighbours=("TOOL-VALID", "TOOL-WORKS"),
)
async def a_text_stands_beside_the_structure(observed: Observations, tool: str) -> None:
    """A success with `structuredContent` has a text block too, for clients that show or read nothing else.

    What the text says is not compared: it need not be the same. Where the result is empty (no list elements, null), the
    SDK writes no text, and none is asked for.
    """
    wrapped = any(about["name"] == tool and about["wrapped"] for about in (await observed.survey()).told("tool"))
    call = (await observed.plain()).call(tool)
    assert call.reply is not None  # noqa: S101 - TOOL-WORKS has seen it succeed
    structured = call.reply.structured
    if structured is None:
        raise NotApplicable("its result is not structured")
    if wrapped and isinstance(structured, Mapping) and not structured.get("result"):
        raise NotApplicable("its result is empty")
    if not any(str(block.get("text", "")).strip() for block in call.reply.content if block.get("type") == "text"):
        kinds = ", ".join(sorted({str(block.get("type")) for block in call.reply.content})) or "no content at all"
        raise Finding(
            expected="a text block beside structuredContent", saw=kinds,
            evidence=(Evidence(kind="reply", text=_short(structured)), *call.evidence()),
        )  # fmt: skip


@clause(
    "TOOL-RAISES",
    level=MUST,
    source=GUIDE.section("Writing an extension"),
    needs=("TOOL-WORKS",),
    fix=(
        "Let the exception of run_curl or of json.loads go through, or raise one of your own; a caller "
        "takes a success for the truth."
    ),
    example="""
        change = json.loads(await ctx.run_curl([url], base_url))  # no except around it
        return {"subject": change["subject"]}
    """,
    per_tool=True,
    neighbours=("TOOL-RAISES-RAW", "TOOL-WORKS"),
)
async def a_404_becomes_an_error(observed: Observations, tool: str) -> None:
    """When Gerrit answers the tool's first own request with 404 and its text, the call is an error, never a success.

    Tried on both kinds of host: one whose `run_curl` raises on HTTP errors, and one that hands their body back. Passing
    such a body on unread is TOOL-RAISES-RAW's to judge. A tool that gets the same result by another question to that
    host has told no lie.

    A tool that takes an address is also called with one, where only the host that it names answers 404: what another
    host told then is no answer. The same host may be asked something else. Other hosts may be asked by a tool that asks
    them in good times as well, whose description says that it asks several, or whose result names the one that told it.
    """
    for returns_http_errors in (False, True):
        seen = await observed.not_found(returns_http_errors=returns_http_errors)
        call = seen.call(tool)
        fault = await _the_faulted(observed, call)
        kind = "hands the body of an HTTP error back" if returns_http_errors else "raises on HTTP errors"
        raw = returns_http_errors and _passed_on_raw(call, fault)
        if call.succeeded and not raw and not _learnt_otherwise(call, fault, (await observed.plain()).call(tool)):
            raise Finding(
                expected="isError when Gerrit answers 404",
                saw=f"{call.saw()} (on a host whose run_curl {kind})",
                evidence=call.evidence(),
            )
        named = seen.calls.get((tool, NAMED))
        if named is not None and (other := _told_elsewhere(named)) and not await _may_ask_others(observed, named):
            raise Finding(
                expected="isError when the host that the call names answers 404",
                saw=f"{named.saw()}, which the host {other.host} told (on a host whose run_curl {kind})",
                evidence=named.evidence(),
            )


def _learnt_otherwise(call: Call, fault: Entry, usual: Call) -> bool:
    """Tell whether a tool got the very same result by another request to the same host, which answered."""
    asked = [entry for entry in call.own if not entry.fault and entry.host == fault.host]
    answered = any(200 <= entry.status < 300 for entry in asked)
    return answered and fault.method in READING and same_result(call, usual)


SEVERAL_HOSTS = re.compile(
    r"\b(?:all|several|other|both)\s+(?:\w+\s+){0,3}(?:hosts|servers|instances|mirrors)\b"
    r"|\b(?:each|every)\s+(?:\w+\s+){0,3}(?:host|server|instance|mirror)\b"
    r"|\bfalls? back\b[^.]*\b(?:does not|do not|cannot|fails?|lacks?|refuses?)\b",
    re.IGNORECASE,
)
"""Words by which a description says that a tool asks more hosts than the one that it is told."""


def _told_elsewhere(call: Call) -> Entry | None:
    """Give the request to another host by which a tool made a success of a 404; None where it made none, or so not."""
    refused = next((at for at, entry in enumerate(call.own) if entry.fault), None)
    if refused is None or not call.succeeded:
        return None
    later = [entry for entry in call.own[refused + 1 :] if entry.host != call.own[refused].host]
    told = next((entry for entry in later if 200 <= entry.status < 300), None)
    plan = host_of(told) if told is not None else None
    is_named = plan is not None and call.reply is not None and names_host(call.reply.everything, plan)
    return None if is_named else told


async def _may_ask_others(observed: Observations, call: Call) -> bool:
    """Tell whether a tool says that it asks several hosts, or asks others than the named one in good times as well."""
    entry = await observed.tool(call.tool)
    if SEVERAL_HOSTS.search(" ".join(_descriptions(entry))):
        return True
    if takes_address(entry):
        well = (await observed.typed_addresses()).calls.get((call.tool, PLAIN_FORM))
    else:
        well = (await observed.routed("some")).calls.get((call.tool, "has it"))
    return well is None or not well.succeeded or len(well.hosts) != 1


def _descriptions(entry: Mapping[str, Any]) -> Iterator[str]:
    """Yield what a tool says of itself and of its parameters."""
    parts = ((entry.get("inputSchema") or {}).get("properties") or {}).values()
    told = (one.get("description") for one in (entry, *parts) if isinstance(one, Mapping))
    yield from (one for one in told if isinstance(one, str))


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
    example="""
        body = await ctx.run_curl([url], base_url)
        return {"subject": json.loads(body)["subject"]}  # not: return body
    """,
    per_tool=True,
    neighbours=("TOOL-RAISES", "TOOL-WORKS"),
)
async def an_error_body_is_not_passed_on_as_a_result(observed: Observations, tool: str) -> None:
    """On a host that hands the body of an HTTP error back, the tool does not return that body as its result."""
    call = (await observed.not_found(returns_http_errors=True)).call(tool)
    fault = await _the_faulted(observed, call)
    if call.succeeded and _passed_on_raw(call, fault):
        raise Finding(
            expected="isError when Gerrit answers 404",
            saw=f"its body as a result: {call.saw()}",
            evidence=call.evidence(),
        )


async def _the_faulted(observed: Observations, call: Call) -> Entry:
    faulted = [entry for entry in call.own if entry.fault]
    if faulted:
        return faulted[0]
    usual = (await observed.plain()).call(call.tool)
    if not usual.own:
        raise NotApplicable("it asked Gerrit for nothing")
    asked = f"{call.own[0].method} {call.own[0].gerrit_path}" if call.own else "nothing"
    raise Inconclusive(
        f"it was to be refused {usual.own[0].method} {usual.own[0].gerrit_path}, which it usually asks for first, and "
        f"asked for {asked} instead",
        supply="arguments with which its first request is always the same",
        evidence=call.evidence(),
    )


def _passed_on_raw(call: Call, fault: Entry) -> bool:
    """Tell whether a text in the result is the body of the error, whole and unchanged."""
    body = fault.response_body.decode(errors="replace").strip()
    return any(text.strip() == body for text in texts(call))


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
    example="""
        hosts = [host["name"] for host in ctx.load_config()["gerrit_hosts"]]  # not the whole entries
    """,
    per_tool=True,
    neighbours=("TOOL-WORKS", "TOOL-RAISES"),
)
async def credentials_stay_inside(observed: Observations, tool: str) -> None:
    """No credential of the configuration reaches a result, an error text, stderr or server.log."""
    masking = observed.rig.masking
    async for seen in observed.everything():
        for call in seen.calls_of(tool):
            raw = call.reply.everything if call.reply is not None else ""
            _judge_leaks(masking.leaks_in({"the reply": raw, **call.let_out}), "during the call")
    trials = [await observed.survey(), *[trial async for trial in observed.trials_with_calls()]]
    for trial in trials:
        if not any(masking.leaks(text) for call in trial.calls for text in call.let_out.values()):
            _judge_leaks(masking.leaks_in(trial.let_out()), "outside of any call")


def _judge_leaks(leaks: Iterable[tuple[str, str, str]], when: str) -> None:
    for place, host, around in leaks:
        raise Finding(
            expected="no credential outside the configuration",
            saw=f"the token of host {host} in {place}, {when}",
            evidence=(Evidence(kind=place, text=around),),
        )
