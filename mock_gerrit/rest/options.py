"""The options of a query string, parsed and refused as Gerrit does it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from mock_gerrit.errors import bad_request
from mock_gerrit.plugins.options import is_plugin_option

Kind = Literal["flag", "integer", "text", "many"]

RESERVED = frozenset({"alt", "fields", "pp", "prettyPrint", "strict", "callback", "key", "access_token", "trace", "xd"})
"""What the servlet itself understands at every endpoint; no view sees it."""


@dataclass(frozen=True, kw_only=True)
class Option:
    """An option of a view.

    Attributes:
        name: the long name.
        short: other names, most of them one letter.
        kind: a flag is on when it is there and does not say `false`; of `many` all values count, else the last.
        choices: the words it takes, in capitals; any text where empty.
    """

    name: str
    short: tuple[str, ...] = ()
    kind: Kind = "flag"
    choices: frozenset[str] = frozenset()


def flag(name: str, *short: str) -> Option:
    """An option that is there or not."""
    return Option(name=name, short=short)


def integer(name: str, *short: str) -> Option:
    """An option that takes a whole number."""
    return Option(name=name, short=short, kind="integer")


def text(name: str, *short: str, choices: Iterable[str] = ()) -> Option:
    """An option that takes a text."""
    return Option(name=name, short=short, kind="text", choices=frozenset(choices))


def many(name: str, *short: str, choices: Iterable[str] = ()) -> Option:
    """An option that may be given several times."""
    return Option(name=name, short=short, kind="many", choices=frozenset(choices))


class Options:
    """The options of one request, by long name.

    Attributes:
        plugin: switches of plugins (`--task--applicable`) with the values they were given, in the order sent.
    """

    def __init__(self) -> None:
        self._values: dict[str, list[str]] = {}
        self.plugin: dict[str, list[str]] = {}

    def flag(self, name: str) -> bool:
        """Whether a flag is on."""
        values = self._values.get(name)
        return bool(values) and values[-1].lower() not in {"false", "no", "off", "0"} if values else False

    def text(self, name: str) -> str | None:
        """The last value given; None where there is none."""
        values = self._values.get(name)
        return values[-1] if values else None

    def integer(self, name: str) -> int | None:
        """The last number given; None where there is none."""
        value = self.text(name)
        return int(value) if value is not None else None

    def many(self, name: str) -> list[str]:
        """Every value given, in order."""
        return self._values.get(name, [])

    def add(self, name: str, value: str) -> None:
        """Takes a value up."""
        self._values.setdefault(name, []).append(value)


def parse_options(
    pairs: Iterable[tuple[str, str]], declared: Iterable[Option], *, plugin_options: bool = False
) -> Options:
    """Sorts the pairs of a query string to the options of a view.

    Args:
        pairs: names and values, decoded, in the order sent.
        declared: what the view understands.
        plugin_options: whether plugins may add options to the view; they are collected here and judged elsewhere.

    Raises:
        GerritError: 400 for a name nobody understands, or a value it cannot have.
    """
    known = {name: option for option in declared for name in (option.name, *option.short)}
    options = Options()
    for name, value in pairs:
        if name in RESERVED:
            continue
        option = known.get(name.lstrip("-"))
        if option:
            options.add(option.name, _checked(option, name.lstrip("-"), value))
        elif plugin_options and is_plugin_option(name):
            options.plugin.setdefault(name, []).append(value)
        else:
            raise bad_request(f'"{_dashed(name)}" is not a valid option')
    return options


def _dashed(name: str) -> str:
    bare = name.lstrip("-")
    return f"-{bare}" if len(bare) == 1 else f"--{bare}"


def _checked(option: Option, name: str, value: str) -> str:
    valid = True
    if option.kind == "integer":
        valid = value.removeprefix("-").removeprefix("+").isdecimal() and -(2**31) <= int(value) < 2**31
    elif option.choices:
        word = value.upper().replace("-", "_")
        valid = word in option.choices
        value = word if valid or option.kind == "many" else value
    elif option.kind == "flag":
        valid = value.lower() in {"", "true", "false", "yes", "no", "on", "off", "1", "0"}
    if not valid:
        raise bad_request(f'"{value}" is not a valid value for "{_dashed(name)}"')
    return value
