"""On which line of a TOML text a value stands: `tomllib` forgets it, and an error message needs it."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from typing import Any

Path = tuple[str | int, ...]


def line_of(text: str, path: Path) -> int:
    """The line, from 1, on which the value of a path begins, or the nearest thing around it that has a line.

    Args:
        text: valid TOML.
        path: keys and array indices, such as `("hosts", 1, "plugins", 0, "id")`.
    """
    lines = {found: line for line, found in reversed(list(_statements(text)))}
    while path and path not in lines:
        path = path[:-1]
    return lines.get(path, 1)


def _statements(text: str) -> Iterator[tuple[int, Path]]:
    """Every header and every assignment with its line and its full path."""
    table: Path = ()
    lengths: dict[Path, int] = {}
    for line, statement in _complete(text):
        keys = _keys(statement)
        if not statement.startswith("["):
            yield line, _in_last(table, keys, lengths)
            continue
        table = _in_last((), keys, lengths)
        if statement.startswith("[["):
            array = table[:-1] if isinstance(table[-1], int) else table
            lengths[array] = lengths.get(array, 0) + 1
            table = (*array, lengths[array] - 1)
        yield line, table


def _complete(text: str) -> Iterator[tuple[int, str]]:
    """The statements of a text: lines are collected until TOML's own parser takes them."""
    pending, begun = "", 0
    for number, line in enumerate(text.splitlines(), start=1):
        if not pending:
            begun = number
        pending += f"{line}\n"
        try:
            holds = tomllib.loads(pending)
        except tomllib.TOMLDecodeError:
            continue
        if holds:
            yield begun, pending.strip()
        pending = ""


def _keys(statement: str) -> tuple[str, ...]:
    """The dotted key that a statement sets or opens."""
    keys = []
    value: Any = tomllib.loads(statement)
    if not statement.startswith("["):
        value = tomllib.loads(f"{_left_side(statement)} = 0")
    while value:
        key, value = next(iter(value.items()))
        keys.append(key)
        value = value[0] if isinstance(value, list) else value
    return tuple(keys)


def _left_side(statement: str) -> str:
    """What stands before the equals sign; one may also stand in a quoted key."""
    for end, character in enumerate(statement):
        if character == "=":
            try:
                tomllib.loads(f"{statement[:end]} = 0")
            except tomllib.TOMLDecodeError:
                continue
            return statement[:end]
    return statement


def _in_last(table: Path, keys: tuple[str, ...], lengths: dict[Path, int]) -> Path:
    """A path where each array of tables on the way stands for its latest element."""
    path = table
    for key in keys:
        path = (*path, key)
        if path in lengths:
            path = (*path, lengths[path] - 1)
    return path
