"""Other arguments for tools that the plainest ones do not suit: another state, another person, what was optional.

A call that Gerrit refuses because a change is not abandoned, or a tool that wants one of two optional arguments, says
nothing against the tool. It is called again with values that mean the same, and with those that work from then on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from conformance.outcomes import Inconclusive
from conformance.rig.samples import BASE_URL_PARAMETER, sample_arguments
from conformance.rig.scenarios import PLAINLY, Bench, Seen, Step, ToolEntry, play
from conformance.rig.states import elsewhere, with_newcomer
from conformance.rig.traces import changes_state
from conformance.rig.trial import Call

REFUSED_STATES = frozenset({404, 405, 409, 412})
"""Statuses by which Gerrit refuses a change of what is not there or not in the state for it."""
MOST_TRIES = 6


async def with_other_arguments(bench: Bench, tools: list[ToolEntry], seen: Seen) -> Bench:
    """Call tools that failed in `seen` with other arguments; keep what works, in `seen` and in the bench given back."""
    chosen: dict[str, Mapping[str, Any]] = {}
    for tool in tools:
        name = str(tool["name"])
        call = seen.calls.get((name, ""))
        if call is None or call.reply is None or call.succeeded or name in bench.profile.tools:
            continue
        tries = [one for one, _ in zip(_tries(bench, tool, call), range(MOST_TRIES), strict=False)]
        steps = [Step(tool=tool, name=f"try {at}", added=one, odd=None) for at, one in enumerate(tries)]
        again = await play(bench, steps, **PLAINLY) if steps else Seen()
        for step in steps:
            if (other := again.calls.get((name, step.name))) is not None and other.succeeded:
                chosen[name], seen.calls[name, ""] = other.arguments, other
                seen.trials += again.trials
                break
    return replace(bench, chosen={**bench.chosen, **chosen})


def _tries(bench: Bench, tool: ToolEntry, call: Call) -> Iterator[Mapping[str, Any]]:
    """Give other arguments, according to how far the call came."""
    usual = bench.arguments(tool)
    if not call.own:
        yield from _with_optional(tool)
        return
    last = call.own[-1]
    if changes_state(last) and last.status in REFUSED_STATES:
        yield from elsewhere(usual)
    if any(changes_state(one) for one in call.own):
        yield from with_newcomer(usual)


def _with_optional(tool: ToolEntry) -> Iterator[Mapping[str, Any]]:
    """Give the optional arguments whose meaning is known: all of them, then each alone."""
    schema = tool.get("inputSchema") or {}
    optional = [one for one in schema.get("properties", {}) if one not in schema.get("required", ())]
    known: dict[str, Any] = {}
    for name in optional:
        if name != BASE_URL_PARAMETER and (value := _preferred(tool, name)) is not None:
            known[name] = value
    if known:
        yield known
    if len(known) > 1:
        yield from ({name: value} for name, value in known.items())


def _preferred(tool: ToolEntry, name: str) -> Any:  # noqa: ANN401 - any JSON value
    """Give what an optional argument would be if it were required and had no default; None where nobody can tell."""
    schema = tool["inputSchema"]
    part = {key: value for key, value in schema["properties"][name].items() if key != "default"}
    alone = {**schema, "properties": {name: part}, "required": [name]}
    try:
        return sample_arguments({**tool, "inputSchema": alone}, None)[name]
    except Inconclusive:
        return None
