"""Putting a change's commit somewhere else: rebase and cherry-pick."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mock_gerrit import updates
from mock_gerrit.building import CHANGE_ID, identity_of, with_change_id
from mock_gerrit.changes import Change, PatchSet, ServerMerge
from mock_gerrit.creating import draw_change_id
from mock_gerrit.entities import Account
from mock_gerrit.errors import conflict
from mock_gerrit.merging import MergeConflict, merge_files, with_conflict_markers
from mock_gerrit.repository import CommitFacts, FileEntry, Repository
from mock_gerrit.submitting import changes_by_commit

if TYPE_CHECKING:
    from mock_gerrit.host import Host

REFUSED_REBASE = "Change {number} could not be rebased due to a conflict during merge.\n\nmerge conflict(s):\n{files}"


def default_base(host: Host, change: Change, patch_set: PatchSet) -> str:
    """What a rebase goes to by itself: the latest of the change it builds on, else the tip of the branch."""
    repository = host.repository(change.project)
    parents = repository.facts(patch_set.commit).parents
    below = changes_by_commit(host, change.project, change.branch).get(parents[0]) if parents else None
    if below is not None and below.is_open and below is not change:
        return below.current.commit
    tip = repository.branch(change.branch)
    if tip is None:
        raise conflict(f"Destination branch does not exist: {change.branch}")
    return tip


def rebase(
    host: Host, change: Change, patch_set: PatchSet, user: Account, *, base: str, allow_conflicts: bool = False
) -> bool:
    """Uploads a patch set of the same effect on another base; True where conflict markers were left in files.

    Raises:
        GerritError: 409 where the change is there already, or does not fit and conflicts are not allowed.
    """
    repository = host.repository(change.project)
    facts = repository.facts(patch_set.commit)
    if facts.parents[:1] == (base,):
        raise conflict("Change is already up to date.")
    files, clashes = _merged(repository, facts, base)
    if clashes and not allow_conflicts:
        listed = "".join(f"* {path}\n" for path in clashes)
        raise conflict(REFUSED_REBASE.format(number=change.number, files=listed.rstrip("\n")))
    commit = _copy(host, repository, facts, files, parent=base, user=user)
    change.wip = change.wip or bool(clashes)
    text = f"Patch Set {change.current.number + 1}: Patch Set {patch_set.number} was rebased"
    if clashes:
        text += "\n\nThe following files contain Git conflicts:\n" + "".join(f"* {path}\n" for path in clashes)
    merge = ServerMerge(base=facts.parents[0], ours=facts.sha, theirs=base, contains_conflicts=bool(clashes))
    updates.add_patch_set(host, change, commit, user, text=text, description="Rebase", merge=merge)
    return bool(clashes)


def _merged(repository: Repository, facts: CommitFacts, onto: str) -> tuple[dict[str, FileEntry], list[str]]:
    """The files of a commit put on another base, and those with conflict markers in them."""
    parent = facts.parents[0] if facts.parents else None
    try:
        return merge_files(repository, parent, onto, facts.sha), []
    except MergeConflict as clash:
        return with_conflict_markers(repository, parent, onto, facts.sha, clash.paths), clash.paths


def _copy(
    host: Host,
    repository: Repository,
    facts: CommitFacts,
    files: dict[str, FileEntry],
    *,
    parent: str,
    user: Account,
    message: str | None = None,
) -> str:
    """Stores a commit by the same author with other files and another parent."""
    return repository.add_commit(
        files,
        parents=(parent,),
        message=message or facts.message,
        author=facts.author,
        committer=identity_of(user),
        when=host.now(),
        authored=facts.authored,
    )


def cherry_pick(
    host: Host,
    source: tuple[str, CommitFacts],
    user: Account,
    *,
    branch: str,
    message: str | None = None,
    origin: tuple[int, int] | None = None,
    topic: str | None = None,
    allow_conflicts: bool = False,
) -> Change:
    """A change (or, where one of its Change-Id is open on the branch, a patch set) that brings a commit to a branch.

    Args:
        host: the host.
        source: the project and the commit to pick.
        user: who picks it.
        branch: short name of the destination, which is there.
        message: the new commit message; else the commit's own.
        origin: number and patch set of the change picked from.
        topic: the topic of the new change.
        allow_conflicts: whether conflict markers may be left in files.

    Raises:
        GerritError: 409 where the commit does not fit and conflicts are not allowed.
    """
    project, facts = source
    repository = host.repository(project)
    tip = repository.branch(branch) or ""
    files, clashes = _merged(repository, facts, tip)
    if clashes and not allow_conflicts:
        raise conflict(f"Cherry pick failed: merge conflict in {', '.join(clashes)}")
    text = message or facts.message
    found: list[str] = CHANGE_ID.findall(text)
    change_id = found[-1] if found else draw_change_id(host)
    commit = _copy(host, repository, facts, files, parent=tip, user=user, message=with_change_id(text, change_id))
    merge = ServerMerge(
        base=facts.parents[0] if facts.parents else None, ours=tip, theirs=facts.sha, contains_conflicts=bool(clashes)
    )
    known = _open_change(host, project, branch, change_id)
    if known is not None:
        updates.add_patch_set(host, known, commit, user, merge=merge)
        known.cherry_pick_of = origin
        known.topic = topic or known.topic
        return known
    came_from = f" from branch {host.changes[origin[0]].branch}" if origin else ""
    return updates.open_change(
        host, user, project=project, branch=branch, change_id=change_id, commit=commit, topic=topic, wip=bool(clashes),
        text=f"Patch Set 1: Cherry Picked{came_from}.", cherry_pick_of=origin, merge=merge,
    )  # fmt: skip


def _open_change(host: Host, project: str, branch: str, change_id: str) -> Change | None:
    wanted = (project, branch, change_id)
    found = (item for item in host.changes.values() if (item.project, item.branch, item.change_id) == wanted)
    return next((item for item in found if item.is_open), None)
