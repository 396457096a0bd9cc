"""Markdown as the generated parts use it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Render a table; bars inside cells are escaped."""
    lines = [headings, ["---"] * len(headings), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', '\\|') for cell in line)} |" for line in lines)


def code(text: str) -> str:
    """Set a text as code; nothing stays nothing."""
    return f"`{text}`" if text else ""


def fence(language: str, text: str) -> str:
    """Render a block of code, whatever fences it holds itself."""
    ticks = "````" if "```" in text else "```"
    return f"{ticks}{language}\n{text.rstrip()}\n{ticks}"
