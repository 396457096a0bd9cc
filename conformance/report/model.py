"""The one model behind every report: what certificate.json holds, field by field.

Later versions only add fields; readers ignore what they do not know.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from conformance.contracts.registry import Clause
from conformance.outcomes import Finding, Judgement, Level, Outcome
from conformance.verdict import Verdict

SCHEMA_VERSION = 1
SCHEMA_FILE = Path(__file__).with_name("certificate.schema.json")
NOT_RUN: Literal["not_run"] = "not_run"


class Record(BaseModel):
    """A part of the certificate: cannot be changed, unknown fields of later versions are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore", populate_by_name=True)


class EvidenceRecord(Record):
    """One quotation."""

    kind: str
    """What is quoted, for example `request`, `reply`, `log`, `stdout`."""
    text: str


class FindingRecord(Record):
    """One way in which the subject breaks the clause."""

    tool: str | None = None
    expected: str
    saw: str
    evidence: tuple[EvidenceRecord, ...] = ()
    hint: str | None = None


class ClauseRecord(Record):
    """One planned clause and what came of it."""

    id: str
    family: str
    level: Level
    outcome: Outcome | Literal["not_run"]
    findings: tuple[FindingRecord, ...] = ()
    source: str
    seconds: float = 0.0
    summary: str = ""
    fix: str = ""
    example: str = ""
    """A few lines of code that keep the clause."""
    reason: str = ""
    """Why it is blocked, inconclusive, not applicable or was not run."""
    supply: str = ""
    """What would settle an inconclusive clause."""
    blocked_by: str = ""
    per_tool: dict[str, Outcome] = Field(default_factory=dict)

    @property
    def seen(self) -> Outcome | None:
        """The outcome, or None if the clause was not run."""
        return self.outcome if isinstance(self.outcome, Outcome) else None


class SubjectRecord(Record):
    """What was judged."""

    kind: str
    name: str
    version: str | None = None
    sha256: str | None = None
    """Over the sorted list of relative path, mode and file hash."""


class HostRecord(Record):
    """The server on which an extension was loaded."""

    kind: str
    """`reference`, `installed`, `factory` or `command`."""
    name: str
    version: str | None = None


class SdkRecord(Record):
    """The MCP SDK of that server."""

    name: str
    version: str | None = None


class CatalogueRecord(Record):
    """Which clauses were meant to run."""

    version: str
    planned_sha256: str


class Counts(Record):
    """How many clauses were planned, run, and came to each outcome."""

    planned: int
    run: int
    passed: Annotated[int, Field(alias="pass")] = 0
    fail: int = 0
    blocked: int = 0
    inconclusive: int = 0
    not_applicable: int = 0
    not_run: int = 0


class MeasurementRecord(Record):
    """A table of figures that a clause has taken; it is told whatever the outcome."""

    clause: str
    title: str
    columns: tuple[str, ...]
    """What each column holds, with its unit; the first is what was varied."""
    rows: tuple[tuple[float, ...], ...]


class Certificate(Record):
    """What one run says of one subject."""

    schema_version: int = SCHEMA_VERSION
    subject: SubjectRecord
    host: HostRecord
    sdk: SdkRecord
    python: str
    platform: str
    containment: dict[str, bool]
    """Each means of containment, and whether it was in force."""
    catalogue: CatalogueRecord
    counts: Counts
    verdict: Verdict
    strict: bool
    waivers: dict[str, str]
    """Known failures: clause id and the reason why each is accepted."""
    stale_waivers: tuple[str, ...] = ()
    """Waivers of clauses that do not fail any more; they fail the run."""
    clauses: tuple[ClauseRecord, ...]
    trials: int = 0
    gerrit_calls: int = 0
    seconds: float = 0.0
    measurements: tuple[MeasurementRecord, ...] = ()
    remarks: tuple[str, ...] = ()
    """What a reader has to know about the run itself: that it was interrupted, or lost a worker."""


def record_of(clause: Clause, judgement: Judgement) -> ClauseRecord:
    """Make the record of a clause that was run."""
    return ClauseRecord(
        **_facts(clause),
        outcome=judgement.outcome,
        findings=tuple(_finding(one) for one in judgement.findings),
        seconds=round(judgement.seconds, 3),
        reason=_encodable(judgement.reason),
        supply=_encodable(judgement.supply),
        blocked_by=judgement.blocked_by,
        per_tool={_encodable(tool): outcome for tool, outcome in judgement.per_tool.items()},
    )


def record_not_run(clause: Clause, reason: str) -> ClauseRecord:
    """Make the record of a clause that was planned and not run."""
    return ClauseRecord(**_facts(clause), outcome=NOT_RUN, reason=reason)


def count(records: Iterable[ClauseRecord]) -> Counts:
    """Count the planned records by outcome."""
    outcomes = [str(one.outcome) for one in records]
    tally: dict[str, int] = {word: outcomes.count(word) for word in (*(str(o) for o in Outcome), NOT_RUN)}
    return Counts.model_validate({"planned": len(outcomes), "run": len(outcomes) - tally[NOT_RUN], **tally})


def schema_text() -> str:
    """Give the JSON Schema of certificate.json as it is shipped beside this module."""
    schema: Mapping[str, Any] = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **Certificate.model_json_schema(mode="serialization"),
    }
    return json.dumps(schema, indent=2, sort_keys=True) + "\n"


def _facts(clause: Clause) -> dict[str, Any]:
    return {
        "id": clause.id,
        "family": clause.family,
        "level": clause.level,
        "source": str(clause.source),
        "summary": clause.summary,
        "fix": clause.fix,
        "example": clause.example,
    }


def _finding(finding: Finding) -> FindingRecord:
    return FindingRecord(
        tool=_encodable(finding.tool) if finding.tool is not None else None,
        expected=_encodable(finding.expected),
        saw=_encodable(finding.saw),
        evidence=tuple(EvidenceRecord(kind=one.kind, text=_encodable(one.text)) for one in finding.evidence),
        hint=_encodable(finding.hint) if finding.hint is not None else None,
    )


def _encodable(text: str) -> str:
    """Write lone surrogates out: a subject can send them in JSON, and no report can be encoded with them."""
    return text.encode("utf-8", "backslashreplace").decode()


if __name__ == "__main__":
    SCHEMA_FILE.write_text(schema_text(), encoding="utf-8")
