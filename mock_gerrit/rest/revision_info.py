"""A patch set in Gerrit's JSON, with its commit, files and actions."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from hashlib import sha1
from typing import Any

from mock_gerrit.changes import COMMIT_MESSAGE, Change, PatchSet, ServerMerge
from mock_gerrit.diffing import edits, size_of
from mock_gerrit.repository import CommitFacts, FileChange, Identity, Repository, full_branch_name
from mock_gerrit.rest.call import Call
from mock_gerrit.rest.formats import AccountInfo, timestamp
from mock_gerrit.submittability import is_submittable
from mock_gerrit.submitting import together
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
    if "PARENTS" in options:
        info |= _parents_data(call, change, patch_set)
    if patch_set.merge:
        info["conflicts"] = _conflicts(patch_set.merge)
    if "ALL_FILES" in options or (current and "CURRENT_FILES" in options):
        info["files"] = files(repository, parent_of(repository, patch_set.commit), patch_set.commit)
    if current and "CURRENT_ACTIONS" in options and call.user is not None:
        info["actions"] = revision_actions(call, change, patch_set)
    if current and "COMMIT_FOOTERS" in options:
        info["commit_with_footers"] = with_review_footers(call, change, patch_set)
    if patch_set.description:
        info["description"] = patch_set.description
    return info


def _parents_data(call: Call, change: Change, patch_set: PatchSet) -> dict[str, Any]:
    """The change that a patch set builds on; nothing where it builds on the branch."""
    parent = parent_of(call.host.repository(change.project), patch_set.commit)
    for other in call.host.changes.values():
        built_on = next((item for item in other.patch_sets if item.commit == parent), None)
        if other.is_open and other.project == change.project and built_on:
            return {
                "parents_data": [
                    {
                        "branch_name": full_branch_name(change.branch),
                        "commit_id": parent,
                        "is_merged_in_target_branch": False,
                        "change_id": other.change_id,
                        "change_number": other.number,
                        "patch_set_number": built_on.number,
                        "change_status": other.status,
                    }
                ]
            }
    return {}


def _conflicts(merge: ServerMerge) -> dict[str, Any]:
    if merge.ours is None:
        return {"no_base_reason": "NO_MERGE_PERFORMED", "contains_conflicts": merge.contains_conflicts}
    return {
        "base": merge.base,
        "ours": merge.ours,
        "theirs": merge.theirs,
        "merge_strategy": "recursive",
        "contains_conflicts": merge.contains_conflicts,
    }


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


def _hash_of(text: str) -> str:
    return sha1(text.encode(), usedforsecurity=False).hexdigest()


def commit_message_file(repository: Repository, old: str | None, new: str) -> dict[str, Any]:
    """The entry of `/COMMIT_MSG` in a list of files; compared with an older patch set's where one is given."""
    text = magic_text(repository, repository.facts(new))
    before = magic_text(repository, repository.facts(old)) if old else ""
    found = [edit for edit in edits(before.encode(), text.encode()) if not edit.equal]
    size = len(text.encode())
    info: dict[str, Any] = {} if old else {"status": "A"}
    info["old_sha"], info["new_sha"] = _hash_of(before), _hash_of(text)
    counts = {
        "lines_inserted": sum(edit.new[1] - edit.new[0] for edit in found),
        "lines_deleted": sum(edit.old[1] - edit.old[0] for edit in found),
    }
    info |= {key: lines for key, lines in counts.items() if lines}
    return {**info, "size_delta": size - len(before.encode()), "size": size}


def files_with_message(
    repository: Repository, old: str | None, new: str, *, between: bool
) -> dict[str, dict[str, Any]]:
    """The files in which two commits differ, the commit message first.

    Args:
        repository: the project's content.
        old: the older commit.
        new: the newer one.
        between: whether both are patch sets of one change; else the message is all new.
    """
    message = commit_message_file(repository, old if between else None, new)
    return {COMMIT_MESSAGE: message, **files(repository, old, new)}


def revision_actions(call: Call, change: Change, patch_set: PatchSet) -> dict[str, Any]:
    """What the caller could do with a revision."""
    user = call.user
    if user is None:
        return {}
    found: dict[str, Any] = {}
    if patch_set is change.current:
        found["cherrypick"] = _action("POST", "Cherry Pick", "Cherry pick change to a different branch")
    if not change.is_open:
        return found
    if call.may_change(change):
        found["description"] = _action("PUT", "Edit Description")
    if patch_set is change.current:
        if not change.wip and all(is_submittable(call.host, item) for item in together(call.host, change)):
            found["submit"] = _submit_action(call, change)
        found["rebase"] = _rebase_action(call, change)
    return found


def _submit_action(call: Call, change: Change) -> dict[str, Any]:
    number, count = change.current.number, len(together(call.host, change))
    if count == 1:
        return _action("POST", "Submit", f"Submit patch set {number} into {change.branch}")
    title = f"Submit patch set {number} and ancestors ({count} changes altogether) into {change.branch}"
    return _action("POST", "Submit including parents", title)


def _rebase_action(call: Call, change: Change) -> dict[str, Any]:
    action = _action("POST", "Rebase", "Rebase onto tip of branch or parent change.")
    action["enabled_options"] = ["rebase", "rebase_on_behalf_of_uploader"]
    repository = call.host.repository(change.project)
    if repository.branch(change.branch) == parent_of(repository, change.current.commit):
        del action["enabled"]
    return action


def _action(method: str, label: str, title: str | None = None) -> dict[str, Any]:
    told = {"title": title} if title else {}
    return {"method": method, "label": label, **told, "enabled": True}


def with_review_footers(call: Call, change: Change, patch_set: PatchSet) -> str:
    """The message as submitting by cherry-picking would write it."""
    message = call.host.repository(change.project).facts(patch_set.commit).message.rstrip("\n")
    lines = [f"Reviewed-on: {call.host.url}/c/{change.project}/+/{change.number}"]
    for (label, id_), vote in change.votes.items():
        word = {"Code-Review": "Reviewed-by", "Verified": "Tested-by"}.get(label, label)
        account = call.host.accounts[id_]
        if vote.value > 0:
            lines.append(f"{word}: {account.label} <{account.email}>")
    return "\n".join([message, *lines]) + "\n"


def change_actions(call: Call, change: Change) -> dict[str, Any]:
    """What the caller could do with the change."""
    user = call.user
    if user is None:
        return {}

    owner = user.admin or user.id == change.owner
    actions: dict[str, Any] = {}
    if owner and change.is_open:
        if change.private:
            actions["private"] = _action("DELETE", "Unmark private", "Unmark change as private")
        else:
            actions["private"] = _action("POST", "Mark private", "Mark change as private")
        actions["topic"] = _action("PUT", "Edit Topic")
        actions["hashtags"] = _action("POST", "Edit Hashtags")
        actions["abandon"] = _action("POST", "Abandon", "Abandon the change")
        actions["move"] = _action("POST", "Move Change", "Move change to a different branch")
        actions["custom_keyed_values"] = _action("POST", "Edit custom keyed values")
        if change.wip:
            actions["ready"] = _action("POST", "Start Review", "Set Ready For Review")
        else:
            actions["wip"] = _action("POST", "WIP", "Set Work In Progress")
    if change.is_open:
        actions["followup"] = _action("POST", "Follow-Up", "Create follow-up change")
    return actions
