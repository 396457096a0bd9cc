"""Fill the generated parts of the pages, or tell which are not current (`--check`).

A page of this folder holds a generated part between two lines, which stay:

    <!-- generated: NAME ARGUMENT -->
    <!-- end -->
"""
# ruff: noqa: INP001 - a script, run by its path

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path

from _parts import certificate, clauses, containment, files, options, profile, server, worldfile
from _parts.errors import NotTold

DOCS = Path(__file__).parent
PART = re.compile(
    r"(?P<begin><!-- generated: (?P<name>\S+) ?(?P<argument>[^\n]*?) -->\n)(?:(?!<!-- end -->).)*(?P<end><!-- end -->)",
    re.DOTALL,
)
PARTS: dict[str, Callable[[str], str]] = {
    "certificate": certificate.fields,
    "clauses": clauses.catalogue_text,
    "containment": containment.means,
    "core-tools": server.core_tools,
    "exit-codes": options.exit_codes,
    "file": files.verbatim,
    "limits": containment.limits,
    "options": options.options,
    "profile": profile.reference,
    "server-configuration": server.configuration,
    "world-file": worldfile.reference,
}


def current(page: str) -> str:
    """Give the text of a page with all its generated parts written anew.

    Raises:
        NotTold: something that a part has to tell is told nowhere.
    """
    return PART.sub(lambda part: f"{part['begin']}\n{PARTS[part['name']](part['argument'])}\n\n{part['end']}", page)


def stale_pages() -> dict[Path, str]:
    """Give the right text of every page that has another one; raises what `current` raises."""
    texts = {page: page.read_text(encoding="utf-8") for page in sorted(DOCS.glob("*.md"))}
    return {page: text for page, old in texts.items() if (text := current(old)) != old}


def main(arguments: list[str]) -> int:
    """Write all pages; with `--check` write nothing. Gives 1 where a page is not current or cannot be written."""
    try:
        stale = stale_pages()
    except NotTold as lacking:
        sys.stderr.write(f"the pages cannot be written: {lacking}\n")
        return 1
    if "--check" in arguments:
        if stale:
            sys.stderr.write(f"not current: {', '.join(page.name for page in stale)}; run make docs\n")
        return 1 if stale else 0
    for page, text in stale.items():
        page.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
