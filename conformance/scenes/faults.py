"""Calls of tools while something is wrong with the request that they usually make first, and right after."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from conformance.rig.answers import READING, body_of, embeds, hands_on, is_beheaded, parsed, same_result
from conformance.rig.scenarios import Bench, Seen, Step, ToolEntry, fault_on, play

if TYPE_CHECKING:
    from conformance.observations import Observations
    from conformance.rig.trial import Call, Trial
    from mock_gerrit.journal import Entry

TOLD: Mapping[str, Mapping[str, Any]] = {
    "401": {"kind": "status", "status": 401},
    "403": {"kind": "status", "status": 403},
    "409": {"kind": "status", "status": 409},
    "429": {"kind": "status", "status": 429},
    "500": {"kind": "status", "status": 500},
    "502 with a page of HTML": {"kind": "html", "status": 502},
    "a redirect to a login page": {"kind": "redirect"},
}
"""Faults that the status of the answer tells: a host raises on them, or hands their body back."""

REDIRECT = "a redirect to a login page"
EMPTY, CUT, WRONG_TYPE = "an empty body", "JSON that is cut off", "JSON of another type"
DAMAGED: Mapping[str, Mapping[str, Any]] = {
    EMPTY: {"kind": "empty"},
    CUT: {"kind": "truncated"},
    WRONG_TYPE: {"kind": "wrong-type"},
}
"""Faults of the body alone: the status tells of success, so that every host hands them on."""

RESET: Mapping[str, Mapping[str, Any]] = {"a connection that is reset": {"kind": "reset"}}
REDIRECTION = 300
"""The first status that tells of no success."""
SILENCE = "silence"
AFTER = "well again"
"""The step of the call that is made when nothing is wrong any more."""

HOST_SECONDS = 5.0
"""After how many seconds the host of a trial gives a request up."""
SHORT_SECONDS, LONGER_SECONDS = 1.0, 2.0
"""The same where Gerrit keeps silent: in the first try, and in the one that counts."""
GRACE_SECONDS = 5.0
"""How much longer than its host a tool may take."""
AT_ONCE = 8
"""How many calls wait for a silent Gerrit at the same time."""


async def faulted(observed: Observations, *, returns_http_errors: bool) -> Seen:
    """Give the calls of each tool under each fault, one after the other, and one more when all is well again.

    Faults that look alike on every host are left to the host that raises.
    """
    kinds = TOLD if returns_http_errors else {**TOLD, **DAMAGED, **RESET}
    usual = await usual_calls(observed)
    tools = {name: tool for name, tool in (await observed.answering()).items() if name in usual}
    steps = [
        _step(tool, kind, kinds[kind], usual[name], returns_http_errors)
        for name, tool in tools.items()
        for kind in kinds
        if is_fair(kind, usual[name].own[0])
    ]
    afterwards = [Step(tool=tool, name=AFTER, odd=None) for tool in tools.values()]
    seen = await play(observed.bench, [*steps, *afterwards], returns_http_errors=returns_http_errors)
    for name in tools:
        if (name, AFTER) in seen.calls and (name in seen.hung or not seen.calls[name, AFTER].succeeded):
            own = [step for step in steps if step.tool["name"] == name]
            await _look_closer(observed.bench, own, seen, returns_http_errors=returns_http_errors)
    return seen


async def raising(observed: Observations) -> Seen:
    """Give the calls under faults on a host whose `run_curl` raises on HTTP errors."""
    return await observed.of(faulted, returns_http_errors=False)


async def returning(observed: Observations) -> Seen:
    """Give the calls under faults on a host whose `run_curl` hands the body of an HTTP error back."""
    return await observed.of(faulted, returns_http_errors=True)


async def usual_calls(observed: Observations) -> dict[str, Call]:
    """Give the plain call of each tool that answers it and asks Gerrit for something."""
    plain = await observed.plain()
    calls = {name: plain.call(name) for name in await observed.answering()}
    return {name: call for name, call in calls.items() if call.succeeded and call.own}


def is_fair(kind: str, first: Entry) -> bool:
    """Tell whether a fault of this kind, on the request that a tool makes first, has to be an error.

    A write to which Gerrit answered with success has happened, whatever became of the body; many are answered without
    one. And what is no JSON, such as the content of a file, may well be empty.
    """
    return kind not in DAMAGED or (first.method in READING and parsed(first) is not None)


def hit(call: Call) -> Entry | None:
    """Give the first request of a call that met the fault; None where none did."""
    return next((entry for entry in call.own if entry.fault), None)


def is_accused(call: Call, usual: Call, kind: str, *, returns_http_errors: bool) -> bool:
    """Tell whether a call under a fault is a success that nothing excuses, or has no answer.

    Excuses: the tool got the same result by another request; it hands on what came unread (which TOOL-RAISES-RAW
    judges); it makes the usual result of a damaged body, which it may not need.
    """
    entry = hit(call)
    if call.reply is None:
        return True
    if not call.succeeded or entry is None:
        return False
    is_same, is_reading = same_result(call, usual), entry.method in READING
    if is_same and is_reading and any(not one.fault and one.status < REDIRECTION for one in call.own):
        return False
    without_body = returns_http_errors and kind == REDIRECT
    if (kind in DAMAGED or without_body) and (is_same or not is_reading):
        return False
    is_raw = embeds(usual, usual.own[0]) or is_beheaded(usual, usual.own[0])
    if is_raw and (kind == EMPTY or without_body or _has(call, entry)):
        return False
    return kind == EMPTY or without_body or not hands_on(call, entry)


def _has(call: Call, entry: Entry) -> bool:
    body = body_of(entry)
    values = [call.text, *([str(call.reply.structured)] if call.reply is not None else [])]
    return embeds(call, entry) or any(body in value for value in values)


def _step(tool: ToolEntry, kind: str, fault: Mapping[str, Any], usual: Call, returns_http_errors: bool) -> Step:  # noqa: FBT001
    def is_odd(call: Call) -> bool:
        return hit(call) is None or is_accused(call, usual, kind, returns_http_errors=returns_http_errors)

    return Step(tool=tool, name=kind, faults=(fault_on(usual.own[0], **fault),), odd=is_odd)


async def _look_closer(bench: Bench, steps: Iterable[Step], seen: Seen, *, returns_http_errors: bool) -> None:
    """Find the one fault after which a tool does not recover: each is played with the call after it, alone.

    An honest tool may give a host up for a while after a dozen failures in a row.
    """
    for step in steps:
        after = Step(tool=step.tool, name=AFTER, odd=None)
        alone = await play(bench, [step, after], returns_http_errors=returns_http_errors)
        seen.trials += alone.trials
        if (call := alone.calls.get((str(step.tool["name"]), AFTER))) is None:
            continue
        seen.calls[str(step.tool["name"]), AFTER] = call
        if not call.succeeded:
            seen.calls[str(step.tool["name"]), f"{AFTER} after {step.name}"] = call
            return


async def silent(observed: Observations) -> Seen:
    """Give the call of each tool while Gerrit keeps silent, several at a time, and one more when it speaks again.

    What reached Gerrit is the same for all calls of one time: they cannot be told apart.
    """
    usual = await usual_calls(observed)
    answering = await observed.answering()
    tools = {name: tool for name, tool in answering.items() if name in usual}
    seen = Seen()
    names = list(tools)
    for at in range(0, len(names), AT_ONCE):
        await _wait_together(observed.bench, {name: tools[name] for name in names[at : at + AT_ONCE]}, usual, seen)
    for name, tool in tools.items():
        if not _is_in_order(name, seen):
            await _wait_alone(observed.bench, tool, usual[name], seen)
    return seen


def _is_in_order(name: str, seen: Seen) -> bool:
    during, after = seen.calls.get((name, SILENCE)), seen.calls.get((name, AFTER))
    if during is None or after is None:
        return False
    return during.reply is not None and not during.succeeded and hit(during) is not None and after.succeeded


async def _wait_together(bench: Bench, tools: Mapping[str, ToolEntry], usual: Mapping[str, Call], seen: Seen) -> None:
    surroundings = bench.surroundings(curl_timeout_seconds=SHORT_SECONDS)
    async with bench.rig.trial(bench.subject, surroundings) as trial:
        seen.trials.append(trial)
        if not trial.in_session:
            return
        trial.enter(bench.rig.world(surroundings), [fault_on(usual[name].own[0], kind="timeout") for name in tools])
        seconds = SHORT_SECONDS + GRACE_SECONDS
        calls = [_called(trial, bench, tool, seconds) for tool in tools.values()]
        for name, call in zip(tools, await asyncio.gather(*calls), strict=True):
            seen.calls[name, SILENCE] = call
        for name, tool in tools.items():
            if trial.alive:
                trial.enter(bench.rig.world(surroundings), ())
                seen.calls[name, AFTER] = await _called(trial, bench, tool, seconds)


def _called(trial: Trial, bench: Bench, tool: ToolEntry, seconds: float) -> Any:  # noqa: ANN401 - a coroutine of Call
    return trial.call(str(tool["name"]), bench.arguments(tool), seconds=seconds)


async def _wait_alone(bench: Bench, tool: ToolEntry, usual: Call, seen: Seen) -> None:
    """Try one tool again in a process of its own, with more time for everything: that is what counts."""
    name, surroundings = str(tool["name"]), bench.surroundings(curl_timeout_seconds=LONGER_SECONDS)
    async with bench.rig.trial(bench.subject, surroundings) as trial:
        seen.trials.append(trial)
        for step, faults in ((SILENCE, [fault_on(usual.own[0], kind="timeout")]), (AFTER, [])):
            if trial.in_session and trial.alive:
                trial.enter(bench.rig.world(surroundings), faults)
                seen.calls[name, step] = await _called(trial, bench, tool, LONGER_SECONDS + GRACE_SECONDS)
