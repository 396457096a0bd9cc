# noqa: INP001 - a script, not part of a package
"""Writes docs/matrix.md from the squares that `gerrit-conformance selftest --full --table=FILE` has written.

Usage: python docs/matrix.py SQUARE.json …
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from conformance.contracts.registry import catalogue
from conformance.matrix import Row, Square
from conformance.outcomes import Outcome

PAGE = Path(__file__).with_name("matrix.md")
LETTERS = {
    Outcome.PASS: "·",
    Outcome.FAIL: "F",
    Outcome.BLOCKED: "b",
    Outcome.INCONCLUSIVE: "?",
    Outcome.NOT_APPLICABLE: " ",
}
HEAD = """# The kill matrix

Every specimen against every clause, on both majors of the MCP SDK, as `make matrix` last saw it. The specimens of a
clause have to FAIL it and no other clause, but for company that they declare; good ones fail none. With each clause
left out in turn, exactly its own specimens survive.
"""


def page(squares: list[Square]) -> str:
    """Render the whole page."""
    lines = [*_summary(squares), *_clauses(squares)]
    return "\n".join([HEAD, *lines, *(line for one in squares for line in _square(one))])


def _summary(squares: list[Square]) -> Iterator[str]:
    yield "| seen on | SDK | Python | clauses | bad | killed | lean on another clause | good | failed |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for one in squares:
        bad = [row for row in one.rows if not _is_good(row)]
        good = [row for row in one.rows if _is_good(row)]
        killed = sum(row.outcomes[_own(row)] is Outcome.FAIL for row in bad)
        failed = sum(bool(_failed(row) - set(row.company)) for row in good)
        cells = [one.date, one.sdk, one.python, len(one.clauses), len(bad), killed, len(one.leaning), len(good), failed]
        yield f"| {' | '.join(map(str, cells))} |"
    yield ""


def _clauses(squares: list[Square]) -> Iterator[str]:
    yield "## By clause\n"
    yield f"| clause | level | {' | '.join(f'killed, {one.sdk}' for one in squares)} | company of its specimens |"
    yield "|---|---|---" + "|---" * len(squares) + "|"
    for clause in catalogue():
        own = [[row for row in one.rows if _own(row) == clause.id] for one in squares]
        killed = [f"{sum(row.outcomes[clause.id] is Outcome.FAIL for row in rows)} of {len(rows)}" for rows in own]
        company = sorted({other for rows in own for row in rows for other in _failed(row) - {clause.id}})
        yield f"| {clause.id} | {clause.level.upper()} | {' | '.join(killed)} | {', '.join(company)} |"
    yield ""


def _square(square: Square) -> Iterator[str]:
    yield f"## The square on {square.sdk}, Python {square.python}\n"
    yield "F failed, · kept, b blocked by another clause, ? cannot be decided, blank: does not apply. Columns:\n"
    for start in range(0, len(square.clauses), 10):
        yield f"{start + 1}. {', '.join(square.clauses[start : start + 10])}  "
    yield "\n```text"
    tens = "".join(f"{start + 1:<11}" for start in range(0, len(square.clauses), 10))
    width = max(len(row.specimen) for row in square.rows)
    yield f"{'':<{width}}  {tens.rstrip()}"
    for row in square.rows:
        letters = [LETTERS[row.outcomes[one]] if one in row.outcomes else "-" for one in square.clauses]
        parts = ["".join(letters[start : start + 10]) for start in range(0, len(letters), 10)]
        yield f"{row.specimen:<{width}}  {' '.join(parts)}".rstrip()
    yield "```\n"


def _own(row: Row) -> str:
    return row.specimen.partition("/")[0]


def _is_good(row: Row) -> bool:
    return _own(row) == "good"


def _failed(row: Row) -> set[str]:
    return {clause for clause, outcome in row.outcomes.items() if outcome is Outcome.FAIL}


if __name__ == "__main__":
    PAGE.write_text(page([Square.model_validate_json(Path(one).read_text()) for one in sys.argv[1:]]), encoding="utf-8")
