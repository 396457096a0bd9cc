"""The fields of certificate.json, from the JSON Schema that is shipped."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from _parts.errors import NotTold
from _parts.markdown import code, table
from _parts.words import as_phrase, beside_fields, one_line
from conformance.outcomes import Outcome
from conformance.report import model

_MORE: dict[str, dict[str, str]] = {
    "Certificate": {
        "schema_version": "rises when a reader has to know; later versions only add fields",
        "python": "the version of the interpreter",
        "platform": "operating system and processor",
        "verdict": "see above",
        "strict": "whether SHOULD was binding",
        "clauses": "one record for each planned clause, run or not",
        "trials": "how often the extension was started",
        "gerrit_calls": "how many requests the simulated hosts got",
        "seconds": "how long the examination took",
        "measurements": "tables of figures that clauses have taken",
    },
    "CatalogueRecord": {
        "version": "rises when a clause is added, or demands something else",
        "planned_sha256": "SHA-256 over the version and the sorted ids of the planned clauses",
    },
    "ClauseRecord": {
        "id": "as in `gerrit-conformance list`",
        "family": "the first word of the id",
        "findings": "one for each way in which it is broken; empty for every outcome but `fail`",
        "source": "the document and section that ask for it",
        "seconds": "how long judging took",
        "summary": "the contract in one sentence",
        "outcome": "see above",
        "fix": "what to do about it",
        "blocked_by": "for `blocked`: the clause, or `host`, `sdk`, `python`",
        "per_tool": "the outcome for each tool, where tools are judged one by one",
    },
    "Counts": {
        "planned": "all clauses",
        "run": "those that came to an outcome",
        **dict.fromkeys((*Outcome, model.NOT_RUN), "those with this outcome"),
    },
    "EvidenceRecord": {"text": "the quotation; credentials are masked"},
    "FindingRecord": {
        "tool": "the tool at fault, where it is one tool's",
        "expected": "what the contract asks for",
        "saw": "what was seen",
        "evidence": "quotations, the most telling one first",
        "hint": "a fix for this very case, where there is one",
    },
    "HostRecord": {"name": "its name", "version": "its version"},
    "MeasurementRecord": {
        "clause": "which took them",
        "title": "what was measured",
        "rows": "the figures, in the order of the columns",
    },
    "SdkRecord": {"name": "its name", "version": "its version"},
    "SubjectRecord": {
        "kind": "`module`, `distribution` or `server`",
        "name": "of the module, the distribution, or the program",
        "version": "of the distribution",
    },
}


def fields(_: str) -> str:
    """Render the fields of the certificate and of all parts of it."""
    schema = json.loads(model.SCHEMA_FILE.read_text(encoding="utf-8"))
    parts = {"Certificate": schema, **{name: one for name, one in schema["$defs"].items() if "properties" in one}}
    return "\n\n".join(_section(name, part, schema["$defs"]) for name, part in parts.items())


def _section(name: str, part: Mapping[str, Any], definitions: Mapping[str, Any]) -> str:
    fields = part["properties"]
    words = {field: as_phrase(_target(one, definitions).get("description", "")) for field, one in fields.items()}
    words |= beside_fields(getattr(model, name)) | _MORE.get(name, {})
    if words.keys() != fields.keys() or not all(words.values()):
        odd = [*(words.keys() ^ fields.keys()), *(field for field, text in words.items() if not text)]
        raise NotTold(f"{name}: fields and words differ in {', '.join(odd)}: see docs/_parts/certificate.py")
    required = part["required"]
    rows = [
        (code(field), _kind(one, definitions), "yes" if field in required else "", words[field])
        for field, one in fields.items()
    ]
    title = "certificate.json" if name == "Certificate" else name
    keys = table(("field", "type", "required", "meaning"), rows)
    return f"#### {title}\n\n{one_line(part['description'])}\n\n{keys}"


def _target(one: Mapping[str, Any], definitions: Mapping[str, Any]) -> Mapping[str, Any]:
    found: Mapping[str, Any] = definitions[one["$ref"].rpartition("/")[2]] if "$ref" in one else one
    return found


def _kind(one: Mapping[str, Any], definitions: Mapping[str, Any]) -> str:
    """Name a type: JSON's own word, the part of that name, or the words that there are."""
    target = _target(one, definitions)
    if "anyOf" in one:
        return " or ".join(_kind(choice, definitions) for choice in one["anyOf"])
    if "const" in one or "enum" in target:
        return ", ".join(code(str(word)) for word in target.get("enum", [one.get("const")]))
    if "items" in one:
        return f"list of {_kind(one['items'], definitions)}"
    if isinstance(one.get("additionalProperties"), dict):
        return f"object of {_kind(one['additionalProperties'], definitions)}"
    return str(target["title"] if target is not one else one["type"])
