"""ROUTE-REACHES says why a text did not come through, where the SDK kept it back."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.contracts.routing import SAY_IT_BY_A_TOOL_ERROR, a_refusal_reaches_the_caller_with_its_text
from conformance.outcomes import Finding
from conformance.rig.scenarios import Seen
from conformance.rig.trial import Call, Fact
from conformance.wire.reply import ToolReply


class Observed:
    """Stands for the observations of a subject whose one tool routes by itself."""

    def __init__(self, refused: Call) -> None:
        """Answer every routed call with `refused`."""
        self._refused = refused

    async def backing(self, _: str) -> Any:
        return type("Backing", (), {"by_host": False})

    async def routed(self, _: str) -> Seen:
        return Seen(calls={("t", step): self._refused for step in ("lacks it", "no address")})


def refused(text: str, raised: str) -> Call:
    answer = ToolReply(raw=b"{}", is_error=True, content=({"type": "text", "text": text},), structured=None)
    told = Fact(kind="tool_raised", about={"tool": "t", "type": "RuntimeError", "text": raised, "line": "x.py:1 in t"})
    return Call(
        tool="t", arguments={}, reply=answer, trouble="", entries=(), facts=(told,) if raised else (), seconds=0.1
    )


async def finding_of(call: Call) -> Finding:
    observed: Any = Observed(call)
    with pytest.raises(Finding) as raised:
        await a_refusal_reaches_the_caller_with_its_text(observed, "t")
    return raised.value


async def test_a_text_that_the_sdk_kept_back_is_explained_with_what_to_do():
    finding = await finding_of(refused("Error executing tool t", "elm has the plugin task"))
    assert finding.saw.startswith("only 'Error executing tool t', the SDK's mask: ")
    assert finding.hint == SAY_IT_BY_A_TOOL_ERROR


@pytest.mark.parametrize(
    ("text", "raised"), [("Error executing tool t: ", ""), ("Error executing tool t: sorry", "sorry"), ("sorry", "no")]
)
async def test_a_tool_that_says_nothing_of_use_is_not_told_of_the_mask(text, raised):
    finding = await finding_of(refused(text, raised))
    assert "mask" not in finding.saw
    assert finding.hint is None
