"""The state of hosts at one moment, to tell later what a client has changed.

Example:
    >>> before = snapshot(world)  # doctest: +SKIP
    >>> ...  # a client does something
    >>> assert changed(before, snapshot(world)) == ()  # doctest: +SKIP
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import fields
from typing import Any

from mock_gerrit.changes import Change
from mock_gerrit.entities import Account, Group, Plugin, Project
from mock_gerrit.host import Host
from mock_gerrit.world import World

Snapshot = Mapping[tuple[str, ...], Any]
"""All that a request can change, each value under its place, such as `("review-a", "change 1", "topic")`."""

_FOLLOWS = frozenset({"updated", "meta_revision"})
"""Fields that change only where another one does."""


def snapshot(of: World | Host) -> Snapshot:
    """Keep the state of a host, or of all hosts of a world; nothing that happens later gets into it."""
    hosts = of.hosts if isinstance(of, World) else [of]
    return {(host.name, *place): value for host in hosts for place, value in _state_of(host)}


def changed(before: Snapshot, after: Snapshot) -> tuple[str, ...]:
    """Name what differs, one phrase a thing: `review-a: change 1: topic, messages`, `review-a: change 4: added`."""
    gone, new = ({place[:2] for place in one} for one in (before, after))
    found: dict[tuple[str, ...], list[str]] = {}
    for place in [*before, *(one for one in after if one not in before)]:
        thing, part = place[:2], ": ".join(place[2:])
        if thing not in gone or thing not in new:
            found[thing] = ["added" if thing in new else "removed"]
        elif place not in before or place not in after or before[place] != after[place]:
            found.setdefault(thing, []).append(part)
    return tuple(": ".join((*thing, ", ".join(parts))) for thing, parts in found.items())


def _state_of(host: Host) -> Iterator[tuple[tuple[str, ...], Any]]:
    things: list[tuple[str, Account | Group | Plugin | Project | Change]] = [
        *((f"account {one.label}", one) for one in host.accounts.values()),
        *((f"group {one.name}", one) for one in host.groups.values()),
        *((f"plugin {one.id}", one) for one in host.plugins.values()),
        *((f"project {one.name}", one) for one in host.projects.values()),
        *((f"change {one.number}", one) for one in host.changes.values()),
    ]
    for name, thing in things:
        for part in fields(thing):
            if part.name not in _FOLLOWS:
                yield (name, part.name), _kept(getattr(thing, part.name))
    for project, repository in host.repositories.items():
        for ref, commit in repository.refs.items():
            yield (f"project {project}", ref), commit
    for plugin, state in host.plugin_states.items():
        yield (f"plugin {plugin}", "state"), deepcopy(state)


def _kept(value: Any) -> Any:  # noqa: ANN401 - a field of an entity
    """A value that stays as it is; what the collections of entities hold is frozen."""
    if isinstance(value, dict):
        return {key: _kept(one) for key, one in value.items()}
    if isinstance(value, list | set):
        return value.copy()
    return value
