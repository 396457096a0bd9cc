"""The clauses, each with an example that keeps it and those that break it."""

from __future__ import annotations

from difflib import SequenceMatcher
from functools import cache
from itertools import groupby
from pathlib import Path

from _parts.files import ROOT
from _parts.markdown import table
from _parts.words import one_line
from conformance.contracts.registry import Clause, catalogue
from conformance.families import FAMILIES
from conformance.specimens import Specimen, bad_specimens, docstring, good_specimens


class LacksExampleError(Exception):
    """A clause has no specimen that breaks it, or there is none that keeps it."""


def catalogue_page(_: str) -> str:
    """Render every clause, family by family.

    Raises:
        LacksExampleError: a clause has no example of good or of bad.
    """
    titles = {prefix: family for family in FAMILIES for prefix in family.prefixes}
    parts = []
    for word, clauses in groupby(catalogue(), key=lambda one: one.family):
        parts.append(f"## {titles[word].letter}. {word}: {titles[word].title}")
        parts += [_section(one) for one in clauses]
    return "\n\n".join(parts)
