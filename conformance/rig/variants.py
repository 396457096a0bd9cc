"""Other arguments for a tool that are as good as the plainest ones, in the simulated world of a trial.

Whether they are is seen when they are tried alone: arguments that a tool then refuses are used no further.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from conformance.outcomes import Inconclusive
from conformance.rig.meanings import ALICE, BOB, meaning_of
from conformance.rig.samples import BASE_URL_PARAMETER, sample_arguments, takes_address

Arguments = dict[str, Any]
Value = Any

TURNS = (1, 2)
"""Two sets of arguments beside the plainest ones: as many as there are changes beside the first."""

LEVELS = 4
"""How many sets `variants` gives at most."""

ADDRESSES = ("https://elm.example.com/r", "https://sycamore.example.com")
PEOPLE = (ALICE, BOB, "conformance@example.com")
NAMES = ("alice", "bob", "conformance")
FILES = ("leaves.py", "roots.py", "twigs.py")
"""A file in the first change of a host, in its second, in its third."""
ANOTHER_FILE = {FILES[0]: "docs/guide.md"}
"""Another file in the same change."""
TOPICS = ("leaves", "roots", "twigs")
CHANGE = re.compile(r"^(demo~)?([123])$")


def variants(tool: Mapping[str, Any], plain: Arguments, *, asks: bool) -> Iterator[list[Arguments]]:
    """Give sets of other arguments for a tool, those first that differ in most; each set has one for each turn.

    Args:
        tool: the tool's entry in `tools/list`.
        plain: the arguments with which it is known to work.
        asks: the tool asks Gerrit for something; to one that does not, an id of any form is as good.
    """
    known = _known if asks else _in_another_form
    for vary in (_everything(known), _everything(lambda *_: None), _everything(_unknown), _optional(tool, known)):
        made = [vary(plain, turn) for turn in TURNS]
        if takes_address(tool):
            made = [{**one, BASE_URL_PARAMETER: ADDRESSES[turn - 1]} for turn, one in zip(TURNS, made, strict=True)]
        if all(one != plain for one in made):
            yield made


MOST_SINGLES = 3
"""How many sets `one_by_one` gives at most."""


def one_by_one(plain: Arguments, other: Arguments) -> list[Arguments]:
    """Give sets that differ from the plainest in one argument, for a tool that works with `other` as well.

    They tell apart what is kept under a key that forgets one argument. What differs in the host is not among them: the
    hosts are alike, and the answers would be the same.
    """
    made = [{**plain, name: _beside(plain, name, value)} for name, value in other.items() if name != BASE_URL_PARAMETER]
    return [one for one in made if one not in (plain, other)][:MOST_SINGLES]


def _beside(plain: Arguments, name: str, value: Value) -> Value:
    usual = plain.get(name)
    return ANOTHER_FILE.get(usual, value) if isinstance(usual, str) and usual != value else value


Change = Callable[[str, Value, int, bool], Value]
"""Gives another value for a name, or None where it knows none; the last argument tells of a change beside it."""


def _everything(change: Change) -> Callable[[Arguments, int], Arguments]:
    """Vary every argument that can be, also inside models and lists of them."""

    def vary(arguments: Mapping[str, Any], turn: int, within: str = "") -> Arguments:
        in_change = any(_stands_for_change(name, within) for name in arguments)
        return {name: value_of(name, value, turn, in_change, within) for name, value in arguments.items()}

    def value_of(name: str, value: Value, turn: int, in_change: bool, within: str) -> Value:  # noqa: FBT001 - passed on
        if isinstance(value, Mapping):
            return vary(value, turn, name)
        if isinstance(value, list) and value and all(isinstance(one, Mapping) for one in value):
            return [vary(one, turn, name) for one in value]
        known_as = "change_id" if _stands_for_change(name, within) else name
        other = change(known_as, value, turn, in_change)
        return value if other is None else other

    return vary


def _optional(tool: Mapping[str, Any], change: Change) -> Callable[[Arguments, int], Arguments]:
    """Fill in the optional arguments whose meaning is known, and vary all."""
    schema = tool.get("inputSchema") or {}
    required = list(schema.get("required", ()))
    properties = dict(schema.get("properties", {}))
    for name in properties.keys() - set(required):
        if meaning_of(name) is not None:
            properties[name] = {key: value for key, value in properties[name].items() if key != "default"}
            required.append(name)
    whole = {**tool, "inputSchema": {**schema, "properties": properties, "required": sorted(required)}}

    def vary(arguments: Arguments, turn: int) -> Arguments:
        try:
            filled = sample_arguments(whole, None)
        except Inconclusive:
            return arguments
        return _everything(change)({**filled, **arguments}, turn)

    return vary


def _stands_for_change(name: str, within: str = "") -> bool:
    if within and _stands_for_change(within) and name in {"id", "number", "_number"}:
        return True
    meaning = meaning_of(name)
    return meaning is not None and bool({"change_id", "change_ids"} & set(meaning.names))


def _known(name: str, value: Value, turn: int, in_change: bool) -> Value:  # noqa: FBT001 - a Change
    """Give another value of the same meaning; None where the meaning has only one, or nobody knows it."""
    meaning = meaning_of(name)
    if meaning is None:
        return None
    if isinstance(value, list):
        others = [_known(name, one, turn, in_change) for one in value]
        return None if any(one is None for one in others) else others
    first = meaning.names[0].removesuffix("s") if isinstance(meaning.values[0], list) else meaning.names[0]
    vary = _BY_MEANING.get(first)
    return vary(value, turn, in_change) if vary else None


def _change(value: Value, turn: int, _: bool = True) -> Value:  # noqa: FBT001, FBT002 - a Change
    match = CHANGE.match(str(value)) if isinstance(value, str | int) else None
    if match is None:
        return None
    number = (int(match[2]) - 1 + turn) % 3 + 1
    return number if isinstance(value, int) else f"{match[1] or ''}{number}"


def _turned(circle: tuple[str, ...]) -> Callable[[Value, int, bool], Value]:
    def turned(value: Value, turn: int, _: bool) -> Value:  # noqa: FBT001 - a Change
        return circle[(circle.index(value) + turn) % len(circle)] if value in circle else None

    return turned


def _file(value: Value, turn: int, in_change: bool) -> Value:  # noqa: FBT001 - a Change
    return FILES[turn] if in_change and isinstance(value, str) else None


def _text(value: Value, turn: int, _: bool) -> Value:  # noqa: FBT001 - a Change
    return f"{value} ({turn + 1})" if isinstance(value, str) else None


def _query(value: Value, turn: int, _: bool) -> Value:  # noqa: FBT001 - a Change
    return f"change:{turn + 1}" if isinstance(value, str) else None


_BY_MEANING: Mapping[str, Callable[[Value, int, bool], Value]] = {
    "change_id": _change, "path": _file, "query": _query, "message": _text,
    "topic": _turned(TOPICS), "topic_name": _turned(TOPICS), "hashtag": _turned(TOPICS),
    "username": _turned(NAMES), "email": _turned(PEOPLE), "reviewer": _turned(PEOPLE),
}  # fmt: skip
"""How to vary a value, by the first name of its meaning (in the singular)."""


def _in_another_form(name: str, value: Value, turn: int, in_change: bool) -> Value:  # noqa: FBT001 - a Change
    """As `_known`, and let the id of a change have another form each time."""
    other = _known(name, value, turn, in_change)
    if _stands_for_change(name) and isinstance(other, str):
        return f"demo~{other}" if turn == 1 else f"demo~master~I{other:0>40}"
    return other


def _unknown(name: str, value: Value, turn: int, in_change: bool) -> Value:  # noqa: FBT001 - a Change
    """Give another value of the same type where the meaning is not known, or is an amount."""
    known = _known(name, value, turn, in_change)
    meaning = meaning_of(name)
    if known is not None or (meaning is not None and not meaning.amount):
        return known
    if isinstance(value, bool):
        return value if turn == TURNS[-1] else not value
    if isinstance(value, int | float):
        return value + turn
    return f"{value} {turn + 1}" if isinstance(value, str) else None
