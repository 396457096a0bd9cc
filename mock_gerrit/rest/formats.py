"""How Gerrit writes times, accounts and votes."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NotRequired

from typing_extensions import TypedDict

from mock_gerrit.entities import Account
from mock_gerrit.updates import is_robot

if TYPE_CHECKING:
    from mock_gerrit.host import Host


class AccountInfo(TypedDict):
    """An account; everything but the number only where details are asked for."""

    _account_id: NotRequired[int]
    name: NotRequired[str]
    display_name: NotRequired[str]
    email: NotRequired[str]
    secondary_emails: NotRequired[list[str]]
    username: NotRequired[str]
    status: NotRequired[str]
    inactive: NotRequired[bool]
    tags: NotRequired[list[str]]
    _more_accounts: NotRequired[bool]


_TEMPLATE = re.compile(r"<GERRIT_ACCOUNT_(\d+)>")


def account_template(who: int) -> str:
    """How a stored message names an account, so that it always shows the account's present name."""
    return f"<GERRIT_ACCOUNT_{who}>"


def accounts_in(text: str) -> list[int]:
    """The accounts a stored message names."""
    return [int(number) for number in dict.fromkeys(_TEMPLATE.findall(text))]


def filled_in(host: Host, text: str) -> str:
    """A stored message with the names of the accounts in it."""

    def name(found: re.Match[str]) -> str:
        account = host.accounts[int(found[1])]
        return f"{account.label} <{account.email}>" if account.email else account.label

    return _TEMPLATE.sub(name, text) if "<GERRIT_ACCOUNT_" in text else text


def timestamp(moment: datetime) -> str:
    """A moment as Gerrit writes it: `2026-11-30 14:17:04.000000000`, in UTC."""
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M:%S}.{moment.microsecond:06}000"


def vote_name(value: int) -> str:
    """A vote as a key: `-1`, ` 0`, `+1`."""
    return f"{value:+d}" if value else " 0"


def account_info(host: Host, who: int, *, detailed: bool = True) -> AccountInfo:
    """An account by its id; only its number unless detailed."""
    if not detailed:
        return {"_account_id": who}
    return detailed_account(host, host.accounts[who])


def detailed_account(host: Host, account: Account) -> AccountInfo:
    """Everything Gerrit shows of an account to everybody."""
    info: AccountInfo = {"_account_id": account.id}
    if account.name:
        info["name"] = account.name
    if account.display_name:
        info["display_name"] = account.display_name
    if account.email:
        info["email"] = account.email
    if account.username:
        info["username"] = account.username
    if account.status:
        info["status"] = account.status
    if not account.active:
        info["inactive"] = True
    if is_robot(host, account.id):
        info["tags"] = ["SERVICE_USER"]
    return info
