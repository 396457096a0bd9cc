"""The summary that ends a run on the terminal: the surroundings, a table by family, open points, the verdict."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from conformance.families import title_of
from conformance.outcomes import Outcome
from conformance.report.certificate import decision_of
from conformance.report.figures import figures
from conformance.report.model import NOT_RUN, Certificate, ClauseRecord, HostRecord, SdkRecord
from conformance.report.words import block, one_line
from conformance.verdict import Verdict, is_binding

_COLUMNS: tuple[tuple[str, str], ...] = (
    ("pass", Outcome.PASS),
    ("fail", Outcome.FAIL),
    ("blocked", Outcome.BLOCKED),
    ("inconcl.", Outcome.INCONCLUSIVE),
    ("n/a", Outcome.NOT_APPLICABLE),
    ("not run", NOT_RUN),
)
_VERDICTS = {
    Verdict.CERTIFIED: "CERTIFIED",
    Verdict.WAIVED: "CERTIFIED WITH WAIVERS",
    Verdict.INCOMPLETE: "INCOMPLETE",
    Verdict.FAILED: "FAILED",
}


def summary(certificate: Certificate, *, failures_shown: bool) -> list[str]:
    """Render the summary of one subject.

    Args:
        certificate: what to tell.
        failures_shown: whether the blocks of the failed clauses stand further up already, in pytest's own section.
    """
    return [
        *_surroundings(certificate),
        "",
        *_table(certificate.clauses),
        *_findings(certificate, failures_shown=failures_shown),
        *_open_points(certificate),
        *(line for one in certificate.measurements for line in ("", *figures(one))),
        "",
        *_ending(certificate),
    ]


def _surroundings(certificate: Certificate) -> Iterator[str]:
    subject = certificate.subject
    version = f" {subject.version}" if subject.version else ""
    digest = f"  sha256 {subject.sha256[:12]}…" if subject.sha256 else ""
    yield f"subject     {subject.kind} {subject.name}{version}{digest}"
    yield f"host        {_named(certificate.host)}, {_named(certificate.sdk)}, Python {certificate.python}"
    held = [means.replace("_", " ") for means, in_force in certificate.containment.items() if in_force]
    yield f"contained   {', '.join(held) or 'unknown'}"


def _named(part: HostRecord | SdkRecord) -> str:
    return f"{part.name} {part.version}" if part.version else part.name


def _table(records: Iterable[ClauseRecord]) -> Iterator[str]:
    by_family: dict[str, list[ClauseRecord]] = {}
    for record in records:
        by_family.setdefault(record.family, []).append(record)
    titles = {family: title_of(family) for family in by_family}
    width = max((len(title) for title in titles.values()), default=0)
    yield " " * width + "".join(f"{heading:>10}" for heading, _ in _COLUMNS)
    for family, members in by_family.items():
        outcomes = [str(one.outcome) for one in members]
        yield f"{titles[family]:<{width}}" + "".join(f"{outcomes.count(word) or '·':>10}" for _, word in _COLUMNS)


def _findings(certificate: Certificate, *, failures_shown: bool) -> Iterator[str]:
    """Show what pytest's own sections do not: findings that did not fail the run, or all where `--tb=no` hid them."""
    for record in certificate.clauses:
        if record.seen is not Outcome.FAIL:
            continue
        binding = is_binding(record.level, strict=certificate.strict) and record.id not in certificate.waivers
        if binding and failures_shown:
            continue
        yield ""
        yield from block(record, certificate.subject.name)
        if record.id in certificate.waivers:
            yield f"  waived    {certificate.waivers[record.id]}"


def _open_points(certificate: Certificate) -> Iterator[str]:
    decision = decision_of(certificate)
    records = {record.id: record for record in certificate.clauses}
    told = [records[clause_id] for clause_id in decision.open if records[clause_id].seen is not None]
    told += [records[clause_id] for clause_id in decision.stale]
    by_reason: dict[str, list[str]] = {}
    for record in told:
        by_reason.setdefault(one_line(record, waivers=certificate.waivers), []).append(record.id)
    if told:
        yield ""
    for reason, ids in by_reason.items():
        yield f"{_short(tuple(ids))}: {reason}"


def _ending(certificate: Certificate) -> Iterator[str]:
    for remark in certificate.remarks:
        yield f"note        {remark}"
    counts = certificate.counts
    yield f"counts      {counts.planned} planned, {counts.run} run; {_tally(certificate)}"
    spent = f"{certificate.trials} trials, {certificate.gerrit_calls} Gerrit calls, {certificate.seconds:.1f} s"
    yield f"spent       {spent}"
    yield f"verdict     {_VERDICTS[certificate.verdict]}{_because(certificate)}"


def _tally(certificate: Certificate) -> str:
    words = certificate.counts.model_dump(by_alias=True, exclude={"planned", "run"})
    return ", ".join(f"{number} {word.replace('_', ' ')}" for word, number in words.items() if number)


def _because(certificate: Certificate) -> str:
    decision = decision_of(certificate)
    reasons = [
        ("broken", decision.failed),
        ("waiver is stale", decision.stale),
        ("undecided", decision.open if certificate.verdict is Verdict.INCOMPLETE else ()),
        ("known failures", decision.waived if certificate.verdict is Verdict.WAIVED else ()),
    ]
    told = [f"{word}: {_short(ids)}" for word, ids in reasons if ids]
    return f"  ({'; '.join(told)})" if told else ""


def _short(ids: tuple[str, ...], limit: int = 6) -> str:
    return ", ".join(ids[:limit]) + (f" and {len(ids) - limit} more" if len(ids) > limit else "")
