"""Known failures: those that the profile excuses by name, and those that an earlier certificate already had.

A baseline excuses no more than it knew: a clause that fails on further tools than in the baseline is a new failure. As
with a waiver, what does not fail any more is stale, so that a baseline can only become shorter.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import ValidationError

from conformance.outcomes import Outcome
from conformance.report.model import Certificate, ClauseRecord
from conformance.usage import UsageError


@dataclass(frozen=True, kw_only=True)
class Waivers:
    """What is excused on one subject, and why."""

    told: Mapping[str, str] = field(default_factory=dict)
    """The profile's reasons by clause id."""
    baseline: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """The tools on which each clause failed in the baseline; empty for a clause about the whole subject."""
    name: str = ""
    """What the baseline is called in reports."""

    def in_force(self, records: Iterable[ClauseRecord]) -> dict[str, str]:
        """Give the reason for each clause that is excused, in view of what came of it."""
        known = {one.id: self._known(one) for one in records if one.id in self.baseline}
        return {**{clause_id: reason for clause_id, reason in known.items() if reason}, **self.told}

    def _known(self, record: ClauseRecord) -> str:
        tools = self.baseline[record.id]
        if record.seen is Outcome.FAIL and _tools(record) - tools:
            return ""
        where = f" on {', '.join(sorted(tools))}" if tools else ""
        return f"it failed{where} in the baseline {self.name}; renew the baseline when this is mended"


def _tools(record: ClauseRecord) -> frozenset[str]:
    return frozenset(one.tool for one in record.findings if one.tool)


def read_baseline(path: Path, *, kind: str, name: str) -> Mapping[str, frozenset[str]]:
    """Read the failures of an earlier certificate of the same subject.

    Raises:
        UsageError: there is no such file, it is no certificate, or it is that of another subject.
    """
    remedy = "name the certificate.json of an earlier run (--conformance-report writes one)"
    if not path.is_file():
        raise UsageError(f"there is no baseline {path}", "", remedy)
    try:
        earlier = Certificate.model_validate_json(path.read_bytes())
    except ValidationError as problem:
        first = problem.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "the file"
        raise UsageError(f"{path} is no certificate", f"{where}: {first['msg']}", remedy) from None
    if (earlier.subject.kind, earlier.subject.name) != (kind, name):
        raise UsageError(
            f"{path} is the certificate of another subject",
            f"it is about {earlier.subject.kind} {earlier.subject.name}, not {kind} {name}",
            remedy,
        )
    return {one.id: _tools(one) for one in earlier.clauses if one.seen is Outcome.FAIL}
