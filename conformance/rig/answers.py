"""Compares what a tool gave back with what it was given by Gerrit: facts only, judged elsewhere."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from conformance.rig.trial import Call
    from mock_gerrit.journal import Entry

XSSI_PREFIX = ")]}'"
LONG_ENOUGH = 20
"""A shorter text may stand in a result by chance."""
EXCERPT = 40
"""So much of a body's beginning shows that a longer text was cut off on purpose."""
READING = frozenset({"GET", "HEAD"})
"""Methods that change nothing."""


def values(call: Call) -> Iterator[Any]:
    """Yield every value in a result, at any depth: of its structure, its text blocks, and of JSON in those."""
    if call.reply is None:
        return
    waiting: list[Any] = [call.reply.structured]
    for block in call.reply.content:
        text = block.get("text")
        if isinstance(text, str):
            waiting.append(text)
            with suppress(ValueError):
                waiting.append(json.loads(text))
    yield from inside(*waiting)


def inside(*values: Any) -> Iterator[Any]:  # noqa: ANN401 - any JSON values
    """Yield JSON values and every value in them, at any depth."""
    waiting = list(values)
    while waiting:
        value = waiting.pop()
        yield value
        if isinstance(value, dict):
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value


def texts(call: Call) -> list[str]:
    """Give every text in a result."""
    return [value for value in values(call) if isinstance(value, str)]


def body_of(entry: Entry) -> str:
    """Give the body of an answer as a host hands it on, without the first line that guards it."""
    return entry.response_body.decode(errors="replace").strip().removeprefix(XSSI_PREFIX).strip()


def parsed(entry: Entry) -> Any:  # noqa: ANN401 - any JSON value
    """Give what the body of an answer holds; None where it is no JSON."""
    with suppress(ValueError):
        return json.loads(body_of(entry))
    return None


def embeds(call: Call, entry: Entry) -> bool:
    """Tell whether a text in the result has the body of an answer in it as it came, whole or its beginning."""
    body = body_of(entry)
    found = [text.replace(XSSI_PREFIX, "").strip() for text in texts(call)]
    return len(body) >= LONG_ENOUGH and any(
        body in text or (len(text) >= EXCERPT and body.startswith(text)) for text in found
    )


def hands_on(call: Call, entry: Entry) -> bool:
    """Tell whether the result is, in some place, the body of an answer: the very text, or the value that it holds."""
    body, value = body_of(entry), parsed(entry)
    if body and any(text.strip() == body for text in texts(call)):
        return True
    return isinstance(value, dict | list) and any(one == value for one in values(call))


def same_result(one: Call, other: Call) -> bool:
    """Tell whether two calls gave back the same."""
    if one.reply is None or other.reply is None:
        return False
    return (one.reply.structured, one.reply.content) == (other.reply.structured, other.reply.content)


def without_line(call: Call) -> list[Any]:
    """Give the texts and values of a result, with no line that guards a body in it."""
    return [_unguarded(one) for one in values(call)]


def _unguarded(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    if isinstance(value, str):
        bare = value.replace(XSSI_PREFIX, "").strip()
        with suppress(ValueError):
            return _unguarded(json.loads(bare)) if bare[:1] in {"[", "{"} else bare
        return bare
    if isinstance(value, dict):
        return {key: _unguarded(one) for key, one in value.items()}
    return [_unguarded(one) for one in value] if isinstance(value, list) else value


def is_beheaded(call: Call, entry: Entry) -> bool:
    """Tell whether the result has the body of an answer without its first characters."""
    body = body_of(entry)
    found = [text.strip() for text in texts(call)]
    return body[:1] in {"[", "{"} and any(
        body != text and body.endswith(text) and len(text) >= max(LONG_ENOUGH, len(body) - EXCERPT) for text in found
    )


def told_by_gerrit(call: Call) -> set[str]:
    """Give what a result holds that Gerrit told in the same call and the caller did not."""
    known = {str(leaf) for entry in call.entries for leaf in leaves(parsed(entry))}
    asked = {str(leaf) for leaf in leaves(dict(call.arguments))}
    return {str(leaf) for value in values(call) for leaf in leaves(value)} & known - asked


def leaves(value: Any) -> Iterator[Any]:  # noqa: ANN401 - any JSON value
    """Yield the texts and numbers in a JSON value that say something."""
    if isinstance(value, dict):
        for one in value.values():
            yield from leaves(one)
    elif isinstance(value, list):
        for one in value:
            yield from leaves(one)
    elif (isinstance(value, str) and value) or (isinstance(value, int | float) and not isinstance(value, bool)):
        yield value


def left_out(usual: Call, lean: Call) -> list[str]:
    """Name the keys that the answers to a usual call have and those to a lean one lack, each once."""
    before, now = ({key for one in call.own for key in _keys(parsed(one))} for call in (usual, lean))
    return sorted(before - now)


def _keys(value: Any) -> Iterator[str]:  # noqa: ANN401 - any JSON value
    if isinstance(value, dict):
        yield from value
        for one in value.values():
            yield from _keys(one)
    elif isinstance(value, list):
        for one in value:
            yield from _keys(one)
