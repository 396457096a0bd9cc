"""Finding accounts by what people write: names, addresses, numbers, `self`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mock_gerrit.entities import Account
from mock_gerrit.errors import GerritError

if TYPE_CHECKING:
    from mock_gerrit.host import Host

_FULL = re.compile(r"^(?P<name>.*?)\s*<(?P<email>[^>]*)>$")
_NUMBERED = re.compile(r"^.*\((?P<id>[1-9][0-9]*)\)$")


def accounts_matching(host: Host, user: Account | None, text: str) -> list[Account]:
    """The active accounts a text may mean, by the first rule that finds any; `self` and `me` need a user (403)."""
    found = all_matching(host, user, text)
    return [account for account in found if account.active] or [account for account in found if text.isdecimal()]


def find_one(host: Host, user: Account | None, text: str) -> Account:
    """The one account a text means.

    Raises:
        GerritError: 404 where there is none, several, or only inactive ones; the text tells which.
    """
    found = all_matching(host, user, text)
    active = [account for account in found if account.active] or ([] if not text.isdecimal() else found)
    if len(active) == 1:
        return active[0]
    if len(active) > 1:
        listed = "\n".join(map(_line, sorted(active, key=lambda account: account.id)[:3]))
        raise GerritError(404, f"Account '{text}' is ambiguous (at most 3 shown):\n{listed}")
    if found:
        listed = "\n".join(map(_line, found[:3]))
        raise GerritError(
            404,
            f"Account '{text}' only matches inactive accounts. To use an inactive account, retry with one of the "
            f"following exact account IDs:\n{listed}",
        )
    raise GerritError(404, f"Account '{text}' not found")


def _line(account: Account) -> str:
    return f"{account.id}: {account.label} <{account.email}>"


def all_matching(host: Host, user: Account | None, text: str) -> list[Account]:
    """The same including inactive accounts."""
    if text in {"self", "me"}:
        if user is None:
            raise GerritError(403, "Must be signed-in to use this operator")
        return [user]
    numbered = _NUMBERED.match(text)
    digits = numbered["id"] if numbered else text
    if digits.isdecimal() and int(digits) in host.accounts:
        return [host.accounts[int(digits)]]
    everyone = list(host.accounts.values())
    full = _FULL.match(text)
    email = full["email"] if full else text
    by_username = [account for account in everyone if account.username == text]
    by_email = [account for account in everyone if email in account.emails]
    by_name = [account for account in everyone if (account.name or "").lower() == text.lower()]
    return by_username or by_email or by_name or _by_words(everyone, text)


def _by_words(everyone: list[Account], text: str) -> list[Account]:
    words = [word for word in re.split(r"[\s@.<>]+", text.lower()) if word]

    def known(account: Account) -> list[str]:
        parts = (account.name or "", account.username or "", *account.emails)
        return [word for part in parts for word in (part.lower(), *re.split(r"[\s@.-]+", part.lower()))]

    return [account for account in everyone if words and all(_begins(word, known(account)) for word in words)]


def _begins(word: str, known: list[str]) -> bool:
    return any(other.startswith(word) for other in known)
