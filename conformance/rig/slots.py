"""The places in a tool's arguments where a value of one's own can be put, models and lists included."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from conformance.rig.meanings import Meaning, meaning_of

Schema = Mapping[str, Any]
Arguments = dict[str, Any]

DEEPEST = 4
"""How many models and lists may lie in each other; a schema may be cyclic."""
MOST_SLOTS = 64
ADDRESS = re.compile(r"(?:^|_)(?:urls?|hosts?|servers?|address)$", re.IGNORECASE)
"""Names of parameters that say where to ask; what a host makes of a strange address is its own affair."""


@dataclass(frozen=True, kw_only=True)
class Slot:
    """One place: `keys` lead to it, an index into a list being always 0."""

    keys: tuple[str | int, ...]
    schema: Schema
    definitions: Schema

    @property
    def name(self) -> str:
        """The name of the parameter, or of the part of a model, that it belongs to."""
        return next(str(key) for key in reversed(self.keys) if isinstance(key, str))

    @property
    def label(self) -> str:
        """How people write the place: `change_id`, `filter.paths[0]`."""
        return "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in self.keys).removeprefix(".")

    @property
    def meaning(self) -> Meaning | None:
        """What its name stands for; None where nobody can tell."""
        return meaning_of(self.name)

    @property
    def admits(self) -> Callable[[Any], bool]:
        """A judge of values by the schema of the place."""
        return judge_of(self.schema, self.definitions)

    @property
    def usual(self) -> Any:  # noqa: ANN401 - any JSON value
        """What stands there in a call that says nothing of it: the default of its schema; None where it has none."""
        return next((one["default"] for one in (self.schema, *self.kinds) if "default" in one), None)

    @property
    def kinds(self) -> list[Schema]:
        """The schemas that its value may keep instead of each other."""
        return list(alternatives(self.schema, self.definitions))

    @property
    def choices(self) -> list[Any]:
        """What may stand there, where that is told in so many words: yes and no, and each entry of a list."""
        told: list[Any] = []
        for one in self.kinds:
            told += [True, False] if one.get("type") == "boolean" else []
            told += [*one.get("enum", ()), *([one["const"]] if "const" in one else ())]
        return [value for at, value in enumerate(told) if value not in told[:at] and self.admits(value)]

    def value_in(self, arguments: Arguments) -> Any:  # noqa: ANN401 - any JSON value
        """Give what stands there in a call, said or not; None where that is nothing."""
        inside: Any = arguments
        for key in self.keys:
            has = isinstance(inside, list) and bool(inside) if isinstance(key, int) else isinstance(inside, dict)
            if not has or (isinstance(key, str) and key not in inside):
                return self.usual
            inside = inside[key]
        return inside

    def can_stand_in(self, arguments: Arguments) -> bool:
        """Tell whether a value can be put there: a part of a model that is left out cannot without its other parts."""
        return len(self.keys) == 1 or self.keys[0] in arguments or isinstance(self.keys[1], int)

    def put(self, value: Any, arguments: Arguments) -> Arguments:  # noqa: ANN401 - any JSON value
        """Give a copy of the arguments with `value` in this place."""
        changed: Any = copy.deepcopy(arguments)
        inside = changed
        for key, following in zip(self.keys, self.keys[1:], strict=False):
            inside = _entered(inside, key, [] if isinstance(following, int) else {})
        _entered(inside, self.keys[-1], None)
        inside[self.keys[-1]] = value
        return dict(changed)


def _entered(inside: Any, key: str | int, empty: Any) -> Any:  # noqa: ANN401 - JSON containers
    """Give what stands under a key, after putting something there where nothing, or nothing of use, does."""
    if isinstance(key, int):
        del inside[1:]
        if not inside:
            inside.append(empty)
        return _of_kind(inside, key, empty)
    inside.setdefault(key, empty)
    return _of_kind(inside, key, empty)


def _of_kind(inside: Any, key: str | int, empty: Any) -> Any:  # noqa: ANN401 - JSON containers
    if empty is not None and not isinstance(inside[key], type(empty)):
        inside[key] = empty
    return inside[key]


def definitions_of(tool: Mapping[str, Any]) -> Schema:
    """Give what the references in a tool's inputSchema lead to."""
    schema = tool.get("inputSchema") or {}
    return {**schema.get("definitions", {}), **schema.get("$defs", {})}


def judge_of(schema: Schema, definitions: Schema, *, formats: bool = False) -> Callable[[Any], bool]:
    """Make a judge of values by a schema, and if wanted by its formats; one that cannot be read admits nothing."""
    is_valid = _validation(schema, definitions, formats=formats)

    def admits(value: Any) -> bool:  # noqa: ANN401 - any JSON value
        try:
            return is_valid(value)
        except Exception:  # noqa: BLE001 - a stranger's schema: no schema at all, a bad pattern, a cycle
            return False

    return admits


def is_readable(schema: Schema, definitions: Schema) -> bool:
    """Tell whether values can be judged by a schema at all."""
    is_valid = _validation(schema, definitions, formats=False)
    samples: tuple[Any, ...] = ("", 0, None, [], {})
    try:
        for value in samples:
            is_valid(value)
    except Exception:  # noqa: BLE001 - as above
        return False
    return True


def _validation(schema: Schema, definitions: Schema, *, formats: bool) -> Callable[[Any], bool]:
    from jsonschema import Draft202012Validator as Validator  # noqa: PLC0415 - loaded with the first trial

    whole = {**schema, "$defs": definitions, "definitions": definitions}
    is_valid: Callable[[Any], bool] = Validator(
        whole, format_checker=Validator.FORMAT_CHECKER if formats else None
    ).is_valid
    return is_valid


def slots_of(tool: Mapping[str, Any]) -> Iterator[Slot]:
    """Yield every place for a single value in the arguments of a tool, but for those that say which host to ask."""
    yield from islice(_places(tool, _is_single), MOST_SLOTS)


def choices_of(tool: Mapping[str, Any]) -> Iterator[Slot]:
    """Yield every place of which the schema tells all values, or some of them, but for those that say which host."""
    yield from islice(_places(tool, _is_told), MOST_SLOTS)


Wanted = Callable[[Schema], bool]
"""Tells by one of the schemas that a value may keep whether its place is wanted."""


def _places(tool: Mapping[str, Any], wanted: Wanted) -> Iterator[Slot]:
    return _in_model((), tool.get("inputSchema") or {}, definitions_of(tool), wanted)


def _in_model(keys: tuple[str | int, ...], model: Schema, definitions: Schema, wanted: Wanted) -> Iterator[Slot]:
    for name, part in (model.get("properties") or {}).items():
        if not ADDRESS.search(name) and isinstance(part, Mapping):
            yield from _in_value((*keys, name), part, definitions, wanted)


def _in_value(keys: tuple[str | int, ...], schema: Schema, definitions: Schema, wanted: Wanted) -> Iterator[Slot]:
    """Yield the place itself where it may hold a wanted value, and those in the models and lists that it may hold."""
    known = list(alternatives(schema, definitions))
    if any(map(wanted, known)):
        yield Slot(keys=keys, schema=schema, definitions=definitions)
    if len(keys) > DEEPEST:
        return
    for one in known:
        yield from _in_model(keys, one, definitions, wanted)
        if isinstance(items := one.get("items"), Mapping):
            yield from _in_value((*keys, 0), items, definitions, wanted)


def _is_single(schema: Schema) -> bool:
    return schema.get("type") in {"string", "integer", "number"} or not _says_type(schema)


def _is_told(schema: Schema) -> bool:
    return schema.get("type") == "boolean" or "enum" in schema or "const" in schema


def _says_type(schema: Schema) -> bool:
    return any(key in schema for key in ("type", "enum", "const", "properties", "items", "anyOf", "oneOf", "allOf"))


def alternatives(schema: Schema, definitions: Schema, depth: int = 8) -> Iterator[Schema]:
    """Yield the schemas that a value may keep instead of each other, with references followed."""
    if not isinstance(schema, Mapping) or not depth:
        return
    reference = schema.get("$ref")
    if isinstance(reference, str):
        yield from alternatives(definitions.get(reference.rpartition("/")[2], {}), definitions, depth - 1)
        return
    several = [one for key in ("anyOf", "oneOf", "allOf") for one in schema.get(key, ())]
    if not several:
        yield schema
    for one in several:
        yield from alternatives(one, definitions, depth - 1)
