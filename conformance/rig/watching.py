"""How long other requests wait while a tool is at work: the server is asked for something small all the while."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from conformance.rig.crowd import Gate, Held
    from conformance.rig.trial import Trial

LIMIT_SECONDS = 1.0
"""Within this, another request has to be answered."""
EVERY_SECONDS = 0.05
PATIENCE_SECONDS = 15.0
"""How long a late answer is waited for."""


@dataclass(kw_only=True)
class Watch:
    """How long others waited during one call."""

    seconds: float = 0.0
    """The longest that another request waited for its answer."""
    asking: str = ""
    """What the tool was waiting for then: a request that Gerrit did not answer yet; empty where there was none."""
    too_late: bool = False
    answered: int = 0
    """How many other requests were answered during the call."""
    ended: bool = True
    """The call came to an end while it was watched."""


async def watch(
    trial: Trial, tool: str, arguments: Mapping[str, Any], gate: Gate, *, seconds: float, enough: float
) -> Watch:
    """Call a tool, and ask for something else again and again until the call is over, or `seconds` are.

    Each request of the tool is held at the gate until something else has been answered meanwhile. If nothing is, it is
    let go after `enough` seconds.
    """
    from conformance.wire.client import WireTrouble  # noqa: PLC0415 - loaded with the first trial

    seen = Watch()
    began = time.monotonic()
    call = asyncio.ensure_future(trial.client.call_tool(tool, dict(arguments), timeout=2 * PATIENCE_SECONDS))
    try:
        while not call.done() and time.monotonic() - began < seconds:
            gate.news.clear()
            await _ask_once(trial, gate, seen, enough)
            await _until_something_is_new(call, gate)
    except WireTrouble:
        pass  # the process has ended, or is silent for good: other clauses judge that
    seen.ended = call.done()
    call.cancel()
    with suppress(WireTrouble, asyncio.CancelledError):
        await call
    return seen


async def _until_something_is_new(call: asyncio.Future[Any], gate: Gate) -> None:
    news = asyncio.ensure_future(gate.news.wait())
    await asyncio.wait({call, news}, timeout=EVERY_SECONDS, return_when=asyncio.FIRST_COMPLETED)
    news.cancel()


async def _ask_once(trial: Trial, gate: Gate, seen: Watch, enough: float) -> None:
    """Ask for something else once; then let go what had been held before."""
    held = list(gate.waiting)
    began = time.monotonic()
    pong = asyncio.ensure_future(trial.client.request("ping", timeout=PATIENCE_SECONDS))
    await asyncio.wait({pong}, timeout=enough)
    if not pong.done():
        held = list(gate.waiting)
    asking = _shown(held)
    gate.let_go(held)
    await _until_answered(pong, gate)
    seconds = time.monotonic() - began
    seen.answered += 1
    if seconds > seen.seconds:
        seen.seconds, seen.asking = seconds, asking
    seen.too_late = seen.seconds > LIMIT_SECONDS


async def _until_answered(pong: asyncio.Future[Any], gate: Gate) -> None:
    """Wait for a late answer, while whatever else is asked of Gerrit passes at once."""
    from conformance.wire.client import NoAnswer  # noqa: PLC0415 - loaded with the first trial

    while not pong.done():
        await asyncio.wait({pong}, timeout=EVERY_SECONDS)
        if not pong.done():
            gate.let_go(list(gate.waiting))
    with suppress(NoAnswer):  # as late as can be
        await pong


def _shown(held: list[Held]) -> str:
    return f"{held[0].path} of {held[0].host}" if held else ""


@dataclass
class Beat:
    """How readily a process that nothing holds up has answered."""

    worst: float = 0.0


@asynccontextmanager
async def heartbeat(trial: Trial) -> AsyncIterator[Beat]:
    """Keep asking an idle server for something small, and note how long that took at worst."""
    from conformance.wire.client import WireTrouble  # noqa: PLC0415 - loaded with the first trial

    beat = Beat()

    async def go_on() -> None:
        with suppress(WireTrouble):
            while True:
                began = time.monotonic()
                await trial.client.request("ping", timeout=PATIENCE_SECONDS)
                beat.worst = max(beat.worst, time.monotonic() - began)
                await asyncio.sleep(EVERY_SECONDS)

    beating = asyncio.ensure_future(go_on())
    try:
        yield beat
    finally:
        beating.cancel()
        with suppress(asyncio.CancelledError):
            await beating
