"""Whether a change may be submitted: submit requirements, evaluated as the queries they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from mock_gerrit.changes import Change
from mock_gerrit.entities import SubmitRequirement
from mock_gerrit.errors import GerritError
from mock_gerrit.plugins.contributions import submit_verdicts
from mock_gerrit.query import Search, parse

if TYPE_CHECKING:
    from mock_gerrit.host import Host

RequirementStatus = Literal["SATISFIED", "UNSATISFIED", "OVERRIDDEN", "NOT_APPLICABLE", "ERROR"]


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """How a change stands to one requirement."""

    requirement: SubmitRequirement
    status: RequirementStatus

    @property
    def lets_pass(self) -> bool:
        """Whether the requirement is no hindrance."""
        return self.status in {"SATISFIED", "OVERRIDDEN", "NOT_APPLICABLE"}


def holds(host: Host, change: Change, expression: str) -> bool | None:
    """Whether an expression is true of a change; None where it cannot be read."""
    try:
        return parse(Search(host=host, user=None), expression)(change)
    except GerritError:
        return None


def judge(host: Host, change: Change) -> list[Verdict]:
    """How a change stands to every requirement of its project."""
    return [
        Verdict(requirement=requirement, status=_status(host, change, requirement))
        for requirement in host.requirements(change.project).values()
    ]


def _status(host: Host, change: Change, requirement: SubmitRequirement) -> RequirementStatus:
    if requirement.applicable_if and not holds(host, change, requirement.applicable_if):
        return "NOT_APPLICABLE"
    if requirement.override_if and holds(host, change, requirement.override_if):
        return "OVERRIDDEN"
    fulfilled = holds(host, change, requirement.submittable_if)
    if fulfilled is None:
        return "ERROR"
    return "SATISFIED" if fulfilled else "UNSATISFIED"


def is_submittable(host: Host, change: Change) -> bool:
    """Whether nothing but the press of a button keeps the change from being merged."""
    by_core = change.is_open and all(verdict.lets_pass for verdict in judge(host, change))
    return by_core and all(verdict.status == "OK" for _, verdict in submit_verdicts(host, change))
