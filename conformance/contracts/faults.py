"""Family TOOL, continued: what a tool does when its first request goes wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.contracts.registry import GUIDE, clause
from conformance.outcomes import Evidence, Finding, Inconclusive, Level, NotApplicable
from conformance.rig.answers import hands_on
from conformance.scenes import faults, patience
from conformance.scenes.faults import AFTER, EMPTY, GRACE_SECONDS, HOST_SECONDS, REDIRECT, SILENCE

if TYPE_CHECKING:
    from conformance.observations import Observations
    from conformance.rig.scenarios import Seen
    from conformance.rig.trial import Call


@clause(
    "TOOL-FAULTS",
    level=Level.MUST,
    source=GUIDE.section("Writing an extension"),
    needs=("TOOL-WORKS",),
    excused_by=("TOOL-EXIT",),
    fix=(
        "Let what run_curl and json.loads raise go through, refuse a body of another type than you asked for, and put "
        "no value of your own in the place of what Gerrit did not tell."
    ),
    example="""
        answer = json.loads((await ctx.run_curl([url], base_url)).removeprefix(")]}'"))
        if not isinstance(answer, list):
            raise ValueError("Gerrit did not answer with a list of changes")
    """,
    per_tool=True,
    neighbours=("TOOL-RAISES", "TOOL-WORKS"),
)
async def every_fault_becomes_an_error_and_passes(observed: Observations, tool: str) -> None:
    """Whatever goes wrong with the tool's first own request, the call is an error in good time, and the next one works.

    The faults: 401, 403, 409, 429, 500, a page of HTML with 502, a redirect to a login page, an empty body, JSON that
    is cut off, JSON of another type, silence, a reset connection; each as often as the request is made. "In good time"
    is 5 seconds more than the host itself waits. What a status tells is tried on both kinds of host: one whose
    `run_curl` raises on it, and one that hands the body back. Silence is also played on a host that waits longer than
    any tool, on a clock that is put forward: a tool that runs out of patience by itself has nothing to tell, either.

    A success is no lie where the tool gets the very same result by another request, needs nothing of the body that was
    damaged, or hands on what came as it is (TOOL-RAISES-RAW judges that). A damaged body is held against requests only
    that read JSON: a write that Gerrit answered with success has happened.
    """
    usual = (await observed.plain()).call(tool)
    if not usual.own:
        raise NotApplicable("it asked Gerrit for nothing")
    met = 0
    for seen, returns_http_errors in (
        (await observed.of(faults.raising), False),
        (await observed.of(faults.returning), True),
    ):
        host = " on a host whose run_curl hands the body of an HTTP error back" if returns_http_errors else ""
        for kind, call in _under_faults(seen, tool):
            met += faults.hit(call) is not None
            if call.succeeded and _hands_on_whatever_comes(kind, seen, tool):
                continue
            if faults.is_accused(call, usual, kind, returns_http_errors=returns_http_errors):
                raise _finding(call, f"isError when the answer to its first request is {kind}", host)
            _judge_time(call, HOST_SECONDS, f"isError when the answer to its first request is {kind}")
        _judge_recovery(seen, tool, host)
    silent = await observed.of(faults.silent)
    call = silent.call(tool, SILENCE)
    met += faults.hit(call) is not None
    if faults.is_accused(call, usual, SILENCE, returns_http_errors=False):
        raise _finding(call, "isError when Gerrit does not answer its first request", "")
    _judge_recovery(silent, tool, "")
    if (untold := (await observed.of(patience.untold)).get(tool)) is not None:
        raise Finding(
            expected="isError when it waits no longer and Gerrit has not answered its first request",
            saw=untold.saw(),
            evidence=(*untold.evidence(), Evidence(kind="fact", text="no answer came before the tool gave up waiting")),
        )
    if not met:
        raise Inconclusive(
            "it asked for something else in every call, so that nothing could be made to go wrong",
            supply="arguments with which its first request is always the same",
            evidence=usual.evidence(),
        )


def _under_faults(seen: Seen, tool: str) -> list[tuple[str, Call]]:
    if tool in seen.unknown:
        raise seen.unknown[tool]
    kinds = {**faults.TOLD, **faults.DAMAGED, **faults.RESET}
    return [(kind, seen.calls[tool, kind]) for kind in kinds if (tool, kind) in seen.calls]


def _hands_on_whatever_comes(kind: str, seen: Seen, tool: str) -> bool:
    """Tell whether a fault without a body met a tool that hands on those that have one."""
    if kind not in {EMPTY, REDIRECT}:
        return False
    calls = [call for other, call in _under_faults(seen, tool) if other != kind and call.succeeded]
    return any((entry := faults.hit(call)) is not None and hands_on(call, entry) for call in calls)


def _judge_time(call: Call, host_seconds: float, expected: str) -> None:
    if call.seconds > host_seconds + GRACE_SECONDS:
        raise _finding(call, f"{expected}, within {host_seconds + GRACE_SECONDS:g} s", f" after {call.seconds:.1f} s")


def _judge_recovery(seen: Seen, tool: str, host: str) -> None:
    call = seen.calls.get((tool, AFTER))
    if call is None or call.succeeded:
        return
    before = next((step.partition(" after ")[2] for name, step in seen.calls if name == tool and " after " in step), "")
    raise _finding(call, f"an answer without isError in the call after {before or SILENCE}", host)


def _finding(call: Call, expected: str, where: str) -> Finding:
    entry = faults.hit(call)
    kind = f"the fault was played on {entry.method} {entry.target}" if entry is not None else "no fault was met"
    return Finding(
        expected=expected, saw=f"{call.saw()}{where}", evidence=(*call.evidence(), Evidence(kind="fact", text=kind))
    )
