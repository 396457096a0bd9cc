"""The kill matrix: the suite under test by subjects whose verdict is known.

Every bad specimen has to be FAILed by its own clause and by no other than it declares; every good one has to pass. A
bad one is run against its own clause, that clause's prerequisites and neighbours, a good one against those that might
accuse it wrongly; or all against all clauses.
"""

from __future__ import annotations

import asyncio
import gc
import itertools
import tempfile
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path

from conformance.bytecode import without_source
from conformance.contracts import registry
from conformance.contracts.registry import Clause
from conformance.examine import Examination
from conformance.families import about
from conformance.matrix import Row, row_of
from conformance.outcomes import Judgement, Level, Outcome
from conformance.preparing import prepare
from conformance.profile import profile_from
from conformance.rig.rig import Rig
from conformance.settings import Settings
from conformance.specimens import SdkMajor, Specimen, bad_specimens, good_specimens
from conformance.targets import resolve_target
from conformance.usage import UsageError

_NOT_GOOD = (Outcome.FAIL, Outcome.INCONCLUSIVE, Outcome.BLOCKED)


@dataclass(frozen=True, kw_only=True)
class Scope:
    """How much of the matrix to run."""

    clauses: tuple[Clause, ...]
    """The clauses whose specimens are tried; the good ones are tried against all of these."""
    without: frozenset[str] = frozenset()
    """Clauses that are left out: as if they did not exist."""
    full: bool = False
    """Judge every clause on every specimen."""
    alone: bool = False
    """Judge a bad one by its own clause and no other."""
    bytecode: bool = False
    """Take the source away first."""
    part: tuple[int, int] = (1, 1)
    """Which of how many parts to try; the specimens are dealt out to the parts in turn."""
    jobs: int = 1
    """How many specimens to judge at the same time."""
    rows: list[Row] | None = None
    """Where to put the row of each specimen in the full square; None makes none."""


@dataclass(kw_only=True)
class Tally:
    """What the matrix came to; the lists hold `CLAUSE/specimen`."""

    clauses: int
    specimens: int = 0
    killed: int = 0
    survived: list[str] = field(default_factory=list)
    false_alarms: list[str] = field(default_factory=list)
    skipped_for_sdk: int = 0
    why: dict[str, str] = field(default_factory=dict)
    """What was judged of each that is listed, in a line: all that is left of it when the matrix has run."""

    @property
    def holds(self) -> bool:
        """Whether every specimen was told apart as it should."""
        return not self.survived and not self.false_alarms


Progress = Callable[[int, int, Specimen], None]
"""Told before each specimen: its number from 1, how many there are, and which it is."""


def sdk_major() -> SdkMajor:
    """Tell which major version of the MCP SDK is installed, in the words of `ONLY_ON`."""
    return "mcp1" if version("mcp").startswith("1.") else "mcp2"


async def run(scope: Scope, *, progress: Progress, root: Path | None = None) -> Tally:
    """Run the matrix in one process whose warm child is shared by all specimens.

    Args:
        scope: how much to run.
        progress: told before each specimen.
        root: the folder of the specimens; the shipped one where it is left out.
    """
    ids = {one.id for one in scope.clauses}
    gc.freeze()  # the suite itself stays to the end: looking through it again and again takes a tenth of the time
    tally = Tally(clauses=len(ids - scope.without))
    known = [one for one in (*bad_specimens(root), *good_specimens(root)) if _is_about(one, ids, scope)]
    tried = [one for one in _dealt(known, scope.part) if one.only_on in {None, sdk_major()}]
    tally.skipped_for_sdk = len(_dealt(known, scope.part)) - len(tried)
    tally.survived += [f"{one}/(no specimen)" for one in sorted(ids - {specimen.clause for specimen in known})]
    for specimen, judged in zip(tried, await _judge_all(tried, scope, progress), strict=True):
        enter(tally, specimen, judged)
    return tally


def _dealt(known: Sequence[Specimen], part: tuple[int, int]) -> Sequence[Specimen]:
    """Give the specimens of a part; those that one SDK alone can show are in all."""
    number, parts = part
    return [one for place, one in enumerate(known) if place % parts == number - 1 or one.only_on is not None]


async def _judge_all(tried: Sequence[Specimen], scope: Scope, progress: Progress) -> list[list[Judgement]]:
    """Judge every specimen, as many at a time as `scope.jobs`: most of the time is spent on waiting."""
    places = asyncio.Semaphore(scope.jobs)
    numbers = itertools.count(1)

    async def judge(specimen: Specimen) -> list[Judgement]:
        async with places:
            progress(next(numbers), len(tried), specimen)
            try:
                async with _examination(specimen, rig, scope) as examination:
                    judged = [await examination.judge(clause) for clause in clauses_for(specimen, scope)]
                    if scope.rows is not None:
                        scope.rows.append(await row_of(examination, specimen, judged))
                    return judged
            except UsageError as problem:
                raise UsageError(f"{specimen.label}: {problem.what}", problem.why, problem.remedy) from None

    async with Rig(Settings()) as rig:
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(judge(specimen)) for specimen in tried]
        except ExceptionGroup as problems:
            raise problems.exceptions[0] from None  # the first one ended the others
    return [task.result() for task in tasks]


def _is_about(specimen: Specimen, ids: set[str], scope: Scope) -> bool:
    """Tell whether a specimen says anything about the chosen clauses."""
    if specimen.clause is not None:
        return specimen.clause in ids
    if not ids & {one.id for one in about(registry.catalogue(), specimen.kind)}:
        return False
    return scope.full or not specimen.guards or bool(specimen.guards & ids)


def clauses_for(specimen: Specimen, scope: Scope) -> list[Clause]:
    """Choose the clauses to judge on a specimen, in the order of the catalogue.

    Of prerequisites with a gate only that is looked at, as always when something else is judged.
    """
    catalogue = registry.catalogue()
    judged = {one.id for one in about(catalogue, specimen.kind)}
    if scope.full:
        wanted = judged
    elif specimen.clause is None:
        wanted = {one.id for one in scope.clauses}
        if specimen.guards:
            needed = {need for one in specimen.guards for need in _prerequisites(catalogue[one])}
            wanted &= specimen.guards | {one for one in needed if catalogue[one].gate is None}
    else:
        own = catalogue[specimen.clause]
        beside = (
            ()
            if scope.alone
            else (*own.neighbours, *(one for one in _prerequisites(own) if catalogue[one].gate is None))
        )
        wanted = {own.id, *beside}
    return [one for one in catalogue if one.id in wanted & judged and one.id not in scope.without]


def _prerequisites(clause: Clause) -> Iterable[str]:
    catalogue = registry.catalogue()
    for need in clause.needs:
        yield need
        yield from _prerequisites(catalogue[need])


def enter(tally: Tally, specimen: Specimen, judged: Sequence[Judgement]) -> None:
    """Enter what was judged on one specimen: killed or survived, and each false alarm."""
    levels = {one.id: one.level for one in registry.catalogue()}
    failed = {one.clause for one in judged if one.outcome is Outcome.FAIL}
    if specimen.clause is None:
        bad = {one.clause for one in judged if one.outcome in _NOT_GOOD and levels[one.clause] is Level.MUST}
        alarms = bad | (failed - specimen.also_violates)
    else:
        tally.specimens += 1
        killed = specimen.clause in failed
        tally.killed += killed
        if not killed:
            tally.survived.append(specimen.label)
            tally.why[specimen.label] = next((_in_a_line(one) for one in judged if one.clause == specimen.clause), "")
        alarms = failed - specimen.also_violates - {specimen.clause}
    for one in sorted((one for one in judged if one.clause in alarms), key=lambda one: one.clause):
        label = f"{one.clause}/{specimen.name}"
        tally.false_alarms.append(label)
        tally.why[label] = _in_a_line(one)


def _in_a_line(judged: Judgement) -> str:
    """Put a judgement into a line: its outcome, and what it rests on."""
    seen = judged.findings[0].saw if judged.findings else judged.reason
    return f"{judged.outcome}: {' '.join(seen.split())[:400]}" if seen else str(judged.outcome)


@asynccontextmanager
async def _examination(specimen: Specimen, rig: Rig, scope: Scope) -> AsyncIterator[Examination]:
    """Open the examination of a specimen on the shared rig."""
    profile = profile_from(specimen.profile, where=str(specimen.path))
    subject = resolve_target(specimen.target, cwd=specimen.path.parent)
    with tempfile.TemporaryDirectory(prefix="specimen-") as folder:
        if scope.bytecode:
            subject = without_source(await prepare(subject, rig), Path(folder))
        settings = specimen.settings
        on = rig.with_host(settings) if specimen.host else rig
        async with Examination(subject, profile=profile, settings=settings, rig=on, without=scope.without) as opened:
            yield opened
