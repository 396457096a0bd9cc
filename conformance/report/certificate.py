"""From the records of a run to certificate.json."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from conformance.contracts import registry
from conformance.report.model import CatalogueRecord, Certificate, ClauseRecord, MeasurementRecord, SubjectRecord, count
from conformance.verdict import Decision, decide

UNKNOWN: Mapping[str, Any] = {
    "host": {"kind": "unknown", "name": "unknown"},
    "sdk": {"name": "unknown"},
    "python": "unknown",
    "platform": "unknown",
    "containment": {},
}
"""What stands for the surroundings if no process lived long enough to tell."""


def issue(
    *,
    about: Mapping[str, Any],
    records: Iterable[ClauseRecord],
    waivers: Mapping[str, str],
    strict: bool,
    remarks: Iterable[str] = (),
) -> Certificate:
    """Draw up the certificate of one subject.

    Args:
        about: `Examination.about()`: the subject and the surroundings it was examined in.
        records: one for each planned clause, run or not, in the order of the catalogue.
        waivers: known failures and their reasons.
        strict: whether SHOULD was binding.
        remarks: what has to be known about the run itself.
    """
    planned = tuple(records)
    decision = decide(planned, waivers=waivers, strict=strict)
    surroundings = {word: about.get(word, unknown) for word, unknown in UNKNOWN.items()}
    return Certificate(
        subject=SubjectRecord.model_validate(about["subject"]),
        **surroundings,
        catalogue=CatalogueRecord(
            version=registry.CATALOGUE_VERSION,
            planned_sha256=registry.catalogue().planned_sha256(one.id for one in planned),
        ),
        counts=count(planned),
        verdict=decision.verdict,
        strict=strict,
        waivers=dict(waivers),
        stale_waivers=decision.stale,
        clauses=planned,
        trials=about.get("trials", 0),
        gerrit_calls=about.get("gerrit_calls", 0),
        seconds=round(about.get("seconds", 0.0), 3),
        measurements=tuple(MeasurementRecord.model_validate(one) for one in about.get("measurements", ())),
        remarks=tuple(remarks),
    )


def decision_of(certificate: Certificate) -> Decision:
    """Give the verdict of a certificate again, with the clauses that made it."""
    return decide(certificate.clauses, waivers=certificate.waivers, strict=certificate.strict)


def to_json(certificate: Certificate) -> str:
    """Render certificate.json: UTF-8 text with a final newline, field order as in the model."""
    return certificate.model_dump_json(by_alias=True, indent=2) + "\n"
