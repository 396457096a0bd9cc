"""Whether a request names what was asked for, once its encoding is undone as Gerrit undoes it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING
from urllib.parse import unquote, unquote_plus

from conformance.rig.content import BRANCH, ODD_CHANGE_ID, ODD_NUMBER, PROJECT
from conformance.rig.sent import Sent, taken_apart

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mock_gerrit.journal import Entry

NOT_THERE = 404
NAMES_OF_THE_ODD_CHANGE: frozenset[tuple[str, ...]] = frozenset(
    {
        (str(ODD_NUMBER),),
        (ODD_CHANGE_ID,),
        (PROJECT, str(ODD_NUMBER)),
        (PROJECT, BRANCH, ODD_CHANGE_ID),
        (PROJECT, f"refs/heads/{BRANCH}", ODD_CHANGE_ID),
    }
)
"""The parts between the `~` of every form in which Gerrit takes the id of the change with odd names."""
COMMIT = re.compile(r"[0-9a-f]{7,40}")
PHRASE = re.compile(r'"(?:[^"\\]|\\.)*"|\{[^{}]*\}')
"""What holds together whatever stands in it, in Gerrit's query language."""
SEPARATING = re.compile(r"[\s!\"$%&'();?\[\]{}]")
"""What ends a word of a query outside of a phrase."""


def wrong_in(entry: Entry, values: Mapping[str, Sequence[str]]) -> str:
    """Say what one request makes of the names that a call was given; empty where nothing is wrong.

    Only what can be nothing but a mistake is told: a tool may well ask in another way than by the name it was given.

    Args:
        entry: the request.
        values: the names, by the kind of what they name.
    """
    sent = taken_apart(entry)
    for kind, names in values.items():
        for name in names:
            if problem := _mangled(name, kind, sent, entry):
                return f"{name!r} {problem}"
    return _another_entity(sent, entry, values)


def _mangled(name: str, kind: str, sent: Sent, entry: Entry) -> str:
    if sent.is_rest and "/" in name and _spans_segments(name, sent):
        return "stands in several segments of the path instead of one"
    if "&" in name and name in sent.raw_query:
        return "is cut at its & in the query"
    again = [unit for unit in sent.units if name not in unit and _is_encoded_again(name, unit, sent)]
    if again and not _was_found(kind, entry):
        return "is percent-encoded twice"
    if "+" in name and any(name.replace("+", " ") in unit for unit in sent.units):
        return "is sent with its + as it is, which Gerrit reads as a blank"
    if not name.isascii() and name in unquote_plus(f"{entry.path}?{sent.raw_query}", encoding="latin-1"):
        return "is percent-encoded in another alphabet than UTF-8"
    falls_apart = kind != "query" and _falls_apart(name, sent)
    return "falls into several words of the query, as nothing holds it together" if falls_apart else ""


def _spans_segments(name: str, sent: Sent) -> bool:
    return f"/{name}" in "/" + "/".join(sent.segments) and not any(name in segment for segment in sent.segments)


def _is_encoded_again(name: str, unit: str, sent: Sent) -> bool:
    """A text of a body may well hold a link; a segment or a value of a query that does is encoded twice."""
    if "%" not in unit:
        return False
    return unquote(unit) == name if unit in sent.texts else name in unquote(unit)


def _was_found(kind: str, entry: Entry) -> bool:
    """A search for a change takes an id apart and decodes it once more, so that it may find what it was to find."""
    return kind == "change_id" and entry.status < NOT_THERE and ODD_CHANGE_ID.encode() in entry.response_body


def _falls_apart(name: str, sent: Sent) -> bool:
    if not SEPARATING.search(name):
        return False
    searches = [value for key, value in sent.query if key in {"q", "query"} and name in value]
    return any(name in PHRASE.sub("", search) for search in searches)


def _another_entity(sent: Sent, entry: Entry, values: Mapping[str, Sequence[str]]) -> str:
    """Tell of a change or a project that was asked for and is none of those that were named."""
    if entry.status != NOT_THERE or entry.unsimulated is not None or len(sent.segments) < 2:
        return ""
    root, names = sent.segments[0], values.get("change_id", ())
    if root == "changes" and names and not _may_be_right(sent.raw_segments[1], names):
        return f"{names[0]!r} becomes the change {sent.segments[1]!r}, which is another or none"
    name = sent.segments[1].removesuffix(".git")
    if root == "projects" and "project" in values and name != PROJECT and _resembles(name, PROJECT):
        return f"{PROJECT!r} becomes the project {name!r}"
    return ""


def _may_be_right(raw: str, names: Sequence[str]) -> bool:
    """Tell whether a segment names the change, or holds its name among other things that the tool may well know of."""
    parts, text = tuple(unquote_plus(part) for part in raw.split("~")), unquote_plus(raw)
    is_known = parts in NAMES_OF_THE_ODD_CHANGE or COMMIT.fullmatch(parts[-1]) is not None
    return not raw or is_known or any(name in text and name != text for name in names)


def _resembles(name: str, other: str) -> bool:
    return any(part in name for part in other.split("/"))


def refused_url(arguments: Sequence[str]) -> str:
    """Give the URL among curl's arguments that curl will not take, for a blank in it; empty where there is none."""
    return next((one for one in arguments if re.match(r"https?://", one) and re.search(r"[\x00-\x20]", one)), "")
