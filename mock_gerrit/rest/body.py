"""The input of a request, read as leniently as Gerrit's JSON reader does."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from mock_gerrit.errors import GerritError, bad_request

INVALID = "Invalid application/json in request"


def _invalid() -> GerritError:
    return bad_request(INVALID)


class Body:
    """A JSON object of a request, with Gerrit's conversions: numbers and booleans pass for texts, unknown fields pass.

    Attributes:
        raw: the bytes, where an endpoint takes content.
        given: False where the request had no body at all.
    """

    def __init__(self, fields: Mapping[str, Any] | None = None, *, raw: bytes = b"", given: bool = True) -> None:
        self.fields = dict(fields or {})
        self.raw = raw
        self.given = given

    def text(self, name: str) -> str | None:
        """A text; None where it is left out or null."""
        return _as_text(self.fields.get(name))

    def flag(self, name: str) -> bool | None:
        """A boolean; None where it is left out or null."""
        value = self.fields.get(name)
        if isinstance(value, str):
            return value.lower() == "true"
        if value is None or isinstance(value, bool):
            return value
        raise _invalid()

    def integer(self, name: str) -> int | None:
        """A whole number; None where it is left out or null."""
        return as_integer(self.fields.get(name))

    def choice(self, name: str, choices: Iterable[str]) -> str | None:
        """One of some words; None where it is left out or null."""
        value = self.text(name)
        if value is not None and value not in choices:
            raise _invalid()
        return value

    def texts(self, name: str) -> list[str] | None:
        """A list of texts; None where it is left out or null."""
        value = self.fields.get(name)
        if value is None:
            return None
        if not isinstance(value, list):
            raise _invalid()
        return [_as_text(item) or "" for item in value]

    def object(self, name: str) -> dict[str, Any] | None:
        """An object; None where it is left out or null."""
        value = self.fields.get(name)
        if value == []:  # an object may come as an array of pairs
            return {}
        if value is not None and not isinstance(value, dict):
            raise _invalid()
        return value

    def objects(self, name: str) -> list[Body] | None:
        """A list of objects; None where it is left out or null."""
        value = self.fields.get(name)
        if value is None:
            return None
        return bodies(value)

    def part(self, name: str) -> Body | None:
        """An object, to be read in the same way; None where it is left out or null."""
        value = self.object(name)
        return Body(value) if value is not None else None


def bodies(value: Any) -> list[Body]:  # noqa: ANN401 - any JSON
    """A list of objects, each to be read as an input."""
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise _invalid()
    return [Body(item) for item in value]


def _as_text(value: Any) -> str | None:  # noqa: ANN401 - any JSON
    if isinstance(value, list | dict):
        raise _invalid()
    if isinstance(value, bool):
        return "true" if value else "false"
    return None if value is None else str(value)


def as_integer(value: Any) -> int | None:  # noqa: ANN401 - any JSON
    """A whole number, also from a text that holds one; None for null."""
    if value is None:
        return None
    if isinstance(value, bool | list | dict):
        raise _invalid()
    try:
        number = float(value)
    except ValueError:
        raise _invalid() from None
    if number != int(number):
        raise _invalid()
    return int(number)


def parse_json(text: str) -> Any:  # noqa: ANN401 - any JSON
    """The first JSON value of a text, read leniently; ValueError where there is none.

    Leniently means as Gson's lenient reader: an XSSI prefix, single quotes, unquoted names and words, `;` for `,`, `=`
    for `:`, and comments are fine, and so is anything after the value; a trailing comma is not.
    """
    try:
        return json.loads(text)
    except ValueError:
        return _Lenient(text.removeprefix(")]}'\n")).value()


_SPACE = re.compile(r"(?:\s|//[^\n]*|#[^\n]*|/\*.*?\*/)*", re.DOTALL)
_WORD = re.compile(r"[^\s{}\[\]:;,=#/\\\"']+")
_QUOTED = {quote: re.compile(rf"{quote}((?:[^{quote}\\]|\\.)*){quote}", re.DOTALL) for quote in "\"'"}
_WORDS = {"true": True, "false": False, "null": None}


class _Lenient:
    """A reader of one text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def value(self) -> Any:  # noqa: ANN401 - any JSON
        opening = self._peek()
        if opening == "{":
            return self._object()
        if opening == "[":
            return self._array()
        return self._scalar()

    def _peek(self) -> str:
        found = _SPACE.match(self.text, self.at)
        self.at = found.end() if found else self.at
        return self.text[self.at : self.at + 1]

    def _object(self) -> dict[str, Any]:
        result: dict[str, Any] = {}
        self.at += 1
        if self._peek() == "}":
            self.at += 1
            return result
        while True:
            name = self._scalar(as_name=True)
            if self._peek() not in {":", "="}:
                raise ValueError(f"expected ':' at {self.at}")
            self.at += 1
            result[str(name)] = self.value()
            if self._ends("}"):
                return result

    def _array(self) -> list[Any]:
        result: list[Any] = []
        self.at += 1
        if self._peek() == "]":
            self.at += 1
            return result
        while True:
            result.append(self.value())
            if self._ends("]"):
                return result

    def _ends(self, closing: str) -> bool:
        found = self._peek()
        self.at += 1
        if found == closing:
            return True
        if found not in {",", ";"}:
            raise ValueError(f"expected ',' or {closing!r} at {self.at - 1}")
        return False

    def _scalar(self, *, as_name: bool = False) -> Any:  # noqa: ANN401 - any JSON
        quote = self._peek()
        found = (_QUOTED[quote] if quote in {'"', "'"} else _WORD).match(self.text, self.at)
        if found is None:
            raise ValueError(f"expected a value at {self.at}")
        self.at = found.end()
        if quote in {'"', "'"}:
            return _unescaped(found[1])
        if as_name:
            return found[0]
        if found[0].lower() in _WORDS:
            return _WORDS[found[0].lower()]
        try:
            return json.loads(found[0])
        except ValueError:
            return found[0]


def _unescaped(text: str) -> str:
    inside = re.sub(r"\\'", "'", text)
    inside = re.sub(r'(?<!\\)"', r"\"", inside)
    value: str = json.loads(f'"{inside}"', strict=False)
    return value
