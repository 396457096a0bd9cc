"""Figures for people: a table of measurements with a bar beside each row."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.report.model import MeasurementRecord

BAR = 24
"""How many characters the longest bar takes."""
_EIGHTHS = " ▏▎▍▌▋▊▉█"


def figures(measured: MeasurementRecord) -> Iterator[str]:
    """Render a table line by line; the bars show the second column, to scale from zero."""
    cells = [measured.columns, *([f"{value:g}" for value in row] for row in measured.rows)]
    widths = [max(len(row[place]) for row in cells) for place in range(len(measured.columns))]
    most = max((row[1] for row in measured.rows), default=0.0)
    yield f"{measured.clause}: {measured.title}"
    for number, row in enumerate(cells):
        line = "  ".join(f"{text:>{width}}" for text, width in zip(row, widths, strict=True))
        yield f"  {line}  {_bar(measured.rows[number - 1][1], most)}".rstrip() if number else f"  {line}"


def _bar(value: float, most: float) -> str:
    """Draw a value as a bar, exact to an eighth of a character."""
    eighths = round(8 * BAR * value / most) if most > 0 else 0
    whole, rest = divmod(eighths, 8)
    return _EIGHTHS[8] * whole + (_EIGHTHS[rest] if rest else "")
