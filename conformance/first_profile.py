"""A first profile for a subject, written by looking at its tools: `gerrit-conformance profile TARGET`.

What the suite can tell by itself stands in comments, as the arguments that it would use; what only the owner can know
stands there to be filled in.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tomli_w import dumps

from conformance.contracts.registry import catalogue
from conformance.examine import Examination
from conformance.profile import PLACEHOLDER
from conformance.rig.samples import UnknownArguments, sample_arguments
from conformance.rig.slots import definitions_of
from conformance.rig.trial import Call
from conformance.rig.wanted import wanted

OWN_TABLE = "tool.gerrit-conformance"


async def first_profile(examination: Examination) -> str:
    """Write a profile for the subject of an open examination, as TOML with comments.

    Raises:
        Blocked: nothing can be seen of the subject on this interpreter, or on this host.
    """
    observed = examination.observed
    survey = await observed.survey()
    tools = await observed.tools()
    parts = [_head(examination)]
    names = list(dict.fromkeys(str(about["name"]) for about in survey.told("extension_config")))
    calls = (await observed.plain()).calls if tools else {}
    parts.append("\n".join(_extension(names, sorted({one for call in calls.values() for one in call.refused}))))
    parts += ["\n".join(_tool(tool, calls.get((str(tool["name"]), "")))) for tool in tools]
    parts += await _canned(examination)
    return "\n\n".join(part for part in parts if part) + "\n"


def _head(examination: Examination) -> str:
    return (
        f"# What the suite should know about {examination.subject.name}.\n"
        "# It belongs into pyproject.toml, or into a file of its own (--conformance-profile=FILE).\n"
        f'# Fill in every "{PLACEHOLDER}"; what is in comments the suite tells by itself, and may be removed.'
    )


def _extension(config_names: list[str], refused: list[str]) -> Iterator[str]:
    yield f"[{OWN_TABLE}.extension]"
    if config_names:
        yield f"# the block of settings that it asks for{_others(config_names)}"
        yield f"config_name = {_value(config_names[0])}"
        yield "# settings with which it works, for example: config = { option = 1 }"
        yield "# options without which register may raise: required_options = []"
    else:
        yield "# it asked for no block of settings"
    if refused:
        yield "# these were asked for, and are no Gerrit hosts; keep those that are meant to be contacted"
        yield f"third_party_hosts = {_value(sorted({one.partition(':')[0] for one in refused}))}"


def _others(names: list[str]) -> str:
    return f" (and also for {', '.join(names[1:])})" if names[1:] else ""


def _tool(tool: Mapping[str, Any], call: Call | None) -> Iterator[str]:
    name = str(tool["name"])
    try:
        arguments, known = sample_arguments(tool, None), True
    except UnknownArguments as unknown:
        arguments, known = dict(unknown.arguments), False
    lead = "# " if known and _went_well(call) else ""
    if known:
        yield f"# {name}: {_what_came(call)}"
    else:
        yield f"# {name}: only you can tell what these should be"
        yield from (f"#   {line}" for line in _unknown_parameters(tool, arguments))
    yield f"{lead}[{OWN_TABLE}.tools.{_key(name)}]"
    yield f"{lead}arguments = {_inline({key: value for key, value in arguments.items() if value is not None})}"


def _went_well(call: Call | None) -> bool:
    return call is not None and call.succeeded


def _what_came(call: Call | None) -> str:
    if call is None:
        return "it was not called"
    return "it answers with what the suite chose" if call.succeeded else f"with these it gave {call.saw()}"


def _unknown_parameters(tool: Mapping[str, Any], arguments: Mapping[str, Any]) -> Iterator[str]:
    properties = (tool.get("inputSchema") or {}).get("properties", {})
    for name, value in arguments.items():
        if value == PLACEHOLDER:
            schema = properties.get(name, {})
            told = [wanted(schema, definitions_of(tool)), str(schema.get("description") or "")]
            yield f"{name}: {'; '.join(one for one in told if one) or 'of unknown type'}".replace("\n", " ")


async def _canned(examination: Examination) -> list[str]:
    """Give the stanza of every answer that the simulated Gerrit lacks, as TOOL-WORKS would ask for it."""
    judged = await examination.judge(catalogue()["TOOL-WORKS"])
    stanzas = dict.fromkeys(line for line in judged.supply.split("\n\n") if line.startswith("[[") and "canned" in line)
    return [f"# what its plugin answers, as the simulated Gerrit does not know it\n{one}" for one in stanzas]


def _value(value: object) -> str:
    """Write a value as it stands behind an equals sign; dicts become inline tables."""
    if isinstance(value, Mapping):
        return _inline(value)
    if isinstance(value, list):
        return f"[{', '.join(_value(one) for one in value)}]"
    return dumps({"x": value}).partition("=")[2].strip()


def _inline(table: Mapping[str, Any]) -> str:
    parts = [f"{_key(key)} = {_value(value)}" for key, value in table.items()]
    return f"{{ {', '.join(parts)} }}" if parts else "{}"


def _key(key: str) -> str:
    return dumps({key: 0}).partition(" = ")[0]
