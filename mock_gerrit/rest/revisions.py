"""A revision: its commit, actions, relation to others, and what may be set on it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from mock_gerrit import updates
from mock_gerrit.changes import Change, PatchSet
from mock_gerrit.errors import GerritError, not_permitted
from mock_gerrit.merging import MergeConflict, merge_files
from mock_gerrit.rest.call import NO_CONTENT, Call, NoContent
from mock_gerrit.rest.options import flag, text
from mock_gerrit.rest.reviewers import reviewer_info
from mock_gerrit.rest.revision_info import commit_info, person, revision_actions
from mock_gerrit.rest.routes import Routes
from mock_gerrit.submitting import open_ancestors
from mock_gerrit.visibility import may_see

routes = Routes()


@routes.get("/changes/{change}/revisions/{revision}/commit", options=(flag("links"),), doc="#get-commit")
def commit(call: Call, *, change: Change, revision: PatchSet) -> dict[str, Any]:
    """The commit."""
    return commit_info(call.host.repository(change.project), revision.commit, with_sha=True)


@routes.get("/changes/{change}/revisions/{revision}/actions/", doc="#get-revision-actions")
def actions(call: Call, *, change: Change, revision: PatchSet) -> dict[str, Any]:
    """What the caller could do with the revision."""
    return revision_actions(call, change, revision)


@routes.get("/changes/{change}/revisions/{revision}/mergeable", options=(flag("other-branches"),), doc="#get-mergeable")
def mergeable(call: Call, *, change: Change, revision: PatchSet) -> dict[str, Any]:
    """Whether the revision fits on its branch."""
    if not change.is_open:
        raise GerritError(409, f"change is {change.status.lower()}")
    if revision is not change.current:
        return {"mergeable": False, "commit_merged": False, "content_merged": False}
    repository = call.host.repository(change.project)
    tip = repository.branch(change.branch)
    merged = tip is not None and repository.is_ancestor(revision.commit, tip)
    return {
        "submit_type": call.host.projects[change.project].submit_type,
        "strategy": "recursive",
        "mergeable": merged or tip is None or _fits(call, change, revision, tip),
        "commit_merged": merged,
        "content_merged": merged,
    }


def _fits(call: Call, change: Change, revision: PatchSet, tip: str) -> bool:
    repository = call.host.repository(change.project)
    try:
        merge_files(repository, repository.merge_base(tip, revision.commit), tip, revision.commit)
    except MergeConflict:
        return False
    return True


@routes.get("/changes/{change}/revisions/{revision}/related", options=(text("o"),), doc="#get-related-changes")
def related(call: Call, *, change: Change, revision: PatchSet) -> dict[str, Any]:
    """The changes that build on this one and those it builds on, the topmost first."""
    below = [(item, _built_on(call, change, item)) for item in open_ancestors(call.host, change)]
    above = _descendants(call, change) if change.is_open else []
    chain = [*reversed(above), (change, revision), *below]
    visible = [(item, entry) for item, entry in chain if may_see(call.host, call.user, item)]
    return {"changes": [_related_info(call, item, entry) for item, entry in visible] if len(visible) > 1 else []}


def _built_on(call: Call, change: Change, other: Change) -> PatchSet:
    """The patch set of another change that a change builds on."""
    history = call.host.repository(change.project).history(change.current.commit)
    return next(entry for entry in reversed(other.patch_sets) if entry.commit in history)


def _descendants(call: Call, change: Change) -> list[tuple[Change, PatchSet]]:
    """The open changes that build on one, nearest first."""
    repository = call.host.repository(change.project)
    found = [
        (other, other.current)
        for other in call.host.changes.values()
        if other is not change
        and other.is_open
        and (other.project, other.branch) == (change.project, change.branch)
        and change.current.commit in repository.history(other.current.commit)
    ]
    return sorted(found, key=lambda pair: len(repository.history(pair[1].commit)))


def _related_info(call: Call, change: Change, patch_set: PatchSet) -> dict[str, Any]:
    facts = call.host.repository(change.project).facts(patch_set.commit)
    return {
        "project": change.project,
        "change_id": change.change_id,
        "commit": {
            "commit": facts.sha,
            "parents": [{"commit": parent} for parent in facts.parents],
            "author": person(facts.author, facts.authored, facts.author_zone),
            "subject": facts.subject,
        },
        "_change_number": change.number,
        "_revision_number": patch_set.number,
        "_current_revision_number": change.current.number,
        "status": change.status,
    }


@routes.get("/changes/{change}/revisions/{revision}/reviewers/", doc="#list-revision-reviewers")
def reviewers(call: Call, *, change: Change, revision: PatchSet) -> list[dict[str, Any]]:
    """Reviewers and CCs of the current revision."""
    if revision is not change.current:
        raise GerritError(405, "Cannot list reviewers on non-current patch set")
    return [reviewer_info(call, change, who) for who in reversed(change.reviewers)]


@routes.get("/changes/{change}/revisions/{revision}/description", doc="#get-description")
def get_description(_: Call, *, change: Change, revision: PatchSet) -> str:  # noqa: ARG001 - the revision says it
    """The line its uploader gave to a patch set."""
    return revision.description or ""


@routes.put("/changes/{change}/revisions/{revision}/description", default_field="description", doc="#set-description")
def put_description(call: Call, *, change: Change, revision: PatchSet) -> str | NoContent:
    """Sets that line."""
    if not call.may_change(change):
        raise not_permitted("edit description")
    new = (call.body.text("description") or "").strip()
    old = revision.description or ""
    if new == old:
        return new or NO_CONTENT
    change.patch_sets[change.patch_sets.index(revision)] = replace(revision, description=new or None)
    text_ = f"Description of patch set {revision.number} {_moved(old, new)}"
    if not new:
        text_ = f'Description "{old}" removed from patch set {revision.number}'
    updates.record(call.host, change, call.signed_in(), text_, tag=updates.AUTO + "setPsDescription")
    return new or NO_CONTENT


def _moved(old: str, new: str) -> str:
    return f'changed to "{new}"' if old else f'set to "{new}"'


@routes.get("/changes/{change}/revisions/{revision}/submit_type", doc="#get-submit-type")
def submit_type(call: Call, *, change: Change, revision: PatchSet) -> str:  # noqa: ARG001 - the project decides
    """How the revision would be merged."""
    return call.host.projects[change.project].submit_type


@routes.get("/changes/{change}/revisions/{revision}/mergelist", doc="#get-merge-list")
def mergelist(call: Call, *, change: Change, revision: PatchSet) -> list[dict[str, Any]]:
    """The commits a merge commit would bring in."""
    repository = call.host.repository(change.project)
    parents = repository.facts(revision.commit).parents
    if len(parents) < 2:
        return []
    new = repository.history(parents[1]) - repository.history(parents[0])
    return [commit_info(repository, sha, with_sha=True) for sha in new]
