"""A patch set in Gerrit's JSON, with its commit, files and actions."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from mock_gerrit.changes import COMMIT_MESSAGE, Change, PatchSet
from mock_gerrit.diffing import size_of
from mock_gerrit.repository import CommitFacts, FileChange, Identity, Repository, full_branch_name
from mock_gerrit.rest.call import Call
from mock_gerrit.rest.formats import AccountInfo, timestamp
from mock_gerrit.updates import patch_set_ref

Who = Callable[[int], AccountInfo]


def revision(call: Call, change: Change, patch_set: PatchSet, options: frozenset[str], who: Who) -> dict[str, Any]:
    """A patch set as `o=` options ask for it."""
    current = patch_set is change.current
    repository = call.host.repository(change.project)
    info: dict[str, Any] = {
        "kind": patch_set.kind,
        "_number": patch_set.number,
        "created": timestamp(patch_set.created),
        "uploader": who(patch_set.uploader),
        "ref": patch_set_ref(change.number, patch_set.number),
        "fetch": {},
    }
    if "ALL_COMMITS" in options or (current and "CURRENT_COMMIT" in options):
        info["commit"] = commit_info(repository, patch_set.commit)
    info["branch"] = full_branch_name(change.branch)
    if "ALL_FILES" in options or (current and "CURRENT_FILES" in options):
        info["files"] = files(repository, parent_of(repository, patch_set.commit), patch_set.commit)
    if current and "CURRENT_ACTIONS" in options:
        info["actions"] = {}
    if "COMMIT_FOOTERS" in options:
        info["commit_with_footers"] = with_review_footers(call, change, patch_set)
    if patch_set.description:
        info["description"] = patch_set.description
    return info


def parent_of(repository: Repository, commit: str) -> str | None:
    """The first parent; None for a first commit."""
    parents = repository.facts(commit).parents
    return parents[0] if parents else None


def commit_info(repository: Repository, sha: str, *, with_sha: bool = False) -> dict[str, Any]:
    """A commit; its own hash only where asked for, since revisions are keyed by it."""
    facts = repository.facts(sha)
    info: dict[str, Any] = {"commit": sha} if with_sha else {}
    info["parents"] = [{"commit": parent, "subject": repository.facts(parent).subject} for parent in facts.parents]
    info["author"] = person(facts.author, facts.authored, facts.author_zone)
    info["committer"] = person(facts.committer, facts.committed, facts.committer_zone)
    info["subject"] = facts.subject
    info["message"] = facts.message
    return info


def person(identity: Identity, moment: datetime, zone: int) -> dict[str, Any]:
    """Somebody in a commit; the zone in minutes."""
    return {"name": identity.name, "email": identity.email, "date": timestamp(moment), "tz": zone}


def files(repository: Repository, old: str | None, new: str) -> dict[str, dict[str, Any]]:
    """The files in which two commits differ."""
    return {item.path: file_info(repository, item) for item in repository.changes(old, new)}


def file_info(repository: Repository, item: FileChange) -> dict[str, Any]:
    """How a file differs: status (absent for modified), modes, hashes, lines and bytes."""
    size = size_of(repository, item)
    info: dict[str, Any] = {}
    if item.status != "M":
        info["status"] = item.status
    if item.old:
        info["old_mode"] = item.old.mode
    if item.new:
        info["new_mode"] = item.new.mode
    if item.old:
        info["old_sha"] = item.old.blob
    if item.new:
        info["new_sha"] = item.new.blob
    if size.binary:
        info["binary"] = True
    if item.old_path:
        info["old_path"] = item.old_path
    if size.inserted:
        info["lines_inserted"] = size.inserted
    if size.deleted:
        info["lines_deleted"] = size.deleted
    info["size_delta"] = size.new_bytes - size.old_bytes
    info["size"] = size.new_bytes
    return info


def magic_text(repository: Repository, facts: CommitFacts) -> str:
    """What Gerrit shows as the file `/COMMIT_MSG`: a header, an empty line, the message."""
    lines = []
    if len(facts.parents) == 1:
        parent = repository.facts(facts.parents[0])
        lines.append(f"Parent:     {parent.sha[:8]} ({parent.subject})")
    elif facts.parents:
        lines.append(f"Merge Of:   {facts.parents[0][:8]} ({repository.facts(facts.parents[0]).subject})")
        lines += [f"            {sha[:8]} ({repository.facts(sha).subject})" for sha in facts.parents[1:]]
    lines.append(f"Author:     {facts.author}")
    lines.append(f"AuthorDate: {facts.authored:%Y-%m-%d %H:%M:%S} +0000")
    lines.append(f"Commit:     {facts.committer}")
    lines.append(f"CommitDate: {facts.committed:%Y-%m-%d %H:%M:%S} +0000")
    return "\n".join(lines) + "\n\n" + facts.message


def commit_message_file(repository: Repository, sha: str) -> dict[str, Any]:
    """The entry of `/COMMIT_MSG` in a list of files."""
    text = magic_text(repository, repository.facts(sha))
    size = len(text.encode())
    return {"status": "A", "lines_inserted": text.count("\n"), "size_delta": size, "size": size}


def files_with_message(repository: Repository, old: str | None, new: str) -> dict[str, dict[str, Any]]:
    """The files in which two commits differ, the commit message first."""
    return {COMMIT_MESSAGE: commit_message_file(repository, new), **files(repository, old, new)}


def with_review_footers(call: Call, change: Change, patch_set: PatchSet) -> str:
    """The message as submitting by cherry-picking would write it."""
    message = call.host.repository(change.project).facts(patch_set.commit).message.rstrip("\n")
    lines = [f"Reviewed-on: {call.host.url}/c/{change.project}/+/{change.number}"]
    for (label, id_), vote in change.votes.items():
        word = {"Code-Review": "Reviewed-by", "Verified": "Tested-by"}.get(label, label)
        account = call.host.accounts[id_]
        if vote.value == call.host.labels(change.project)[label].highest:
            lines.append(f"{word}: {account.label} <{account.email}>")
    return "\n".join([message, *lines]) + "\n"


def change_actions(call: Call, change: Change) -> dict[str, Any]:
    """What the caller could do with the change."""
    user = call.user
    if user is None:
        return {}

    def action(method: str, label: str, title: str | None = None) -> dict[str, Any]:
        told = {"title": title} if title else {}
        return {"method": method, "label": label, **told, "enabled": True}

    owner = user.admin or user.id == change.owner
    actions: dict[str, Any] = {}
    if owner and change.is_open:
        if change.private:
            actions["private"] = action("DELETE", "Unmark private", "Unmark change as private")
        else:
            actions["private"] = action("POST", "Mark private", "Mark change as private")
        actions["topic"] = action("PUT", "Edit Topic")
        actions["hashtags"] = action("POST", "Edit Hashtags")
        actions["abandon"] = action("POST", "Abandon", "Abandon the change")
        actions["move"] = action("POST", "Move Change", "Move change to a different branch")
        actions["custom_keyed_values"] = action("POST", "Edit custom keyed values")
        if change.wip:
            actions["ready"] = action("POST", "Start Review", "Set Ready For Review")
        else:
            actions["wip"] = action("POST", "WIP", "Set Work In Progress")
    if change.is_open:
        actions["followup"] = action("POST", "Follow-Up", "Create follow-up change")
    return actions
