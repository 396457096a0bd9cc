"""Submit records and submit requirements in Gerrit's JSON."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from mock_gerrit.changes import Change
from mock_gerrit.entities import SubmitRequirement
from mock_gerrit.plugins.api import SubmitVerdict
from mock_gerrit.plugins.contributions import submit_verdicts
from mock_gerrit.rest.formats import AccountInfo
from mock_gerrit.submittability import Verdict, holds, judge

if TYPE_CHECKING:
    from mock_gerrit.host import Host

_ATOM = re.compile(r"\b(?:AND|OR|NOT)\b|\(|\)|\s-|^-")


def submit_records(host: Host, change: Change, who: Callable[[int], AccountInfo]) -> list[dict[str, Any]]:
    """What Gerrit's default rule says: it asks for no label, so it only tells who voted highest."""
    if change.status == "ABANDONED":
        return []
    labels = []
    for name in host.labels(change.project):
        record: dict[str, Any] = {"label": name, "status": "MAY"}
        voters = [id_ for (own, id_), vote in change.votes.items() if own == name and vote.value]
        if voters:
            record["applied_by"] = who(min(voters))
        labels.append(record)
    status = "OK" if change.is_open else "CLOSED"
    own = {"rule_name": "gerrit~DefaultSubmitRule", "status": status, "labels": labels}
    return [own, *(_plugin_record(verdict) for _, verdict in submit_verdicts(host, change))]


def _plugin_record(verdict: SubmitVerdict) -> dict[str, Any]:
    record: dict[str, Any] = {"rule_name": verdict.rule, "status": verdict.status}
    shown = _shown(verdict)
    return {**record, "requirements": shown} if shown else record


def _shown(verdict: SubmitVerdict) -> list[dict[str, Any]]:
    if verdict.requirement is None:
        return []
    type_, text = verdict.requirement
    return [{"status": verdict.status, "fallback_text": text, "type": type_}]


def plugin_requirements(host: Host, change: Change) -> list[dict[str, Any]]:
    """What the submit rules of plugins ask for, in the old form that changes show without being asked."""
    return [shown for _, verdict in submit_verdicts(host, change) for shown in _shown(verdict)]


def submit_requirements(host: Host, change: Change) -> list[dict[str, Any]]:
    """Every requirement with its expressions and how each came out; those of plugins are marked as legacy."""
    own = [_requirement(host, change, verdict) for verdict in judge(host, change)]
    return own + [_legacy_requirement(verdict) for _, verdict in submit_verdicts(host, change)]


def _legacy_requirement(verdict: SubmitVerdict) -> dict[str, Any]:
    passes = verdict.status == "OK"
    return {
        "name": verdict.rule,
        "status": "SATISFIED" if passes else "UNSATISFIED",
        "is_legacy": True,
        "submittability_expression_result": {
            "expression": f"rule:{verdict.rule}",
            "fulfilled": passes,
            "status": "PASS" if passes else "FAIL",
            "passing_atoms": [verdict.rule] if passes else [],
            "failing_atoms": [] if passes else [verdict.rule],
            "atom_explanations": {},
        },
    }


def _requirement(host: Host, change: Change, verdict: Verdict) -> dict[str, Any]:
    requirement = verdict.requirement
    info: dict[str, Any] = {"name": requirement.name}
    if requirement.description:
        info["description"] = requirement.description
    info["status"] = verdict.status
    info["is_legacy"] = False
    applicable = verdict.status != "NOT_APPLICABLE"
    if requirement.applicable_if:
        info["applicability_expression_result"] = {"fulfilled": applicable, "status": "PASS" if applicable else "FAIL"}
    for field, expression in _other_expressions(requirement):
        result = _evaluated(host, change, expression) if applicable else _not_evaluated(expression)
        info[field] = result
    return info


def _other_expressions(requirement: SubmitRequirement) -> list[tuple[str, str]]:
    found = [("submittability_expression_result", requirement.submittable_if)]
    if requirement.override_if:
        found.append(("override_expression_result", requirement.override_if))
    return found


def _not_evaluated(expression: str) -> dict[str, Any]:
    return {
        "expression": expression,
        "fulfilled": True,
        "status": "NOT_EVALUATED",
        "passing_atoms": [],
        "failing_atoms": [],
        "atom_explanations": {},
    }


def _evaluated(host: Host, change: Change, expression: str) -> dict[str, Any]:
    fulfilled = bool(holds(host, change, expression))
    atoms = [atom.strip() for atom in _ATOM.split(expression) if atom.strip()]
    passing = [atom for atom in atoms if holds(host, change, atom)]
    return {
        "expression": expression,
        "fulfilled": fulfilled,
        "status": "PASS" if fulfilled else "FAIL",
        "passing_atoms": passing,
        "failing_atoms": [atom for atom in atoms if atom not in passing],
        "atom_explanations": dict.fromkeys(atoms, ""),
    }
