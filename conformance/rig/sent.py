"""What one request says, taken apart as Gerrit does: segments of the path, pairs of the query, texts of the body.

Gerrit decodes a plus as a blank in a path as well as in a query (its REST interface uses Java's URLDecoder for both).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, unquote_plus

if TYPE_CHECKING:
    from mock_gerrit.journal import Entry

REST_ROOTS = frozenset({"changes", "projects", "accounts", "groups", "access", "config"})
"""Below these each name is one segment; what the paths of a plugin mean is the plugin's affair."""


@dataclass(frozen=True, kw_only=True)
class Sent:
    """One request, decoded once."""

    raw_segments: tuple[str, ...]
    segments: tuple[str, ...]
    query: tuple[tuple[str, str], ...]
    raw_query: str
    keys: tuple[str, ...]
    """The names in the body: of JSON objects, or of a form."""
    texts: tuple[str, ...]
    """The texts in the body: of JSON, of a form, or the whole of it."""
    broken_body: str
    """A body that calls itself JSON and is none; else empty."""

    @property
    def is_rest(self) -> bool:
        """Whether the path is one of Gerrit's own, below which each name is one segment."""
        return bool(self.segments) and self.segments[0] in REST_ROOTS

    @property
    def units(self) -> tuple[str, ...]:
        """Everything that is one value: segments, values of the query, texts of the body."""
        return (*self.segments, *(value for _, value in self.query), *self.texts)


def taken_apart(entry: Entry) -> Sent:
    """Take a request apart."""
    raw_segments = tuple(entry.gerrit_path.strip("/").split("/"))
    raw_query = entry.target.partition("?")[2]
    keys, texts, broken = _body_of(entry)
    return Sent(
        raw_segments=raw_segments,
        segments=tuple(unquote_plus(one) for one in raw_segments),
        query=tuple(parse_qsl(raw_query, keep_blank_values=True)),
        raw_query=raw_query,
        keys=tuple(keys),
        texts=tuple(texts),
        broken_body=broken,
    )


def _body_of(entry: Entry) -> tuple[list[str], list[str], str]:
    text = entry.body.decode(errors="replace")
    kind = (entry.header("Content-Type") or "").lower()
    if not text or not ("json" in kind or text.lstrip()[:1] in {"{", "["}):
        pairs = parse_qsl(text, keep_blank_values=True) if "x-www-form-urlencoded" in kind else []
        return [key for key, _ in pairs], [*([text] if text else []), *(value for _, value in pairs)], ""
    try:
        value = json.loads(text, strict=False)  # a line break in a text is no end of it, to Gerrit either
    except ValueError:
        return [], [text], text
    return list(_keys(value)), list(_texts(value)), ""


def _keys(value: Any) -> Iterator[str]:  # noqa: ANN401 - any JSON value
    if isinstance(value, dict):
        yield from value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _keys(inner)


def _texts(value: Any) -> Iterator[str]:  # noqa: ANN401 - any JSON value
    if isinstance(value, str):
        yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _texts(inner)
