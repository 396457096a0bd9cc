"""What becomes of others while a call is on its way: of other requests, and of the lists of plugins."""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from conformance.known_good import known_good
from conformance.rig.crowd import Answered, Gate, answered
from conformance.rig.scenarios import PLAINLY
from conformance.rig.trial import ASKING_FOR_PLUGINS
from conformance.rig.watching import LIMIT_SECONDS, Watch, heartbeat, watch

if TYPE_CHECKING:
    from conformance.observations import Observations
    from conformance.rig.surroundings import Surroundings
    from conformance.rig.trial import Trial
    from mock_gerrit.faults import Fault
    from mock_gerrit.journal import Entry

REFUSED, SLOW = "while Gerrit refuses", "while Gerrit is slow"
HANDED_OVER = "while Gerrit refuses, on a host whose run_curl hands the body of an HTTP error back"
REFUSED_SECONDS, SLOW_SECONDS = 3.0, 15.0
"""How long a call is watched; a refused one may be tried again for as long as its tool likes."""
ENOUGH_SECONDS, CERTAIN_SECONDS = 1.3, 2.5
"""How long a request of the tool is held at most, when it is watched first and when it is looked into again."""
TRIES = 3
"""How often a late answer is looked into again while the machine is too busy to tell."""


def _faults(step: str) -> tuple[Fault, ...]:
    from mock_gerrit.faults import Fault  # noqa: PLC0415 - loaded with the first trial

    return (Fault(kind="status", status=503, not_path=ASKING_FOR_PLUGINS, times=1),) if step != SLOW else ()


@dataclass(kw_only=True)
class Watched:
    """How long others waited while a tool was at work."""

    worst: Watch
    step: str
    certain: bool = True
    """False where the machine was too busy to tell whose doing it is."""


async def watched(observed: Observations) -> dict[str, Watched]:
    """Call each tool that answers, three times, and keep asking the server for something else until the call is over.

    Its first request is refused on either kind of host; once each request is held until something else was answered
    meanwhile. Where something else came late, the call is made again alone, beside an honest extension in a process of
    its own.
    """
    seen: dict[tuple[str, str], Watch] = {}
    for steps in ((REFUSED, SLOW), (HANDED_OVER,)):
        todo = [(name, step) for name in await observed.answering() for step in steps]
        while todo and await _watch_in_one_trial(observed, todo, seen):
            pass
    worst: dict[str, Watched] = {}
    for (tool, step), first in seen.items():
        found = await _again(observed, tool, step) if first.too_late else Watched(worst=first, step=step)
        if tool not in worst or found.worst.seconds > worst[tool].worst.seconds:
            worst[tool] = found
    return worst


async def _watch_in_one_trial(
    observed: Observations, todo: list[tuple[str, str]], seen: dict[tuple[str, str], Watch]
) -> bool:
    """Watch calls until one does not end in time; take them off `todo`. False where none could be made."""
    bench, before = observed.bench, len(todo)
    async with bench.rig.trial(bench.subject, _surroundings(observed, todo[0][1])) as trial:
        while todo and trial.in_session and trial.alive and trial.age < bench.rig.settings.limit_seconds / 2:
            tool, step = todo.pop(0)
            seen[tool, step] = await _watch(observed, trial, tool, step)
            if not seen[tool, step].ended:
                break
        return trial.in_session and len(todo) < before


async def _watch(
    observed: Observations, trial: Trial, tool: str, step: str, *, enough: float = ENOUGH_SECONDS
) -> Watch:
    trial.enter(observed.rig.world(trial.surroundings), _faults(step))
    arguments = observed.bench.arguments(await observed.tool(tool))
    with Gate(trial) as gate:
        seconds = SLOW_SECONDS if step == SLOW else REFUSED_SECONDS
        return await watch(trial, tool, arguments, gate, seconds=seconds, enough=enough)


def _surroundings(observed: Observations, step: str) -> Surroundings:
    return observed.bench.surroundings(returns_http_errors=step == HANDED_OVER, **PLAINLY)


async def _again(observed: Observations, tool: str, step: str) -> Watched:
    """Watch one call alone, with an honest extension beside it, until the machine has time to tell.

    However late the honest one is, that much is due to the machine.
    """
    bench = observed.bench
    for _ in range(TRIES):
        async with (
            observed.rig.control_turn,  # one at a time: each takes two places of the rig
            bench.rig.trial(known_good(), bench.surroundings()) as honest,
            bench.rig.trial(bench.subject, _surroundings(observed, step)) as trial,
        ):
            if not trial.in_session:
                break
            async with heartbeat(honest) as beat:
                found = await _watch(observed, trial, tool, step, enough=CERTAIN_SECONDS)
        if not found.too_late or found.seconds - beat.worst > LIMIT_SECONDS:
            return Watched(worst=found, step=step)
    return Watched(worst=Watch(seconds=math.inf, too_late=True), step=step, certain=False)


FIRST_CALLS = 5
QUIET_SECONDS = 0.3
"""How long a list is held back while another call might ask for it as well."""


@dataclass(kw_only=True)
class FirstCalls:
    """The first calls in a process, made at the same time, and their requests for lists of plugins."""

    answers: list[Answered] = field(default_factory=list)
    at_the_same_time: Counter[str] = field(default_factory=Counter)
    """For each host, how many requests for its list were on their way at the same time."""
    entries: list[Entry] = field(default_factory=list)
    """All requests for lists of plugins."""


async def first_calls(observed: Observations, tool: str) -> FirstCalls:
    """Call a tool several times at once in a fresh process, while each list of plugins is slow to come."""
    arguments = observed.bench.arguments(await observed.tool(tool))
    found = FirstCalls()
    surroundings = observed.bench.surroundings(placement="some")
    async with observed.rig.trial(observed.bench.subject, surroundings) as trial:
        if not trial.in_session:
            return found
        with Gate(trial, holds=lambda held: held.path.rstrip("/") == "/plugins") as gate:
            counting = asyncio.ensure_future(_count_lists(gate, found))
            found.answers = await asyncio.gather(*(answered(trial, tool, 0, arguments) for _ in range(FIRST_CALLS)))
            counting.cancel()
        found.entries = [entry for entry in trial.world.journal if entry.is_plugin_list]
    return found


async def _count_lists(gate: Gate, found: FirstCalls) -> None:
    """Let each list go when it was held long enough, and count how many of the same host were held together."""
    while True:
        gate.news.clear()
        await gate.news.wait()
        await gate.filled(FIRST_CALLS, quiet=QUIET_SECONDS)
        held = Counter(one.host for one in gate.waiting)
        for host, count in held.items():
            found.at_the_same_time[host] = max(found.at_the_same_time[host], count)
        gate.let_go(gate.waiting)
