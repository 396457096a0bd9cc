"""Family TOOL, continued: what becomes of arguments, the odd, the wrong, the ambiguous and the hostile ones."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING
from urllib.parse import unquote

from conformance.contracts.registry import MCP_SPEC, clause, field_sense
from conformance.outcomes import Blocked, Finding, Inconclusive, Level, NotApplicable
from conformance.rig.content import TWIN_CHANGE_ID, TWIN_NUMBERS, TWIN_PLACES, TWIN_SUBJECTS
from conformance.rig.escapes import escapes
from conformance.rig.reached import refused_url, wrong_in
from conformance.scenes.arguments import REFUSED, ROUNDS, TWIN, change_slot, each_twin, kind_of, unusual, with_odd_names
from conformance.scenes.hostile import attacked

if TYPE_CHECKING:
    from conformance.observations import Observations
    from conformance.rig.trial import Call
    from mock_gerrit.journal import Entry

MUST, SHOULD = Level.MUST, Level.SHOULD


@clause(
    "TOOL-ENCODE",
    level=MUST,
    source=field_sense(
        "names in Gerrit hold slashes, blanks, plus and percent signs: one that is not percent-encoded exactly once "
        "reaches nothing, or something else"
    ),
    needs=("EXT-NONEMPTY",),
    fix=(
        "Put every name into a path or a query with quote(name, safe=''), also a file's path, and once only; "
        "in a search put what may hold a blank between double quotes first."
    ),
    example="""
        path = f"/changes/{quote(change_id, safe='')}/revisions/current/files/{quote(file, safe='')}/diff"
        search = f'project:"{project}" file:"{file}"'
        found = f"/changes/?q={quote(search, safe='')}"
        body = await ctx.run_curl([base_url + found], base_url)
    """,
    per_tool=True,
    neighbours=("TOOL-WORKS", "TOOL-HOSTILE", "TOOL-ARGS"),
)
async def names_are_encoded_exactly_once(observed: Observations, tool: str) -> None:
    """The entity asked for is the one reached: ids, projects, branches, file paths, searches, percent-encoded once.

    Judged on the requests as they were sent, decoded as Gerrit does it (a plus is a blank, in a path too); whether the
    call succeeds does not count. A name that the tool refuses before it asks is not judged.
    """
    (await observed.plain()).call(tool)
    entry, seen = await observed.tool(tool), await observed.of(unusual)
    given = False
    for name in ROUNDS:
        call = seen.calls.get((tool, name))
        if call is None:
            continue
        _, put = with_odd_names(entry, observed.bench.arguments(entry), name)
        values: dict[str, list[str]] = {}
        for one in put:
            values.setdefault(kind_of(one.slot), []).append(str(one.value))
        _judge_names(call, values)
        given = given or bool(call.own)
    if not given:
        raise NotApplicable("it asks Gerrit for nothing by a name that could need encoding")


def _judge_names(call: Call, values: Mapping[str, list[str]]) -> None:
    expected = "each name as it is, once the request is decoded"
    for entry in call.own:
        if problem := wrong_in(entry, values):
            raise Finding(expected=expected, saw=f"{problem}: {_line(entry)}", evidence=call.evidence())
    for fact in () if call.own else call.told("curl"):
        if url := refused_url([str(one) for one in fact["args"]]):
            raise Finding(expected=expected, saw=f"a URL that curl refuses: {url!r}", evidence=call.evidence())


def _line(entry: Entry) -> str:
    return f"{entry.method} {entry.target} → {entry.status}"


@clause(
    "TOOL-HOSTILE",
    level=MUST,
    source=field_sense(
        "arguments come from a model, which repeats what strangers write into changes and comments: a value must "
        "never become an option of curl, the name of a file, or another request"
    ),
    needs=("EXT-NONEMPTY",),
    fix=(
        "Quote every value with quote(value, safe=''), hand bodies over as json.dumps(...) behind --data-raw, and "
        "never give run_curl an argument that is only a value."
    ),
    example="""
        url = f"{base_url}/changes/{quote(change_id, safe='')}/abandon"
        body = ["--request", "POST", "--json", json.dumps({"message": message})]
        await ctx.run_curl([*body, url], base_url)
    """,
    per_tool=True,
    neighbours=("TOOL-WORKS", "TOOL-ENCODE", "TOOL-ARGS"),
)
async def hostile_values_stay_values(observed: Observations, tool: str) -> None:
    """Hostile values reach neither curl's options nor files, stay one segment or value, and send no extra request.

    Values with quotes, line breaks, `a/../../x`, `#`, `?`, `&`, `[1-3]`, `{a,b}`, a NUL, and such as begin with `-` or
    `@` are put into every parameter that takes a text; what is hostile to a URL is also put behind the value that the
    parameter usually has, where one is known (`1/../../x`). The requests are judged, and files that come into being; an
    error is as good an answer as any.
    """
    usual = (await observed.plain()).call(tool).own
    seen = await observed.of(attacked)
    mine = {key: attack for key, attack in seen.attacks.items() if key[0] == tool}
    for key, attack in mine.items():
        call = seen.calls[key]
        for escape in escapes(call, seen.appeared[key], usual):
            raise Finding(
                expected="one segment of a path or one value, whatever the arguments hold",
                saw=f"{escape.what} ({attack.kind} in {attack.place(escape.letter)})",
                evidence=call.evidence(),
            )
    if tool in seen.left_over:
        trouble = seen.trials[-1].session_trouble if seen.trials and not seen.trials[-1].in_session else ""
        raise Inconclusive(
            trouble or "it ended or gave no answer again and again when it was given hostile values",
            supply="a tool that answers, if only with an error",
        )
    if not mine:
        raise NotApplicable("it has no parameter that takes a text")


@clause(
    "TOOL-ARGS",
    level=MUST,
    source=MCP_SPEC.section("Tools"),
    needs=("TOOL-WORKS",),
    fix=(
        "Declare parameters by their types and bounds (Annotated[int, Field(ge=1)]), so that the SDK refuses what does "
        "not fit; a schema that is put there by hand is checked by nobody but you."
    ),
    example="""
        @ctx.mcp.tool()
        async def list_changes(query: str, limit: Annotated[int, Field(ge=1, le=100)] = 25) -> Changes:
            ...
    """,
    per_tool=True,
    neighbours=("TOOL-WORKS", "TOOL-HOSTILE", "TOOL-VALID"),
)
async def what_the_schema_refuses_is_refused(observed: Observations, tool: str) -> None:
    """A missing required argument, or a value that the inputSchema refuses, gives an error and no request to Gerrit.

    Values of a wrong type that nobody would coerce, beyond a bound, or not in a list of words. Questions for the list
    of plugins do not count, as a host may route a call before it looks at it.
    """
    seen = await observed.of(unusual)
    refused = {name: call for (one, name), call in seen.calls.items() if one == tool and name.startswith(REFUSED)}
    if not refused:
        raise NotApplicable("there is nothing that its inputSchema would refuse")
    for name, call in refused.items():
        _judge_refusal(name.removeprefix(REFUSED), call)


def _judge_refusal(what: str, call: Call) -> None:
    if call.reply is None and call.died:
        raise Blocked("the process ended during the call", by="TOOL-EXIT")
    if call.own:
        raise Finding(
            expected="nothing sent to Gerrit for arguments that the inputSchema refuses",
            saw=f"{_line(call.own[0])} ({what}), then {call.saw()}",
            evidence=call.evidence(),
        )
    if call.succeeded or call.reply is None:
        raise Finding(
            expected="an error for arguments that the inputSchema refuses",
            saw=f"{call.saw()} ({what})",
            evidence=call.evidence(),
        )


@clause(
    "TOOL-AMBIGUOUS",
    level=SHOULD,
    source=field_sense(
        "a Change-Id stands on every branch that a change was picked to: who is given the first, or told that there is "
        "none, goes on with the wrong one"
    ),
    needs=("TOOL-WORKS",),
    fix=(
        "Where a search finds more than one change, raise an error with all their numbers; let Gerrit's own refusal "
        "(Multiple changes found for …) through."
    ),
    example="""
        if len(changes) > 1:
            numbers = ", ".join(str(change["_number"]) for change in changes)
            raise ToolError(f"{change_id} is ambiguous, it fits the changes {numbers}")
    """,
    per_tool=True,
    neighbours=("TOOL-WORKS", "TOOL-RAISES", "TOOL-ENCODE"),
)
async def an_ambiguous_id_is_said_to_be_ambiguous(observed: Observations, tool: str) -> None:
    """An id that fits several changes is said to do so, or all of them are told; never the first, never only none.

    The id is a Change-Id that stands on two branches, and judged is a tool that Gerrit tells so: by a refusal, by both
    changes, or by one and the mark that there are more. A change is told of by its number, its subject, or its project
    and branch; the id itself, which many tools repeat, tells of none. A question that fits one of them only, such as
    one with a branch in it, or that is about something else, such as what depends on the change, is not ambiguous.

    An error that tells neither that it is ambiguous nor that nothing was found is INCONCLUSIVE; a tool that refuses
    such an id before it asks is right.
    """
    entry, seen = await observed.tool(tool), await observed.of(unusual)
    if change_slot(entry) is None:
        raise NotApplicable("it takes no id of a change as a text")
    call = seen.call(tool, TWIN)
    if call.reply is None and call.died:
        raise Blocked("the process ended during the call", by="TOOL-EXIT")
    asked = [one for one in call.own if _asks_for_twins(one)]
    if not asked:
        raise NotApplicable("it asked Gerrit for no change by the id that it was given")
    if _tells_all(call):
        return
    if not any(_says_ambiguous(one) for one in asked):
        raise NotApplicable("Gerrit itself did not tell it that the id is ambiguous")
    if call.succeeded:
        await _judge_success(observed, tool, call, asked)
    else:
        _judge_error(call, asked)


AMBIGUOUS = re.compile(
    r"ambig|multiple|several|more than one|too many|not unique|exactly one|single change|one change|candidates"
    r"|which (?:one|of|change)|\b(?:and|or) (?:one|\d+) (?:more|other)"
    r"|\b(?:2|two)\s+(?:\w+\s+)?(?:changes|matches|results)",
    re.IGNORECASE,
)
NOT_FOUND = re.compile(
    r"not? (?:(?:such|been|be|matching) )?(?:change|found|match)|\bno\b.*\bfound|unknown change|\b404\b"
    r"|(?:does not|doesn't) exist|\bnone\b",
    re.IGNORECASE,
)


def _asks_for_twins(entry: Entry) -> bool:
    return TWIN_CHANGE_ID in entry.target or TWIN_CHANGE_ID.encode() in entry.body


def _says_ambiguous(entry: Entry) -> bool:
    """Tell whether Gerrit's answer lets its reader know of several: a refusal, both changes, or one that is not all."""
    text = entry.response_body.decode(errors="replace")
    if entry.status >= 400:
        return bool(AMBIGUOUS.search(text))
    numbers = _numbers(text)
    return len(numbers) > 1 or (bool(numbers) and '"_more_changes"' in text)


def _numbers(text: str) -> list[int]:
    """Give the numbers of the two changes that stand in a text as words of their own."""
    return [number for number in TWIN_NUMBERS if _has(text, str(number))]


def _has(text: str, word: str) -> bool:
    return re.search(rf"(?<![0-9A-Za-z]){re.escape(word)}(?![0-9A-Za-z])", text) is not None


def _without_id(text: str) -> str:
    return text.replace(TWIN_CHANGE_ID, "")


def _tells_all(call: Call) -> bool:
    """Tell whether the answer says that there are several, or holds something of each of the two changes."""
    said = call.text if call.reply is None or call.reply.is_error else ""
    told = call.text if call.reply is None else call.reply.everything
    return bool(AMBIGUOUS.search(said)) or not _untold(told, places=True)


def _untold(told: str, *, places: bool = False) -> list[int]:
    """Give the numbers of those changes of which an answer holds nothing: no number and no subject.

    Args:
        told: the answer.
        places: project and branch together tell of a change, too; they may stand there for other reasons.
    """
    told = _without_id(told)
    plain = f"{told}\n{unquote(told)}"
    told_of = {
        number: _has(plain, str(number)) or _has(plain, subject) or (places and all(_has(plain, one) for one in place))
        for number, subject, place in zip(TWIN_NUMBERS, TWIN_SUBJECTS, TWIN_PLACES, strict=True)
    }
    return [number for number, is_told in told_of.items() if not is_told]


def _the_only_one(told: str) -> int | None:
    """Give the number of the change of which an answer tells, where it tells of one of the two only."""
    untold = _untold(told)
    return next(number for number in TWIN_NUMBERS if number not in untold) if len(untold) == 1 else None


def _the_one_looked_at(call: Call, asked: list[Entry]) -> int | None:
    """Give the number of the change that the tool went on with, or was told of, where it is one of the two only."""
    paths = "\n".join(entry.path for entry in call.own)
    answers = "\n".join(entry.response_body.decode(errors="replace") for entry in asked if entry.status < 400)
    numbers = _numbers(paths) or _numbers(answers)
    return numbers[0] if len(numbers) == 1 else None


def _says_so_somewhere(value: object) -> bool:
    """Tell whether a result says that there are several: in a text, or by a field of such a name that is not empty."""
    if isinstance(value, str):
        return bool(AMBIGUOUS.search(value))
    if isinstance(value, Mapping):
        return any(_says_so_somewhere(one) or (bool(one) and AMBIGUOUS.search(key)) for key, one in value.items())
    return isinstance(value, list) and any(map(_says_so_somewhere, value))


def _result(call: Call) -> object:
    """Give what a tool gave back: what its structure holds, else the JSON in its text, else the text."""
    if call.reply is not None and call.reply.structured is not None:
        return call.reply.structured
    try:
        return json.loads(call.text)
    except ValueError:
        return call.text


def _judge_error(call: Call, asked: list[Entry]) -> None:
    """An error that does not say that there are several."""
    expected = f"an error that says that {TWIN_CHANGE_ID} fits several changes"
    if (one := _the_one_looked_at(call, asked)) is not None:
        raise Finding(expected=expected, saw=f"one of them taken, {one}: {call.saw()}", evidence=call.evidence())
    if NOT_FOUND.search(call.text):
        raise Finding(expected=expected, saw=f"only that it was not found: {call.saw()}", evidence=call.evidence())
    numbers = ", ".join(map(str, TWIN_NUMBERS))
    raise Inconclusive(
        f"whether its error tells a caller that the id is ambiguous, nobody can tell: {call.saw()}",
        supply=f'an error that says so, such as "{TWIN_CHANGE_ID} is ambiguous; it fits the changes {numbers}"',
        evidence=call.evidence(),
    )


async def _judge_success(observed: Observations, tool: str, call: Call, asked: list[Entry]) -> None:
    """A success that does not tell of both changes: one of them, if it is the answer that its number gives, too."""
    if _says_so_somewhere(_result(call)) or len(_numbers("\n".join(entry.path for entry in call.own))) > 1:
        return  # it says so, or it looked at both and tells something of all
    expected = "all changes that the id fits, or an error that names them"
    for one in (_the_only_one(call.reply.everything if call.reply else ""), _the_one_looked_at(call, asked)):
        if one is not None:
            raise Finding(expected=expected, saw=f"one of them only, {one}: {call.saw()}", evidence=call.evidence())
    if all(entry.status >= 400 for entry in asked) and NOT_FOUND.search(call.text):
        raise Finding(expected=expected, saw=f"only that it was not found: {call.saw()}", evidence=call.evidence())
    apart = (await observed.of(each_twin, tool)).calls
    answers = [_answer(apart.get((tool, str(number))), str(number)) for number in TWIN_NUMBERS]
    mine = _answer(call, TWIN_CHANGE_ID)
    same = [number for number, answer in zip(TWIN_NUMBERS, answers, strict=True) if answer == mine]
    if len(same) == 1:
        saw = f"the answer for {same[0]} alone: {call.saw()}"
        raise Finding(expected=expected, saw=saw, evidence=call.evidence())
    if same:
        raise Inconclusive(
            f"it answers the same for both changes and for their common id: {call.saw()}",
            supply="a result that holds the number of the change",
            evidence=call.evidence(),
        )


def _answer(call: Call | None, given: str) -> str:
    """Write the answer to a call as one text, what was given as the id left out, which the tool may repeat."""
    if call is None or call.reply is None:
        return ""
    shown = json.dumps([call.reply.is_error, call.reply.structured, call.reply.content], sort_keys=True)
    return re.sub(rf"(?<![0-9A-Za-z]){re.escape(given)}(?![0-9A-Za-z])", "", shown)
