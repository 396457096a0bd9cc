"""Operators that name people: owner, uploader, reviewer, cc, and so on."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from mock_gerrit.errors import bad_request
from mock_gerrit.operators.base import Operator, words
from mock_gerrit.people import accounts_matching
from mock_gerrit.query import Predicate, Search
from mock_gerrit.repository import Identity
from mock_gerrit.visibility import may_see

if TYPE_CHECKING:
    from mock_gerrit.changes import Change


def _people(test: Callable[[Change, set[int]], bool]) -> Operator:
    """An operator about accounts; somebody unknown makes it true of no change."""

    def operator(search: Search, value: str) -> Predicate:
        ids = {account.id for account in accounts_matching(search.host, search.user, value)}
        return lambda change: test(change, ids)

    return operator


def _reviewing(change: Change, ids: set[int]) -> bool:
    return not change.wip and any(change.reviewers.get(who) == "REVIEWER" for who in ids)


def _cc(change: Change, ids: set[int]) -> bool:
    return not change.wip and any(change.reviewers.get(who) == "CC" for who in ids)


def _commented(change: Change, ids: set[int]) -> bool:
    spoken = {item.author for item in change.messages}
    return bool(ids & (spoken | {item.author for item in change.comments}))


def _from(change: Change, ids: set[int]) -> bool:
    return change.owner in ids or _commented(change, ids)


def _in_group(test: Callable[[Change, set[int]], bool]) -> Operator:
    def operator(search: Search, value: str) -> Predicate:
        members = members_of(search, value)
        return lambda change: test(change, members)

    return operator


def members_of(search: Search, name: str) -> set[int]:
    """The accounts of a group that the caller sees; 400 for another."""
    if name in {"Registered Users", "Anonymous Users"}:
        return set(search.host.accounts)
    group = search.host.group_named(name)
    user = search.user
    if group is None or user is None or not (user.admin or user.id in group.members):
        raise bad_request(f"Group {name} not found")
    return group.members


def _identity(which: str) -> Operator:
    """Author or committer of the commit: an exact address, or words of name and address."""

    def operator(search: Search, value: str) -> Predicate:
        def fits(change: Change) -> bool:
            facts = search.host.repository(change.project).facts(change.current.commit)
            identity: Identity = getattr(facts, which)
            if "@" in value:
                return identity.email.lower() == value.lower()
            known = words(str(identity))
            return all(word in known for word in words(value))

        return fits

    return operator


def _visible_to(search: Search, value: str) -> Predicate:
    if value in {"self", "me"} and search.user is None:
        return lambda change: may_see(search.host, None, change)
    found = accounts_matching(search.host, search.user, value)
    if not found:
        raise bad_request(f'No user or group matches "{value}".')
    return lambda change: any(may_see(search.host, account, change) for account in found)


_owner = _people(lambda change, ids: change.owner in ids)
_reviewer = _people(_reviewing)

OPERATORS: dict[str, Operator] = {
    "owner": _owner,
    "o": _owner,
    "ownerin": _in_group(lambda change, ids: change.owner in ids),
    "uploader": _people(lambda change, ids: change.current.uploader in ids),
    "uploaderin": _in_group(lambda change, ids: change.current.uploader in ids),
    "reviewer": _reviewer,
    "r": _reviewer,
    "reviewerin": _in_group(_reviewing),
    "cc": _people(_cc),
    "attention": _people(lambda change, ids: bool(ids & change.attention.keys())),
    "commentby": _people(_commented),
    "from": _people(_from),
    "author": _identity("author"),
    "a": _identity("author"),
    "committer": _identity("committer"),
    "visibleto": _visible_to,
}
