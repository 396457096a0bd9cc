"""Calls of probes that return what they should, what they should not, or raise."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from conformance.probes import Probe, shipped
from conformance.probes.typed import TOOLS
from conformance.rig.served import Served, Setup

if TYPE_CHECKING:
    from conformance.rig.trial import Call
    from conformance.server_observations import ServerObservations

MODULE = "probe_typed"
TELLS, LEAVES_OUT, MISTYPES = "probe_tells", "probe_leaves_out", "probe_mistypes"
RAISING: Mapping[str, str] = {
    "probe_fails": "a coroutine that raises",
    "probe_fails_plainly": "a plain function that raises",
    "probe_fails_typed": "a typed tool that raises",
}
"""Tools that raise, with what they are."""


@dataclass(frozen=True, kw_only=True)
class Answers:
    """One start, and what each tool of the probe came to in it."""

    served: Served
    calls: Mapping[str, Call]
    again: Call | None
    """The tool that works, called after all others."""


async def answered(observed: ServerObservations, *, stateless: bool = False) -> Answers:
    """Call each tool of the probe once, and one that works once more at the end; in a session, or without one."""
    calls: dict[str, Call] = {}
    again = None
    probes = (Probe(module=MODULE, source=shipped("typed")),)
    setup = Setup(probes=probes, variable=MODULE, stateless=stateless)
    async with observed.serving(setup) as trial:
        if trial.in_session and TELLS in trial.names:
            for name in TOOLS:
                calls[name] = await trial.call(name, {})
            again = await trial.call(TELLS, {})
    return Answers(served=trial, calls=calls, again=again)


FORESEEN: tuple[Callable[..., Awaitable[Any]], ...] = (answered,)
"""Scenes that a full run begins beside each other, ahead of the clauses that ask for them."""
