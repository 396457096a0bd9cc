"""Clauses about loading again, and about the end."""

from __future__ import annotations

import signal
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from conformance.contracts.registry import GUIDE, MCP_SPEC, clause, field_sense
from conformance.outcomes import Evidence, Finding, Inconclusive, Level
from conformance.scenes import server_lifecycle as scenes
from conformance.scenes.server_lifecycle import BADLY, FIRST, LAST, STEPS

if TYPE_CHECKING:
    from conformance.scenes.server_lifecycle import Played
    from conformance.server_observations import ServerObservations

MUST, SHOULD = Level.MUST, Level.SHOULD
LOADED = (FIRST, BADLY, LAST)
FIRST_LOAD, SECOND_LOAD = (place for place, step in enumerate(STEPS) if step == "load")
UNLOAD = SECOND_LOAD + 1
SUPPLY = "an ExtensionLoader that an extension can import from gerrit_mcp_server.extensions, as the guide's server has"


@clause(
    "SRV-UNLOAD-SAFE",
    level=MUST,
    source=GUIDE.section("Lifecycle"),
    needs=("SRV-ENV",),
    fix="Give ExtensionLoader an unload() without arguments that logs whatever goes wrong, and raises nothing.",
    example="""
        def unload(self):
            while self._loaded:
                try:
                    self._loaded.pop().module.unregister(self._context)
                except BaseException as problem:
                    log(f"unregister: {type(problem).__name__}: {problem}")
    """,
    neighbours=("SRV-UNLOAD", "SRV-RELOAD"),
)
async def unloading_never_raises(observed: ServerObservations) -> None:
    """`ExtensionLoader.unload()` exists, takes nothing and raises nothing.

    It is called before anything is loaded, after a load in which one extension was broken, where an `unregister`
    raises, and once more when nothing is left. A server whose loader no extension can import is judged by its end.
    """
    seen = await observed.of(scenes.played)
    if seen.unavailable:
        if _left(await _noted_at_the_end(observed)):
            return
        raise Inconclusive(f"no loader can be made in the server: {seen.unavailable}", supply=SUPPLY)
    for end in seen.ends:
        if end["step"] == "unload" and "raised" in end:
            raise Finding(
                expected="an unload() that raises nothing",
                saw=f"{end['raised']}: {end['text']}",
                evidence=_evidence(seen),
            )
    _require_all_steps(seen)


@clause(
    "SRV-UNLOAD",
    level=SHOULD,
    source=GUIDE.section("Lifecycle"),
    needs=("SRV-UNLOAD-SAFE",),
    fix="In unload(), call unregister(ctx) of each module that was registered, the last one first, each in a try.",
    example="""
        for extension in reversed(self._loaded):
            if hasattr(extension.module, "unregister"):
                extension.module.unregister(self._context)
    """,
    neighbours=("SRV-UNLOAD-SAFE", "SRV-RELOAD"),
)
async def what_was_registered_is_unregistered_backwards(observed: ServerObservations) -> None:
    """`unload()` calls `unregister(ctx)` of all that was registered, the last one first, whatever one of them raises.

    Seen from inside with a loader of its own, and at an orderly end, when the server's input is closed.
    """
    seen, noted = await observed.of(scenes.played), await _noted_at_the_end(observed)
    at_the_end, backwards = _left(noted), _registered(noted)[::-1]
    if at_the_end and at_the_end != backwards:
        raise Finding(
            expected=_expected(backwards),
            saw=f"at its end, {', '.join(at_the_end)}",
            evidence=(await observed.of(scenes.ended)).evidence(),
        )
    backwards = _registered(seen.during(FIRST_LOAD))[::-1]
    if seen.unavailable or not set(LOADED) <= set(backwards):
        if at_the_end:
            return
        why = seen.unavailable or "a loader that is made in it loads nothing"
        raise Inconclusive(f"neither its end nor a loader shows it: {why}", supply=SUPPLY)
    by_loader = _left(seen.during(UNLOAD))
    if by_loader != backwards:
        saw = f"{', '.join(by_loader) or 'none'} unregistered by unload()"
        raise Finding(expected=_expected(backwards), saw=saw, evidence=_evidence(seen))


def _expected(backwards: Iterable[str]) -> str:
    return f"unregister of {', '.join(backwards)}, in this order, although that of {BADLY} raises"


@clause(
    "SRV-RELOAD",
    level=SHOULD,
    source=field_sense("whoever loads again wants what is new, and not every handler and timer twice"),
    needs=("SRV-ENV",),
    fix="Keep the names of the modules that have been loaded, and leave those out when load() is called again.",
    example="""
        for name in dict.fromkeys(found):
            if name not in self._attempted:
                self._attempted.add(name)
                self._load(name)
    """,
    neighbours=("SRV-UNLOAD-SAFE", "SRV-DEDUP"),
)
async def loading_again_registers_nothing_twice(observed: ServerObservations) -> None:
    """A loader whose `load()` is called a second time registers nothing that it has registered before."""
    seen = await observed.of(scenes.played)
    if seen.unavailable:
        raise Inconclusive(f"no loader can be made in the server: {seen.unavailable}", supply=SUPPLY)
    first, second = seen.ends[FIRST_LOAD], seen.ends[SECOND_LOAD]
    if "raised" in second and "raised" not in first:
        raise Finding(
            expected="a second load() that does nothing",
            saw=f"{second['raised']}: {second['text']}",
            evidence=_evidence(seen),
        )
    if not _registered(seen.during(FIRST_LOAD)):
        why = f"{first['raised']}: {first['text']}" if "raised" in first else "it registered nothing the first time"
        raise Inconclusive(
            f"load() of a loader that is made in the server cannot be seen at work: {why}", supply=SUPPLY
        )
    if again := _twice(seen.during(SECOND_LOAD)):
        raise Finding(
            expected="nothing registered by a second load()", saw=f"{', '.join(again)} again", evidence=_evidence(seen)
        )


@clause(
    "SRV-END",
    level=MUST,
    source=MCP_SPEC.section("Lifecycle"),
    needs=("SRV-ENTRY",),
    fix="End when stdin has ended, and at SIGTERM at the latest, and end what you have started.",
    example="""
        try:
            serve(sys.stdin.buffer)  # returns at the end of the input
        finally:
            for helper in helpers:
                helper.terminate()
    """,
    neighbours=("SRV-UNLOAD", "SRV-ENTRY"),
)
async def the_end_of_a_session_ends_the_server(observed: ServerObservations) -> None:
    """When its input ends, or at SIGTERM two seconds later, the server ends, and all that it has started with it.

    A server over HTTP gets SIGTERM at once. Who is still there after two seconds more is killed, and fails this clause.
    """
    trial = await observed.bare()
    record = trial.record
    if record is None or (record.ended_by == "us" and record.signal == signal.SIGKILL):
        raise Finding(
            expected="an end when the input ends, or at SIGTERM",
            saw="a server that had to be killed",
            evidence=trial.evidence(),
        )
    if record.left_behind:
        raise Finding(
            expected="no process left behind",
            saw=f"{len(record.left_behind)} of them",
            evidence=tuple(Evidence(kind="process", text=str(one)) for one in record.left_behind),
        )


async def _noted_at_the_end(observed: ServerObservations) -> Iterable[Mapping[str, Any]]:
    return (await observed.of(scenes.ended)).noted


def _left(events: Iterable[Mapping[str, Any]]) -> list[str]:
    return [one["module"] for one in events if one["event"] == "unregistered" and one["module"] in LOADED]


def _registered(events: Iterable[Mapping[str, Any]]) -> list[str]:
    return [one["module"] for one in events if one["event"] == "registered" and one["module"] in LOADED]


def _twice(events: Iterable[Mapping[str, Any]]) -> list[str]:
    """Name what was registered although it was there: a server may also take all back, and register it anew."""
    gone: set[str] = set()
    again = []
    for one in events:
        if one["event"] == "unregistered":
            gone.add(one["module"])
        elif one["event"] == "registered" and one["module"] in LOADED and one["module"] not in gone:
            again.append(one["module"])
    return again


def _require_all_steps(seen: Played) -> None:
    """Raise a Finding unless every step came back: the process may have ended in one of them."""
    if len(seen.ends) != len(STEPS):
        raise Finding(
            expected=f"a loader that goes through {', '.join(STEPS)}",
            saw=f"{len(seen.ends)} of them done",
            evidence=_evidence(seen),
        )


def _evidence(seen: Played) -> tuple[Evidence, ...]:
    noted = "; ".join(f"{one['event']} {one['module']}" for one in seen.served.noted)
    told = "; ".join(f"{one['step']}: {one.get('raised', 'returned')}" for one in seen.ends)
    return (Evidence(kind="fact", text=f"steps: {told}"), Evidence(kind="fact", text=f"noted: {noted}"))
