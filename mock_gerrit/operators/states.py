"""`status:`, `is:`, `has:`, and the operators of time."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from mock_gerrit.errors import bad_request, forbidden
from mock_gerrit.operators.base import Operator, compared, moment, never, period
from mock_gerrit.people import accounts_matching
from mock_gerrit.plugins.contributions import has_operand
from mock_gerrit.query import Predicate, Search
from mock_gerrit.submittability import is_submittable
from mock_gerrit.visibility import may_see

if TYPE_CHECKING:
    from mock_gerrit.changes import Change
    from mock_gerrit.entities import Account

_STATUSES = {"open": "NEW", "pending": "NEW", "new": "NEW", "merged": "MERGED", "abandoned": "ABANDONED"}


def status(_: Search, value: str) -> Predicate:
    """`status:open`; a beginning of a word will do."""
    word = value.lower()
    if word == "reviewed":
        return reviewed
    if word == "closed":
        return lambda change: change.status != "NEW"
    wanted = next((state for name, state in _STATUSES.items() if word and name.startswith(word)), None)
    if wanted is None:
        raise bad_request(f"Unrecognized value: {value}")
    return lambda change: change.status == wanted


def signed_in(search: Search) -> Account:
    """Who searches; 403 for nobody."""
    if search.user is None:
        raise forbidden("Must be signed-in to use this operator")
    return search.user


def reviewed(change: Change) -> bool:
    """Whether somebody other than the owner had the last word."""
    last = next((item for item in reversed(change.messages) if item.author is not None), None)
    return last is not None and last.author != change.owner


def _mine(test: Callable[[Change, int], bool]) -> Operator:
    def operator(search: Search, _: str) -> Predicate:
        me = signed_in(search).id
        return lambda change: test(change, me)

    return operator


def _simply(test: Predicate) -> Operator:
    return lambda _, __: test


def _submittable(search: Search, _: str) -> Predicate:
    return lambda change: is_submittable(search.host, change)


def _merge(search: Search, _: str) -> Predicate:
    return lambda change: len(search.host.repository(change.project).facts(change.current.commit).parents) > 1


def _mergeable(_: Search, __: str) -> Predicate:
    raise bad_request("'is:mergeable' operator is not supported on this gerrit host")


def _starred(search: Search, _: str) -> Predicate:
    me = signed_in(search)
    return lambda change: change.number in me.stars


def _visible(search: Search, _: str) -> Predicate:
    return lambda change: may_see(search.host, search.user, change)


def is_pure_revert(search: Search, change: Change) -> bool:
    """Whether a change takes back exactly what the change it reverts did."""
    origin = search.host.changes.get(change.revert_of or 0)
    if origin is None:
        return False
    repository = search.host.repository(change.project)

    def effect(commit: str) -> list[tuple[str, object, object]]:
        parent = repository.facts(commit).parents[0]
        return [(item.path, item.old, item.new) for item in repository.changes(parent, commit)]

    undone = [(path, new, old) for path, old, new in effect(origin.current.commit)]
    return sorted(map(str, undone)) == sorted(map(str, effect(change.current.commit)))


_IS: dict[str, Operator] = {
    "starred": _starred,
    "watched": _simply(never),
    "visible": _visible,
    "reviewed": _simply(reviewed),
    "owner": _mine(lambda change, me: change.owner == me),
    "uploader": _mine(lambda change, me: change.current.uploader == me),
    "reviewer": _mine(lambda change, me: change.reviewers.get(me) == "REVIEWER" and not change.wip),
    "cc": _mine(lambda change, me: change.reviewers.get(me) == "CC" and not change.wip),
    "attention": _simply(lambda change: bool(change.attention)),
    "mergeable": _mergeable,
    "merge": _merge,
    "private": _simply(lambda change: change.private),
    "wip": _simply(lambda change: change.wip),
    "started": _simply(lambda change: change.review_started),
    "submittable": _submittable,
    "cherrypick": _simply(lambda change: change.cherry_pick_of is not None),
    "pure-revert": lambda search, _: lambda change: is_pure_revert(search, change),
}


def is_(search: Search, value: str) -> Predicate:
    """What `is:open`, `is:wip` and so on stand for."""
    operator = _IS.get(value.lower())
    return operator(search, value) if operator else status(search, value)


_HAS: dict[str, Operator] = {
    "draft": _mine(lambda change, me: any(item.author == me for item in change.drafts)),
    "star": _starred,
    "edit": _mine(lambda change, me: me in change.edits),
    "unresolved": _simply(lambda change: change.unresolved_threads > 0),
    "attention": _simply(lambda change: bool(change.attention)),
}


def has(search: Search, value: str) -> Predicate:
    """`has:draft`, `has:unresolved`, …, and what plugins add."""
    operator = _HAS.get(value.lower()) or has_operand(search.host, value)
    if operator is None:
        raise bad_request(f"Error in operator has:{value}")
    return operator(search, value)


def _age(search: Search, value: str) -> Predicate:
    try:
        limit = search.host.now() - period(value)
    except ValueError:
        raise bad_request(f"Error in operator age:{value}") from None
    return lambda change: change.updated <= limit


def _before(_: Search, value: str) -> Predicate:
    limit = moment(value)
    return lambda change: change.updated <= limit


def _after(_: Search, value: str) -> Predicate:
    limit = moment(value)
    return lambda change: change.updated >= limit


def _merged_before(_: Search, value: str) -> Predicate:
    limit = moment(value)
    return lambda change: change.submitted is not None and change.submitted <= limit


def _merged_after(_: Search, value: str) -> Predicate:
    limit = moment(value)
    return lambda change: change.submitted is not None and change.submitted >= limit


def _limit(search: Search, value: str) -> Predicate:
    if not value.isdecimal():
        raise bad_request(f"Invalid limit: {value}")
    if int(value) == 0:
        raise bad_request("limit must be positive: 0")
    search.limit = search.limit or int(value)
    return lambda _: True


def _unresolved(_: Search, value: str) -> Predicate:
    fits = compared(value)
    return lambda change: fits(change.unresolved_threads)


def _reviewed_by(search: Search, value: str) -> Predicate:
    if value in {"self", "me"}:
        signed_in(search)
    ids = {account.id for account in accounts_matching(search.host, search.user, value)}
    return lambda change: bool(ids & change.reviewed_by)


def _unknown(what: str) -> Operator:
    def operator(search: Search, value: str) -> Predicate:
        signed_in(search)
        raise bad_request(f"Unknown named {what}: {value}")

    return operator


OPERATORS: dict[str, Operator] = {
    "status": status,
    "is": is_,
    "has": has,
    "age": _age,
    "before": _before,
    "until": _before,
    "after": _after,
    "since": _after,
    "mergedbefore": _merged_before,
    "mergedafter": _merged_after,
    "limit": _limit,
    "unresolved": _unresolved,
    "query": _unknown("query"),
    "destination": _unknown("destination"),
    "reviewedby": _reviewed_by,
    "rule": lambda _, __: never,
}
