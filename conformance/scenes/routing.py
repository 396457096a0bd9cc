"""Plugin-backed tools while time passes, lists of plugins change, and hosts do not tell what they have."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from conformance.rig import clock, decorating
from conformance.rig.samples import BASE_URL_PARAMETER, takes_address
from conformance.rig.scenarios import Seen, Step, ToolEntry, loaded, play
from conformance.rig.surroundings import HOSTS, Surroundings, canned_answers
from conformance.rig.trial import ASKING_FOR_PLUGINS, Call, Trial, asks_for_plugins
from mock_gerrit.faults import Fault, Kind

if TYPE_CHECKING:
    from conformance.observations import Observations
    from mock_gerrit.journal import Entry
    from mock_gerrit.world import World

FIRST, SECOND = (plan for plan in HOSTS if plan.has_plugin)
DEFAULT = next(plan for plan in HOSTS if plan.default)
BEFORE_FIRST = HOSTS[0]

TTL_SECONDS = 3600.0
"""How long a list is good for, unless the configuration says otherwise."""
A_WHILE = 30.0
"""Well within the time that a list is good for."""
FIVE_MINUTES = 301.0
"""Longer than anybody waits before a host that failed is asked again, and far less than a list is good for."""
STARTING_SECONDS = 0.5
"""How long threads that were started while loading are watched."""

UNCONFIGURED = "https://birch.example.org"
"""An address of no host in the configuration."""

SAME_HOST = {
    "as configured": FIRST.url,
    "with a slash": f"{FIRST.url}/",
    "without a scheme": FIRST.url.removeprefix("https://"),
    "with /a": f"{FIRST.url}/a",
    "by its internal name": FIRST.internal_url,
}
"""Forms in which one host is named, the one that all others are compared with first."""

KINDS: Mapping[str, Kind] = {"403": "status", "a timeout": "timeout", "500": "status", "an HTML page": "html"}
"""What comes instead of a list of plugins."""
RETURNED = ("500", "an HTML page")
"""Those that are tried on a host whose `run_curl` hands the body of an HTTP error over."""


@dataclass(frozen=True, kw_only=True)
class Turn:
    """One call of a tool in a process of its own, and what happens before it."""

    name: str
    url: str | None = None
    later: float = 0.0
    """By how many seconds the clock is put forward."""
    faults: tuple[Fault, ...] = ()
    """What goes wrong at the hosts during the call."""
    gains: str = ""
    """The name of a host that has the plugins by then."""


def unreadable(host: str, how: str = "403") -> Fault:
    """Make a host's list of plugins unreadable in one of the ways of `KINDS`."""
    kind = KINDS[how]
    told: dict[str, Any] = {"status": int(how)} if how.isdigit() else {}
    if how == "403":
        told["body"] = "view plugins not permitted"
    return Fault(kind=kind, host=host, path=ASKING_FOR_PLUGINS, **told)


async def started(observed: Observations) -> Trial:
    """Give a trial in which nothing was called, for long enough to see what threads do that were started meanwhile."""
    survey = await observed.survey()
    if not any(fact["count"] for fact in survey.told("threads")):
        return survey
    async with observed.bench.rig.trial(observed.bench.subject, observed.bench.surroundings()) as trial:
        await observed.rig.rest(trial, STARTING_SECONDS)
    return trial


async def cold(observed: Observations) -> Seen:
    """Call each plugin-backed tool while no list is remembered: where the plugin is, anywhere, and at no known host."""
    steps = [step for tool, parameter in await _backed(observed) for step in _cold_steps(tool, parameter)]
    instructions = {decorating.INSTRUCTION: True}
    return await play(observed.bench, steps, placement="some", plugin_list_ttl_seconds=0, instructions=instructions)


def _cold_steps(tool: ToolEntry, parameter: str) -> Iterable[Step]:
    yield Step(tool=tool, name="has it", added={parameter: SECOND.url}, odd=_asks_others_than(SECOND.name))
    yield Step(tool=tool, name="no address", odd=_asks_others_than(BEFORE_FIRST.name, FIRST.name))
    yield Step(tool=tool, name="unconfigured", added={parameter: UNCONFIGURED}, odd=lambda call: call.succeeded)


def _asks_others_than(*hosts: str) -> Callable[[Call], bool]:
    return lambda call: {entry.host for entry in call.lists} != set(hosts)


async def _backed(observed: Observations) -> list[tuple[ToolEntry, str]]:
    """Give each tool that is backed by a plugin and answers, with the parameter that takes the address."""
    found = {name: (tool, await observed.backing(name)) for name, tool in (await observed.answering()).items()}
    return [(tool, backing.parameter) for tool, backing in found.values() if backing is not None]


async def compared(observed: Observations) -> list[Mapping[str, Any]]:
    """Tell what decorating changed of each function that was handed to `requires_plugin`."""
    seen = await observed.of(cold)
    trials = seen.trials or [await loaded(observed.bench, instructions={decorating.INSTRUCTION: True})]
    return [fact for trial in trials for fact in trial.told("compared")]


async def remembering(observed: Observations) -> Seen:
    """Call tools with routing of their own again and again in an hour that passes at once, by all names of one host."""
    forms = [Turn(name=name, url=url) for name, url in SAME_HOST.items()]
    forms.insert(1, Turn(name="named again", url=forms[0].url))
    late = [Turn(name="late", later=TTL_SECONDS - A_WHILE + 1), Turn(name="still later", later=1.0)]
    return await _each_alone(observed, [Turn(name="first"), Turn(name="soon", later=A_WHILE), *forms, *late])


async def changing(observed: Observations) -> Seen:
    """Call tools with routing of their own where the named host does not tell, or gets the plugin in between."""
    turns = [
        Turn(name="unreadable", url=FIRST.url, faults=(unreadable(FIRST.name),)),
        Turn(name="lacks it", url=DEFAULT.url),
        Turn(name="has it now", url=DEFAULT.url, gains=DEFAULT.name),
    ]
    return await _each_alone(observed, turns)


async def failing(observed: Observations) -> Seen:
    """Call tools with routing of their own while lists cannot be read, and again when they can.

    Both kinds of host are tried: one whose `run_curl` raises for an HTTP error, and one that hands its body over.
    """
    scenes = await asyncio.gather(
        _each_alone(observed, _failing_turns("403")),
        _each_alone(observed, _failing_turns("a timeout"), curl_timeout_seconds=2),
        _each_alone(observed, _failing_turns(*RETURNED), returns_http_errors=True),
    )
    return Seen(
        trials=[trial for seen in scenes for trial in seen.trials],
        calls={key: call for seen in scenes for key, call in seen.calls.items()},
    )


async def failing_again(observed: Observations, how: str) -> Seen:
    """Do it again for one kind of failure alone, with more time for each request."""
    return await _each_alone(observed, _failing_turns(how), returns_http_errors=how in RETURNED)


def _failing_turns(*kinds: str) -> list[Turn]:
    """For each kind a call during the fault, on lists that are not remembered, and one when it is over.

    Nothing is remembered of the host before the first one that has the plugin, either; a host that keeps its caller
    waiting is tried alone.
    """
    turns = []
    for how in kinds:
        hosts = (FIRST.name,) if KINDS[how] == "timeout" else (BEFORE_FIRST.name, FIRST.name)
        faults = tuple(unreadable(host, how) for host in hosts)
        turns += [
            Turn(name=how, later=2 * TTL_SECONDS, faults=faults), Turn(name=f"{how} is over", later=FIVE_MINUTES)
        ]  # fmt: skip
    return turns


async def _each_alone(observed: Observations, turns: list[Turn], **changes: Any) -> Seen:  # noqa: ANN401 - surroundings
    """Have each tool with routing of its own take its turns in a process of its own, on a clock of its own."""
    changed = {"placement": "some", "instructions": {clock.INSTRUCTION: True}, **changes}
    surroundings = observed.bench.surroundings(**changed)
    tools = [tool for tool, _ in await _backed(observed) if await _routes_itself(observed, tool)]
    seen = Seen()
    await asyncio.gather(*(_take_turns(observed, tool, turns, surroundings, seen) for tool in tools))
    return seen


async def _routes_itself(observed: Observations, tool: ToolEntry) -> bool:
    backing = await observed.backing(str(tool["name"]))
    return backing is not None and not backing.by_host and takes_address(tool)


async def _take_turns(
    observed: Observations, tool: ToolEntry, turns: list[Turn], surroundings: Surroundings, seen: Seen
) -> None:
    """Call one tool, turn by turn, until one gets no answer."""
    bench, name, ahead = observed.bench, str(tool["name"]), clock.amid_a_period()
    async with bench.rig.trial(bench.subject, surroundings) as trial:
        seen.trials.append(trial)
        for turn in turns if trial.in_session else ():
            ahead += turn.later
            clock.put_forward(trial.home, ahead)
            trial.enter(_world(bench.rig.world(surroundings), turn, surroundings), turn.faults)
            added = {} if turn.url is None else {BASE_URL_PARAMETER: turn.url}
            call = await trial.call(name, {**bench.arguments(tool), **added})
            seen.calls[name, turn.name] = call
            if call.reply is None:
                break


def _world(world: World, turn: Turn, surroundings: Surroundings) -> World:
    for plugin in surroundings.plugins if turn.gains else ():
        answers = [one for one in surroundings.canned if one.plugin == plugin]
        world.host_named(turn.gains).add_plugin(plugin, canned=canned_answers(answers))
    return world


def lists_in(call: Call) -> list[Entry]:
    """Give the requests for lists during a call and until the next, where a task in the background may make them."""
    entries = call.entries if call.world is None else call.world.journal
    return [entry for entry in entries if asks_for_plugins(entry)]
