"""From the outcomes of the clauses to the one word of the certificate, and to the exit code.

No pytest and no files here. A clause that was planned and has no outcome was not run, and that is never green.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from typing import Protocol

from conformance.outcomes import Level, Outcome


class Verdict(StrEnum):
    """What a run says of a subject, from best to worst."""

    CERTIFIED = "certified"
    WAIVED = "waived"
    INCOMPLETE = "incomplete"
    FAILED = "failed"


class ExitCode(IntEnum):
    """The exit codes of `pytest --conformance` and of `gerrit-conformance`; pytest owns 0 to 5."""

    CERTIFIED = 0
    FAILED = 1
    INTERRUPTED = 2
    USAGE = 4
    NOTHING_RUN = 5
    INCOMPLETE = 6


class Judged(Protocol):
    """One planned clause with what came of it."""

    @property
    def id(self) -> str:
        """The clause's id."""

    @property
    def level(self) -> Level:
        """How binding it is."""

    @property
    def seen(self) -> Outcome | None:
        """Its outcome, or None if it was not run."""


@dataclass(frozen=True, kw_only=True)
class Decision:
    """The verdict together with the clauses that made it; each tuple in the order of the catalogue."""

    verdict: Verdict
    failed: tuple[str, ...]
    """Binding clauses that FAILed without a waiver."""
    open: tuple[str, ...]
    """Binding clauses that are INCONCLUSIVE, BLOCKED or were not run."""
    waived: tuple[str, ...]
    """Clauses that FAILed as their waiver said."""
    stale: tuple[str, ...]
    """Waivers of clauses that do not fail any more."""

    @property
    def exit_code(self) -> ExitCode:
        """The exit code that goes with the verdict."""
        return EXIT_CODES[self.verdict]


EXIT_CODES: Mapping[Verdict, ExitCode] = {
    Verdict.CERTIFIED: ExitCode.CERTIFIED,
    Verdict.WAIVED: ExitCode.CERTIFIED,
    Verdict.INCOMPLETE: ExitCode.INCOMPLETE,
    Verdict.FAILED: ExitCode.FAILED,
}

_UNDECIDED = (None, Outcome.INCONCLUSIVE, Outcome.BLOCKED)


def is_binding(level: Level, *, strict: bool) -> bool:
    """Tell whether a clause of this level can fail a subject; `strict` makes SHOULD binding, nothing makes MAY so."""
    return level is Level.MUST or (strict and level is Level.SHOULD)


def is_stale(outcome: Outcome | None) -> bool:
    """Tell whether a waiver of a clause with this outcome excuses a failure that is no longer there."""
    return outcome in {Outcome.PASS, Outcome.NOT_APPLICABLE}


def decide(planned: Iterable[Judged], *, waivers: Mapping[str, str], strict: bool) -> Decision:
    """Give the verdict on one subject.

    Args:
        planned: every clause that was meant to run, run or not; an empty plan is incomplete, never certified.
        waivers: the reason of each known failure by clause id.
        strict: whether SHOULD counts like MUST.
    """
    clauses = list(planned)
    waived = tuple(one.id for one in clauses if one.seen is Outcome.FAIL and one.id in waivers)
    stale = tuple(one.id for one in clauses if one.id in waivers and is_stale(one.seen))
    binding = [one for one in clauses if is_binding(one.level, strict=strict)]
    failed = tuple(one.id for one in binding if one.seen is Outcome.FAIL and one.id not in waivers)
    undecided = tuple(one.id for one in binding if one.seen in _UNDECIDED)
    if failed or stale:
        verdict = Verdict.FAILED
    elif undecided or not clauses:
        verdict = Verdict.INCOMPLETE
    else:
        verdict = Verdict.WAIVED if waived else Verdict.CERTIFIED
    return Decision(verdict=verdict, failed=failed, open=undecided, waived=waived, stale=stale)


def worst_exit_code(codes: Iterable[ExitCode]) -> ExitCode:
    """Give the exit code for several subjects: a failure first, then an incomplete one, else 0."""
    seen = set(codes)
    order = (ExitCode.FAILED, ExitCode.INCOMPLETE)
    return next((code for code in order if code in seen), ExitCode.CERTIFIED)
