"""What a segment of a path stands for: changes, revisions, accounts, projects, and so on."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import unquote_plus

from mock_gerrit.changes import Change, Comment, Message, PatchSet
from mock_gerrit.entities import Account, Project
from mock_gerrit.errors import GerritError, not_found
from mock_gerrit.people import find_one
from mock_gerrit.repository import full_branch_name
from mock_gerrit.rest.call import Call
from mock_gerrit.visibility import may_read, may_see

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


def hidden(project: str) -> GerritError:
    """What Gerrit answers of a project in state HIDDEN."""
    return GerritError(409, f"project {project} has state HIDDEN does not permit read")


def change(call: Call, raw: str, _: Mapping[str, Any]) -> Change:
    """The change that an identifier names; 404 unless exactly one is visible, 409 in a hidden project."""
    found = [item for item in find_changes(call, raw) if may_see(call.host, call.user, item) or _hidden(call, item)]
    if not found:
        raise not_found(unquote_plus(raw))
    if len(found) > 1:
        raise GerritError(404, f"Multiple changes found for {unquote_plus(raw)}")
    state = call.host.projects[found[0].project].state
    if state == "HIDDEN":
        raise hidden(found[0].project)
    return found[0]


def _hidden(call: Call, item: Change) -> bool:
    return call.host.projects[item.project].state == "HIDDEN"


def revision(call: Call, raw: str, resources: Mapping[str, Any]) -> PatchSet:
    """The patch set that `current`, a number or (the beginning of) a commit hash names; `edit` is one's own edit."""
    item: Change = resources["change"]
    name = unquote_plus(raw)
    if name == "current":
        return item.current
    edit = item.edits.get(call.user.id) if call.user else None
    if name in {"edit", "0"} and edit and call.user:
        return PatchSet(number=0, commit=edit.commit, uploader=call.user.id, created=call.host.now())
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


def reviewer(call: Call, raw: str, resources: Mapping[str, Any]) -> Account:
    """Somebody who is on the change."""
    from mock_gerrit.rest.reviewers import reviewer_named  # noqa: PLC0415 - it uses the routes this module serves

    return reviewer_named(call, resources["change"], unquote_plus(raw))


def account(call: Call, raw: str, _: Mapping[str, Any]) -> Account:
    """The account that a number, name, address or `self` means."""
    text = unquote_plus(raw)
    if text in {"self", "me"} and call.user is None:
        raise GerritError(403, f"Resolving account '{text}' requires login")
    return find_one(call.host, call.user, text)


def draft(call: Call, raw: str, resources: Mapping[str, Any]) -> Comment:
    """One's own draft of a patch set."""
    return _comment(resources["change"].drafts, raw, resources, author=call.signed_in().id)


def comment(_: Call, raw: str, resources: Mapping[str, Any]) -> Comment:
    """A published comment of a patch set."""
    return _comment(resources["change"].comments, raw, resources)


def _comment(known: list[Comment], raw: str, resources: Mapping[str, Any], *, author: int | None = None) -> Comment:
    id_ = unquote_plus(raw)
    for item in known:
        own = author is None or item.author == author
        if item.id == id_ and own and item.patch_set == resources["revision"].number:
            return item
    raise not_found(id_)


def message(_: Call, raw: str, resources: Mapping[str, Any]) -> Message:
    """An entry of a change's log."""
    id_ = unquote_plus(raw)
    item: Change = resources["change"]
    found = next((entry for entry in item.messages if entry.id == id_), None)
    if found is None:
        raise GerritError(404, f"change message {id_} not found")
    return found


def project(call: Call, raw: str, _: Mapping[str, Any]) -> Project:
    """A project the caller may read; 404 for others, 409 for a hidden one."""
    name = unquote_plus(raw).removesuffix(".git")
    found = call.host.projects.get(name)
    if found is None or not (may_read(call.user, found) or found.state == "HIDDEN"):
        raise not_found(name)
    if found.state == "HIDDEN" and not call.is_admin:
        raise hidden(name)
    return found


def branch(call: Call, raw: str, resources: Mapping[str, Any]) -> str:
    """The full ref name of a branch."""
    name = unquote_plus(raw)
    ref = "HEAD" if name == "HEAD" else full_branch_name(name)
    project: Project = resources["project"]
    meant = full_branch_name(project.head) if ref == "HEAD" else ref
    if meant not in call.host.repository(project.name).refs:
        raise not_found(name)
    return ref


RESOLVERS: dict[str, Resolver] = {
    "change": change,
    "revision": revision,
    "config": config,
    "plugin": plugin,
    "reviewer": reviewer,
    "account": account,
    "draft": draft,
    "comment": comment,
    "message": message,
    "project": project,
    "branch": branch,
}
"""How each `{parameter}` of a route is looked up; any other is its decoded text."""
