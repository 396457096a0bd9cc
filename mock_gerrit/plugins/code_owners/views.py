"""The REST endpoints of code-owners about the paths of changes and branches.

https://gerrit.googlesource.com/plugins/code-owners/+/master/resources/Documentation/rest-api.md
"""

from __future__ import annotations

from typing import Any

from typing_extensions import NotRequired, TypedDict

from mock_gerrit.changes import Change, PatchSet
from mock_gerrit.entities import Account, Project
from mock_gerrit.errors import GerritError, bad_request, forbidden, not_found
from mock_gerrit.host import Host
from mock_gerrit.people import accounts_matching
from mock_gerrit.plugins.code_owners.owners import EVERYBODY, Ownership, everybody, ownership
from mock_gerrit.plugins.code_owners.status import FileStatus, changed_files, file_statuses
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
    "/changes/{change}/revisions/{revision}/code-owners~code_owners/{path}",
    options=LIST_OPTIONS,
    doc="#list-code-owners-for-path-in-change",
)
def owners_in_change(call: Call, *, change: Change, revision: PatchSet, path: str) -> OwnersInfo:
    """The owners of a file that a patch set touches; the change's owner is no use as a reviewer and left out."""
    files = changed_files(call.host, change, revision.commit)
    if path.lstrip("/") not in {name for file in files for name in (file.path, file.old_path)}:
        raise not_found(path.lstrip("/").partition("/")[0])
    return _owners(call, change.project, change.branch, path, change)


@routes.get(
    "/projects/{project}/branches/{branch}/code-owners~code_owners/{path}",
    options=LIST_OPTIONS,
    doc="#list-code-owners-for-path-in-branch",
)
def owners_in_branch(call: Call, *, project: Project, branch: str, path: str) -> OwnersInfo:
    """The owners of a path of a branch, whether the path is there or not."""
    return _owners(call, project.name, branch, path, None)


def _owners(call: Call, project: str, branch: str, path: str, change: Change | None) -> OwnersInfo:
    if call.options.flag("debug") and not call.is_admin:
        raise forbidden("checkCodeOwner for plugin code-owners not permitted")
    if "ALL_EMAILS" in call.options.many("o") and not call.is_admin:
        raise forbidden("view secondary emails not permitted")
    owned = ownership(call.host, project, branch, _absolute(path))
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


def _absolute(path: str) -> str:
    return "/" + path.lstrip("/")


@routes.get(
    "/changes/{change}/revisions/{revision}/code-owners~owned_paths",
    options=(text("user"), integer("limit", "n"), integer("start", "S")),
    doc="#get-owned-paths",
)
def owned_paths(call: Call, *, change: Change, revision: PatchSet) -> dict[str, Any]:
    """The files of a patch set that somebody owns."""
    user = call.options.text("user")
    if user is None:
        raise bad_request("--user required")
    accounts = accounts_matching(call.host, call.user, user)
    if len(accounts) != 1:
        raise GerritError(422, f"Account '{user}' not found")
    account = next(iter(accounts))
    found = []
    for file in changed_files(call.host, change, revision.commit):
        entry = {}
        for side, path in (
            ("new_path", file.path if file.status != "D" else None),
            ("old_path", file.path if file.status == "D" else file.old_path),
        ):
            if path and ownership(call.host, change.project, change.branch, f"/{path}").owns(account.id):
                entry[side] = {"path": f"/{path}", "owned": True, "owners": [{"_account_id": account.id}]}
        if entry:
            found.append(entry)
    start, limit = call.options.integer("start") or 0, call.options.integer("limit") or len(found)
    info: dict[str, Any] = {"owned_changed_files": found[start : start + limit]}
    if start + limit < len(found):
        info["more"] = True
    return info


@routes.get(
    "/projects/{project}/branches/{branch}/code-owners~code_owners.check",
    options=(text("email"), text("path"), text("change"), text("user")),
    doc="#check-code-owner",
)
def check(call: Call, *, project: Project, branch: str) -> dict[str, Any]:
    """Whether an address owns a path of a branch, and how that was found out."""
    email, path = call.options.text("email"), call.options.text("path")
    if not path:
        raise bad_request("path required")
    if not email:
        raise bad_request("email required")
    change = _change_of(call, call.options.text("change"))
    path = _absolute(path)
    owned = ownership(call.host, project.name, branch, path)
    account = next((one for one in call.host.accounts.values() if one.active and email in one.emails), None)
    named = [file for file in owned.files if email in file.owners_of(path)]
    is_global = email in owned.global_emails
    info: dict[str, Any] = {
        "is_code_owner": account is not None and owned.owns(account.id) or email == EVERYBODY and owned.by_everybody,
        "is_resolvable": account is not None or email == EVERYBODY,
        "checked_code_owner_configs": [
            {
                "code_owner_config_file_info": {
                    "project": project.name, "branch": f"refs/heads/{branch}", "path": file.path
                },
                "assigns_code_ownership_to_user": file in named,
                "are_parent_code_owners_ignored": file.no_parent,
                "are_folder_code_owners_ignored": False,
            }
            for file in owned.files
        ],
        "is_fallback_code_owner": False,
        "is_default_code_owner": False,
        "is_global_code_owner": is_global,
        "is_owned_by_all_users": owned.by_everybody,
        "annotations": [],
        "debug_logs": _log(call, project.name, branch, path, owned, email, account),
    }  # fmt: skip
    if account is not None:
        info["can_read_ref"] = True
        if change is not None:
            info.update(can_see_change=True, can_approve_change=True)
    return info


def _change_of(call: Call, written: str | None) -> Change | None:
    if written is None:
        return None
    number = written.rpartition("~")[2]
    found = call.host.changes.get(int(number)) if number.isascii() and number.isdigit() else None
    if found is None:
        raise bad_request(f"change {written} not found")
    return found


def _log(
    call: Call, project: str, branch: str, path: str, owned: Ownership, email: str, account: Account | None
) -> list[str]:
    """What the plugin says it did."""
    lines = []
    for file in owned.files:
        lines.append(f"checking code owner config file {project}:{branch}:{file.path}")
        lines.append(f"resolve code owners for {path} from code owner config {project}:{branch}:{file.path}")
        if email in file.owners_of(path) and email != EVERYBODY:
            lines.append(f"found email {email} as a code owner in {file.path}")
        if file.no_parent:
            lines.append("parent code owners are ignored")
    if email == EVERYBODY:
        return lines
    as_user = call.options.text("user") or (None if call.is_admin or call.user is None else call.user.username)
    lines += [f"trying to resolve email {email}", "all domains are allowed"]
    if account is None:
        lines.append(f"cannot resolve code owner email {email}: no account with this email exists")
    if as_user is None:
        lines.append("code owner visibility is not checked")
    if account is not None:
        lines.append(f"resolved email {email} to account {account.id}")
        if as_user is not None:
            lines.append(f"account {account.id} is visible to user {as_user}")
    return lines
