"""Files of the repository, included as they are."""

from __future__ import annotations

from pathlib import Path

from _parts.markdown import fence

ROOT = Path(__file__).resolve().parents[2]
_LANGUAGES = {".py": "python", ".toml": "toml", ".json": "json"}


def verbatim(path: str) -> str:
    """Include the file at a path from the root of the repository."""
    file = ROOT / path
    return fence(_LANGUAGES.get(file.suffix, "text"), file.read_text(encoding="utf-8"))
