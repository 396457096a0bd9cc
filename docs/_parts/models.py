"""Tables of the keys that a pydantic model takes: the profile and the world file."""

from __future__ import annotations

import re
import types
from collections.abc import Mapping
from typing import Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from _parts.errors import NotTold
from _parts.markdown import code, table

_PLAIN = {str: "text", SecretStr: "text", int: "number", float: "number", bool: "true or false"}


def keys(model: type[BaseModel], words: Mapping[str, str]) -> str:
    """Render the keys of one table.

    Args:
        model: the table.
        words: what to say of each key, by the name that stands in TOML.

    Raises:
        NotTold: `words` and the keys differ.
    """
    fields = {field.alias or name: field for name, field in model.model_fields.items()}
    if fields.keys() != words.keys():
        odd = ", ".join(sorted(fields.keys() ^ words.keys()))
        raise NotTold(f"{model.__name__}: keys and words differ in {odd}: see docs/_parts")
    rows = [(code(name), kind(field.annotation), default(field), words[name]) for name, field in fields.items()]
    return table(("key", "type", "default", "meaning"), rows)


def default(field: FieldInfo) -> str:
    """Tell the default in TOML's spelling: `required` where there is none, nothing where it is to have none."""
    if field.is_required():
        return "required"
    value = field.default if field.default is not PydanticUndefined else field.get_default(call_default_factory=True)
    if value is None or value == () or isinstance(value, BaseModel):
        return ""
    return code(str(value).lower() if isinstance(value, bool) else repr(value).replace("'", '"'))


def kind(annotation: Any) -> str:  # noqa: ANN401 - any type
    """Name a type as TOML's readers know it."""
    if hasattr(annotation, "__metadata__"):
        return kind(annotation.__origin__)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return f"{_spoken(annotation)} table"
    return _combined(get_origin(annotation), get_args(annotation)) or _PLAIN.get(annotation, "anything")


def _combined(origin: object, inner: tuple[Any, ...]) -> str:
    """Name what is made of other types; nothing for what is not."""
    if origin is Literal:
        return " or ".join(code(f'"{one}"') for one in inner)
    if origin in {Union, types.UnionType}:
        return " or ".join(dict.fromkeys(kind(one) for one in inner if one is not type(None)))
    if origin in {list, tuple}:
        return f"list of {_several(kind(inner[0]))}"
    return f"table of {_several(kind(inner[1]))}" if origin is dict else ""


def _several(thing: str) -> str:
    return f"{thing}s" if thing.endswith(("table", "number")) else thing


def _spoken(model: type[BaseModel]) -> str:
    """`CannedAnswer` and `CannedTable` are both spoken of as `canned`, `GerritHost` as `gerrit host`."""
    return re.sub(r"(Table|Answer)$|(?<=.)(?=[A-Z])", lambda at: "" if at[0] else " ", model.__name__).lower()
