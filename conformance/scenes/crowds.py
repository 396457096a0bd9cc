"""Many calls of one tool with different arguments: alone, at once, and one after another."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from conformance.rig.answers import READING
from conformance.rig.content import PROJECT
from conformance.rig.crowd import Answered, Astray, Gate, Held, answered, astray, at_once, questions
from conformance.rig.meanings import SECOND_BRANCH, meaning_of
from conformance.rig.samples import BASE_URL_PARAMETER
from conformance.rig.scenarios import PLAINLY, Seen, Step, play
from conformance.rig.slots import alternatives, definitions_of, judge_of
from conformance.rig.surroundings import HOSTS
from conformance.rig.trial import ASKING_FOR_PLUGINS, Call, asks_for_plugins
from conformance.rig.variants import LEVELS, TURNS, Arguments, one_by_one, variants
from conformance.scenes.other_hosts import CONTENT, OTHER_FORM, OTHER_URL

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
MOST_BESIDE, FEWEST_BESIDE = 6, 3
"""How many arguments that differ from the plainest in one value are tried at most: of a quick tool, of a slow one."""
BESIDE_TRIALS = 3
"""So many processes they are tried in."""


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
    for name, crowd in crowds.items():
        if not crowd.choices:
            crowd.choices, crowd.alone = [dict(plain.call(name).arguments)], [[plain.call(name)]]
    await _one_argument_each(observed, {name: one for name, one in crowds.items() if not one.writes})
    await _another_host(observed, crowds)
    counts = {name: _so_many(tools=len(crowds), seconds=plain.call(name).seconds) for name in crowds}
    for process in (0, 1):
        plans = {name: _plans(one, counts[name])[process] for name, one in crowds.items() if len(one.choices) > 1}
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
    """Add arguments that differ from the plainest in one only; a tool that writes would meet what it wrote before.

    What turns out to write where the plainest call reads is left out.
    """
    tools = await observed.answering()
    made = {name: _beside(tools[name], crowd) for name, crowd in crowds.items()}
    steps: list[list[Step]] = [[] for _ in range(BESIDE_TRIALS)]
    for number in range(MOST_BESIDE):
        those = {name: several[number] for name, several in made.items() if number < len(several)}
        steps[number % BESIDE_TRIALS] += [
            Step(tool=tools[name], name=str(number), added=one) for name, one in those.items()
        ]
    seen = await asyncio.gather(*(play(observed.bench, several, **PLAINLY) for several in steps if several))
    for name, crowd in crowds.items():
        for number, arguments in enumerate(made[name]):
            call = next((one.calls[name, str(number)] for one in seen if (name, str(number)) in one.calls), None)
            if call is not None and call.succeeded and all(entry.method in READING for entry in call.own):
                crowd.choices = [*crowd.choices, arguments]
                crowd.alone.append([call])


def _beside(tool: Mapping[str, Any], crowd: Crowd) -> list[Arguments]:
    """Give arguments that differ from the plainest in one value only, each in another one."""
    plain, *others = crowd.choices
    made = one_by_one(plain, others[0]) if others else []
    told = {name for one in (*made, *others) if len(names := _differing(plain, one)) == 1 for name in names}
    made += [{**plain, name: value} for name, value in second_values(tool, plain).items() if name not in told]
    affordable = _so_many(tools=1, seconds=crowd.alone[0][0].seconds) // 2
    return made[: max(FEWEST_BESIDE, min(MOST_BESIDE, affordable))]


def _differing(one: Arguments, other: Arguments) -> set[str]:
    return {name for name in one.keys() | other.keys() if one.get(name) != other.get(name)}


SECOND: Mapping[str, Mapping[Any, Any]] = {
    "project": {"demo": PROJECT},
    "branch": {"master": SECOND_BRANCH, "refs/heads/master": f"refs/heads/{SECOND_BRANCH}"},
}
"""By the first name of a meaning, what else there is on every host of a trial."""
AMOUNTS = (1, "1", 2, "2")


def second_values(tool: Mapping[str, Any], plain: Arguments) -> dict[str, Any]:
    """Give each argument, the host aside, of which it is known what else it can be, with such a value.

    Args:
        tool: the tool's entry in `tools/list`.
        plain: the arguments with which it is known to work; what they leave out has the default of its schema.
    """
    schema, definitions = tool.get("inputSchema") or {}, definitions_of(tool)
    found: dict[str, Any] = {}
    for name, own in schema.get("properties", {}).items():
        if name == BASE_URL_PARAMETER or not isinstance(own, Mapping):
            continue
        usual, admits = plain.get(name, own.get("default")), judge_of(own, definitions, formats=True)
        for value in _others(name, usual, [value for one in alternatives(own, definitions) for value in _listed(one)]):
            if value != usual and admits(value):
                found[name] = value
                break
    return found


def _listed(schema: Mapping[str, Any]) -> Sequence[Any]:
    listed = schema.get("enum")
    return listed if isinstance(listed, list) else ()


def _others(name: str, usual: Any, listed: Sequence[Any]) -> Sequence[Any]:  # noqa: ANN401 - any JSON value
    """Give values that may stand in place of the usual one; a name without a meaning goes by its schema and type."""
    meaning = meaning_of(name)
    if meaning is None:
        changed = [not usual] if isinstance(usual, bool) else [usual + 1] if isinstance(usual, int) else []
        return [*listed, *changed]
    if meaning.amount:
        return AMOUNTS
    if usual is None:
        return meaning.values
    another = SECOND.get(meaning.names[0], {}).get(usual) if isinstance(usual, str) else None
    return () if another is None else (another,)


async def _another_host(observed: Observations, crowds: Mapping[str, Crowd]) -> None:
    """Add what differs from the plainest in the host only, as it was called among the typed addresses."""
    seen = await observed.typed_addresses()
    for name, crowd in crowds.items():
        call = seen.calls.get((name, OTHER_FORM))
        arguments = {**crowd.choices[0], BASE_URL_PARAMETER: OTHER_URL}
        if call is None or not call.succeeded or dict(call.arguments) != arguments or arguments in crowd.choices:
            continue
        crowd.choices = [*crowd.choices, arguments]
        crowd.alone.append([call])


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


def gone_astray(crowd: Crowd, *, fresh: bool) -> tuple[Astray, Round] | None:
    """Find a question of a crowd that went to another host than the one that its call names, and the round of it.

    Args:
        crowd: some calls of one tool.
        fresh: nothing was called before the first round in its process.
    """
    loading = {
        one for calls in crowd.alone for call in calls if call.surroundings for one in call.surroundings.unbidden
    }
    alone = {
        which: [questions(_bidden(call.own, loading)) for call in calls if call.succeeded]
        for which, calls in enumerate(crowd.alone)
    }
    named = {which: host for which, one in enumerate(crowd.choices) if (host := _named(one))}
    for number, one in enumerate(crowd.rounds):
        if not all(answer.succeeded for answer in one.answers):
            continue
        found = astray(
            questions(_bidden(one.entries, loading)),
            [answer.which for answer in one.answers],
            alone,
            named,
            fresh=fresh and number == 0,
        )
        if found is not None:
            return found, one
    return None


def _named(arguments: Arguments) -> str | None:
    """Give the host that is named; None where none is, or where the id of a commit is the same thing on all of them."""
    url = arguments.get(BASE_URL_PARAMETER)
    if CONTENT.search(json.dumps(arguments, default=str)):
        return None
    return next((plan.name for plan in HOSTS if plan.url == url), None)


def _bidden(entries: Sequence[Entry], loading: Collection[tuple[str, str]]) -> list[Entry]:
    """Leave out what the extension asks by itself, too."""
    return [one for one in entries if (one.method, one.gerrit_path) not in loading]
