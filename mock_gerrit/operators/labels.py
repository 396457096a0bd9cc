"""`label:`, with all its ways to say which vote, whose, and how many."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from mock_gerrit.entities import Label
from mock_gerrit.errors import bad_request
from mock_gerrit.operators.base import Operator, compared
from mock_gerrit.operators.people import members_of
from mock_gerrit.people import accounts_matching
from mock_gerrit.query import Predicate, Search

if TYPE_CHECKING:
    from mock_gerrit.changes import Change

_RECORD = frozenset({"OK", "NEED", "REJECT", "MAY", "IMPOSSIBLE"})
_SHORT = re.compile(r"(?P<name>.+?)(?P<value>[+-]\d+)")
_LONG = re.compile(r"(?P<name>[^<>=]+)(?P<sign><=|>=|<|>|=)(?P<value>.+)")


@dataclass(frozen=True, kw_only=True)
class _Asked:
    """What a `label:` asks for."""

    name: str
    sign: Literal["<=", ">=", "<", ">", "="]
    value: str


def _read(text: str) -> _Asked:
    found = _LONG.fullmatch(text)
    if found:
        sign = found["sign"]
        return _Asked(name=found["name"], sign=sign, value=found["value"])  # type: ignore[arg-type] # one of the signs
    found = _SHORT.fullmatch(text)
    if found:
        return _Asked(name=found["name"], sign="=", value=found["value"])
    return _Asked(name=text, sign="=", value="1")


def label(search: Search, value: str) -> Predicate:
    """`label:Code-Review=+2,user=bo,count>=2`; an unknown label is had by no change."""
    first, *conditions = value.split(",")
    asked = _read(first)
    if _number(asked.value) is None and asked.value.upper() not in {"MAX", "MIN", "ANY"}:
        return _by_record(search, asked, first)
    whose = _whose(search, conditions)
    count = next((item.removeprefix("count") for item in conditions if item.startswith("count")), None)
    enough = compared(count) if count is not None else None

    def fits(change: Change) -> bool:
        found = search.host.labels(change.project)
        known = next((item for name, item in found.items() if name.lower() == asked.name.lower()), None)
        if known is None:
            return False
        wanted = _value_test(asked, known)
        given = {who: vote.value for (name, who), vote in change.votes.items() if name == known.name}
        voters = [who for who, number in given.items() if number and wanted(number) and whose(change, who)]
        if enough:
            return enough(len(voters))
        if not conditions and not any(given.values()) and wanted(0):
            return True
        return bool(voters)

    return fits


def _number(text: str) -> int | None:
    return int(text) if re.fullmatch(r"[+-]?\d+", text) else None


def _value_test(asked: _Asked, known: Label) -> Callable[[int], bool]:
    word = asked.value.upper()
    if word == "ANY":
        return lambda number: number != 0
    limit = known.highest if word == "MAX" else known.lowest if word == "MIN" else int(asked.value)
    if asked.sign == "=":
        return lambda number: number == limit
    if asked.sign == "<=":
        return lambda number: number <= limit
    if asked.sign == ">=":
        return lambda number: number >= limit
    if asked.sign == "<":
        return lambda number: number < limit
    return lambda number: number > limit


def _whose(search: Search, conditions: list[str]) -> Callable[[Change, int], bool]:
    for condition in conditions:
        if condition.startswith("count"):
            continue
        who = condition.removeprefix("user=")
        if who == "owner":
            return lambda change, voter: voter == change.owner
        if who == "non_uploader":
            return lambda change, voter: voter != change.current.uploader
        if who == "non_contributor":
            return lambda change, voter: voter not in {change.owner, change.current.uploader}
        if condition.startswith("group="):
            members = members_of(search, condition.removeprefix("group="))
            return lambda _, voter: voter in members
        if condition.startswith("users="):
            raise bad_request("Cannot use the 'users' argument in search")
        ids = {account.id for account in accounts_matching(search.host, search.user, who)}
        return lambda _, voter: voter in ids
    return lambda _, __: True


def _by_record(search: Search, asked: _Asked, text: str) -> Predicate:
    """`label:Code-Review=need`: what the submit record of a label would say."""
    word = asked.value.upper()
    if word not in _RECORD:
        raise bad_request(f"Invalid label status {word} in {text}")

    def fits(change: Change) -> bool:
        known = search.host.labels(change.project).get(asked.name)
        if known is None:
            return False
        values = [vote.value for (name, _), vote in change.votes.items() if name == known.name]
        return word == ("OK" if known.highest in values else "NEED")

    return fits


OPERATORS: dict[str, Operator] = {"label": label}
