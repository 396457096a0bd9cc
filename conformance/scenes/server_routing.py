"""Calls of a plugin-backed probe, with lists of plugins that are there, change, or cannot be read."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from conformance.outcomes import Inconclusive
from conformance.probes import Probe, shipped
from conformance.probes.routed import INSIDE, PLAIN, PLUGIN, ROUTED
from conformance.rig.crowd import Answered, Gate, answered
from conformance.rig.served import Served, Setup
from conformance.rig.surroundings import Surroundings
from conformance.rig.trial import Call, asks_for_plugins
from conformance.scenes.routing import BEFORE_FIRST, DEFAULT, FIRST, SAME_HOST, SECOND, UNCONFIGURED, unreadable

if TYPE_CHECKING:
    from conformance.server_observations import ServerObservations
    from mock_gerrit.faults import Fault
    from mock_gerrit.journal import Entry

MODULE = "probe_of_routing"
CALL_SECONDS = 15.0
PATIENT_SECONDS = 40.0
"""How long a call may take while a host keeps silent: servers give up after half a minute by default."""


@dataclass(frozen=True, kw_only=True)
class Turn:
    """One call of a tool of the probe, and what is different around the server by then."""

    name: str
    url: str | None = None
    tool: str = ROUTED
    gains: str = ""
    """The name of a host that has the plugin by then."""
    faults: tuple[Fault, ...] = ()
    later: float = 0.0
    """How long to wait before it."""
    seconds: float = CALL_SECONDS


@dataclass(kw_only=True)
class Routed:
    """One start, what each call came to in it, and where its routing went."""

    served: Served
    calls: dict[str, Call] = field(default_factory=dict)
    early: Sequence[Entry] = ()
    """The requests for lists of plugins before the first call of a tool."""
    crowd: Sequence[Answered] = ()
    """First calls that were made at the same time."""
    crowding: Sequence[Entry] = ()
    """The requests for lists of plugins that these have caused."""

    def call(self, name: str) -> Call:
        """Give a call; raises Inconclusive where one before it got no answer, so that it was not made."""
        if name in self.calls:
            return self.calls[name]
        last = next(reversed(self.calls.values()), None)
        raise Inconclusive(
            f"the call was not made: {last.saw() if last is not None else self.served.session_trouble}",
            supply=f"a server that answers a call within {CALL_SECONDS:g} s",
            evidence=self.served.evidence(),
        )

    def given(self, name: str) -> list[str | None]:
        """Give the addresses that the tool itself was handed in a call; none where it was not run."""
        return [one["given"] for one in self.served.noted if (one["event"], one["module"]) == ("ran", name)]

    @property
    def failures(self) -> dict[str, str]:
        """What the probe could not make, with the reason."""
        return {
            one["module"]: f"{one['raised']}: {one['text']}" for one in self.served.noted if one["event"] == "failed"
        }


@asynccontextmanager
async def _started(observed: ServerObservations, **about: Any) -> AsyncIterator[Routed]:  # noqa: ANN401 - surroundings
    """Start with the probe, amid hosts that are told by the surroundings' own names."""
    surroundings = Surroundings(plugins=(PLUGIN,), **about)
    probe = Probe(module=MODULE, source=shipped("routed"))
    async with observed.serving(Setup(probes=(probe,), variable=MODULE, surroundings=surroundings)) as trial:
        yield Routed(served=trial)


async def _take(observed: ServerObservations, seen: Routed, turns: Iterable[Turn]) -> None:
    """Make the calls one after the other, until one gets no answer; tools that are not there are passed over."""
    trial = seen.served
    for turn in turns:
        if not trial.in_session or turn.tool not in trial.names:
            continue
        if turn.later:
            await observed.rig.rest(trial, turn.later)
        world = observed.rig.world(trial.surroundings)
        if turn.gains:
            world.host_named(turn.gains).add_plugin(PLUGIN)
        trial.enter(world, turn.faults)
        address = {} if turn.url is None else {"gerrit_base_url": turn.url}
        call = await trial.call(turn.tool, {"step": turn.name, **address}, seconds=turn.seconds)
        seen.calls[turn.name] = call
        if call.reply is None:
            break


def _turns() -> Iterator[Turn]:
    yield Turn(name="undecorated", tool=PLAIN, url=SECOND.url)
    yield Turn(name="has it", url=SECOND.url)
    yield Turn(name="no address")
    yield Turn(name="no address, again")
    yield Turn(name="has it, again", url=SECOND.url)
    yield from (Turn(name=form, url=url) for form, url in SAME_HOST.items())
    yield Turn(name="lacks it", url=DEFAULT.url)
    yield Turn(name="lacks it, again", url=DEFAULT.url)
    yield Turn(name="inside: lacks it", tool=INSIDE, url=DEFAULT.url)
    yield Turn(name="unconfigured", url=UNCONFIGURED)
    yield Turn(name="has it now", url=DEFAULT.url, gains=DEFAULT.name)


async def routed(observed: ServerObservations) -> Routed:
    """Call where two hosts have the plugin: with and without addresses, until a host gets it in between."""
    async with _started(observed, placement="some") as seen:
        at_first = seen.served.world
        await _take(observed, seen, _turns())
        seen.early = [entry for entry in at_first.journal if asks_for_plugins(entry)]
    return seen


async def nowhere(observed: ServerObservations) -> Routed:
    """Call where no host has the plugin, and first where the named host does not tell what it has."""
    async with _started(observed, placement="nowhere") as seen:
        turns = (
            Turn(name="unreadable", url=SECOND.url, faults=(unreadable(SECOND.name),)),
            Turn(name="nowhere"),
            Turn(name="inside: nowhere", tool=INSIDE, url=""),
        )
        await _take(observed, seen, turns)
    return seen


FIRST_CALLS = 5
QUIET_SECONDS = 0.3
"""How long a list is held back while another call might ask for it as well."""


async def crowded(observed: ServerObservations) -> Routed:
    """Make several first calls at once, amid hosts of which the first has the plugin disabled, and then call it."""
    async with _started(observed, placement="disabled-first") as seen:
        trial = seen.served
        if trial.in_session and ROUTED in trial.names:
            with Gate(trial, holds=lambda held: held.path.rstrip("/") == "/plugins") as gate:
                letting_go = asyncio.ensure_future(_let_go_late(gate))
                calls = (answered(trial, ROUTED, 0, {"step": "crowd"}) for _ in range(FIRST_CALLS))
                seen.crowd = await asyncio.gather(*calls)
                letting_go.cancel()
            seen.crowding = [entry for entry in trial.world.journal if asks_for_plugins(entry)]
        await _take(observed, seen, (Turn(name="no address"), Turn(name="disabled there", url=BEFORE_FIRST.url)))
    return seen


async def _let_go_late(gate: Gate) -> None:
    """Let each list go when it was held for so long that every call that wants it has asked."""
    while True:
        gate.news.clear()
        await gate.news.wait()
        await gate.filled(FIRST_CALLS, quiet=QUIET_SECONDS)
        gate.let_go(gate.waiting)


TTL_SECONDS = 1
"""How long a list is good for where the configuration says so, in a key of the reference server."""


async def expiring(observed: ServerObservations) -> Routed:
    """Call when the time of the lists is over, and again and again so that it is over while they are in use."""
    async with _started(observed, placement="some", plugin_list_ttl_seconds=TTL_SECONDS) as seen:
        turns = (
            Turn(name="first"), Turn(name="late", later=1.3 * TTL_SECONDS),
            *(Turn(name=name, later=0.6 * TTL_SECONDS) for name in IN_USE),
        )  # fmt: skip
        await _take(observed, seen, turns)
    return seen


IN_USE = ("in use", "still in use", "in use for long")
FAILURES = (("403", "500"), ("an HTML page", "a timeout"))
"""What the hosts up to the first that has the plugin give instead of their lists, in one start and in another."""
DURING, OVER, LONG_OVER = "cannot be read", "can be read", "could be read before"
PAUSE_SECONDS = 2.0


async def failing(observed: ServerObservations, before: str, first: str, *, curl_seconds: float = 2) -> Routed:
    """Call while two hosts do not tell what they have, and when they do again.

    The server is told, in a key of the reference server, to wait for a silent host for a short time only.
    """
    async with _started(observed, placement="some", curl_timeout_seconds=curl_seconds) as seen:
        faults = unreadable(BEFORE_FIRST.name, before), unreadable(FIRST.name, first)
        await _take(observed, seen, [Turn(name=DURING, faults=faults, seconds=PATIENT_SECONDS), Turn(name=OVER)])
        if OVER in seen.calls and not comes_by(seen.calls[OVER], FIRST.name):
            await _take(observed, seen, [Turn(name=LONG_OVER, later=PAUSE_SECONDS)])
    return seen


def comes_by(call: Call, host: str) -> bool:
    """Tell whether a host was asked for anything in a call, or between it and the next."""
    entries = call.entries if call.world is None else call.world.journal
    return any(entry.host == host for entry in entries)


async def _failing_first(observed: ServerObservations) -> None:
    await asyncio.gather(*(observed.of(failing, *kinds) for kinds in FAILURES))


FORESEEN: tuple[Callable[..., Awaitable[Any]], ...] = (routed, nowhere, crowded, expiring, _failing_first)
"""Scenes that a full run begins beside each other, ahead of the clauses that ask for them."""
