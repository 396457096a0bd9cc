"""`code_owners.check`: whether somebody owns a path, and how that was found out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NotRequired

from typing_extensions import TypedDict

from mock_gerrit.changes import Change
from mock_gerrit.entities import Account, Project
from mock_gerrit.errors import bad_request
from mock_gerrit.plugins.code_owners.owners import EVERYBODY, OwnersFile, Ownership, absolute, branch_name, ownership
from mock_gerrit.rest.call import Call
from mock_gerrit.rest.options import text
from mock_gerrit.rest.routes import Routes
from mock_gerrit.visibility import may_read, may_see

routes = Routes()


class ConfigFileInfo(TypedDict):
    """Where an `OWNERS` file stands."""

    project: str
    branch: str
    path: str


class CheckedFile(TypedDict):
    """What an `OWNERS` file contributes."""

    code_owner_config_file_info: ConfigFileInfo
    assigns_code_ownership_to_user: bool
    are_parent_code_owners_ignored: bool
    are_folder_code_owners_ignored: bool


class CheckInfo(TypedDict):
    """The answer; what somebody may do is told only where the address belongs to an account."""

    is_code_owner: bool
    is_resolvable: bool
    checked_code_owner_configs: list[CheckedFile]
    can_read_ref: NotRequired[bool]
    can_see_change: NotRequired[bool]
    can_approve_change: NotRequired[bool]
    is_fallback_code_owner: bool
    is_default_code_owner: bool
    is_global_code_owner: bool
    is_owned_by_all_users: bool
    annotations: list[str]
    debug_logs: list[str]


@dataclass(frozen=True, kw_only=True)
class Question:
    """Does this address own this path?

    Attributes:
        account: whose address it is; None where it belongs to nobody.
        as_user: from whose point of view; None for one who sees everybody.
    """

    project: Project
    branch: str
    path: str
    email: str
    account: Account | None
    owned: Ownership
    as_user: str | None

    @property
    def is_everybody(self) -> bool:
        """Whether it is not about one address, but about all."""
        return self.email == EVERYBODY

    def is_named_in(self, file: OwnersFile) -> bool:
        """Whether a file names the address for the path."""
        return self.email in file.owners_of(self.path)


@routes.get(
    "/projects/{project}/branches/{branch}/code-owners~code_owners.check",
    options=(text("email"), text("path"), text("change"), text("user")),
    doc="#check-code-owner",
)
def check(call: Call, *, project: Project, branch: str) -> CheckInfo:
    """Whether an address owns a path of a branch."""
    email, path = call.options.text("email"), call.options.text("path")
    if not path:
        raise bad_request("path required")
    if not email:
        raise bad_request("email required")
    change = _change_of(call, call.options.text("change"))
    branch = branch_name(project, branch)
    question = Question(
        project=project,
        branch=branch,
        path=absolute(path),
        email=email,
        account=next((one for one in call.host.accounts.values() if one.active and email in one.emails), None),
        owned=ownership(call.host, project.name, branch, absolute(path)),
        as_user=call.options.text("user") or (None if call.is_admin or call.user is None else call.user.username),
    )
    return _answer(call, question, change)


def _change_of(call: Call, written: str | None) -> Change | None:
    if written is None:
        return None
    number = written.rpartition("~")[2]
    found = call.host.changes.get(int(number)) if number.isascii() and number.isdigit() else None
    if found is None:
        raise bad_request(f"change {written} not found")
    return found


def _answer(call: Call, question: Question, change: Change | None) -> CheckInfo:
    account, owned = question.account, question.owned
    info: CheckInfo = {
        "is_code_owner": owned.owns(account.id) if account else question.is_everybody and owned.by_everybody,
        "is_resolvable": account is not None or question.is_everybody,
        "checked_code_owner_configs": [_checked(question, file) for file in owned.files],
        "is_fallback_code_owner": False,
        "is_default_code_owner": False,
        "is_global_code_owner": question.email in owned.global_emails,
        "is_owned_by_all_users": owned.by_everybody,
        "annotations": [],
        "debug_logs": [*_about_files(question), *_about_address(question)],
    }
    if account is not None:
        info["can_read_ref"] = may_read(account, question.project)
        if change is not None:
            info["can_see_change"] = info["can_approve_change"] = may_see(call.host, account, change)
    return info


def _checked(question: Question, file: OwnersFile) -> CheckedFile:
    return {
        "code_owner_config_file_info": {
            "project": question.project.name,
            "branch": f"refs/heads/{question.branch}",
            "path": file.path,
        },
        "assigns_code_ownership_to_user": question.is_named_in(file),
        "are_parent_code_owners_ignored": file.no_parent,
        "are_folder_code_owners_ignored": False,
    }


def _about_files(question: Question) -> list[str]:
    """What the plugin says of the files it read."""
    lines = []
    for file in question.owned.files:
        name = f"{question.project.name}:{question.branch}:{file.path}"
        lines.append(f"checking code owner config file {name}")
        lines.append(f"resolve code owners for {question.path} from code owner config {name}")
        if question.is_named_in(file) and not question.is_everybody:
            lines.append(f"found email {question.email} as a code owner in {file.path}")
        if file.no_parent:
            lines.append("parent code owners are ignored")
    return lines


def _about_address(question: Question) -> list[str]:
    """What the plugin says of the address."""
    email, account = question.email, question.account
    if question.is_everybody:
        return []
    lines = [f"trying to resolve email {email}", "all domains are allowed"]
    if account is None:
        lines.append(f"cannot resolve code owner email {email}: no account with this email exists")
    if question.as_user is None:
        lines.append("code owner visibility is not checked")
    if account is not None:
        lines.append(f"resolved email {email} to account {account.id}")
        if question.as_user is not None:
            lines.append(f"account {account.id} is visible to user {question.as_user}")
    return lines
