"""Markdown as the generated parts use it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Render a table; bars inside cells are escaped."""
    return "\n".join(_row(line) for line in (headings, ["---"] * len(headings), *rows))


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(_escaped(cell) for cell in cells)} |"


def code(text: str) -> str:
    """Set a text as code."""
    return f"`{text}`"


def fence(language: str, text: str) -> str:
    """Render a block of code."""
    return f"```{language}\n{text.rstrip()}\n```"


def _escaped(cell: str) -> str:
    return cell.replace("|", r"\|")
