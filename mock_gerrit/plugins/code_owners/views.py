"""The REST endpoints of code-owners about the paths of changes and branches.

https://gerrit.googlesource.com/plugins/code-owners/+/master/resources/Documentation/rest-api.md
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NotRequired
from urllib.parse import unquote_plus

from typing_extensions import TypedDict

from mock_gerrit.changes import Change, PatchSet
from mock_gerrit.entities import Account, Project
from mock_gerrit.errors import bad_request, forbidden, not_found, unprocessable
from mock_gerrit.host import Host
from mock_gerrit.people import accounts_matching
from mock_gerrit.plugins.code_owners.owners import Ownership, absolute, branch_name, everybody, ownership
from mock_gerrit.plugins.code_owners.status import FileStatus, changed_files, file_statuses
from mock_gerrit.repository import FileChange
from mock_gerrit.rest.call import Call
from mock_gerrit.rest.formats import AccountInfo, account_info
from mock_gerrit.rest.options import Option, flag, integer, many, text
from mock_gerrit.rest.routes import Routes

routes = Routes()

LIST_OPTIONS: tuple[Option, ...] = (
    integer("limit", "n"),
    many("o", choices=("DETAILS", "ALL_EMAILS")),
    text("seed"),
    flag("resolve-all-users"),
    flag("highest-score-only"),
    flag("debug"),
)


class StatusInfo(TypedDict):
    """How the files of a change stand with their owners."""

    patch_set_number: int
    file_code_owner_statuses: list[FileStatus]
    more: NotRequired[bool]
    accounts: NotRequired[dict[str, AccountInfo]]


class OwnerInfo(TypedDict):
    """An owner of a path, and what speaks for choosing this one."""

    account: AccountInfo
    scorings: dict[str, int]


class ConfigFileInfo(TypedDict):
    """An `OWNERS` file."""

    project: str
    branch: str
    path: str


class OwnersInfo(TypedDict):
    """The owners of a path, the best to ask first."""

    code_owners: list[OwnerInfo]
    owned_by_all_users: NotRequired[bool]
    code_owner_configs: list[ConfigFileInfo]


@routes.get(
    "/changes/{change}/code-owners~code_owners.status",
    options=(integer("limit", "n"), integer("start", "S")),
    doc="#get-code-owner-status",
)
def status(call: Call, *, change: Change) -> StatusInfo:
    """How the owners of each file of the current patch set have voted."""
    every = file_statuses(call.host, change)
    start, limit = call.options.integer("start") or 0, call.options.integer("limit") or 0
    if start < 0 or limit < 0:
        raise bad_request(f"{'start' if start < 0 else 'limit'} cannot be negative")
    shown = every[start : start + limit] if limit else every[start:]
    info: StatusInfo = {"patch_set_number": change.current.number, "file_code_owner_statuses": shown}
    if start + len(shown) < len(every) and shown:
        info["more"] = True
    mentioned = {account for account in call.host.accounts if f"<GERRIT_ACCOUNT_{account}>" in str(shown)}
    if mentioned:
        info["accounts"] = {str(account): account_info(call.host, account) for account in sorted(mentioned)}
    return info


@routes.get(
    "/changes/{change}/revisions/{revision}/code-owners~code_owners/{changed_path}",
    options=LIST_OPTIONS,
    doc="#list-code-owners-for-path-in-change",
)
def owners_in_change(call: Call, *, change: Change, revision: PatchSet, changed_path: str) -> OwnersInfo:  # noqa: ARG001 - of the path
    """The owners of a file that a patch set touches; the change's owner is no use as a reviewer and left out."""
    return _owners(call, change.project, change.branch, changed_path, change)


def _changed_path(call: Call, raw: str, resources: Mapping[str, Any]) -> str:
    """A path that the patch set touches, with or without a slash before it; 404 for any other."""
    path = unquote_plus(raw).lstrip("/")
    files = changed_files(call.host, resources["change"], resources["revision"].commit)
    if path not in {name for file in files for name in (file.path, file.old_path)}:
        raise not_found(path)
    return path


routes.resolvers["changed_path"] = _changed_path


@routes.get(
    "/projects/{project}/branches/{branch}/code-owners~code_owners/{path}",
    options=LIST_OPTIONS,
    doc="#list-code-owners-for-path-in-branch",
)
def owners_in_branch(call: Call, *, project: Project, branch: str, path: str) -> OwnersInfo:
    """The owners of a path of a branch, whether the path is there or not."""
    return _owners(call, project.name, branch_name(project, branch), path, None)


def _owners(call: Call, project: str, branch: str, path: str, change: Change | None) -> OwnersInfo:
    if call.options.flag("debug") and not call.is_admin:
        raise forbidden("checkCodeOwner for plugin code-owners not permitted")
    if "ALL_EMAILS" in call.options.many("o") and not call.is_admin:
        raise forbidden("view secondary emails not permitted")
    owned = ownership(call.host, project, branch, absolute(path))
    chosen = _suggestions(call.host, owned, change)
    limit = call.options.integer("limit") or len(chosen)
    detailed = bool(call.options.many("o"))
    info: OwnersInfo = {
        "code_owners": [
            {"account": account_info(call.host, account.id, detailed=detailed), "scorings": scorings}
            for account, scorings in chosen[:limit]
        ],
        "code_owner_configs": [
            {"project": project, "branch": f"refs/heads/{branch}", "path": file.path} for file in owned.files
        ],
    }
    if owned.by_everybody:
        info["owned_by_all_users"] = True
    return info


def _suggestions(host: Host, owned: Ownership, change: Change | None) -> list[tuple[Account, dict[str, int]]]:
    named = [host.accounts[account] for account in owned.distances]
    others = [account for account in everybody(host) if account not in named] if owned.by_everybody else []
    furthest = max(owned.distances.values(), default=1)
    found = []
    for account in (*named, *others):
        if change is None or account.id != change.owner:
            scorings = {
                "DISTANCE": owned.distances.get(account.id, furthest),
                "IS_EXPLICITLY_MENTIONED": int(account.id in owned.distances),
            }
            if change is not None:
                scorings["IS_REVIEWER"] = int(change.reviewers.get(account.id) == "REVIEWER")
            found.append((account, scorings))
    return sorted(found, key=lambda one: (-one[1].get("IS_REVIEWER", 0), one[1]["DISTANCE"], one[0].id))


@routes.get(
    "/changes/{change}/revisions/{revision}/code-owners~owned_paths",
    options=(text("user"), integer("limit", "n"), integer("start", "S")),
    doc="#get-owned-paths",
)
def owned_paths(call: Call, *, change: Change, revision: PatchSet) -> dict[str, Any]:
    """The files of a patch set that somebody owns."""
    account = _account_asked_for(call)
    files = changed_files(call.host, change, revision.commit)
    found = [entry for file in files if (entry := _owned_sides(call.host, change, file, account))]
    start, limit = call.options.integer("start") or 0, call.options.integer("limit") or len(found)
    info: dict[str, Any] = {"owned_changed_files": found[start : start + limit]}
    if start + limit < len(found):
        info["more"] = True
    return info


def _account_asked_for(call: Call) -> Account:
    user = call.options.text("user")
    if user is None:
        raise bad_request("--user required")
    accounts = accounts_matching(call.host, call.user, user)
    if len(accounts) != 1:
        raise unprocessable(f"Account '{user}' not found")
    return accounts[0]


def _owned_sides(host: Host, change: Change, file: FileChange, account: Account) -> dict[str, Any]:
    """Which of the two paths of a changed file an account owns."""
    deleted = file.status == "D"
    sides = {"new_path": None if deleted else file.path, "old_path": file.path if deleted else file.old_path}
    return {
        side: {"path": f"/{path}", "owned": True, "owners": [{"_account_id": account.id}]}
        for side, path in sides.items()
        if path and ownership(host, change.project, change.branch, f"/{path}").owns(account.id)
    }
