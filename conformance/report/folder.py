"""The report folder: where each report of a run lies, and that none of an earlier run is left in it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from conformance.report.certificate import to_json
from conformance.report.junit import to_junit
from conformance.report.model import Certificate
from conformance.usage import UsageError

CERTIFICATE = "certificate.json"
JUNIT = "junit.xml"


@dataclass(frozen=True, kw_only=True)
class ReportFolder:
    """`ROOT/certificate.json` and `ROOT/junit.xml`; of several subjects each has its `ROOT/SLUG/certificate.json`."""

    root: Path
    slugs: tuple[str, ...]
    """The subjects of the run."""

    def certificate(self, slug: str) -> Path:
        """Give the place of a subject's certificate."""
        return (self.root / slug if len(self.slugs) > 1 else self.root) / CERTIFICATE

    def clear(self) -> None:
        """Make the folder and take old reports away: whatever ends this run, no old certificate is taken for its own.

        Raises:
            UsageError: if the folder cannot be made or written.
        """
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            for old in (self.root / JUNIT, self.root / CERTIFICATE, *map(self.certificate, self.slugs)):
                old.unlink(missing_ok=True)
        except OSError as problem:
            what = f"no report can be written into {self.root}"
            raise UsageError(what, str(problem), "name another folder") from None

    def write(self, certificates: Sequence[tuple[str, Certificate]]) -> None:
        """Write every report.

        Args:
            certificates: the certificate of each subject, with its slug.

        Raises:
            OSError: if a file cannot be written.
        """
        for slug, certificate in certificates:
            write_atomically(self.certificate(slug), to_json(certificate))
        write_atomically(self.root / JUNIT, to_junit(certificates))


def write_atomically(path: Path, text: str) -> None:
    """Write a file so that a reader sees the old one or the whole new one, never a part.

    Raises:
        OSError: if the folder cannot be made or written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        unfinished.write_text(text, encoding="utf-8")
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
