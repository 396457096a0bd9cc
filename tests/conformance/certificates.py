"""Certificates and clauses made up for tests of reports."""

from conformance.outcomes import Level, Outcome
from conformance.report.certificate import issue
from conformance.report.model import Certificate, ClauseRecord, EvidenceRecord, FindingRecord

ABOUT = {
    "subject": {"kind": "module", "name": "my_ext", "version": "1.2", "sha256": "ab" * 32},
    "host": {"kind": "reference", "name": "gerrit-mcp-reference", "version": "0.1"},
    "sdk": {"name": "mcp", "version": "1.30.0"},
    "python": "3.11.7",
    "platform": "linux-x86_64",
    "containment": {"pid_namespace": True, "network_namespace": False, "guardian": True},
    "trials": 3,
    "gerrit_calls": 7,
    "seconds": 1.25,
}


def record(
    clause_id: str = "ROUTE-NAMES", outcome: str = "pass", level: Level = Level.MUST, **facts: object
) -> ClauseRecord:
    return ClauseRecord.model_validate(
        {
            "id": clause_id,
            "family": clause_id.partition("-")[0],
            "level": level,
            "outcome": outcome,
            "source": "guide",
            "fix": "Let it raise.",
            **facts,
        }
    )


def broken(clause_id: str = "ROUTE-NAMES", level: Level = Level.MUST, *findings: FindingRecord) -> ClauseRecord:
    return record(clause_id, Outcome.FAIL, level, findings=findings or (finding("get_a"), finding("get_b")))


def finding(tool: str | None = None, **facts: object) -> FindingRecord:
    proof = (EvidenceRecord(kind="reply", text='{"isError": false}'),)
    told = {"expected": "an error", "saw": "isError=false", "evidence": proof, **facts}
    return FindingRecord.model_validate({"tool": tool, **told})


def certificate(
    *records: ClauseRecord, strict: bool = False, remarks: tuple[str, ...] = (), **waivers: str
) -> Certificate:
    """Issue one; `ROUTE_NAMES="known"` waives ROUTE-NAMES."""
    reasons = {name.replace("_", "-"): reason for name, reason in waivers.items()}
    return issue(about=ABOUT, records=records, waivers=reasons, strict=strict, remarks=remarks)
