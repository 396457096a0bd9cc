"""Arguments for a tool that nobody described: from the names and schemas of its parameters and the simulated world.

Nothing is guessed: a required parameter whose meaning neither its name nor its schema tells makes the question
INCONCLUSIVE, with the stanza of a profile that would answer it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from conformance.outcomes import Inconclusive

BASE_URL_PARAMETER = "gerrit_base_url"
DEEPEST = 8
"""How far references and nested models are followed; a schema may be cyclic."""

_BY_NAME: tuple[tuple[tuple[str, ...], Any], ...] = (
    (("change_id", "change", "change_number", "change_num", "cl", "cl_number"), 1),
    (("change_ids", "changes", "change_numbers"), [1]),
    (("project", "project_name", "repo", "repository", "repo_name"), "demo"),
    (("branch", "branch_name", "dest_branch", "target_branch"), "master"),
    (("path", "file_path", "file", "filename", "file_name"), "leaves.py"),
    (("paths", "file_paths", "files"), ["leaves.py"]),
    (("email", "user_email", "account_email", "owner_email", "reviewer_email"), "alice@example.com"),
    (("account", "account_id", "user", "username", "owner", "reviewer", "author", "assignee"), "alice@example.com"),
    (("reviewers", "accounts", "emails", "users"), ["bob@example.com"]),
    (
        ("revision", "revision_id", "rev", "patchset", "patch_set", "patch_set_id", "patchset_id", "commit", "sha"),
        "current",
    ),
    (("query", "q", "search", "search_query"), "status:open"),
    (("limit", "n", "max_results", "count", "page_size", "top", "max_count", "max"), 5),
    (("start", "offset", "skip"), 0),
    (("topic", "topic_name"), "leaves"),
    (("hashtag", "tag"), "leaves"),
    (
        ("message", "comment", "text", "body", "reason", "note", "description", "title", "subject"),
        "A note from the conformance suite",
    ),
    (("label", "label_name"), "Code-Review"),
    (("score", "vote", "value"), 1),
    (("status", "state"), "open"),
    (("line", "line_number"), 1),
    (("plugin", "plugin_name"), "task"),
    (("start_date", "since", "after", "from_date"), "2000-01-01"),
    (("end_date", "until", "before", "to_date"), "2100-01-01"),
)
_VALUES = {name: value for names, value in _BY_NAME for name in names}


def sample_arguments(tool: Mapping[str, Any], told: Mapping[str, Any] | None) -> dict[str, Any]:
    """Give the plainest arguments with which `tool` (as in `tools/list`) should work.

    Args:
        tool: the tool's entry in `tools/list`.
        told: the arguments of the profile, which win over everything.

    Raises:
        Inconclusive: a required parameter is of unknown meaning.
    """
    if told is not None:
        return dict(told)
    schema = tool.get("inputSchema") or {}
    definitions = schema.get("$defs", {})
    values: dict[str, Any] = {}
    unknown: list[str] = []
    for name in schema.get("required", ()):
        if name == BASE_URL_PARAMETER:
            continue  # the clauses decide which host is named
        found, value = _value(name, schema.get("properties", {}).get(name, {}), definitions)
        if found:
            values[name] = value
        else:
            unknown.append(name)
    if unknown:
        raise Inconclusive(
            f"nobody can tell from its name and schema what {' and '.join(unknown)} of {tool['name']} should be",
            supply=stanza(str(tool["name"]), {**values, **dict.fromkeys(unknown, "…")}),
        )
    return values


def takes_address(tool: Mapping[str, Any]) -> bool:
    """Tell whether a tool has the parameter `gerrit_base_url`."""
    return BASE_URL_PARAMETER in (tool.get("inputSchema") or {}).get("properties", {})


def stanza(tool: str, arguments: Mapping[str, Any]) -> str:
    """Write the piece of a profile that gives a tool its arguments, ready to paste into pyproject.toml."""
    from tomli_w import dumps  # noqa: PLC0415 - only where something has to be supplied

    told = {key: value for key, value in arguments.items() if value is not None}  # TOML has no null
    return dumps({"tool": {"gerrit-conformance": {"tools": {tool: {"arguments": told}}}}}).strip()


Found = tuple[bool, Any]
"""Whether there is a value, and which."""

NOTHING: Found = (False, None)
_BY_KIND: tuple[tuple[str, Any], ...] = (("boolean", False), ("array", []), ("null", None))


def _value(name: str, schema: Mapping[str, Any], definitions: Mapping[str, Any], depth: int = DEEPEST) -> Found:
    """Find a value for one parameter: what the schema itself gives, else by the name, else by the type."""
    schema = _resolved(schema, definitions)
    for certain in ("const", "default"):
        if certain in schema:
            return True, schema[certain]
    for several in ("enum", "examples"):
        if schema.get(several):
            return True, schema[several][0]
    kinds = _kinds(schema, definitions)
    if name.lower() in _VALUES:
        return _fitted(_VALUES[name.lower()], kinds)
    if "object" in kinds:
        return _object(schema, definitions, depth - 1) if depth else NOTHING
    return next(((True, value) for kind, value in _BY_KIND if kind in kinds), NOTHING)


def _object(schema: Mapping[str, Any], definitions: Mapping[str, Any], depth: int) -> Found:
    made: dict[str, Any] = {}
    for name in schema.get("required", ()):
        found, made[name] = _value(name, schema.get("properties", {}).get(name, {}), definitions, depth)
        if not found:
            return NOTHING
    return True, made


def _resolved(schema: Mapping[str, Any], definitions: Mapping[str, Any], depth: int = DEEPEST) -> Mapping[str, Any]:
    reference = schema.get("$ref")
    if isinstance(reference, str) and depth:
        return _resolved(definitions.get(reference.rpartition("/")[2], {}), definitions, depth - 1)
    parts = schema.get("allOf")
    return _resolved(parts[0], definitions, depth - 1) if parts and len(parts) == 1 and depth else schema


def _kinds(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> set[str]:
    """The JSON types that a schema admits, as far as it says so."""
    kinds: set[str] = set()
    for one in (schema, *schema.get("anyOf", ()), *schema.get("oneOf", ())):
        kind = _resolved(one, definitions).get("type", ())
        kinds.update([kind] if isinstance(kind, str) else kind)
    return kinds


def _fitted(value: Any, kinds: set[str]) -> Found:  # noqa: ANN401 - any JSON value
    """Bring a value that a name suggests into a type that the schema admits."""
    if isinstance(value, list):
        return (True, value) if not kinds or "array" in kinds else _fitted(value[0], kinds)
    if isinstance(value, int):
        if not kinds or kinds & {"integer", "number"}:
            return True, value if kinds else str(value)
        return ("string" in kinds), str(value)
    if not kinds or "string" in kinds:
        return True, value
    if "array" in kinds:
        return True, [value]
    return False, None
