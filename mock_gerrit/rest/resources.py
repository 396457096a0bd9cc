"""What a segment of a path stands for: changes, revisions, accounts, projects, and so on."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import unquote_plus

from mock_gerrit.changes import Change, PatchSet
from mock_gerrit.errors import GerritError, not_found
from mock_gerrit.repository import full_branch_name
from mock_gerrit.rest.call import Call
from mock_gerrit.visibility import may_see

Resolver = Callable[[Call, str, Mapping[str, Any]], Any]
_CHANGE_ID = re.compile(r"^I[0-9a-f]{4,40}$")


def find_changes(call: Call, raw: str) -> list[Change]:
    """The changes that an identifier names, visible or not.

    Args:
        call: whose host is searched.
        raw: still percent-encoded, because `%7E` is no separator and `~` is.
    """
    parts = [unquote_plus(part) for part in raw.split("~")]
    changes = call.host.changes
    if len(parts) == 1 and parts[0].isascii() and parts[0].isdigit():
        found = changes.get(int(parts[0]))
        return [found] if found else []
    if len(parts) == 1 and _CHANGE_ID.match(parts[0]):
        return [change for change in changes.values() if change.change_id.startswith(parts[0])]
    if len(parts) == 2 and parts[1].isascii() and parts[1].isdigit():
        found = changes.get(int(parts[1]))
        return [found] if found and found.project == parts[0] else []
    if len(parts) == 3:
        project, branch, change_id = parts[0], full_branch_name(parts[1]), parts[2]
        return [
            change
            for change in changes.values()
            if (change.project, full_branch_name(change.branch), change.change_id) == (project, branch, change_id)
        ]
    return []


def change(call: Call, raw: str, _: Mapping[str, Any]) -> Change:
    """The change that an identifier names; 404 unless exactly one is visible, 409 in a hidden project."""
    found = [item for item in find_changes(call, raw) if may_see(call.host, call.user, item) or _hidden(call, item)]
    if not found:
        raise not_found(unquote_plus(raw))
    if len(found) > 1:
        raise GerritError(404, f"Multiple changes found for {unquote_plus(raw)}")
    state = call.host.projects[found[0].project].state
    if state == "HIDDEN":
        raise GerritError(409, f"project state {state} does not permit read")
    return found[0]


def _hidden(call: Call, item: Change) -> bool:
    return call.host.projects[item.project].state == "HIDDEN"


def revision(_: Call, raw: str, resources: Mapping[str, Any]) -> PatchSet:
    """The patch set that `current`, a number or (the beginning of) a commit hash names."""
    item: Change = resources["change"]
    name = unquote_plus(raw)
    if name == "current":
        return item.current
    if name.isascii() and name.isdigit() and len(name) < 6:
        numbered = item.patch_set(int(name))
        if numbered:
            return numbered
    if re.fullmatch(r"[0-9a-f]{4,40}", name):
        named = [entry for entry in item.patch_sets if entry.commit.startswith(name)]
        if len(named) == 1:
            return named[0]
    raise not_found(name)


def config(_: Call, raw: str, __: Mapping[str, Any]) -> str:
    """`server`, the only configuration there is."""
    if unquote_plus(raw) != "server":
        raise not_found(unquote_plus(raw))
    return "server"


def plugin(call: Call, raw: str, _: Mapping[str, Any]) -> Any:  # noqa: ANN401 - a Plugin
    """An installed plugin, switched on or not."""
    found = call.host.plugins.get(unquote_plus(raw))
    if found is None:
        raise GerritError(404, unquote_plus(raw))
    return found


RESOLVERS: dict[str, Resolver] = {"change": change, "revision": revision, "config": config, "plugin": plugin}
"""How each `{parameter}` of a route is looked up; any other is its decoded text."""
