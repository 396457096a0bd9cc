"""The clauses, each with an example that keeps it and those that break it."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from functools import cache
from itertools import groupby
from pathlib import Path

from _parts.errors import NotTold
from _parts.markdown import table
from conformance.contracts.registry import Clause, catalogue
from conformance.families import FAMILIES
from conformance.specimens import Specimen, bad_specimens, fixtures_root, good_specimens

_FIRST_LINE = re.compile(r'^[rR]?"""(.*?)(?:"""|$)', re.MULTILINE)


def catalogue_text(_: str) -> str:
    """Render every clause, family by family.

    Raises:
        NotTold: a clause has no example of good or of bad, or one of them does not say what it does.
    """
    titles = {prefix: family for family in FAMILIES for prefix in family.prefixes}
    parts = []
    for word, clauses in groupby(catalogue(), key=lambda one: one.family):
        parts.append(f"## {titles[word].letter}. {word}: {titles[word].title}")
        parts += [_section(one) for one in clauses]
    return "\n\n".join(parts)


def _section(clause: Clause) -> str:
    bad = [one for one in _bad() if one.clause == clause.id]
    kind = next(one.judges for one in FAMILIES if clause.family in one.prefixes)
    good = tuple(one for one in _good() if one.kind == kind)
    if not bad or not good:
        raise NotTold(f"{clause.id} has {len(bad)} examples that break it and {len(good)} that keep it: add them")
    facts = [
        f"- Judged: {'for each tool' if clause.per_tool else f'once for the {kind}'}{_after(clause)}",
        f"- Source: {clause.source}",
        f"- Fix: {clause.fix}",
        f"- Kept by, for example: {_link(_most_alike(good, bad))}",
    ]
    rows = [(_link(one), _lie(one)) for one in bad]
    said = [f"### {clause.id} ({clause.level.upper()})", clause.summary, *filter(None, [clause.details])]
    kept = [f"```python\n{clause.example}\n```"] if clause.example else []
    return "\n\n".join([*said, "\n".join(facts), *kept, table(("broken by", "which"), rows)])


def _after(clause: Clause) -> str:
    verb = "is" if len(clause.needs) == 1 else "are"
    needs = f", when {' and '.join(clause.needs)} {verb} kept" if clause.needs else ""
    return needs + (f"; BLOCKED where {' or '.join(clause.excused_by)} explains it" if clause.excused_by else "")


@cache
def _good() -> tuple[Specimen, ...]:
    return tuple(good_specimens())


@cache
def _bad() -> tuple[Specimen, ...]:
    return tuple(bad_specimens())


def _most_alike(good: tuple[Specimen, ...], bad: list[Specimen]) -> Specimen:
    """Of the good ones, that which differs least from a bad one: what differs is what the clause is about."""
    lies = [_lines(one.path) for one in bad]
    return max(good, key=lambda one: max(SequenceMatcher(None, _lines(one.path), lie).ratio() for lie in lies))


@cache
def _lines(path: Path) -> tuple[str, ...]:
    return tuple(line for file in _files(path) for line in file.read_text(encoding="utf-8").splitlines())


def _lie(specimen: Specimen) -> str:
    """The first line of the specimen's docstring, and the SDK on which alone it is true."""
    texts = (file.read_text(encoding="utf-8") for file in _files(specimen.path))
    found = next(filter(None, map(_FIRST_LINE.search, texts)), None)
    if found is None:
        raise NotTold(f"{specimen.label} has no docstring that says what is wrong with it")
    return f"{found[1]} Only on {specimen.only_on}." if specimen.only_on else found[1]


def _files(path: Path) -> list[Path]:
    """The source files, a package's own `__init__.py` before the rest of it."""
    return [path] if path.is_file() else sorted(path.rglob("*.py"), key=lambda file: (file.name != "__init__.py", file))


def _link(specimen: Specimen) -> str:
    place = specimen.path.relative_to(fixtures_root()).as_posix()
    return f"[{specimen.path.name}](../fixtures/{place})"
