"""What comes in during a run: a record a clause, facts about the surroundings, and what went wrong with the run."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from conformance.collection import RECORD_PROPERTY
from conformance.options import NODE_ROOT, is_clause_id
from conformance.plan import Plan
from conformance.report.certificate import decision_of, issue
from conformance.report.model import Certificate, ClauseRecord, record_not_run
from conformance.verdict import ExitCode, worst_exit_code
from conformance.workbench import merged


class Gathering:
    """Collects reports from this process or from xdist workers, and draws up the certificates at the end."""

    def __init__(self, plans: Sequence[Plan], *, strict: bool) -> None:
        """Start with every planned clause not run."""
        self._plans = plans
        self._strict = strict
        self._records: dict[str, dict[str, ClauseRecord]] = {plan.slug: {} for plan in plans}
        self._abouts: dict[str, list[dict[str, Any]]] = {plan.slug: [] for plan in plans}
        self._lost: dict[str, str] = {}
        self._remarks: list[str] = []
        self._other_failures = False
        self._interrupted = False

    @property
    def planned(self) -> int:
        """How many clauses are planned, over all subjects."""
        return sum(len(plan.clauses) for plan in self._plans)

    @property
    def judged(self) -> int:
        """How many records have come in."""
        return sum(len(records) for records in self._records.values())

    def take_report(self, report: pytest.TestReport) -> None:
        """Keep the record that a clause's report carries; remember failures that are no finding."""
        if not is_clause_id(report.nodeid):
            self._other_failures = self._other_failures or report.failed
            return
        carried = dict(report.user_properties).get(RECORD_PROPERTY) if report.when == "call" else None
        if carried is not None:
            crossing = json.loads(str(carried))
            record = ClauseRecord.model_validate(crossing["record"])
            self._records[crossing["slug"]][record.id] = record
        elif report.failed:
            self._lost[report.nodeid] = _last_line(report.longreprtext)

    def take_abouts(self, abouts: Mapping[str, dict[str, Any]]) -> None:
        """Keep what a process tells about the surroundings of its examinations, by slug."""
        for slug, about in abouts.items():
            self._abouts[slug].append(about)

    def lose_worker(self, name: str, error: str) -> None:
        """Say in every report that a worker of xdist was lost."""
        self._remarks.append(f"worker {name} was lost: {_last_line(error)}")

    def interrupt(self) -> None:
        """Say in every report that it is partial."""
        self._interrupted = True
        self._remarks.append("the run was interrupted: this report is partial")

    def certificates(self) -> list[tuple[str, Certificate]]:
        """Draw up the certificate of each subject, with its slug."""
        return [(plan.slug, self._certificate(plan)) for plan in self._plans]

    def exit_status(self, status: int, certificates: Sequence[tuple[str, Certificate]]) -> int:
        """Join pytest's exit status with the verdicts; Ctrl-C, pytest's own errors and other tests' failures win."""
        if self._interrupted or self._other_failures or status > ExitCode.INTERRUPTED:
            return status
        worst = worst_exit_code(decision_of(certificate).exit_code for _, certificate in certificates)
        return status if worst is ExitCode.CERTIFIED else worst

    def _certificate(self, plan: Plan) -> Certificate:
        known = self._records[plan.slug]
        records = [known.get(one.id) or record_not_run(one, self._why_not(plan, one.id)) for one in plan.clauses]
        return issue(
            about={"subject": _identity(plan), **merged(self._abouts[plan.slug])},
            records=records,
            waivers=plan.waivers.in_force(records),
            strict=self._strict,
            remarks=self._remarks,
        )

    def _why_not(self, plan: Plan, clause_id: str) -> str:
        lost = self._lost.get(f"{NODE_ROOT}::{plan.slug}::{clause_id}")
        if lost:
            return lost
        return "the run was interrupted" if self._interrupted else "it was not selected, or the run stopped before it"


def _identity(plan: Plan) -> dict[str, Any]:
    """Tell what can be told of a subject that no process has examined."""
    subject = plan.subject
    return {"kind": subject.kind, "name": subject.name, "version": subject.version, "sha256": subject.sha256()}


def _last_line(text: str) -> str:
    return text.strip().rpartition("\n")[2].strip()
