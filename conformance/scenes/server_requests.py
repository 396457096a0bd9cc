"""Requests that a server's `run_curl` is asked for: to every host, in every way, and such as go wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.rig.surroundings import HOSTS, HostPlan
from mock_gerrit.faults import Fault

if TYPE_CHECKING:
    from conformance.scenes.server_asking import Asked
    from conformance.server_observations import ServerObservations

CHANGE = "/changes/1/detail"
TEXT = "/changes/1/revisions/current/patch"
"""Answered with text, which has no prefix."""
TOPIC = "/changes/1/topic"
BODY = '{"topic": "leaves of two words"}'
NOT_THERE = "/changes/4711/detail"
NOWHERE = "https://nowhere.invalid/changes/1/detail"

FAILING = {"nowhere": "a host that cannot be reached", "reset": "a connection that is reset"}
"""Requests that curl fails at, by the key of their answer, in the order in which they are asked for."""


def asking(plan: HostPlan) -> str:
    """Give the key of the answer to the request for a change of this host."""
    return f"a change of {plan.name}"


async def ask_all(seen: Asked) -> None:
    """Ask every host for a change, each by its own base URL."""
    for plan in HOSTS:
        base = await seen.base(plan)
        await seen.ask("run_curl", [base.rstrip("/") + CHANGE], base, key=asking(plan))


async def ask_amiss(observed: ServerObservations, seen: Asked) -> None:
    """Ask for text, for what is not there, with more arguments, across hosts, and where curl fails."""
    first, *_, last = HOSTS
    base, other = await seen.base(first), await seen.base(last)
    root = base.rstrip("/")
    await seen.ask("run_curl", [root + TEXT], base, key="text")
    await seen.ask("run_curl", [root + NOT_THERE], base, key="not there")
    header = "Content-Type: application/json; charset=UTF-8"
    arguments = ["-X", "PUT", "-H", header, "--data", BODY, root + TOPIC]
    await seen.ask("run_curl", arguments, base, key="written")
    await seen.ask("run_curl", [other.rstrip("/") + CHANGE], base, key="across")
    await seen.ask("run_curl", [NOWHERE], base, key="nowhere")
    seen.served.enter(observed.rig.world(seen.served.surroundings), [Fault(kind="reset")])
    await seen.ask("run_curl", [root + CHANGE], base, key="reset")


async def ask_unsigned(seen: Asked) -> None:
    """Ask the host without authentication for a change, and one with it."""
    first, *_, last = HOSTS
    for plan, signed in ((last, False), (first, True)):
        base = await seen.base(plan, signed=signed)
        await seen.ask("run_curl", [base.rstrip("/") + CHANGE], base, key=asking(plan))
