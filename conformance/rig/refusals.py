"""Arguments that a tool's own inputSchema refuses, and that no host would coerce into something it admits."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from conformance.rig.slots import alternatives, definitions_of, is_readable, judge_of

Schema = Mapping[str, Any]
Arguments = dict[str, Any]

STRANGE_OBJECT = {"unexpected": {"of": "no use"}}
STRANGE_LIST = [[["unexpected"]]]
STRANGE_TEXT = "~unexpected~"


def refused_arguments(tool: Mapping[str, Any], plain: Mapping[str, Any]) -> dict[str, Arguments]:
    """Give sets of arguments that the schema of a tool refuses, by what is wrong with them.

    Args:
        tool: the tool's entry in `tools/list`.
        plain: the arguments with which it works.
    """
    schema = tool.get("inputSchema") or {}
    definitions = definitions_of(tool)
    required = list(schema.get("required", ()))
    made: dict[str, Arguments] = {"no arguments": {}} if required else {}
    if len(required) > 1:
        made |= {f"{name} left out": {key: plain[key] for key in plain if key != name} for name in required}
    for name, part in (schema.get("properties") or {}).items():
        if isinstance(part, Mapping):
            made |= {f"{name} as {what}": {**plain, name: value} for what, value in _refused_values(part, definitions)}
    return made


def _refused_values(schema: Schema, definitions: Schema) -> Iterator[tuple[str, Any]]:
    """Yield values that a schema refuses: one of a wrong type, and each that breaks a bound or a list of words."""
    if not is_readable(schema, definitions):
        return
    admits = judge_of(schema, definitions)
    known = list(alternatives(schema, definitions))
    types = {str(kind) for one in known for kind in _types(one)}
    wrong = [pair for pair in _of_wrong_types(types) if not admits(pair[1])]
    yield from wrong[:1]
    for what, value in (pair for one in known for pair in _beyond(one)):
        if not admits(value):
            yield what, value


def _of_wrong_types(types: set[str]) -> Iterator[tuple[str, Any]]:
    """Yield values of types that a schema does not name, those first that are the furthest from what it wants."""
    if "object" in types:
        yield "an empty object", {}
    else:
        yield "an object", STRANGE_OBJECT
    if not types & {"array", "object"}:
        yield "a list", STRANGE_LIST
    elif "string" not in types:
        yield "a text", STRANGE_TEXT


def _types(schema: Schema) -> list[Any]:
    told = schema.get("type")
    if told is None and ("enum" in schema or "const" in schema):
        return ["string"]
    return list(told) if isinstance(told, list) else [told]


def _beyond(schema: Schema) -> Iterator[tuple[str, Any]]:
    """Yield values just outside what one schema says in so many words."""
    words = [*schema.get("enum", ()), *([schema["const"]] if "const" in schema else ())]
    if words and all(isinstance(word, str) for word in words):
        yield "a word that is not listed", STRANGE_TEXT
    if schema.get("type") in {"integer", "number"}:
        yield from ((f"{value}, beyond its {key}", value) for key, value in _numbers(schema))
    if schema.get("type") == "string":
        if isinstance(least := schema.get("minLength"), int) and least > 0:
            yield f"a text shorter than {least}", ""
        if isinstance(most := schema.get("maxLength"), int) and most < 100_000:
            yield f"a text longer than {most}", "x" * (most + 1)
        if "pattern" in schema:
            yield "a text of another pattern", STRANGE_TEXT
    if schema.get("type") == "array" and isinstance(least := schema.get("minItems"), int) and least > 0:
        yield f"a list shorter than {least}", []


def _numbers(schema: Schema) -> Iterator[tuple[str, int]]:
    steps = {"minimum": -1, "exclusiveMinimum": 0, "maximum": 1, "exclusiveMaximum": 0}
    for key, step in steps.items():
        bound = schema.get(key)
        if isinstance(bound, int | float) and not isinstance(bound, bool) and math.isfinite(bound):
            yield key, (math.floor(bound) if "inimum" in key else math.ceil(bound)) + step
