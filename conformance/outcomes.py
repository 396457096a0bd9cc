"""What a clause can come to, and the evidence that goes with it.

A clause function returns for PASS and raises one of the exceptions below for anything else. Prose is rendered from
these facts by `conformance.report`; nothing here formats text for people.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class Level(StrEnum):
    """How binding a clause is."""

    MUST = "must"
    SHOULD = "should"
    MAY = "may"


class Outcome(StrEnum):
    """What was seen of one clause on one subject."""

    PASS = "pass"  # noqa: S105 - the word of the field, no credential
    FAIL = "fail"
    BLOCKED = "blocked"
    INCONCLUSIVE = "inconclusive"
    NOT_APPLICABLE = "not_applicable"


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """One quoted piece of what happened: a request, an answer, a log line, bytes on stdout."""

    kind: str
    """What is quoted: `request`, `reply`, `log`, `stderr`, `stdout`, `process`, `traceback`, `fact`, `line`."""
    text: str


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """A table of figures that a clause has taken, and that a report shows whatever the outcome."""

    clause: str
    title: str
    columns: tuple[str, ...]
    """What each column holds, with its unit; the first is what was varied."""
    rows: tuple[tuple[float, ...], ...]


class Verdictless(Exception):  # noqa: N818 - not an error: the way in which a clause says anything but PASS
    """Base of everything that a clause can raise on purpose."""


class Finding(Verdictless):
    """The clause is broken: what was expected, what was seen, and the proof.

    Args:
        expected: the behaviour that the contract asks for, as a noun phrase.
        saw: the behaviour that was observed, as a noun phrase.
        evidence: quotations, the most telling one first.
        hint: a fix for this very case; the clause's own `fix` is used where it is left out.
        tool: the tool at fault, filled in by the runner for clauses that are judged per tool.
    """

    def __init__(
        self,
        *,
        expected: str,
        saw: str,
        evidence: tuple[Evidence, ...] = (),
        hint: str | None = None,
        tool: str | None = None,
    ) -> None:
        """Keep the facts; the text of the exception is for debuggers only."""
        super().__init__(f"expected {expected}; saw {saw}")
        self.expected = expected
        self.saw = saw
        self.evidence = evidence
        self.hint = hint
        self.tool = tool


class Inconclusive(Verdictless):
    """It cannot be decided; `supply` tells what would decide it, if possible as a line to paste."""

    def __init__(self, reason: str, *, supply: str, evidence: tuple[Evidence, ...] = ()) -> None:
        """Keep why it is open and what closes it."""
        super().__init__(reason)
        self.reason = reason
        self.supply = supply
        self.evidence = evidence


class Blocked(Verdictless):
    """Something that has to hold first does not: another clause, the SDK, the host or the interpreter."""

    def __init__(self, reason: str, *, by: str, evidence: tuple[Evidence, ...] = ()) -> None:
        """Name what stands in the way: a clause id, or `host`, `sdk`, `python`."""
        super().__init__(reason)
        self.reason = reason
        self.by = by
        self.evidence = evidence


class NotApplicable(Verdictless):
    """The subject never claimed what the clause is about, or somebody else decides it."""

    def __init__(self, reason: str) -> None:
        """Keep the reason."""
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """The outcome of one clause on one subject, with everything a report tells about it."""

    clause: str
    outcome: Outcome
    findings: tuple[Finding, ...] = ()
    reason: str = ""
    """Why it is BLOCKED, INCONCLUSIVE or NOT_APPLICABLE; empty for PASS and FAIL."""
    supply: str = ""
    """What would settle an INCONCLUSIVE clause."""
    blocked_by: str = ""
    per_tool: dict[str, Outcome] = field(default_factory=dict)
    """The outcome for each tool, where the clause is judged per tool."""
    seconds: float = 0.0
