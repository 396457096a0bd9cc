"""Filtering by name, as lists of plugins, projects and branches do it."""

from __future__ import annotations

import re
from collections.abc import Callable

from mock_gerrit.errors import bad_request
from mock_gerrit.rest.options import Options, text

OPTIONS = (text("prefix", "p"), text("match", "m"), text("regex", "r"))
"""What such a list is asked with: the beginning of a name, a part of it in any case, or an expression for all of it."""


def name_test(options: Options) -> Callable[[str], bool]:
    """The test that the options of a list stand for; 400 where there are two, or the expression is broken."""
    prefix, part, regex = (options.text(name) for name in ("prefix", "match", "regex"))
    if len([given for given in (prefix, part, regex) if given is not None]) > 1:
        raise bad_request("specify exactly one of p/m/r")
    if prefix is not None:
        return lambda name: name.startswith(prefix)
    if part is not None:
        return lambda name: part.lower() in name.lower()
    if regex is not None:
        try:
            compiled = re.compile(regex)
        except re.error:
            raise bad_request("unexpected end-of-string") from None
        return lambda name: compiled.fullmatch(name) is not None
    return lambda _: True
