"""Whose answer is it: answers and requests of many calls, compared with what the same arguments get alone.

Only what tells arguments apart is compared. A value that changes from run to run, or that is the same whatever the
arguments are, says nothing; so counters, times and random ids are left aside.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from conformance.rig.answers import READING

if TYPE_CHECKING:
    from conformance.wire.reply import ToolReply
    from mock_gerrit.journal import Entry

Leaves = Mapping[tuple[str, ...], Any]
"""The values of an answer, by where they stand in it."""
Key = tuple[str, str, str, bytes]
"""What a request is: host, method, target, body."""

SHORTEST = 3
"""A shorter text stands in another one by chance."""


def leaves(reply: ToolReply) -> Leaves:
    """Take an answer apart; the order of a list does not count, as it may be that of arrival."""
    if reply.has_structured:
        return dict(_leaves(_sorted(reply.structured), ("structure",)))
    found: dict[tuple[str, ...], Any] = {}
    for number, block in enumerate(reply.content):
        text = block.get("text")
        value = _parsed(text) if isinstance(text, str) else dict(block)
        found |= dict(_leaves(_sorted(value), ("text", str(number))))
    return found


def _parsed(text: str) -> Any:  # noqa: ANN401 - any JSON value
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text.splitlines()


def _sorted(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    if isinstance(value, Mapping):
        return {key: _sorted(one) for key, one in value.items()}
    if isinstance(value, list):
        return sorted((_sorted(one) for one in value), key=lambda one: json.dumps(one, sort_keys=True, default=str))
    return value


def _leaves(value: Any, where: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:  # noqa: ANN401 - JSON
    parts = value.items() if isinstance(value, Mapping) else enumerate(value) if isinstance(value, list) else None
    if parts is None:
        yield where, value
        return
    for key, one in parts:
        yield from _leaves(one, (*where, str(key)))


def stable(runs: Sequence[Leaves]) -> Leaves:
    """Keep what was the same in every run."""
    first, *others = runs
    return {where: value for where, value in first.items() if all(one.get(where, _MISSING) == value for one in others)}


_MISSING = object()


@dataclass(frozen=True, kw_only=True)
class Foreign:
    """A value that belongs to other arguments than those of the call."""

    where: str
    saw: Any
    expected: Any
    """What the arguments get alone; None where there is nothing at that place."""
    of: int
    """Whose value it is."""


def foreign(answer: Leaves, which: int, alone: Mapping[int, Sequence[Leaves]]) -> Foreign | None:
    """Find a value in an answer that is not that of its own arguments but that of others; None where there is none.

    Args:
        answer: the answer to a call with the arguments number `which`.
        which: see there.
        alone: for each arguments, what they got alone, in one run or more.
    """
    own = stable(alone[which])
    moving = {where for run in alone[which] for where in run} - own.keys()
    for other, runs in alone.items():
        theirs = stable(runs) if other != which else {}
        for where, value in theirs.items():
            expected, saw = own.get(where, _MISSING), answer.get(where, _MISSING)
            if where in moving or saw is _MISSING or expected in (saw, value):
                continue
            if saw == value or _holds(saw, value, expected):
                return Foreign(
                    where=".".join(where[1:]), saw=saw, expected=None if expected is _MISSING else expected, of=other
                )
    return None


def _holds(saw: Any, value: Any, expected: Any) -> bool:  # noqa: ANN401 - JSON values
    if not (isinstance(saw, str) and isinstance(value, str) and isinstance(expected, str)):
        return False
    return len(value) >= SHORTEST and value in saw and value not in expected


def keys(entries: Iterable[Entry]) -> Counter[Key]:
    """Count the requests by what they are."""
    return Counter((one.host, one.method, one.target, one.body) for one in entries)


def never_asked(
    asked: Counter[Key], order: Sequence[int], alone: Mapping[int, Sequence[Counter[Key]]]
) -> tuple[int, Key] | None:
    """Name arguments for which something was never asked, although alone they ask for it and no others do; and what.

    What writes has to be asked for in any case. Of what reads, all has to be missing, while more is asked for others
    than they need: else it may be a cache, or a question that serves several calls.

    Args:
        asked: the requests of all calls together.
        order: which arguments were given, one entry a call.
        alone: for each arguments, what they asked alone, in one run or more.
    """
    usual = {which: _common(runs) for which, runs in alone.items()}
    calls = Counter(order)
    own = {
        which: [key for key in counts if not any(key in usual[other] for other in usual if other != which)]
        for which, counts in usual.items()
    }
    too_often = any(asked[key] > calls[which] * usual[which][key] for which, unique in own.items() for key in unique)
    for which in calls:
        missing = [key for key in own[which] if key not in asked]
        writing = [key for key in missing if key[1] not in READING]
        if writing or (too_often and missing and len(missing) == len(own[which])):
            return which, (writing or missing)[0]
    return None


def _common(runs: Sequence[Counter[Key]]) -> Counter[Key]:
    """Keep what was asked in every run, as often as in that with most."""
    return Counter({key: max(run[key] for run in runs) for key in runs[0] if all(key in run for run in runs)})
