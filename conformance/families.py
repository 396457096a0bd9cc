"""The families of the catalogue: a letter, a title, and the first words of the ids that belong to it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from conformance.contracts.registry import Clause
from conformance.subject import Subject
from conformance.usage import UsageError, did_you_mean


@dataclass(frozen=True, kw_only=True)
class Family:
    """One chapter of the contracts."""

    letter: str
    title: str
    prefixes: tuple[str, ...]
    judges: Literal["extension", "server"] = "extension"
    """What kind of subject its clauses are about."""


FAMILIES = (
    Family(letter="A", title="the extension", prefixes=("EXT",)),
    Family(letter="B", title="its tools", prefixes=("TOOL",)),
    Family(letter="C", title="plugin routing", prefixes=("ROUTE",)),
    Family(letter="D", title="the server", prefixes=("SRV",), judges="server"),
)


Kind = Literal["extension", "server"]


def kind_of(subject: Subject) -> Kind:
    """Tell what kind of subject one is, as far as families care."""
    return "server" if subject.kind == "server" else "extension"


def about(clauses: Iterable[Clause], kind: Kind) -> tuple[Clause, ...]:
    """Keep the clauses that are about this kind of subject, in their order."""
    prefixes = {prefix for family in FAMILIES if family.judges == kind for prefix in family.prefixes}
    return tuple(one for one in clauses if one.family in prefixes)


def title_of(prefix: str) -> str:
    """Give a family's heading for reports, for example `A  EXT  the extension`; unknown ones stand for themselves."""
    for family in FAMILIES:
        if prefix in family.prefixes:
            return f"{family.letter}  {prefix:<5}  {family.title}"
    return f"   {prefix}"


def select(clauses: Iterable[Clause], words: str | None) -> list[Clause]:
    """Keep the clauses that a `--family` value names.

    Args:
        clauses: where to choose from; their order is kept.
        words: letters of families or beginnings of ids, separated by commas (`A,EXT-,ROUTE-N`); None keeps all.

    Raises:
        UsageError: for a word that fits no clause; the nearest right word is named.
    """
    every = list(clauses)
    if words is None:
        return every
    wanted = [word.strip() for word in words.split(",") if word.strip()]
    if not wanted:
        raise UsageError("--family is empty", "expected letters or beginnings of clause ids", "say --family=A")
    kept: set[str] = set()
    for word in wanted:
        fitting = [one.id for one in every if _fits(one, word)]
        if not fitting:
            choice = [
                *(family.letter for family in FAMILIES),
                *(one.family for one in every),
                *(one.id for one in every),
            ]
            raise UsageError(
                f"--family={word} fits no clause", "", did_you_mean(word.rstrip("-"), dict.fromkeys(choice))
            )
        kept.update(fitting)
    return [one for one in every if one.id in kept]


def _fits(clause: Clause, word: str) -> bool:
    upper = word.upper()
    if len(upper) == 1:
        return any(upper == family.letter and clause.family in family.prefixes for family in FAMILIES)
    return clause.id.startswith(upper)
