"""The sentences that reports share: the block of one finding, one line of it, and pytest's word for an outcome.

One source for terminal, JUnit and pytest's own failure section, so that they cannot differ.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from textwrap import indent

from conformance.outcomes import Outcome
from conformance.report.model import ClauseRecord, EvidenceRecord, FindingRecord
from conformance.verdict import is_binding, is_stale

EVIDENCE_LINES = 12
"""How much of each quotation the terminal shows; certificate.json has all of it."""
_LABEL_WIDTH = 10
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


class PytestWord(StrEnum):
    """The outcomes that pytest knows."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"
    XFAILED = "xfailed"


def pytest_word(record: ClauseRecord, *, waivers: Mapping[str, str], strict: bool) -> PytestWord:
    """Translate an outcome; a finding of a clause that is not binding is `passed`, and a warning goes with it."""
    if record.id in waivers and is_stale(record.seen):
        return PytestWord.FAILED
    if record.seen is Outcome.PASS:
        return PytestWord.PASSED
    if record.seen is not Outcome.FAIL:
        return PytestWord.SKIPPED
    if record.id in waivers:
        return PytestWord.XFAILED
    return PytestWord.FAILED if is_binding(record.level, strict=strict) else PytestWord.PASSED


def one_line(record: ClauseRecord, *, waivers: Mapping[str, str]) -> str:
    """Tell in one line what came of a clause, with the reason for everything but a pass."""
    waiver = waivers.get(record.id)
    if waiver is not None and is_stale(record.seen):
        return (
            f"the waiver is stale: the clause does not fail any more ({record.outcome}). Remove it; it said: {waiver}"
        )
    if waiver is not None and record.seen is Outcome.FAIL:
        return f"waived: {waiver}"
    if record.findings:
        return _sentence(record.findings[0], more=len(record.findings) - 1)
    told = str(record.outcome).replace("_", " ")
    told += f" by {record.blocked_by}" if record.seen is Outcome.BLOCKED else ""
    told += f": {record.reason}" if record.reason else ""
    told += f"; to settle it: {record.supply}" if record.supply else ""
    return visible(" ".join(told.split()))


def block(record: ClauseRecord, subject: str) -> list[str]:
    """Render a broken clause: what was expected and seen, the contract, the fix, and the evidence.

    The same finding on several tools is shown once, with the names of the tools.
    """
    lines: list[str] = []
    for tools, finding in _grouped(record.findings):
        lines.append(_heading(record, tools, subject))
        lines += [_labelled("expected", finding.expected), _labelled("saw", finding.saw)]
        lines += [line for one in finding.evidence for line in _quoted(one)]
        lines.append(_labelled("contract", f"{record.source}    gerrit-conformance explain {record.id}"))
        lines.append(_labelled("fix", finding.hint or record.fix))
        if record.example:
            lines.append(_labelled("example", record.example))
    return [visible(line) for line in lines]


def visible(text: str) -> str:
    """Write control characters out, so that what a subject has printed cannot steer the reader's terminal."""
    return _CONTROL.sub(lambda match: f"\\x{ord(match[0]):02x}", text)


def _grouped(findings: tuple[FindingRecord, ...]) -> list[tuple[list[str], FindingRecord]]:
    groups: dict[tuple[str, str, str | None], tuple[list[str], FindingRecord]] = {}
    for finding in findings:
        tools, _ = groups.setdefault((finding.expected, finding.saw, finding.hint), ([], finding))
        if finding.tool and finding.tool not in tools:
            tools.append(finding.tool)
    return list(groups.values())


def _heading(record: ClauseRecord, tools: list[str], subject: str) -> str:
    where = f"{'tools' if len(tools) > 1 else 'tool'} {', '.join(tools)} of {subject}" if tools else subject
    return f"{record.id} ({record.level.upper()}) {str(record.outcome).upper()}   {where}"


def _labelled(label: str, text: str) -> str:
    return f"  {label:<{_LABEL_WIDTH}}" + indent(text, " " * (_LABEL_WIDTH + 2)).lstrip()


def _quoted(evidence: EvidenceRecord) -> list[str]:
    quoted = evidence.text.rstrip("\n").split("\n")
    left_out = len(quoted) - EVIDENCE_LINES
    shown = quoted[:EVIDENCE_LINES] + ([f"… {left_out} more lines in certificate.json"] if left_out > 0 else [])
    return [_labelled(evidence.kind, "\n".join(shown))]


def _sentence(finding: FindingRecord, *, more: int) -> str:
    tool = f"{finding.tool}: " if finding.tool else ""
    rest = f" (and {more} more)" if more else ""
    return visible(" ".join(f"{tool}expected {finding.expected}; saw {finding.saw}{rest}".split()))
