"""Starts with configurations that cannot be used, calls whose request is held, and many extensions."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from conformance.outcomes import Measurement
from conformance.probes import Probe, shipped
from conformance.rig.crowd import Gate
from conformance.rig.samples import UnknownArguments, sample_arguments
from conformance.rig.served import Served, Setup
from conformance.rig.surroundings import HOSTS, Surroundings
from mock_gerrit.faults import Fault, Kind

if TYPE_CHECKING:
    from conformance.rig.trial import Call
    from conformance.server_observations import ServerObservations

WITNESS = "probe_witness"
ASKS = "probe_ask"
MOST_TOOLS = 40
"""Of the server's own tools, how many are called at most."""
TROUBLES: Sequence[tuple[Kind, Mapping[str, Any]]] = (
    ("status", {"status": 500}),
    ("status", {"status": 401}),
    ("reset", {}),
)
"""What else Gerrit answers the first of the server's tools."""
TOOLS_IN_TROUBLE = 4
HELD_SECONDS = 3.0


@dataclass(kw_only=True)
class Shown:
    """What a server let out while its tools were called, in good days and bad ones."""

    served: Served
    calls: list[Call] = field(default_factory=list)
    processes: list[str] = field(default_factory=list)
    """What a list of processes showed of it while a request was on its way."""
    held: bool = False
    """A request was on its way then."""


def own_tools(observed: ServerObservations, trial: Served) -> list[tuple[str, dict[str, Any]]]:
    """Give the server's own tools, as far as arguments for them can be told, with those arguments."""
    found: list[tuple[str, dict[str, Any]]] = []
    for tool in trial.tools:
        name = str(tool["name"])
        if name.startswith("probe_"):
            continue
        told = observed.profile.tools.get(name)
        with suppress(UnknownArguments):
            found.append((name, sample_arguments(tool, told.arguments if told is not None else None)))
    return found[:MOST_TOOLS]


async def shown(observed: ServerObservations) -> Shown:
    """Call the server's own tools and a probe, while all is well, while it is not, and while a request is held."""
    setup = Setup(
        probes=(Probe(module=WITNESS, source=shipped("witness")),), variable=WITNESS,
        surroundings=Surroundings(plugins=("task",), placement="some"), overheard=("curl",),
    )  # fmt: skip
    async with observed.serving(setup) as trial:
        seen = Shown(served=trial)
        if trial.in_session:
            tools = own_tools(observed, trial)
            seen.calls += [await trial.call(name, arguments) for name, arguments in tools]
            asking = _asking() if ASKS in trial.names else []
            await _in_trouble(observed, trial, [*asking, *tools[:TOOLS_IN_TROUBLE]], seen)
            await _while_held(observed, trial, [*asking, *tools], seen)
    return seen


def _asking() -> list[tuple[str, dict[str, Any]]]:
    url = HOSTS[0].url
    return [(ASKS, {"member": "run_curl", "arguments": f'[["{url}/changes/?q=status:open"], "{url}"]'})]


async def _in_trouble(
    observed: ServerObservations, trial: Served, those: Sequence[tuple[str, dict[str, Any]]], seen: Shown
) -> None:
    for kind, about in TROUBLES:
        trial.enter(observed.rig.world(trial.surroundings), [Fault(kind=kind, **about)])
        seen.calls += [await trial.call(name, arguments) for name, arguments in those]


async def _while_held(
    observed: ServerObservations, trial: Served, those: Sequence[tuple[str, dict[str, Any]]], seen: Shown
) -> None:
    """Look at the list of processes while a request of the first tool that makes one waits for its answer."""
    trial.enter(observed.rig.world(trial.surroundings), ())
    for name, arguments in those:
        with Gate(trial) as gate:
            call = asyncio.ensure_future(trial.call(name, arguments))
            arriving = asyncio.ensure_future(gate.news.wait())
            await asyncio.wait({call, arriving}, timeout=HELD_SECONDS, return_when=asyncio.FIRST_COMPLETED)
            arriving.cancel()
            if gate.waiting:
                seen.held, seen.processes = True, trial.child.command_lines()
            gate.open()
            seen.calls.append(await call)
        if seen.held:
            return


SNIPPET = """{
  "default_gerrit_base_url": "https://gerrit.example.com/",
  "gerrit_hosts": [ ... ]
}
"""
UNUSABLE: Mapping[str, str | None] = {
    "missing": None,
    "empty": "",
    "of the guide's own snippet": SNIPPET,
    "torn": '{"gerrit_hosts": [{"name": "rowan"',
    "a list": "[]\n",
}
"""Configuration files that no server can work with."""


@dataclass(frozen=True, kw_only=True)
class Misled:
    """A start with a configuration that cannot be used, and what those of the server's own tools said that need one."""

    served: Served
    calls: Sequence[Call]


async def misled(observed: ServerObservations, how: str) -> Misled:
    """Start with one kind of unusable configuration, and call some of the server's own tools that ask Gerrit."""
    text = UNUSABLE[how]
    asking = {call.tool: call.arguments for call in (await observed.of(shown)).calls if call.own and call.tool != ASKS}
    setup = Setup(
        probes=(Probe(module=WITNESS, source=shipped("witness")),), variable=WITNESS,
        configuration=" " if text == "" else text,
    )  # fmt: skip
    calls: list[Call] = []
    async with observed.serving(setup) as trial:
        if trial.in_session:
            calls += [await trial.call(name, asking[name]) for name in list(asking)[:TOOLS_IN_TROUBLE]]
    return Misled(served=trial, calls=calls)


async def all_misled(observed: ServerObservations) -> dict[str, Misled]:
    """Start with every kind of unusable configuration."""
    seen = await asyncio.gather(*(observed.of(misled, how) for how in UNUSABLE))
    return dict(zip(UNUSABLE, seen, strict=True))


COUNTS = (0, 10, 50, 100)
"""Of how many extensions the start is measured."""
MEBIBYTE = 1 << 20


@dataclass(frozen=True, kw_only=True)
class Start:
    """What a start with so many extensions took."""

    extensions: int
    seconds: float
    """Until the first list of tools was there."""
    cpu_seconds: float
    """Of the server's process from its start to its end."""
    memory_bytes: int
    loaded: int
    """How many of the extensions have their tool."""
    served: Served

    @property
    def figures(self) -> tuple[float, ...]:
        """Give the row of the report's table."""
        mebibytes = self.memory_bytes / MEBIBYTE
        return self.extensions, round(self.cpu_seconds, 3), round(self.seconds, 3), round(mebibytes, 1)


async def started_with_many(observed: ServerObservations) -> list[Start]:
    """Start with no, some and many extensions, one after another, and note the figures for the report."""
    starts = [await _start(observed, count) for count in COUNTS]
    observed.measured.append(
        Measurement(
            clause="SRV-START", title="a start with so many extensions",
            columns=("extensions", "CPU seconds", "seconds", "MiB"),
            rows=tuple(one.figures for one in starts),
        )
    )  # fmt: skip
    return starts


async def started_again(observed: ServerObservations, number: int) -> list[Start]:
    """Do it once more; each number is another time."""
    del number
    return [await _start(observed, count) for count in COUNTS]


async def _start(observed: ServerObservations, count: int) -> Start:
    probes = tuple(Probe(module=f"probe_of_many_{number}") for number in range(count))
    trial = await observed.start(Setup(probes=probes, variable=",".join(one.module for one in probes) or None))
    record = trial.record
    return Start(
        extensions=count, seconds=trial.opened_after, served=trial,
        cpu_seconds=record.cpu_seconds if record is not None else 0.0,
        memory_bytes=record.peak_memory_bytes if record is not None else 0,
        loaded=sum(one.tool in trial.names for one in probes),
    )  # fmt: skip


def least(several: Iterable[Sequence[Start]]) -> list[tuple[float, int]]:
    """Give for each count the least processor time and memory that any of several measurements took."""
    return [
        (min(one.cpu_seconds for one in same), min(one.memory_bytes for one in same))
        for same in zip(*several, strict=True)
    ]


FORESEEN: tuple[Callable[..., Awaitable[Any]], ...] = (shown, all_misled)
"""Scenes that a full run begins beside each other, ahead of the clauses that ask; a start is measured alone."""
