"""Many calls of one tool with different arguments: alone, at once, and one after another."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from conformance.rig.answers import READING
from conformance.rig.crowd import Answered, Gate, Held, answered, at_once
from conformance.rig.scenarios import PLAINLY, Seen, Step, play
from conformance.rig.trial import ASKING_FOR_PLUGINS, Call, asks_for_plugins
from conformance.rig.variants import LEVELS, TURNS, Arguments, one_by_one, variants

if TYPE_CHECKING:
    from conformance.observations import Observations
    from conformance.rig.surroundings import Surroundings
    from conformance.rig.trial import Trial
    from mock_gerrit.journal import Entry

TOGETHER, IN_TURN = 14, 6
"""Twenty calls of each tool: so many at once, and then so many one after another."""
MOST_CALLS, FEWEST_CALLS = 20, 6
"""Of all tools together, and of each at least: where there are many, each is called less often."""
MOST_SECONDS = 8.0
"""Of all calls of one tool together, should it make each wait for the one before."""
QUIET_SECONDS = 0.2
"""How long to wait for one more of the calls to ask Gerrit for something, once others have."""


@dataclass(kw_only=True)
class Round:
    """Some calls of one tool in one world."""

    answers: list[Answered]
    entries: list[Entry]


@dataclass(kw_only=True)
class Crowd:
    """Calls of one tool with different arguments, alone and in company."""

    choices: Sequence[Arguments] = ()
    """The different arguments; fewer than two where none could be found that work."""
    alone: list[list[Call]] = field(default_factory=list)
    """For each arguments, the calls that were made with them alone in a process."""
    rounds: list[Round] = field(default_factory=list)

    @property
    def writes(self) -> bool:
        """Whether the tool changes something at Gerrit."""
        return any(entry.method not in READING for calls in self.alone for call in calls for entry in call.own)

    def with_rounds_of(self, other: Crowd) -> Crowd:
        """Give the rounds of another crowd beside the calls alone of this one."""
        return Crowd(choices=self.choices, alone=self.alone, rounds=other.rounds)


async def crowded(observed: Observations) -> dict[str, Crowd]:
    """Call each tool that works with different arguments: alone, many times at once, and many times in turn."""
    plain = await observed.plain()
    working = [name for name in await observed.answering() if plain.call(name).succeeded]
    crowds = {name: Crowd() for name in working}
    for level in range(LEVELS):
        await _alone(observed, {name: one for name, one in crowds.items() if not one.choices}, level)
    await _one_argument_each(observed, {name: one for name, one in crowds.items() if one.choices and not one.writes})
    counts = {name: _so_many(tools=len(crowds), seconds=plain.call(name).seconds) for name in crowds}
    for process in (0, 1):
        plans = {name: _plans(one, counts[name])[process] for name, one in crowds.items() if one.choices}
        await _in_company(observed, crowds, {name: plan for name, plan in plans.items() if plan})
    return crowds


def _so_many(*, tools: int, seconds: float) -> int:
    """How often to call a tool: twenty times, unless there are many tools, or each call takes long."""
    shared = max(FEWEST_CALLS, min(TOGETHER + IN_TURN, MOST_CALLS // tools))
    return min(shared, int(MOST_SECONDS / max(seconds, 0.001)))


@dataclass(frozen=True, kw_only=True)
class Plan:
    """One round of calls, before it is played."""

    order: Sequence[int]
    """Which arguments to give to the first call, the second, and so on."""
    at_once: bool


def _plans(crowd: Crowd, calls: int) -> tuple[list[Plan], list[Plan]]:
    """Plan the rounds in a first process and in a second one.

    A tool that writes is given each arguments once only, and each round is played where nothing can be remembered.
    """
    count = len(crowd.choices)
    if crowd.writes:
        each = range(count)
        return [Plan(order=each, at_once=False)], [Plan(order=each[::-1], at_once=True)]
    together = max(count, calls * TOGETHER // (TOGETHER + IN_TURN))
    in_turn = max(count, calls - together)
    first = Plan(order=[number % count for number in range(together)], at_once=True)
    return [first, Plan(order=[-number % count for number in range(1, in_turn + 1)], at_once=False)], []


async def _in_company(
    observed: Observations, crowds: Mapping[str, Crowd], plans: Mapping[str, Sequence[Plan]], *, settle: float = 0
) -> None:
    """Play the rounds of each tool, all in one process unless that takes too long, and add them to the crowds."""
    todo, limit = list(plans), observed.rig.settings.limit_seconds
    while before := len(todo):
        async with observed.rig.trial(observed.bench.subject, _with_lists_kept(observed)) as trial:
            while todo and trial.in_session and trial.alive and trial.age < limit / 2:
                name = todo.pop(0)
                for plan in plans[name]:
                    crowds[name].rounds.append(await _round(observed, trial, crowds[name], plan, settle))
        if len(todo) == before:
            return


def _with_lists_kept(observed: Observations) -> Surroundings:
    return observed.bench.surroundings(placement="everywhere")


async def _alone(observed: Observations, crowds: Mapping[str, Crowd], level: int) -> None:
    """Try the other arguments of one level on each tool, all of one turn in one process, and keep them if they work."""
    plain, tools = await observed.plain(), await observed.answering()
    tried: dict[str, list[Arguments]] = {}
    for name in crowds:
        usual = plain.call(name)
        levels = list(variants(tools[name], dict(usual.arguments), asks=bool(usual.own)))
        if level < len(levels):
            tried[name] = levels[level]
    if not tried:
        return
    seen = await asyncio.gather(*(_one_turn(observed, tried, index) for index in range(len(TURNS))))
    for name, made in tried.items():
        calls = [one.calls.get((name, "")) for one in seen]
        works = [(arguments, call) for arguments, call in zip(made, calls, strict=True) if call and call.succeeded]
        if works:
            usual = plain.call(name)
            crowds[name].choices = [dict(usual.arguments), *(arguments for arguments, _ in works)]
            crowds[name].alone = [[usual], *([call] for _, call in works)]


async def _one_argument_each(observed: Observations, crowds: Mapping[str, Crowd]) -> None:
    """Add arguments that differ from the plainest in one only; a tool that writes would meet what it wrote before."""
    singles = {name: one_by_one(crowd.choices[0], crowd.choices[1]) for name, crowd in crowds.items()}
    turns = [
        {name: made for name, made in singles.items() if index < len(made)}
        for index in range(max(map(len, singles.values()), default=0))
    ]
    seen = await asyncio.gather(*(_one_turn(observed, tried, index) for index, tried in enumerate(turns)))
    for name, made in singles.items():
        for arguments, one in zip(made, seen, strict=False):
            call = one.calls.get((name, ""))
            if call is not None and call.succeeded:
                crowds[name].choices = [*crowds[name].choices, arguments]
                crowds[name].alone.append([call])


async def _one_turn(observed: Observations, tried: Mapping[str, list[Arguments]], index: int) -> Seen:
    """Call each tool once; all with arguments of the same turn, so that none can be given what is another's."""
    tools = await observed.answering()
    steps = [Step(tool=tools[name], added=made[index]) for name, made in tried.items()]
    return await play(observed.bench, steps, **PLAINLY)


async def _round(observed: Observations, trial: Trial, crowd: Crowd, plan: Plan, settle: float) -> Round:
    """Make the calls of one round, amid the very hosts that were there when the tool was called alone."""
    tool = crowd.alone[0][0].tool
    trial.enter(observed.rig.world(observed.bench.surroundings(**PLAINLY)), ())
    if plan.at_once:
        with Gate(trial, holds=_is_own) as gate:
            answers = await at_once(trial, tool, crowd.choices, plan.order, gate=gate, quiet=QUIET_SECONDS)
    else:
        answers = [await answered(trial, tool, which, crowd.choices[which]) for which in plan.order]
    await asyncio.sleep(settle)
    return Round(answers=answers, entries=[one for one in trial.world.journal if not asks_for_plugins(one)])


def _is_own(held: Held) -> bool:
    return re.match(ASKING_FOR_PLUGINS, held.path) is None


async def crowded_again(observed: Observations, tool: str) -> Crowd:
    """Make the same calls of one tool once more, each of those alone in a process of its own."""
    first = (await observed.of(crowded))[tool]
    tools = await observed.answering()
    again = Crowd(choices=first.choices, alone=[list(calls) for calls in first.alone])
    for process in _plans(again, _so_many(tools=1, seconds=first.alone[0][0].seconds)):
        if process:
            await _in_company(observed, {tool: again}, {tool: process}, settle=SETTLING_SECONDS)
    await asyncio.sleep(TELLING_SECONDS)
    for which, arguments in enumerate(first.choices):
        step = Step(tool=tools[tool], added=arguments)
        seen = await play(observed.bench, [step], **PLAINLY)
        again.alone[which] += seen.calls_of(tool)
    return again


SETTLING_SECONDS = 0.3
"""What a tool asks of Gerrit behind the back of its caller is waited for so long, before it counts as never asked."""
TELLING_SECONDS = 1.1
"""After so long, even a time in whole seconds is another one."""
