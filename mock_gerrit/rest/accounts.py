"""/accounts/, as https://gerrit-review.googlesource.com/Documentation/rest-api-accounts.html has it."""

from __future__ import annotations

import re
from typing import Any

from mock_gerrit.changes import Change
from mock_gerrit.entities import Account, Group
from mock_gerrit.errors import (
    GerritError,
    bad_request,
    conflict,
    forbidden,
    method_not_allowed,
    not_found,
    not_permitted,
    unprocessable,
)
from mock_gerrit.people import accounts_matching
from mock_gerrit.rest.call import NO_CONTENT, Call, Content, Created, NoContent
from mock_gerrit.rest.formats import AccountInfo, detailed_account, timestamp
from mock_gerrit.rest.options import flag, integer, many, text
from mock_gerrit.rest.resources import find_changes
from mock_gerrit.rest.routes import Routes
from mock_gerrit.visibility import may_see

routes = Routes()

_USERNAME = re.compile(r"[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9._@-]*[a-zA-Z0-9._-]")
_EMAIL = re.compile(r"[^\s@]+@[^\s@]+\.[^\s@]+")
ADMINISTRATORS_MAY = (
    "viewAccess", "maintainServer", "createAccount", "viewConnections", "modifyAccount", "readAs", "flushCaches",
    "viewSecondaryEmails", "streamEvents", "createProject", "createGroup", "viewCaches", "viewAllAccounts",
    "administrateServer", "deleteGroup", "killTask", "viewPlugins", "viewQueue", "runGC",
)  # fmt: skip
CAPABILITIES = {"emailReviewers": True, "queryLimit": {"min": 0, "max": 500}}


@routes.put("/accounts/{account}", creates=True, default_field="name", doc="#create-account")
def create(call: Call, *, account: str) -> Created:
    """Adds an account; administrators only."""
    call.require_admin("create account")
    _check_new(call, account)
    email = call.body.text("email")
    made = call.host.account(
        account, name=call.body.text("name"), email=email, http_password=call.body.text("http_password")
    )  # fmt: skip
    if email is None:
        made.email = None
    return Created(value=detailed_account(call.host, made))


def _check_new(call: Call, username: str) -> None:
    if not _USERNAME.fullmatch(username):
        raise bad_request(f"Invalid username '{username}'")
    if any(account.username == username for account in call.host.accounts.values()):
        raise conflict("account exists")
    email = call.body.text("email")
    if email is None:
        return
    if not _EMAIL.fullmatch(email):
        call.host.draw_account_id()
        raise bad_request("invalid email address")
    if any(email in account.emails for account in call.host.accounts.values()):
        call.host.draw_account_id()
        raise unprocessable(f"email '{email}' already exists")


@routes.put("/accounts/{account}", doc="#create-account")
def create_again(call: Call, *, account: Account) -> Created:  # noqa: ARG001 - it is there
    """Refused: there is such an account."""
    call.require_admin("create account")
    raise conflict("account exists")


@routes.get("/accounts/{account}", doc="#get-account")
def get(call: Call, *, account: Account) -> AccountInfo:
    """An account as everybody sees it."""
    return detailed_account(call.host, account)


@routes.get("/accounts/{account}/detail", doc="#get-detail")
def detail(call: Call, *, account: Account) -> dict[str, Any]:
    """An account and when it was made; other addresses only for itself and administrators."""
    info: dict[str, Any] = {"registered_on": timestamp(account.registered)}
    for key, value in detailed_account(call.host, account).items():
        info[key] = value
        if key == "email" and _self_or_admin(call, account):
            info["secondary_emails"] = list(account.secondary_emails)
    return info


def _self_or_admin(call: Call, account: Account) -> bool:
    return call.user is not None and (call.user.admin or call.user is account)


def _require_self(call: Call, account: Account, permission: str = "modify account") -> None:
    if not _self_or_admin(call, account):
        raise not_permitted(permission)


@routes.get("/accounts/{account}/name", doc="#get-account-name")
def get_name(_: Call, *, account: Account) -> str:
    """The full name."""
    return account.name or ""


@routes.put("/accounts/{account}/name", default_field="name", doc="#set-account-name")
def put_name(call: Call, *, account: Account) -> str | NoContent:
    """Sets the full name."""
    _require_self(call, account)
    account.name = call.body.text("name") or None
    return account.name or NO_CONTENT


@routes.get("/accounts/{account}/username", doc="#get-username")
def username(_: Call, *, account: Account) -> str:
    """The name used to sign in; 404 for an account that has none."""
    if not account.username:
        raise GerritError(404, "Not Found")
    return account.username


@routes.get("/accounts/{account}/status", doc="#get-account-status")
def get_status(_: Call, *, account: Account) -> str:
    """What people wrote about where they are."""
    return account.status or ""


@routes.put("/accounts/{account}/status", default_field="status", doc="#set-account-status")
def put_status(call: Call, *, account: Account) -> str | NoContent:
    """Sets the status."""
    _require_self(call, account)
    account.status = call.body.text("status") or None
    return account.status or NO_CONTENT


@routes.put("/accounts/{account}/displayname", default_field="display_name", doc="#set-display-name")
def put_display_name(call: Call, *, account: Account) -> str | NoContent:
    """Sets the name shown in short."""
    _require_self(call, account)
    account.display_name = call.body.text("display_name") or None
    return account.display_name or NO_CONTENT


@routes.get("/accounts/{account}/active", doc="#get-active")
def get_active(_: Call, *, account: Account) -> str | NoContent:
    """`ok` for an active account."""
    return "ok" if account.active else NO_CONTENT


@routes.put("/accounts/{account}/active", doc="#set-active")
def put_active(call: Call, *, account: Account) -> str | Created:
    """Lets somebody in again; 201 where they were out."""
    call.require_admin("modify account")
    was, account.active = account.active, True
    return "" if was else Created(value="")


@routes.delete("/accounts/{account}/active", doc="#delete-active")
def delete_active(call: Call, *, account: Account) -> NoContent:
    """Shuts somebody out."""
    call.require_admin("modify account")
    if account is call.user:
        raise conflict("cannot deactivate own account")
    account.active = False
    return NO_CONTENT


@routes.delete("/accounts/{account}", doc="#delete-account")
def delete(call: Call, *, account: Account) -> NoContent:
    """Deletes one's own account, which is not simulated further than its refusals."""
    if account is not call.user:
        raise forbidden("Delete account is only permitted for self")
    account.active = False
    return NO_CONTENT


@routes.get("/accounts/{account}/emails/", doc="#list-account-emails")
def emails(call: Call, *, account: Account) -> list[dict[str, Any]]:
    """The addresses, the preferred one marked."""
    _require_self(call, account, "view secondary emails")
    return [{"email": email, **({"preferred": True} if email == account.email else {})} for email in account.emails]


@routes.get("/accounts/{account}/groups", doc="#list-groups")
def groups(call: Call, *, account: Account) -> list[dict[str, Any]]:
    """The groups the account is in; those that everybody is in come first."""
    found: list[dict[str, Any]] = [
        {"options": {}, "id": f"global%3A{name}-Users", "name": f"{name} Users"} for name in ("Anonymous", "Registered")
    ]
    own = [group for group in call.host.groups.values() if account.id in group.members]
    return [found[0], *(_group_info(group) for group in own), found[1]]


def _group_info(group: Group) -> dict[str, Any]:
    described = {"description": group.description} if group.description else {}
    return {
        "url": f"#/admin/groups/uuid-{group.id}",
        "options": {},
        **described,
        "group_id": group.number,
        "owner": group.name,
        "owner_id": group.id,
        "id": group.id,
        "name": group.name,
    }


@routes.get("/accounts/{account}/capabilities/", options=(many("q"),), doc="#list-account-capabilities")
def capabilities(call: Call, *, account: Account) -> dict[str, Any]:
    """What the account may do on the whole server."""
    _require_self(call, account, "administrate server")
    return {**dict.fromkeys(ADMINISTRATORS_MAY if account.admin else (), True), **CAPABILITIES}


@routes.get("/accounts/{account}/capabilities/{capability}", doc="#check-account-capability")
def capability(call: Call, *, account: Account, capability: str) -> Content:
    """`ok` for a capability that the account has; 404 for others."""
    if capability not in capabilities(call, account=account):
        raise not_found(capability)
    return Content(data=b"ok\n")


@routes.get("/accounts/{account}/agreements", doc="#list-contributor-agreements")
def agreements(_: Call, *, account: Account) -> NoContent:  # noqa: ARG001 - always refused
    """Refused: contributor agreements are switched off."""
    raise method_not_allowed("contributor agreements disabled")


@routes.get("/accounts/{account}/sshkeys/", doc="#list-ssh-keys")
def ssh_keys(call: Call, *, account: Account) -> list[Any]:
    """No keys: nobody comes by SSH."""
    _require_self(call, account)
    return []


@routes.get("/accounts/{account}/watched.projects/", doc="#get-watched-projects")
def watched_projects(call: Call, *, account: Account) -> list[Any]:
    """Nothing is watched."""
    _require_self(call, account)
    return []


def _found(call: Call, account: Account, *, suggesting: bool) -> AccountInfo:
    """An account in a list; to administrators, suggestions come with all addresses."""
    info = detailed_account(call.host, account)
    if suggesting and call.is_admin:
        info["secondary_emails"] = list(account.secondary_emails)
    return info


QUERY_OPTIONS = (
    text("query", "q"), integer("limit", "n"), integer("start", "S"), flag("suggest"),
    many("o", choices=("DETAILS", "ALL_EMAILS")),
)  # fmt: skip


@routes.get("/accounts/", options=QUERY_OPTIONS, doc="#query-account")
def query(call: Call) -> list[AccountInfo]:
    """Accounts by words of name and address, or by operators."""
    asked = call.options.text("query")
    if not asked:
        raise bad_request("missing query field")
    if "ALL_EMAILS" in call.options.many("o") and not call.is_admin:
        raise not_permitted("view secondary emails")
    suggesting = call.options.flag("suggest")
    found = _search(call, asked)
    detailed = suggesting or bool(call.options.many("o"))
    by_name = suggesting or call.options.integer("limit") is not None
    found.sort(key=lambda account: (account.label, account.email or "") if by_name else account.id)
    start = call.options.integer("start") or 0
    limit = call.options.integer("limit") or (10 if suggesting else 500)
    chosen = found[start : start + limit]
    if not suggesting:
        chosen.sort(key=lambda account: (account.label, account.id) if detailed else account.id)
    page = [
        _found(call, account, suggesting=suggesting) if detailed else AccountInfo(_account_id=account.id)
        for account in chosen
    ]
    if page and len(found) > start + limit:
        page[-1]["_more_accounts"] = True
    return page


def _search(call: Call, asked: str) -> list[Account]:
    found = list(call.host.accounts.values())
    active = True
    for term in asked.split():
        name, colon, value = term.partition(":")
        if term == "is:inactive":
            active = False
        elif term != "is:active":
            matching = _by_operator(call, name, value, term) if colon else accounts_matching(call.host, call.user, term)
            found = [account for account in found if account in matching]
    return [account for account in found if account.active == active]


def _by_operator(call: Call, name: str, value: str, term: str) -> list[Account]:
    everyone = list(call.host.accounts.values())
    if name == "email":
        return [account for account in everyone if value.lower() in map(str.lower, account.emails)]
    if name == "name":
        return [account for account in everyone if value.lower() in (account.name or "").lower().split()]
    if name == "username":
        return [account for account in everyone if account.username == value]
    if name == "cansee":
        changes = [item for item in find_changes(call, value) if may_see(call.host, call.user, item)]
        if not changes:
            raise bad_request(f"change {value} not found")
        return [account for account in everyone if may_see(call.host, account, changes[0])]
    raise bad_request(f"Unsupported operator {term}")


def _starred(call: Call, account: Account, text_: str) -> Change:
    if account is not call.user:
        raise forbidden("not allowed to add starred change")
    found = [item for item in find_changes(call, text_) if may_see(call.host, call.user, item)]
    if len(found) != 1:
        raise unprocessable(f"change {text_} not found")
    return found[0]


@routes.get("/accounts/{account}/starred.changes/", doc="#get-starred-changes")
def starred_changes(_: Call, *, account: Account) -> NoContent:  # noqa: ARG001 - Gerrit 3.13 fails here too
    """What Gerrit 3.13 answers here: it fails. Search for `is:starred` instead."""
    raise GerritError(500, "Internal server error")


@routes.put("/accounts/{account}/starred.changes/{star}", doc="#star-change")
def star(call: Call, *, account: Account, star: str) -> NoContent:
    """Marks a change."""
    account.stars.add(_starred(call, account, star).number)
    return NO_CONTENT


@routes.delete("/accounts/{account}/starred.changes/{star}", doc="#unstar-change")
def unstar(call: Call, *, account: Account, star: str) -> NoContent:
    """Takes the mark away; 404 where there was none."""
    number = _starred(call, account, star).number
    if number not in account.stars:
        raise not_found(star)
    account.stars.remove(number)
    return NO_CONTENT
