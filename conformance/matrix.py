"""The full square of the kill matrix: every specimen against every clause, and with each clause left out in turn.

`gerrit-conformance selftest --full --table=FILE` writes it as JSON; the tables in the documentation are made of that.
"""

from __future__ import annotations

import platform
from collections.abc import AsyncIterator, Iterable, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from conformance.contracts.registry import CATALOGUE_VERSION, catalogue
from conformance.examine import Examination
from conformance.outcomes import Judgement, Outcome
from conformance.specimens import Specimen


class Row(BaseModel):
    """One specimen and what every clause came to on it."""

    model_config = ConfigDict(frozen=True)

    specimen: str
    """`CLAUSE/name`, or `good/name`."""
    company: tuple[str, ...]
    """Clauses that it declares to break besides its own."""
    outcomes: dict[str, Outcome]
    survives_without: tuple[str, ...]
    """Clauses without which its own does not FAIL; its own alone, where the matrix holds."""


class Square(BaseModel):
    """All rows of one run, with the surroundings that they were made in."""

    model_config = ConfigDict(frozen=True)

    date: str
    """The day, as in 2026-12-31 (UTC)."""
    catalogue: str
    sdk: str
    python: str
    clauses: tuple[str, ...]
    rows: tuple[Row, ...]

    @property
    def leaning(self) -> tuple[str, ...]:
        """Name each specimen that survives although another clause than its own was left out, and that clause."""
        return tuple(
            f"{row.specimen} (without {clause})"
            for row in self.rows
            for clause in row.survives_without
            if clause != row.specimen.partition("/")[0]
        )


async def row_of(examination: Examination, specimen: Specimen, judged: Iterable[Judgement]) -> Row:
    """Make the row of a specimen, whose examination is still open; leaving clauses out asks for no further trial."""
    return Row(
        specimen=specimen.label,
        company=tuple(sorted(specimen.also_violates)),
        outcomes={one.clause: one.outcome for one in judged},
        survives_without=tuple([one async for one in _saviours(examination, specimen)]) if specimen.clause else (),
    )


async def _saviours(examination: Examination, specimen: Specimen) -> AsyncIterator[str]:
    own = catalogue()[str(specimen.clause)]
    for one in catalogue():
        judged = None if one is own else await examination.leaving_out(one.id).judge(own)
        if judged is None or judged.outcome is not Outcome.FAIL:
            yield one.id


def write(path: Path, rows: Sequence[Row]) -> Square:
    """Write the square of the rows into a file, dated today, and give it back."""
    made = Square(
        date=datetime.now(UTC).date().isoformat(),
        catalogue=CATALOGUE_VERSION,
        sdk=f"mcp {version('mcp')}",
        python=platform.python_version(),
        clauses=catalogue().ids(),
        rows=tuple(sorted(rows, key=lambda row: (row.specimen.startswith("good/"), row.specimen))),
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(made.model_dump_json(indent=1) + "\n", encoding="utf-8")
    return made
