"""The words that the code has for its own fields: strings under attributes, and sections of docstrings."""

from __future__ import annotations

import ast
import inspect
import re
from itertools import pairwise
from textwrap import dedent

_ENTRY = re.compile(r"^(\w+): (.*)$")


def beside_fields(model: type) -> dict[str, str]:
    """Give the text of the string that follows each annotated attribute of a class."""
    [statement] = ast.parse(dedent(inspect.getsource(model))).body
    assert isinstance(statement, ast.ClassDef)  # noqa: S101 - the source of a class is one
    return {
        field.target.id: as_phrase(text.value.value)
        for field, text in pairwise(statement.body)
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
        if isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant) and isinstance(text.value.value, str)
    }


def in_section(described: object, heading: str) -> dict[str, str]:
    """Give the entries of one section (`Args`, `Attributes`) of a docstring, by name."""
    _, _, section = (inspect.getdoc(described) or "").partition(f"{heading}:\n")
    entries: dict[str, str] = {}
    name = ""
    for line in dedent(section.partition("\n\n")[0]).splitlines():
        found = _ENTRY.match(line)
        if found:
            name = found[1]
            entries[name] = found[2]
        elif name:
            entries[name] += f" {line.strip()}"
    return {name: as_phrase(text) for name, text in entries.items()}


def first_sentence(described: object) -> str:
    """Give the first paragraph of a docstring in one line."""
    return one_line((inspect.getdoc(described) or "").partition("\n\n")[0])


def as_phrase(text: str) -> str:
    """Make a sentence the entry of a table: a small letter first, no full stop at the end; `JSON` stays as it is."""
    words = one_line(text).removesuffix(".")
    return words[:1].lower() + words[1:] if words[1:2].islower() or words[1:2] == " " else words


def one_line(text: str) -> str:
    """Join the lines of a text."""
    return " ".join(text.split())
