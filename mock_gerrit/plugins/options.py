"""The options that plugins add to change queries: `?task--applicable`, `?--depends-on--all=true`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Literal

from mock_gerrit.errors import bad_request

OptionKind = Literal["flag", "number", "text", "texts", "patch set"]
"""`texts` is a text that may be given several times; `patch set` is `CHANGE,PATCH_SET`."""

OptionValue = bool | int | str | tuple[str, ...]

_TRUE = {"true", "on", "1", "yes", ""}
_FALSE = {"false", "off", "0", "no"}


def is_plugin_option(name: str) -> bool:
    """Whether a query parameter is written as an option of a plugin: `PLUGIN--NAME`, with or without dashes before."""
    return "--" in name.removeprefix("--")


def read_options(
    declared: Mapping[str, Mapping[str, OptionKind]], parameters: Iterable[tuple[str, str]]
) -> dict[str, dict[str, OptionValue]]:
    """The options that a request gives to each plugin.

    Args:
        declared: kind by name of the options of each plugin that is switched on.
        parameters: the query parameters that are written as options of plugins, decoded, in the order given.

    Returns:
        Value by name of the options given, by plugin id; plugins without any are absent.

    Raises:
        GerritError: 400 with Gerrit's words for an option that no plugin has, or a value of the wrong kind.
    """
    given: dict[str, dict[str, OptionValue]] = {}
    for written, value in parameters:
        plugin, _, name = written.removeprefix("--").partition("--")
        kind = declared.get(plugin, {}).get(name)
        if kind is None:
            raise bad_request(f'"--{written.removeprefix("--")}" is not a valid option')
        options = given.setdefault(plugin, {})
        options[name] = _value(kind, written, value, options.get(name))
    return given


def _value(kind: OptionKind, written: str, value: str, before: OptionValue | None) -> OptionValue:
    match kind:
        case "flag":
            return _flag(written, value)
        case "number":
            return _number(written, value)
        case "texts":
            return (*before, value) if isinstance(before, tuple) else (value,)
        case "patch set":
            if not re.fullmatch(r"\d+,\d+", value):
                raise bad_request(f'"{value}" is not a valid patch set')
            return value
        case "text":
            return value


def _flag(written: str, value: str) -> bool:
    if value.lower() in _TRUE:
        return True
    if value.lower() in _FALSE:
        return False
    raise bad_request(f'invalid boolean "{written}={value}"')


def _number(written: str, value: str) -> int:
    try:
        return int(value)
    except ValueError:
        raise bad_request(f'"{value}" is not a valid value for "--{written.removeprefix("--")}"') from None
