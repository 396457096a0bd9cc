"""The depends-on plugin: changes declare in a comment which changes they need.

A line `Depends-on: 12 34` in a review message declares two; the latest such message of a change counts, and one that
names nothing takes the declaration back. https://gerrit.googlesource.com/plugins/depends-on/
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NotRequired

from typing_extensions import TypedDict

from mock_gerrit.changes import Change
from mock_gerrit.host import Host
from mock_gerrit.plugins.api import Asked, Predicate, Search, Simulator

_DECLARATION = re.compile(r"^Depends-on:(.*)$", re.MULTILINE)
UNDECLARED = "undeclared"
"""The key of the plugin's state that says what a change without any declaration needs."""


class Dependency(TypedDict):
    """One entry of `depends_ons`: the number of a change, or what was written where that is no number."""

    change_number: NotRequired[int]
    unresolved: NotRequired[str]


def dependencies(host: Host, change: Change) -> list[Dependency]:
    """What a change declares to need, in the order it was written.

    A host that was set up with nothing but the plugin lets each change need the one before it, so that there is
    something to see; `host.plugin_state("depends-on").clear()` ends that.
    """
    for message in reversed(change.messages):
        declared = _DECLARATION.findall(message.text)
        if declared:
            return [_dependency(word) for word in declared[-1].split()]
    if host.plugin_state("depends-on").get(UNDECLARED) == "previous":
        return [_previous(host, change)]
    return []


def _dependency(written: str) -> Dependency:
    return {"change_number": int(written)} if written.isascii() and written.isdigit() else {"unresolved": written}


def _previous(host: Host, change: Change) -> Dependency:
    earlier = [number for number in host.changes if number < change.number]
    return {"change_number": max(earlier)} if earlier else {"unresolved": "I" + "0" * 39 + "1"}


def _needed_numbers(host: Host, change: Change) -> set[int]:
    return {entry["change_number"] for entry in dependencies(host, change) if "change_number" in entry}


def attributes(asked: Asked, change: Change) -> Mapping[str, Any] | None:
    """The entry of a change that needs something, when `--depends-on--all` was asked for."""
    found = dependencies(asked.host, change) if asked.options.get("all") else []
    return {"depends_ons": found} if found else None


def needed_by(search: Search, value: str) -> Predicate:
    """`in_depends-on:NUMBER`: the changes that this change needs; none for anything but the number of a change."""
    needing = search.host.changes.get(int(value)) if value.isascii() and value.isdigit() else None
    needed = _needed_numbers(search.host, needing) if needing else set()
    return lambda change: change.number in needed


def needing(search: Search, value: str) -> Predicate:
    """`has_depends-on:QUERY`: the changes that need one which the query finds."""
    asked = Asked(host=search.host, viewer=search.user)
    found = {change.number for change in asked.changes(value)}
    return lambda change: not found.isdisjoint(_needed_numbers(search.host, change))


def has_any(search: Search, _: str) -> Predicate:
    """`has:a_depends-on`: the changes that need anything."""
    return lambda change: bool(dependencies(search.host, change))


def install(host: Host) -> None:
    """Lets changes need something without having declared it, and names the operator as is customary."""
    host.plugin_state("depends-on").setdefault(UNDECLARED, "previous")
    host.operator_aliases.setdefault("independson", "in_depends-on")
    host.operator_aliases.setdefault("hasdependson", "has_depends-on")


simulator = Simulator(
    id="depends-on",
    version="v3.13.0-1-g784198e",
    change_options={"all": "flag"},
    change_attributes=attributes,
    query_operators={"in": needed_by, "has": needing},
    has_operands={"a": has_any},
    install=install,
)
