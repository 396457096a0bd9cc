"""Arguments for a tool that nobody described: from the names and schemas of its parameters and the simulated world.

Nothing is guessed: a required parameter whose meaning neither its name nor its schema tells, or whose schema admits
nothing that the world has, makes the question INCONCLUSIVE, with the stanza of a profile that would answer it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from conformance.outcomes import Inconclusive
from conformance.profile import PLACEHOLDER
from conformance.rig.descriptions import described, meaning_by_text
from conformance.rig.meanings import Meaning, certain, meaning_of
from conformance.rig.slots import definitions_of, judge_of
from conformance.rig.wanted import wanted

__all__ = ["BASE_URL_PARAMETER", "UnknownArguments", "certain", "sample_arguments", "stanza", "takes_address"]

BASE_URL_PARAMETER = "gerrit_base_url"
DEEPEST = 8
"""How far references and nested models are followed; a schema may be cyclic."""

Schema = Mapping[str, Any]


def sample_arguments(tool: Mapping[str, Any], told: Mapping[str, Any] | None) -> dict[str, Any]:
    """Give the plainest arguments with which `tool` (as in `tools/list`) should work.

    Args:
        tool: the tool's entry in `tools/list`.
        told: the arguments of the profile, which win over everything.

    Raises:
        UnknownArguments: a required parameter is of unknown meaning, or its schema admits nothing that would be right.
    """
    if told is not None:
        return dict(told)
    schema = tool.get("inputSchema") or {}
    sampler = _Sampler(definitions_of(tool), described(tool))
    values: dict[str, Any] = {}
    unknown: list[str] = []
    for name in schema.get("required", ()):
        if name == BASE_URL_PARAMETER:
            continue  # the clauses decide which host is named
        try:
            values[name] = sampler.value(name, schema.get("properties", {}).get(name, {}))
        except _UnknownError:
            unknown.append(name)
    if unknown:
        raise UnknownArguments(
            f"neither name, schema nor description tells what {' and '.join(unknown)} of {tool['name']} should be",
            tool=str(tool["name"]),
            arguments={**values, **dict.fromkeys(unknown, PLACEHOLDER)},
            types={name: wanted(schema.get("properties", {}).get(name), definitions_of(tool)) for name in unknown},
        )
    return values


class UnknownArguments(Inconclusive):
    """A tool cannot be called, as nobody knows with what."""

    def __init__(self, reason: str, *, tool: str, arguments: Mapping[str, Any], types: Mapping[str, str]) -> None:
        """Keep what is known of the arguments, with placeholders for the rest, and what is wanted in their place."""
        super().__init__(reason, supply=stanza(tool, arguments, types))
        self.arguments = arguments


def takes_address(tool: Mapping[str, Any]) -> bool:
    """Tell whether a tool has the parameter `gerrit_base_url`."""
    return BASE_URL_PARAMETER in (tool.get("inputSchema") or {}).get("properties", {})


def stanza(tool: str, arguments: Mapping[str, Any], types: Mapping[str, str] | None = None) -> str:
    """Write the piece of a profile that gives a tool its arguments, ready to paste into pyproject.toml.

    Behind each gap a comment tells what belongs there, by `types`: `value = "…"  # integer, such as 1`.
    """
    from tomli_w import dumps  # noqa: PLC0415 - only where something has to be supplied

    told = {key: value for key, value in arguments.items() if value is not None}  # TOML has no null
    written = dumps({"tool": {"gerrit-conformance": {"tools": {tool: {"arguments": told}}}}}).strip()
    gaps = {dumps({name: PLACEHOLDER}).strip(): kind for name, kind in (types or {}).items() if kind}
    return "\n".join(f"{line}  # {gaps[line]}" if line in gaps else line for line in written.split("\n"))


class _UnknownError(Exception):
    """Nobody can tell what the value should be."""


class _Sampler:
    """Chooses values under the definitions of one tool's schema."""

    def __init__(self, definitions: Schema, described: Mapping[str, str]) -> None:
        self._definitions = definitions
        self._described = described

    def value(self, name: str, schema: Schema, depth: int = DEEPEST) -> Any:  # noqa: ANN401 - any JSON value
        """Give the first value that its schema admits.

        Raises:
            _UnknownError: there is none of which anybody could say that it is right.
        """
        admits = judge_of(schema, self._definitions, formats=True)
        for candidate in self._candidates(name, schema, depth):
            if admits(candidate):
                return candidate
        raise _UnknownError

    def _candidates(self, name: str, schema: Schema, depth: int) -> Iterator[Any]:
        """Give what the schema itself names, then what the name means, then what the parts of a model mean."""
        variants = list(self._variants(schema))
        yield from (variant[key] for variant in variants for key in ("const", "default") if key in variant)
        meaning = meaning_of(name) or self._told(name, schema, top=depth == DEEPEST)
        if meaning is not None:
            yield from _right_values(meaning, variants)
        yield from (value for variant in variants for key in ("examples", "enum") for value in variant.get(key) or ())
        if depth:
            for variant in variants:
                yield from self._made(name, variant, depth - 1)
        yield from (None for variant in variants if variant.get("type") == "null")

    def _told(self, name: str, schema: Schema, *, top: bool) -> Meaning | None:
        """Give the meaning that is told in words; those of the tool are about its own parameters."""
        told = schema.get("description") if isinstance(schema, Mapping) else None
        text = told if isinstance(told, str) else self._described.get(name, "") if top else ""
        return meaning_by_text(text)

    def _made(self, name: str, variant: Schema, depth: int) -> Iterator[Any]:
        """Fill a model by its own parameters; a list of models gets one element."""
        try:
            if variant.get("properties") and (variant.get("required") or meaning_of(name) is None):
                yield self._filled(name, variant, depth)
            if isinstance(items := variant.get("items"), Mapping):
                yield from ([self._filled(name, one, depth)] for one in self._variants(items) if one.get("required"))
        except _UnknownError:
            return

    def _filled(self, name: str, model: Schema, depth: int) -> dict[str, Any]:
        parts = model.get("properties", {})
        return {
            part: self.value(_full_name(part, within=name), parts.get(part, {}), depth)
            for part in model.get("required", ())
        }

    def _variants(self, schema: Schema, depth: int = DEEPEST) -> Iterator[Schema]:
        """Give the schema with its references followed, and each alternative that it offers."""
        if not isinstance(schema, Mapping) or not depth:
            return
        reference = schema.get("$ref")
        if isinstance(reference, str):
            yield from self._variants(self._definitions.get(reference.rpartition("/")[2], {}), depth - 1)
        yield schema
        for several in ("allOf", "anyOf", "oneOf"):
            for one in schema.get(several, ()):
                yield from self._variants(one, depth - 1)


_NUMBERS_OF_CHANGE = frozenset({"id", "number", "_number"})


def _full_name(part: str, *, within: str) -> str:
    """Give the name under which a part of a model is known: the `number` of a `change` is a change's number."""
    outer = meaning_of(within)
    is_change = outer is not None and any(one in outer.names for one in ("change", "changes"))
    return "change_number" if is_change and part in _NUMBERS_OF_CHANGE else part


def _right_values(meaning: Meaning, variants: list[Schema]) -> Iterator[Any]:
    """Give the values of a meaning, also as the only element of a list, and the numbers at a schema's bounds."""
    yield from meaning.values
    if meaning.amount:
        yield from (bound for variant in variants for bound in _bounds(variant))
    if any(variant.get("type") == "array" for variant in variants):
        yield from ([value] for value in meaning.values if not isinstance(value, list))
    yield from (first for first, *more in meaning.values if not more) if _is_plural(meaning) else ()


def _is_plural(meaning: Meaning) -> bool:
    return all(isinstance(value, list) for value in meaning.values)


def _bounds(schema: Schema) -> Iterator[int]:
    """Give the whole numbers nearest to the bounds of a schema."""
    nearest: dict[str, Callable[[float], int]] = {
        "minimum": math.ceil,
        "exclusiveMinimum": lambda bound: math.floor(bound) + 1,
        "maximum": math.floor,
        "exclusiveMaximum": lambda bound: math.ceil(bound) - 1,
        "multipleOf": math.ceil,
    }
    for key, whole in nearest.items():
        bound = schema.get(key)
        if isinstance(bound, int | float) and math.isfinite(bound):
            yield whole(bound)
