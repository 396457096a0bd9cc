"""What clauses about a server's context read from a start in which the members were asked, or why they cannot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from conformance.outcomes import Blocked, Finding
from conformance.scenes import server_context as scenes
from conformance.scenes.server_asking import ASKS

if TYPE_CHECKING:
    from conformance.scenes.server_asking import Answer, Asked
    from conformance.server_observations import ServerObservations

MCP = "SRV-CTX-MCP"


async def usual(observed: ServerObservations) -> Asked:
    """Give the start in which every member was asked; raises Blocked where the probe was not there to ask."""
    seen = await observed.of(scenes.usual)
    if not seen.served.in_session or ASKS not in seen.served.names:
        raise Blocked("the probe that asks the context is not loaded", by="SRV-ENV", evidence=seen.served.evidence())
    return seen


def answer(seen: Asked, key: str) -> Answer:
    """Give what came of one use; raises Blocked where it was not even asked, as nothing answered any more."""
    if key in seen.answers:
        return seen.answers[key]
    last = next(reversed(seen.answers.values()), None)
    if last is None or last.told:
        raise Blocked(f"the server did not come to {key}", by=MCP, evidence=seen.served.evidence())
    member = str(last.call.arguments["member"]).upper().replace("_", "-")
    raise Blocked(f"the server did not come to {key}: {last.saw()}", by=f"SRV-CTX-{member}",
                  evidence=seen.served.evidence())  # fmt: skip


def given(seen: Asked, key: str, *, expected: str) -> Any:  # noqa: ANN401 - any JSON value
    """Give what a member that is no coroutine gave back; raises where it is missing, raised, or has to be awaited."""
    told = answer(seen, key)
    if not told.told or "missing" in told.told or told.raised:
        raise Finding(expected=expected, saw=told.saw(), evidence=told.call.evidence())
    if told.told["awaited"]:
        expected = f"{key} to be used without await"
        raise Finding(expected=expected, saw="an awaitable", evidence=told.call.evidence())
    return told.value
