"""Clauses as pytest items: `conformance::SLUG::CLAUSE`, one for each clause of each subject."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from conformance.contracts.registry import Clause
from conformance.options import NODE_ROOT
from conformance.outcomes import Outcome
from conformance.plan import Plan
from conformance.report.model import ClauseRecord, record_of
from conformance.report.words import PytestWord, block, one_line, pytest_word
from conformance.shown import Shown
from conformance.usage import USAGE_EXIT_CODE, UsageError, did_you_mean, nearest
from conformance.workbench import Workbench

RECORD_PROPERTY = "conformance_record"
"""The user property in which a judgement crosses from an xdist worker to the controller."""


class ConformanceWarning(UserWarning):
    """A clause that is not binding is not kept."""


class BrokenClause(Exception):  # noqa: N818 - not an error of ours, a finding about the subject
    """Ends the item of a clause that fails; what is shown is rendered from the record."""


class SubjectNode(pytest.Collector):
    """The collector of one subject's clauses.

    Its name is empty: `-k` looks at the names of all parents, and `-k task` must not select every clause of `task`.
    """

    @classmethod
    def of(cls, plan: Plan, *, session: pytest.Session) -> SubjectNode:
        """Make the node that stands for the plan's subject."""
        node: SubjectNode = cls.from_parent(
            session, name="", nodeid=f"{NODE_ROOT}::{plan.slug}", path=session.config.rootpath / NODE_ROOT
        )
        node.plan = plan
        return node

    plan: Plan

    def collect(self) -> Iterator[pytest.Item]:
        """Items are made by `clause_items`; nothing is left to collect."""
        return iter(())

    def __repr__(self) -> str:
        """Show the subject in `--collect-only`."""
        return f"<Subject {self.plan.slug}>"


class ClauseItem(pytest.Item):
    """One clause of one subject."""

    def __init__(self, *, clause: Clause, plan: Plan, workbench: Workbench, strict: bool, **node: Any) -> None:  # noqa: ANN401 - pytest's own
        """Keep what the item needs to judge its clause."""
        super().__init__(**node)
        self.clause = clause
        self.plan = plan
        self._workbench = workbench
        self._strict = strict

    def runtest(self) -> None:
        """Judge the clause and end as pytest's word for the outcome demands."""
        try:
            record = record_of(self.clause, self._workbench.judge(self.plan, self.clause))
        except UsageError as problem:
            pytest.exit(str(problem), returncode=USAGE_EXIT_CODE)
        crossing = {"slug": self.plan.slug, "record": record.model_dump(mode="json")}
        self.user_properties += [
            ("conformance_level", str(record.level)),
            ("conformance_outcome", str(record.outcome)),
            (RECORD_PROPERTY, json.dumps(crossing)),
        ]
        self._end_as(record)

    def _end_as(self, record: ClauseRecord) -> None:
        waivers = self.plan.waivers.in_force([record])
        told = one_line(record, waivers=waivers)
        word = pytest_word(record, waivers=waivers, strict=self._strict)
        if word is PytestWord.FAILED:
            broken = record.outcome is Outcome.FAIL
            raise BrokenClause("\n".join(block(record, self.plan.subject.name)) if broken else told)
        if word is PytestWord.SKIPPED:
            raise pytest.skip.Exception(told, _use_item_location=True)
        if word is PytestWord.XFAILED:
            pytest.xfail(told)
        if record.outcome is Outcome.FAIL:
            self._warn(f"{record.id} ({record.level.upper()}): {told}")

    def _warn(self, text: str) -> None:
        """Warn in spite of `-W error`: a finding that is not binding passes, whatever the filters of the project."""
        with warnings.catch_warnings():
            warnings.simplefilter("always", ConformanceWarning)
            self.warn(ConformanceWarning(text))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:  # noqa: ANN401 - pytest's own
        """Show the finding where there is one; anything else is a defect of the suite and keeps its traceback."""
        if isinstance(excinfo.value, BrokenClause):
            return Shown(str(excinfo.value))
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Give the place that pytest shows: no file, as a clause belongs to none of the project's."""
        return self.path, 0, self.name


def clause_items(
    plans: Sequence[Plan], *, session: pytest.Session, workbench: Workbench, chosen: Sequence[str], strict: bool
) -> list[ClauseItem]:
    """Make the items of a run.

    Args:
        plans: the subjects and their clauses.
        session: pytest's session, the parent of all.
        workbench: what judges.
        chosen: node ids from the command line, of single clauses or of whole subjects; none means all.
        strict: whether SHOULD is binding.

    Raises:
        UsageError: if a chosen node id fits nothing; the nearest right one is named.
    """
    items: list[ClauseItem] = []
    for plan in plans:
        node = SubjectNode.of(plan, session=session)
        items += [
            ClauseItem.from_parent(node, name=clause.id, clause=clause, plan=plan, workbench=workbench, strict=strict)
            for clause in plan.clauses
        ]
    kept = _choose(items, chosen) if chosen else items
    session.ihook.pytest_collectreport(report=pytest.CollectReport(NODE_ROOT, "passed", None, list(kept)))
    return kept


def _choose(items: Sequence[ClauseItem], chosen: Sequence[str]) -> list[ClauseItem]:
    known = [item.nodeid for item in items]
    for wanted in chosen:
        if not any(_is_within(nodeid, wanted) for nodeid in known):
            raise UsageError(f"{wanted} is no clause of this run", "", _nearest_id(wanted, known))
    return [item for item in items if any(_is_within(item.nodeid, wanted) for wanted in chosen)]


def _nearest_id(wanted: str, known: Sequence[str]) -> str:
    """Compare within the subject that was written, if there is one of that name: the common beginning says nothing."""
    subject, _, last = wanted.rpartition("::")
    siblings = {nodeid.rpartition("::")[2]: nodeid for nodeid in known if nodeid.startswith(f"{subject}::")}
    if close := nearest(last, siblings):
        return f"did you mean {siblings[close]}?"
    return did_you_mean(wanted, dict.fromkeys(nodeid.rpartition("::")[0] for nodeid in known))


def _is_within(nodeid: str, wanted: str) -> bool:
    return nodeid == wanted or nodeid.startswith(f"{wanted.rstrip(':')}::")
