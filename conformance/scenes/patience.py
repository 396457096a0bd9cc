"""Calls of tools that wait for Gerrit no longer than they like, on a host that would go on waiting."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from conformance.rig import clock
from conformance.rig.answers import same_result
from conformance.rig.crowd import Gate
from conformance.scenes.faults import AT_ONCE, REDIRECTION, usual_calls

if TYPE_CHECKING:
    from conformance.observations import Observations
    from conformance.rig.trial import Call, Trial

HOST_SECONDS = 3600.0
"""After so long the host gives a request up: no tool is as patient."""
STEPS, STEP_SECONDS = 3, 300.0
"""How often the clock of the process is put forward while Gerrit is silent, and by how much."""
ARRIVING_SECONDS = 1.0
"""How long one more request is waited for, once others have come."""
ANSWERING_SECONDS = 0.15
"""How long answers are waited for when the time has passed: those who ran out of patience have nothing else to do."""


async def untold(observed: Observations) -> dict[str, Call]:
    """Give the calls that were a success when the tool's patience was over, though Gerrit had answered nothing.

    The time passes at once, on the clock of the process. Each such call is made again alone, and that is what counts.
    """
    usual = await usual_calls(observed)
    names = list(usual)
    suspects: list[str] = []
    for at in range(0, len(names), AT_ONCE):
        calls = await _outwaited(observed, names[at : at + AT_ONCE], usual)
        suspects += [name for name, call in calls.items() if call.succeeded]
    alone = {name: await _outwaited(observed, [name], usual) for name in suspects}
    return {name: calls[name] for name, calls in alone.items() if name in calls and _is_a_lie(calls[name], usual[name])}


def _is_a_lie(call: Call, usual: Call) -> bool:
    """Tell whether a success has nothing to rest on: no other request gave the tool the very same result."""
    return call.succeeded and not (same_result(call, usual) and any(one.status < REDIRECTION for one in call.own))


async def _outwaited(observed: Observations, names: Sequence[str], usual: Mapping[str, Call]) -> dict[str, Call]:
    """Give the calls that ended while the first request of each tool was held and the hours went by."""
    bench, tools = observed.bench, await observed.answering()
    surroundings = bench.surroundings(curl_timeout_seconds=HOST_SECONDS, instructions={clock.INSTRUCTION: True})
    paths = {usual[name].own[0].gerrit_path for name in names}
    async with bench.rig.trial(bench.subject, surroundings) as trial:
        if not trial.in_session:
            return {}
        trial.enter(bench.rig.world(surroundings), ())
        with Gate(trial, holds=lambda held: held.path in paths) as gate:
            calls = {name: asyncio.ensure_future(trial.call(name, bench.arguments(tools[name]))) for name in names}
            await gate.filled(len(names), quiet=ARRIVING_SECONDS)
            early = {name for name, call in calls.items() if call.done()}
            await _let_time_pass(trial, list(calls.values()))
            ended = {name: call.result() for name, call in calls.items() if call.done() and name not in early}
            for call in calls.values():
                call.cancel()
            await asyncio.gather(*calls.values(), return_exceptions=True)
    return ended


async def _let_time_pass(trial: Trial, calls: Sequence[asyncio.Future[Call]]) -> None:
    """Put the clock forward step by step; a small question each time has the event loop look at it."""
    from conformance.wire.client import WireTrouble  # noqa: PLC0415 - loaded with the first trial

    ahead = clock.amid_a_period()
    for _ in range(STEPS):
        ahead += STEP_SECONDS
        clock.put_forward(trial.home, ahead)
        with suppress(WireTrouble):
            await trial.client.request("ping", timeout=ARRIVING_SECONDS)
        await asyncio.wait(calls, timeout=ANSWERING_SECONDS)
