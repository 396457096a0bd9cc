"""What operators are made of: matching of texts, numbers and moments."""

from __future__ import annotations

import operator as comparing
import re
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from mock_gerrit.errors import bad_request
from mock_gerrit.query import Predicate, Search

if TYPE_CHECKING:
    from mock_gerrit.changes import Change
    from mock_gerrit.host import Host

Operator = Callable[[Search, str], Predicate]

_COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    "<=": comparing.le, ">=": comparing.ge, "<": comparing.lt, ">": comparing.gt, "=": comparing.eq, "": comparing.eq,
}  # fmt: skip
_RANGE = re.compile(r"(?P<sign><=|>=|<|>|=)?(?P<number>\d+)")
_WORDS = re.compile(r"\w+")


def never(_: Change) -> bool:
    """True of no change."""
    return False


def pattern(value: str) -> Callable[[str], bool]:
    """A text equal to `value`; where that begins with `^`, a text that matches the rest as a regular expression."""
    if not value.startswith("^"):
        return lambda text: text == value
    try:
        compiled = re.compile(value[1:])
    except re.error:
        raise bad_request(f"Invalid pattern: {value}") from None
    return lambda text: compiled.fullmatch(text) is not None


def compared(value: str) -> Callable[[float], bool]:
    """A number that stands to another as `>5`, `<=5` or plain `5` say; 400 for anything else."""
    found = _RANGE.fullmatch(value)
    if found is None:
        raise bad_request(f"Invalid range predicate: {value}")
    compare, number = _COMPARISONS[found["sign"] or ""], int(found["number"])
    return lambda actual: compare(actual, number)


def words(text: str) -> list[str]:
    """The words of a text as full-text search sees them."""
    return _WORDS.findall(text.lower())


def contains_words(text: str, wanted: Iterable[str]) -> bool:
    """Whether all wanted words are in a text."""
    known = set(words(text))
    return all(word in known for word in wanted)


def message_contains(host: Host, text: str) -> Predicate:
    """The words stand in the commit message."""
    wanted = words(text)
    return lambda change: contains_words(host.repository(change.project).facts(change.current.commit).message, wanted)


_DATE_FORMATS = (
    "%Y-%m-%d",
    "%Y-%m-%d %H:%M:%S",
    "%Y-%m-%d %H:%M:%S.%f",
    "%Y-%m-%d %H:%M:%S %z",
    "%Y-%m-%d %H:%M:%S.%f %z",
)


def moment(value: str) -> datetime:
    """A moment as queries write it, in UTC unless it says otherwise; 400 for anything else."""
    for written in _DATE_FORMATS:
        try:
            found = datetime.strptime(value, written)  # noqa: DTZ007 - the zone is put in right below
        except ValueError:
            continue
        return found if found.tzinfo else found.replace(tzinfo=UTC)
    raise bad_request(f"Invalid date format: {value}")


_UNITS = {
    "": 1, "s": 1, "sec": 1, "second": 1, "seconds": 1,
    "m": 60, "min": 60, "minute": 60, "minutes": 60, "h": 3600, "hr": 3600,
    "hour": 3600, "hours": 3600, "d": 86400, "day": 86400, "days": 86400, "w": 604800, "week": 604800, "weeks": 604800,
    "mon": 2592000, "month": 2592000, "months": 2592000, "y": 31536000, "year": 31536000, "years": 31536000,
}  # fmt: skip
_PERIOD = re.compile(r"(\d+)\s*([a-z]*)")


def period(value: str) -> timedelta:
    """A stretch of time as queries write it (`2d`, `1 week`); ValueError for anything else."""
    found = _PERIOD.fullmatch(value.strip())
    if found is None or found[2] not in _UNITS:
        raise ValueError(value)
    return timedelta(seconds=int(found[1]) * _UNITS[found[2]])
