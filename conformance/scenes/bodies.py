"""Calls of tools where the bodies of answers differ: the first line left in front, or less in them than usual."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance.rig.answers import same_result
from conformance.rig.crashing import TELL_FAILURES
from conformance.rig.leanness import LEAN
from conformance.rig.meanings import meaning_of
from conformance.rig.scenarios import PLAINLY, Bench, Seen, Step, ToolEntry, play

if TYPE_CHECKING:
    from conformance.observations import Observations
    from conformance.rig.trial import Call
    from mock_gerrit.journal import Entry

NO_CHANGES = "no changes"


async def unstripped(observed: Observations) -> Seen:
    """Give the plain call of each tool on a host that leaves the line `)]}'` in front of every body."""
    steps = [Step(tool=tool) for tool in await observed.tools()]
    return await play(observed.bench, steps, keeps_prefix=True, **PLAINLY)


@dataclass(frozen=True, kw_only=True)
class Compared:
    """What a tool gives back on both kinds of host, each twice, every time in a process of its own."""

    stripped: tuple[Call, ...]
    unstripped: tuple[Call, ...]

    @property
    def differ(self) -> bool:
        """Whether the kind of host makes the difference, and nothing else does."""
        steady = all(len(calls) > 1 and same_result(*calls[:2]) for calls in (self.stripped, self.unstripped))
        return steady and not same_result(self.stripped[0], self.unstripped[0])


async def compared(observed: Observations, tool: str) -> Compared:
    """Give the plain calls of one tool on both kinds of host, to see whether it gives back the same."""
    entry = await observed.tool(tool)
    stripped = [await _alone(observed.bench, entry, keeps_prefix=False) for _ in range(2)]
    unstripped_ = [await _alone(observed.bench, entry, keeps_prefix=True) for _ in range(2)]
    return Compared(
        stripped=tuple(call for calls in stripped for call in calls),
        unstripped=tuple(call for calls in unstripped_ for call in calls),
    )


async def _alone(bench: Bench, tool: ToolEntry, *, keeps_prefix: bool) -> list[Call]:
    step = Step(tool=tool, odd=None)
    seen = await play(bench, [step], keeps_prefix=keeps_prefix, **PLAINLY)
    return seen.calls_of(str(tool["name"]))


async def lean(observed: Observations) -> Seen:
    """Give the call of each tool in worlds in which Gerrit has less to tell; a step is named for what is left out."""
    plain, tools = await observed.plain(), await observed.answering()
    steps = [
        Step(tool=tool, name=missing, prepare=prepare, odd=_is_failure)
        for name, tool in tools.items()
        for missing, prepare in LEAN.items()
        if plain.call(name).own and (missing != NO_CHANGES or not names_a_change(plain.call(name)))
    ]
    return await play(observed.bench, steps, instructions={TELL_FAILURES: True}, **PLAINLY)


def names_a_change(call: Call) -> bool:
    """Tell whether a call is about changes that it names: without them, there is nothing to answer."""
    meanings = [meaning_of(name) for name in _names(dict(call.arguments))]
    named = any(meaning is not None and {"change", "changes"} & set(meaning.names) for meaning in meanings)
    return named or any(_is_about_a_change(entry) for entry in call.own)


def _is_about_a_change(entry: Entry) -> bool:
    searched = any("change:" in text for name, text in entry.query if name in {"q", "query"})
    return searched or entry.gerrit_path.removeprefix("/changes/") not in {"", entry.gerrit_path}


def _names(value: object) -> list[str]:
    if isinstance(value, dict):
        return [*value, *(name for one in value.values() for name in _names(one))]
    return [name for one in value for name in _names(one)] if isinstance(value, list) else []


def _is_failure(call: Call) -> bool:
    return not call.succeeded
