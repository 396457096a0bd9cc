"""Family TOOL, continued: tools that change something, and tools that say they do not."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from conformance.contracts.registry import MCP_SPEC, clause, field_sense
from conformance.outcomes import Blocked, Finding, Inconclusive, Level, NotApplicable
from conformance.rig.answers import inside
from conformance.rig.samples import stanza
from conformance.rig.traces import (
    is_of_plugin,
    late_writes,
    something_changed,
    writes,
    written_twice,
)
from conformance.scenes.arguments import unusual
from conformance.scenes.writing import (
    TROUBLES,
    Trouble,
    alone,
    claims_to_read,
    each_choice,
    somebody_writes_late,
    who_writes_late,
    writes_on_a_raising_host,
    writes_on_a_returning_host,
)

if TYPE_CHECKING:
    from conformance.observations import Observations
    from conformance.rig.scenarios import Seen
    from conformance.rig.trial import Call
    from mock_gerrit.journal import Entry

MUST = Level.MUST


@clause(
    "TOOL-TRUTH",
    level=MUST,
    source=field_sense(
        "people and agents act on what a writing tool reports: told of a success that was none they stop, told of a "
        "failure that was none, or left to a retry, they write twice"
    ),
    needs=("TOOL-WORKS",),
    fix=(
        "Send each write once, look at Gerrit's answer before the next one, and raise unless it is what Gerrit gives "
        "when the write is done: its JSON, or nothing at all where it says so. Repeat reading requests only."
    ),
    example="""
        body = await ctx.run_curl(["-X", "PUT", "--json", json.dumps({"topic": topic}), url], base_url)
        if json.loads(body) != topic:  # raises on a text or a page: Gerrit answers a topic with the topic
            raise RuntimeError(f"the topic was not set: {body}")
        return {"topic": topic}
    """,
    per_tool=True,
    neighbours=("TOOL-WORKS", "TOOL-READONLY", "TOOL-RAISES", "TOOL-BASE"),
)
async def a_writing_tool_tells_what_happened(observed: Observations, tool: str) -> None:
    """A tool that writes reports success only where Gerrit did, stops at a write that fails, and writes once a call.

    Its first write is refused by Gerrit (403) and by a proxy (502), is answered by an error in JSON where Gerrit has
    such answers, and is done while the answer is lost. Judged by the answer, by the requests and by what has changed on
    the simulated hosts, on both kinds of host: one whose `run_curl` raises on HTTP errors, and one that hands their
    body back. Passing such a body on as it came, and claiming nothing beside it, is TOOL-RAISES-RAW's to judge.
    """
    plain = (await observed.plain()).call(tool)
    await _judge_lateness(observed, tool, plain)
    if not writes(plain):
        raise await _why_it_is_not_judged(observed, tool)
    _judge_sent_once(plain)
    _judge_written_once(observed, plain)
    for returning in (False, True):
        seen = await observed.of(writes_on_a_returning_host if returning else writes_on_a_raising_host)
        for trouble in TROUBLES[returning]:
            if trouble.befalls(writes(plain)[0]):
                kind = "hands the body of an HTTP error back" if returning else "raises on HTTP errors"
                _judge_trouble(observed, seen.call(tool, trouble.name), trouble, plain, kind)


async def _judge_lateness(observed: Observations, tool: str, plain: Call) -> None:
    """A tool that answers before its write has reached Gerrit cannot know what comes of it."""
    if not await observed.of(somebody_writes_late) and (plain.own or not await _anybody_writes(observed)):
        return
    call = await observed.of(alone, tool)
    if call.succeeded and (late := late_writes(call)):
        raise Finding(
            expected="an answer after that of Gerrit",
            saw=f"{call.saw()}; and after it {_named(late[0])}",
            evidence=call.evidence(),
        )


async def _anybody_writes(observed: Observations) -> bool:
    return any(writes(call) for call in (await observed.plain()).calls.values())


async def _why_it_is_not_judged(observed: Observations, tool: str) -> Inconclusive | NotApplicable:
    for seen in await _one_call_at_a_time(observed):
        for call in seen.calls_of(tool):
            if written := writes(call):
                return Inconclusive(
                    f"it writes, but not in its plainest call: {_named(written[0])}",
                    supply=stanza(tool, call.arguments),
                    evidence=call.evidence(),
                )
    return NotApplicable("it writes nothing")


async def _one_call_at_a_time(observed: Observations) -> list[Seen]:
    """Give the usual scenarios, in which every call has a world of its own."""
    placements: tuple[Any, ...] = ("some", "nowhere", "disabled-first")
    return [
        await observed.plain(),
        *[await observed.not_found(returns_http_errors=kind) for kind in (False, True)],
        await observed.typed_addresses(),
        *[await observed.routed(placement) for placement in placements],
        await observed.aftermath(),
    ]


def _judge_sent_once(plain: Call) -> None:
    """The same write, sent again although it was answered well, is done twice."""
    done: list[Entry] = []
    for entry in writes(plain):
        if not _is_success(entry) or (entry.method == "POST" and is_of_plugin(entry)):
            continue
        if any(_same_write(entry, one) for one in done):
            raise Finding(
                expected="each write sent once",
                saw=f"{_named(entry)} twice, with the same body, both done",
                evidence=plain.evidence(),
            )
        done.append(entry)


def _same_write(one: Entry, other: Entry) -> bool:
    same_place = (one.method, one.host, one.target) == (other.method, other.host, other.target)
    return same_place and one.body == other.body and not one.bodies_dropped


def _judge_written_once(observed: Observations, call: Call) -> None:
    if twice := written_twice(observed.rig, call):
        raise Finding(expected="one call to write once", saw=f"twice: {twice[0]}", evidence=call.evidence())


def _judge_trouble(observed: Observations, call: Call, trouble: Trouble, plain: Call, kind: str) -> None:
    struck = next((entry for entry in call.own if entry.fault), None)
    if struck is None:
        raise Inconclusive(
            f"its first write was {_named(writes(plain)[0])} in the plainest call, and another one the next time",
            supply=stanza(call.tool, call.arguments),
            evidence=call.evidence(),
        )
    where = f"(on a host whose run_curl {kind})"
    happened = f"{_named(struck)} is {trouble.name}"
    if trouble.done:
        if twice := written_twice(observed.rig, call):
            raise Finding(
                expected=f"no second try of a write that may have been done: {happened}",
                saw=f"twice: {twice[0]} {where}",
                evidence=call.evidence(),
            )
    elif changed := something_changed(observed.rig, call):
        raise Finding(
            expected=f"nothing written after the first write failed: {happened}",
            saw=f"changed: {changed[0]} {where}",
            evidence=call.evidence(),
        )
    may_succeed = trouble.answered_well or (trouble.done and _asked_again(call, struck))
    if call.succeeded and not may_succeed and not _hands_on(call, struck, plain):
        raise Finding(expected=f"isError when {happened}", saw=f"{call.saw()} {where}", evidence=call.evidence())


def _asked_again(call: Call, struck: Entry) -> bool:
    """Tell whether Gerrit answered something well after the answer that was lost: the tool may have looked."""
    later = call.own[call.own.index(struck) + 1 :]
    return any(_is_success(entry) for entry in later)


def _is_success(entry: Entry) -> bool:
    return 200 <= entry.status < 300 and entry.fault is None


def _named(entry: Entry) -> str:
    return f"{entry.method} {entry.gerrit_path}"


def _hands_on(call: Call, struck: Entry, plain: Call) -> bool:
    """Tell whether a result holds the body of the error as it came, and claims nothing that a success claims."""
    body = struck.response_body.decode(errors="replace").removeprefix(")]}'").strip()
    parsed: Any = None
    with suppress(ValueError):
        parsed = json.loads(body)
    values = list(_values(call))
    if not any((parsed is not None and value == parsed) or _text(value) == body for value in values):
        return False
    own_words = {repr(value) for value in inside(parsed, *call.arguments.values())} | {repr(body)}
    usual = {repr(value) for value in _values(plain)}
    return not any(_is_claim(value) and repr(value) in usual - own_words for value in values)


def _is_claim(value: Any) -> bool:  # noqa: ANN401 - any JSON value
    return value is True or (isinstance(value, str) and bool(value) and "://" not in value)


def _text(value: Any) -> str | None:  # noqa: ANN401 - any JSON value
    return value.removeprefix(")]}'").strip() if isinstance(value, str) else None


def _values(call: Call) -> Iterator[Any]:
    """Yield every value in a result: of its structure, else of its text blocks and of JSON in them."""
    if call.reply is None:
        return
    if call.reply.has_structured:
        yield from inside(call.reply.structured)
        return
    for block in call.reply.content:
        text = block.get("text")
        try:
            yield from inside(json.loads(text) if isinstance(text, str) else text)
        except ValueError:
            yield text


@clause(
    "TOOL-READONLY",
    level=MUST,
    source=MCP_SPEC.section("Tools"),
    needs=("EXT-NONEMPTY",),
    fix="Take readOnlyHint off a tool that changes something: clients run a read-only tool without asking anybody.",
    example="""
        @ctx.mcp.tool(annotations=ToolAnnotations(readOnlyHint=False))
        async def set_topic(change_id: str, topic: str) -> Topic: ...
    """,
    per_tool=True,
    neighbours=("TOOL-WORKS", "TOOL-TRUTH"),
)
async def a_read_only_tool_changes_nothing(observed: Observations, tool: str) -> None:
    """A tool whose annotations claim `readOnlyHint` sends only requests that read, and leaves Gerrit as it was.

    Requests that read are GET and HEAD, and the few POST requests of which Gerrit's documentation says so. Judged on
    the plain call, whether it succeeds or not, with an address in every form, routed, answered by 404, with unusual
    names in every parameter whose meaning is known, and with each value of those whose values the inputSchema lists
    (booleans, words to choose from).
    """
    if not claims_to_read(await observed.tool(tool)):
        raise NotApplicable("it does not claim readOnlyHint")
    plain = (await observed.plain()).call(tool)
    open_questions: list[Inconclusive] = []
    more = [await observed.of(unusual), await observed.of(each_choice)]
    for seen in [*await _one_call_at_a_time(observed), *more]:
        for call in seen.calls_of(tool):
            open_questions += await _judge_reading(observed, call)
    if await observed.of(somebody_writes_late) and (late := late_writes(await observed.of(alone, tool))):
        raise Finding(expected="requests that read", saw=f"{_named(late[0])}, after its answer")
    if open_questions:
        raise open_questions[0]
    if not plain.succeeded:
        raise Blocked("its plainest call fails, so nobody knows what else it would have sent", by="TOOL-WORKS")


async def _judge_reading(observed: Observations, call: Call) -> list[Inconclusive]:
    """Look at one call; give what stays open: POST requests of which only a plugin's authors know what they do."""
    open_questions: list[Inconclusive] = []
    for entry in writes(call):
        if (await observed.of(who_writes_late)).get(_named(entry), call.tool) != call.tool:
            continue
        if entry.method == "POST" and (is_of_plugin(entry) or entry.unsimulated is not None):
            open_questions.append(_open_question(call, entry))
            continue
        raise Finding(expected="requests that read: GET, HEAD", saw=f"{_named(entry)}", evidence=call.evidence())
    if not late_writes(call) and not writes(call) and (changed := something_changed(observed.rig, call)):
        raise Finding(expected="hosts left as they were", saw=f"changed: {changed[0]}", evidence=call.evidence())
    return open_questions


def _open_question(call: Call, entry: Entry) -> Inconclusive:
    return Inconclusive(
        f"the suite cannot tell whether {_named(entry)} changes anything",
        supply="a GET request in its place, or no readOnlyHint",
        evidence=call.evidence(),
    )
