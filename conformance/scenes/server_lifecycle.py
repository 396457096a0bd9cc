"""A loader used again from inside a server, and an orderly end."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from conformance.probes import Probe, shipped
from conformance.probes.broken import KINDS, LEAVES_BADLY
from conformance.rig.served import Served, Setup

if TYPE_CHECKING:
    from conformance.rig.trial import Call
    from conformance.server_observations import ServerObservations

FIRST, BADLY, LAST = "probe_stays_first", "probe_leaves_badly", "probe_stays_last"
"""Good extensions with an `unregister`, in the order in which they are loaded; that of the second raises."""
BROKEN, PLAYER = "probe_broken_too", "probe_lifecycle"
PLAYS = "probe_plays"
STEPS = ("unload", "load", "load", "unload", "unload")
"""What is done with a loader of its own: also ahead of any load, and once more when nothing is left."""


@dataclass(frozen=True, kw_only=True)
class Played:
    """What came of each step with a loader that was made inside the server."""

    served: Served
    call: Call | None
    ends: Sequence[dict[str, str]]
    """For each step its name, and under `raised` and `text` what it raised; a first one named ExtensionLoader alone
    tells that there was none to be had."""

    @property
    def unavailable(self) -> str:
        """Why no loader could be made; empty where one was."""
        if not self.ends:
            return self.call.saw() if self.call is not None else "the probe's tool is not there"
        first = self.ends[0]
        return f"{first['raised']}: {first['text']}" if first["step"] == "ExtensionLoader" else ""

    def during(self, number: int) -> list[dict[str, Any]]:
        """Give what the probes noted during one of the steps, counted from 0."""
        starts = [place for place, one in enumerate(self.served.noted) if one["event"] == "step"]
        return self.served.noted[starts[number] + 1 : starts[number + 1]] if number + 1 < len(starts) else []


def _setup(*more: Probe) -> Setup:
    probes = (
        Probe(module=FIRST), Probe(module=BADLY, source=LEAVES_BADLY),
        Probe(module=BROKEN, source=KINDS["raises"].source or ""), Probe(module=LAST), *more,
    )  # fmt: skip
    return Setup(probes=probes, variable=",".join(one.module for one in probes))


async def played(observed: ServerObservations) -> Played:
    """Have a probe make a loader in the server, and load and unload with it; one of the extensions is broken."""
    call, ends = None, []
    async with observed.serving(_setup(Probe(module=PLAYER, source=shipped("lifecycle")))) as trial:
        if trial.in_session and PLAYS in trial.names:
            call = await trial.call(PLAYS, {"steps": " ".join(STEPS)})
            ends = _ends(call)
    return Played(served=trial, call=call, ends=ends)


def _ends(call: Call) -> list[dict[str, str]]:
    if not call.succeeded:
        return []
    told = json.loads(call.text)
    return told if isinstance(told, list) else []


async def ended(observed: ServerObservations) -> Served:
    """Start with the same extensions, and end the session by closing the server's input."""
    return await observed.start(_setup())


FORESEEN: tuple[Callable[..., Awaitable[Any]], ...] = (played, ended)
"""Scenes that a full run begins beside each other, ahead of the clauses that ask for them."""
