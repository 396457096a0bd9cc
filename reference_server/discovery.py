"""Where extension modules are named: entry points of installed distributions, and an environment variable."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import Distribution, EntryPoint, distributions

ENTRY_POINT_GROUP = "gerrit_mcp_server.extensions"
MODULES_VARIABLE = "GERRIT_MCP_EXTENSIONS"


@dataclass(frozen=True, kw_only=True)
class Found:
    """One mention of an extension.

    Attributes:
        module: the module to import, or what stood in its place where that cannot be read.
        problem: why the mention cannot be followed; None where it can.
    """

    module: str
    problem: str | None = None


def find_extensions() -> list[Found]:
    """All mentions, entry points first, each in the order of its source; a module may come more than once."""
    return [*_in_entry_points(), *_in_variable()]


def _in_variable() -> Iterator[Found]:
    for item in os.environ.get(MODULES_VARIABLE, "").split(","):
        if name := item.strip():
            yield Found(module=name)


def _in_entry_points() -> Iterator[Found]:
    # entry_points() would lose every distribution as soon as the metadata of one is broken, so each is asked alone;
    # it would also read the metadata of all of them, which costs more than the rest of the start.
    seen: set[str] = set()
    for distribution in distributions():
        if ENTRY_POINT_GROUP not in _entry_point_text(distribution):
            continue
        name = _name(distribution)
        if name is not None and name not in seen and not _is_shadowed(distribution, name):
            seen.add(name)
            yield from _of_distribution(distribution, name)


def _entry_point_text(distribution: Distribution) -> str:
    try:
        return distribution.read_text("entry_points.txt") or ""
    except (OSError, ValueError):
        return ""


def _name(distribution: Distribution) -> str | None:
    try:
        name = distribution.metadata["Name"]
    except Exception:  # noqa: BLE001 - metadata can be broken in any way, and then there is nothing to load
        return None
    return re.sub(r"[-_.]+", "-", name).lower() if name else None


def _is_shadowed(found: Distribution, name: str) -> bool:
    """Whether another distribution of the name comes first; what an interrupted uninstall left does not count."""
    first = next((one for one in distributions(name=name) if _name(one) == name), found)
    return _entry_point_text(first) != _entry_point_text(found)


def _of_distribution(distribution: Distribution, name: str) -> Iterator[Found]:
    try:
        points = [point for point in distribution.entry_points if point.group == ENTRY_POINT_GROUP]
    except Exception as problem:  # noqa: BLE001 - whatever the parser makes of a broken file
        yield Found(module=name, problem=f"its entry_points.txt cannot be read: {problem}")
        return
    yield from map(_of_point, points)


def _of_point(point: EntryPoint) -> Found:
    try:
        module = point.module
    except Exception:  # noqa: BLE001 - AttributeError up to Python 3.12, AssertionError from 3.13 on
        module = ""
    if module:
        return Found(module=module)
    return Found(
        module=point.value or point.name,
        problem=f"entry point {point.name!r} expected MODULE or MODULE:ATTRIBUTE, saw {point.value!r}",
    )
