"""Say in words which values a schema wants, for people who are to fill one in as TOML."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from conformance.rig.slots import alternatives

Schema = Mapping[str, Any]

_EXAMPLES = {"integer": "1", "number": "0.5", "boolean": "true", "object": "{ key = 1 }"}
"""Values of each type as TOML writes them; a text needs none, as the gap that is to be filled is one."""
_TEXT = '"text"'
_DEEPEST = 3
MOST_WORDS = 6


def wanted(schema: Any, definitions: Schema) -> str:  # noqa: ANN401 - a stranger's schema, perhaps none
    """Say what a value has to be: `integer, such as 1`; empty where the schema does not tell."""
    return " or ".join(
        f"{kind}, such as {example}" if example else kind for kind, example in dict(_kinds(schema, definitions)).items()
    )


def _kinds(schema: Any, definitions: Schema, depth: int = _DEEPEST) -> Iterator[tuple[str, str]]:  # noqa: ANN401 - as above
    """Give each kind of value that a schema admits, with an example of it where one helps."""
    for one in alternatives(schema, definitions):
        words = one.get("enum") or ([one["const"]] if "const" in one else [])
        if words:
            yield f"one of {', '.join(json.dumps(word) for word in words[:MOST_WORDS])}", ""
            continue
        told = one.get("type")
        for kind in told if isinstance(told, list) else [told]:
            if kind == "array":
                inner = list(_kinds(one.get("items"), definitions, depth - 1)) if depth else []
                first, example = inner[0] if inner else ("anything", "")
                yield f"list of {first}", f"[{example or _TEXT}]"
            elif isinstance(kind, str) and kind != "null":
                yield kind, _EXAMPLES.get(kind, "")
