"""Write the pages that come from the registry, or tell which of them are not current (`--check`)."""

from __future__ import annotations

import sys
from itertools import groupby
from pathlib import Path

from conformance.contracts.registry import Clause, catalogue

DOCS = Path(__file__).parent
TITLES = {"EXT": "A. The extension", "TOOL": "B. Its tools", "ROUTE": "C. Plugin routing"}


def clauses_page() -> str:
    """Render every clause with its text, source, fix and specimens."""
    parts = [
        "# The clauses\n",
        "Written by `make docs` from the registry in `conformance/contracts/`; do not edit.\n",
        "MUST decides the certificate, SHOULD only with `--conformance-strict`. A clause is judged when those that it"
        " needs are kept; otherwise it is BLOCKED.\n",
    ]
    for family, clauses in groupby(catalogue(), key=lambda one: one.family):
        parts.append(f"## {TITLES.get(family, family)}\n")
        parts += [clause_section(one) for one in clauses]
    return "\n".join(parts)


def clause_section(clause: Clause) -> str:
    """Render one clause."""
    lines = [f"### {clause.id} ({clause.level.value.upper()})\n", f"{clause.summary}\n"]
    if clause.details:
        lines.append(f"{clause.details}\n")
    lines.append(f"- Source: {clause.source}")
    if clause.needs:
        lines.append(f"- Needs: {', '.join(clause.needs)}")
    lines.append(f"- Fix: {clause.fix}")
    folder = DOCS.parent / "fixtures" / "extensions" / "bad" / clause.id
    specimens = (
        sorted(one.name for one in folder.iterdir() if not one.name.startswith((".", "_"))) if folder.is_dir() else []
    )
    lines.append(f"- Specimens that break it: {', '.join(f'`{name}`' for name in specimens) or 'none yet'}\n")
    return "\n".join(lines)


PAGES = {"clauses.md": clauses_page}


def main(arguments: list[str]) -> int:
    """Write all pages; with `--check` write nothing and give 1 where one differs."""
    stale = []
    for name, render in PAGES.items():
        page, text = DOCS / name, render()
        if page.is_file() and page.read_text(encoding="utf-8") == text:
            continue
        stale.append(name)
        if "--check" not in arguments:
            page.write_text(text, encoding="utf-8")
    if stale and "--check" in arguments:
        sys.stderr.write(f"not current: {', '.join(stale)}; run make docs\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
