"""Whether the owners of each file of a change have approved it."""

from __future__ import annotations

from typing import Literal, NotRequired

from typing_extensions import TypedDict

from mock_gerrit.changes import Change
from mock_gerrit.host import Host
from mock_gerrit.plugins.code_owners.owners import Ownership, ownership
from mock_gerrit.plugins.code_owners.settings import Settings
from mock_gerrit.repository import FileChange

OwnerStatus = Literal["APPROVED", "PENDING", "INSUFFICIENT_REVIEWERS"]


class PathStatus(TypedDict):
    """How a path stands."""

    path: str
    status: OwnerStatus
    reasons: NotRequired[list[str]]


class FileStatus(TypedDict):
    """How a file of a change stands; a renamed one by both of its paths, and `change_type` is left out for MODIFIED."""

    change_type: NotRequired[Literal["ADDED", "DELETED", "RENAMED", "COPIED"]]
    old_path_status: NotRequired[PathStatus]
    new_path_status: NotRequired[PathStatus]


_TYPES: dict[str, Literal["ADDED", "DELETED", "RENAMED", "COPIED"]] = {
    "A": "ADDED",
    "D": "DELETED",
    "R": "RENAMED",
    "C": "COPIED",
}


def changed_files(host: Host, change: Change, commit: str) -> tuple[FileChange, ...]:
    """The files that a patch set touches, in order of path."""
    repository = host.repository(change.project)
    parents = repository.facts(commit).parents
    return repository.changes(parents[0] if parents else None, commit)


def file_statuses(host: Host, change: Change) -> list[FileStatus]:
    """How each file of the current patch set stands, in order of path."""
    return [_file_status(host, change, file) for file in changed_files(host, change, change.current.commit)]


def _file_status(host: Host, change: Change, file: FileChange) -> FileStatus:
    status: FileStatus = {}
    if file.status in _TYPES:
        status["change_type"] = _TYPES[file.status]
    old_path = file.path if file.status == "D" else file.old_path if file.status == "R" else None
    if old_path is not None:
        status["old_path_status"] = _path_status(host, change, old_path)
    if file.status != "D":
        status["new_path_status"] = _path_status(host, change, file.path)
    return status


def _path_status(host: Host, change: Change, path: str) -> PathStatus:
    owned = ownership(host, change.project, change.branch, f"/{path}")
    suffix = " (all users are code owners)" if owned.by_everybody else ""
    approving = _approving(host, change, owned)
    if approving:
        return _with_reason(path, "APPROVED", f"approved by {_names(approving)} who is a code owner{suffix}")
    reviewing = [account for account, state in change.reviewers.items() if state == "REVIEWER" and owned.owns(account)]
    if reviewing:
        return _with_reason(path, "PENDING", f"reviewer {_names(reviewing)} is a code owner{suffix}")
    return {"path": path, "status": "INSUFFICIENT_REVIEWERS"}


def _with_reason(path: str, status: OwnerStatus, reason: str) -> PathStatus:
    return {"path": path, "status": status, "reasons": [reason]}


def _names(accounts: list[int]) -> str:
    return ", ".join(f"<GERRIT_ACCOUNT_{account}>" for account in sorted(accounts)[:1])


def _approving(host: Host, change: Change, owned: Ownership) -> list[int]:
    settings = Settings.of(host, change.project)
    return [
        account
        for (label, account), vote in change.votes.items()
        if label == settings.label and vote.value >= settings.value and owned.owns(account)
    ]


def all_approved(statuses: list[FileStatus]) -> bool:
    """Whether the owners of every path have approved it."""
    paths = [
        path
        for status in statuses
        for path in (status.get("old_path_status"), status.get("new_path_status"))
        if path is not None
    ]
    return all(path["status"] == "APPROVED" for path in paths)
