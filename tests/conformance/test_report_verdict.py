"""The verdict, from the outcomes alone."""

from itertools import product

import pytest

from conformance.outcomes import Level, Outcome
from conformance.verdict import ExitCode, Verdict, decide, worst_exit_code

from .certificates import record

OPEN = ("inconclusive", "blocked", "not_run")
EVERY = (*(str(one) for one in Outcome), "not_run")


def verdict(*records: object, strict: bool = False, **waivers: str) -> Verdict:
    reasons = {name.replace("_", "-"): reason for name, reason in waivers.items()}
    return decide(records, waivers=reasons, strict=strict).verdict


def test_nothing_planned_is_never_certified() -> None:
    assert verdict() is Verdict.INCOMPLETE


@pytest.mark.parametrize("outcome", ["pass", "not_applicable"])
def test_kept_and_not_claimed_clauses_are_certified(outcome: str) -> None:
    assert verdict(record(outcome=outcome)) is Verdict.CERTIFIED


@pytest.mark.parametrize("outcome", OPEN)
def test_an_undecided_must_is_incomplete_and_an_undecided_should_only_if_strict(outcome: str) -> None:
    assert verdict(record(outcome=outcome)) is Verdict.INCOMPLETE
    assert verdict(record(outcome=outcome, level=Level.SHOULD)) is Verdict.CERTIFIED
    assert verdict(record(outcome=outcome, level=Level.SHOULD), strict=True) is Verdict.INCOMPLETE


def test_a_broken_should_fails_only_if_strict_and_a_broken_may_never() -> None:
    assert verdict(record(outcome="fail", level=Level.SHOULD)) is Verdict.CERTIFIED
    assert verdict(record(outcome="fail", level=Level.SHOULD), strict=True) is Verdict.FAILED
    assert verdict(record(outcome="fail", level=Level.MAY), strict=True) is Verdict.CERTIFIED


def test_a_failure_outweighs_what_is_open() -> None:
    assert verdict(record("A-1", "fail"), record("A-2", "blocked")) is Verdict.FAILED


def test_a_known_failure_is_waived_and_what_is_open_outweighs_it() -> None:
    assert verdict(record("A-1", "fail"), A_1="known") is Verdict.WAIVED
    assert verdict(record("A-1", "fail"), record("A-2", "blocked"), A_1="known") is Verdict.INCOMPLETE


@pytest.mark.parametrize("outcome", ["pass", "not_applicable"])
def test_a_stale_waiver_fails(outcome: str) -> None:
    assert verdict(record("A-1", outcome), A_1="known") is Verdict.FAILED


@pytest.mark.parametrize("outcome", OPEN)
def test_a_waiver_excuses_failures_and_nothing_else(outcome: str) -> None:
    assert verdict(record("A-1", outcome), A_1="known") is Verdict.INCOMPLETE


@pytest.mark.parametrize(("outcome", "level", "strict"), list(product(EVERY, Level, [False, True])))
def test_certified_means_that_each_binding_clause_was_run_and_kept(outcome: str, level: Level, strict: bool) -> None:
    binding = level is Level.MUST or (strict and level is Level.SHOULD)
    kept = outcome in {"pass", "not_applicable"}
    certified = verdict(record("A-1"), record("A-2", outcome, level), strict=strict) is Verdict.CERTIFIED
    assert certified == (kept or not binding)


def test_the_worst_of_several_subjects_decides_the_exit_code() -> None:
    assert worst_exit_code([ExitCode.CERTIFIED, ExitCode.INCOMPLETE, ExitCode.FAILED]) is ExitCode.FAILED
    assert worst_exit_code([ExitCode.CERTIFIED, ExitCode.INCOMPLETE]) == 6
    assert worst_exit_code([]) == 0
