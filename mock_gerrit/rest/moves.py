"""Rebase, cherry-pick and move."""

from __future__ import annotations

import re
from typing import Any

from mock_gerrit import updates
from mock_gerrit.changes import Change, PatchSet
from mock_gerrit.entities import Project
from mock_gerrit.errors import bad_request, conflict, not_permitted
from mock_gerrit.moving import cherry_pick, default_base, rebase
from mock_gerrit.repository import CommitFacts, full_branch_name, short_branch_name
from mock_gerrit.rest.branches import known_commit
from mock_gerrit.rest.call import Call
from mock_gerrit.rest.change_info import ChangeInfo, change_info
from mock_gerrit.rest.resources import find_changes
from mock_gerrit.rest.routes import Routes
from mock_gerrit.rest.states import status_word
from mock_gerrit.visibility import may_see

routes = Routes()


@routes.post("/changes/{change}/rebase", doc="#rebase-change")
def rebase_change(call: Call, *, change: Change) -> dict[str, Any]:
    """Puts the current patch set on the tip of its branch, or on another base."""
    return rebase_revision(call, change=change, revision=change.current)


@routes.post("/changes/{change}/revisions/{revision}/rebase", doc="#rebase-revision")
def rebase_revision(call: Call, *, change: Change, revision: PatchSet) -> dict[str, Any]:
    """The same for any patch set."""
    if not change.is_open:
        raise conflict(f"Change {change.number} is {status_word(change)}")
    base = _base(call, change, revision)
    allow = bool(call.body.flag("allow_conflicts"))
    clashes = rebase(call.host, change, revision, call.signed_in(), base=base, allow_conflicts=allow)
    return _told(change_info(call, change, {"CURRENT_REVISION", "CURRENT_COMMIT"}), contains_conflicts=clashes)


def _told(info: ChangeInfo, *, contains_conflicts: bool) -> dict[str, Any]:
    return {**info, **({"contains_git_conflicts": True} if contains_conflicts else {})}


def _base(call: Call, change: Change, revision: PatchSet) -> str:
    """The commit that `base` names: a change, a commit of the branch, or where empty the tip."""
    wanted = call.body.text("base")
    if wanted is None:
        return default_base(call.host, change, revision)
    repository = call.host.repository(change.project)
    tip = repository.branch(change.branch)
    if not wanted.strip():
        return tip or default_base(call.host, change, revision)
    named = [item for item in find_changes(call, wanted.partition(",")[0]) if may_see(call.host, call.user, item)]
    if len(named) == 1:
        if named[0] is change:
            raise conflict(f"cannot rebase change {change.number} onto itself")
        return named[0].current.commit
    if tip and re.fullmatch(r"[0-9a-f]{40}", wanted) and wanted in repository.history(tip):
        return wanted
    raise conflict(f"base revision is missing from the destination branch: {wanted}")


def _destination(call: Call, project: str) -> str:
    """The short name of the branch to pick to."""
    wanted = (call.body.text("destination") or "").strip()
    if not wanted:
        raise bad_request("destination must be non-empty")
    base = call.body.text("base")
    if base is not None and not re.fullmatch(r"[0-9a-f]{40}", base):
        raise bad_request(f"Base {base} doesn't represent a valid SHA-1")
    if call.host.repository(project).branch(wanted) is None:
        raise bad_request(f"Branch {full_branch_name(wanted)} does not exist.")
    return short_branch_name(wanted)


@routes.post("/changes/{change}/revisions/{revision}/cherrypick", inputs=("message", "notify"), doc="#cherry-pick")
def pick_revision(call: Call, *, change: Change, revision: PatchSet) -> dict[str, Any]:
    """Brings a patch set to another branch."""
    facts = call.host.repository(change.project).facts(revision.commit)
    return _pick(call, change.project, facts, origin=(change.number, revision.number))


@routes.post("/projects/{project}/commits/{commit}/cherrypick", inputs=("message", "notify"), doc="#cherry-pick-commit")
def pick_commit(call: Call, *, project: Project, commit: str) -> dict[str, Any]:
    """Brings a commit to another branch."""
    sha = known_commit(call, project, commit)
    return _pick(call, project.name, call.host.repository(project.name).facts(sha))


def _pick(call: Call, project: str, facts: CommitFacts, *, origin: tuple[int, int] | None = None) -> dict[str, Any]:
    made = cherry_pick(
        call.host,
        (project, facts),
        call.signed_in(),
        branch=_destination(call, project),
        message=(call.body.text("message") or "").strip() or None,
        origin=origin,
        topic=call.body.text("topic"),
        allow_conflicts=bool(call.body.flag("allow_conflicts")),
    )
    merge = made.current.merge
    return _told(change_info(call, made), contains_conflicts=bool(merge and merge.contains_conflicts))


@routes.post("/changes/{change}/move", inputs=("message",), doc="#move-change")
def move(call: Call, *, change: Change) -> ChangeInfo:
    """Gives the change another destination branch."""
    wanted = (call.body.text("destination_branch") or "").strip()
    if not wanted:
        raise bad_request("destination branch is required")
    if not change.is_open:
        raise conflict(f"Change is {status_word(change)}")
    if not call.may_change(change):
        raise not_permitted("move")
    ref = full_branch_name(wanted)
    if ref == full_branch_name(change.branch):
        raise conflict("Change is already destined for the specified branch")
    if call.host.repository(change.project).branch(ref) is None:
        raise conflict(f"Destination {ref} not found in the project")
    old, change.branch = change.branch, short_branch_name(ref)
    text = f"Change destination moved from {old} to {change.branch}"
    updates.record(call.host, change, call.signed_in(), text, tag=f"{updates.AUTO}move")
    return change_info(call, change)
