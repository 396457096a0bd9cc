"""The decorator that turns a function into a clause, and the catalogue of all of them.

A clause is one async function. Its docstring's first paragraph is the contract in one sentence; whatever follows says
how it is judged. It returns for PASS and raises `Finding`, `Inconclusive`, `Blocked` or `NotApplicable` otherwise.
"""

from __future__ import annotations

import importlib
import inspect
import json
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from typing import Any

from conformance.outcomes import Finding, Level

CATALOGUE_VERSION = "3"
"""Raised whenever a clause is added, or what it demands changes."""

FAMILY_MODULES = (
    "extension", "loading", "surface", "tools", "results", "faults", "bodies", "arguments", "egress", "writing",
    "routing", "routing_lists", "routing_trouble", "concurrency", "server_discovery", "server_isolation",
    "server_context", "server_addresses", "server_requests", "server_routing", "server_routing_lists",
    "server_routing_trouble", "server_results", "server_lifecycle", "server_care",
)  # fmt: skip
"""The modules under `conformance.contracts` that hold clauses, in the order of the catalogue."""


Check = Callable[..., Awaitable[None]]
"""What judges: given the observations, and for a clause about tools the name of one."""


@dataclass(frozen=True, kw_only=True)
class Source:
    """Where a clause is written: a document and its section, or the reason why the field expects it."""

    document: str
    section: str = ""
    reason: str = ""

    def __str__(self) -> str:
        """Render as a citation of one line."""
        where = f'{self.document}, "{self.section}"' if self.section else self.document
        return f"{where}: {self.reason}" if self.reason else where


@dataclass(frozen=True, kw_only=True)
class Document:
    """A source document; `section()` cites a part of it."""

    title: str
    sections: frozenset[str]

    def section(self, name: str) -> Source:
        """Cite the section `name`; one that the document does not have is a mistake in the clause."""
        if name not in self.sections:
            raise ValueError(f"{self.title} has no section {name!r}; it has {', '.join(sorted(self.sections))}")
        return Source(document=self.title, section=name)


GUIDE = Document(
    title="gerrit-mcp-server docs/extensions.md",
    sections=frozenset(
        {
            "How extensions are discovered",
            "Registering via an entry point",
            "Registering via the environment variable",
            "Writing an extension",
            "The ExtensionContext",
            "Namespaced configuration",
            "Plugin-backed tools and requires_plugin",
            "Routing behavior",
            "Lifecycle",
        }
    ),
)
MCP_SPEC = Document(
    title="MCP specification 2025-11-25",
    sections=frozenset({"Transports: stdio", "Tools", "Tools: Output Schema", "Tools: Error Handling", "Lifecycle"}),
)


def field_sense(reason: str) -> Source:
    """Cite no document but the common sense of the field, and say why it holds."""
    return Source(document="common sense of the field", reason=reason)


def tells_of_an_end(finding: Finding) -> bool:
    """Tell whether a process was seen to end in what a finding quotes."""
    return any(one.kind == "process" for one in finding.evidence)


@dataclass(frozen=True, kw_only=True)
class Clause:
    """One contract that a subject keeps or breaks."""

    id: str
    level: Level
    source: Source
    fix: str
    needs: tuple[str, ...]
    excused_by: tuple[str, ...]
    neighbours: tuple[str, ...]
    example: str
    per_tool: bool
    gate: Check | None
    """The part of it that the clauses which need it build on; None where that is all of it."""
    explains: Callable[[Finding], bool] | None
    """Tells of a finding of another clause whether this one can be its cause at all; None where any can."""
    judges_host: bool
    """It is the host of the run that keeps or breaks it."""
    check: Check

    @property
    def family(self) -> str:
        """The word before the first hyphen, such as ROUTE."""
        return self.id.partition("-")[0]

    @property
    def summary(self) -> str:
        """The contract in one sentence."""
        return " ".join((inspect.getdoc(self.check) or "").split("\n\n")[0].split())

    @property
    def details(self) -> str:
        """How it is judged: the docstring after its first paragraph."""
        return (inspect.getdoc(self.check) or "").partition("\n\n")[2]


class Catalogue:
    """All clauses by id, family by family, else in the order in which they are written."""

    def __init__(self, clauses: Iterable[Clause]) -> None:
        """Refuse two clauses of one id, and a prerequisite that is no clause."""
        self._by_id: dict[str, Clause] = {}
        for one in clauses:
            if one.id in self._by_id:
                raise ValueError(f"two clauses are called {one.id}")
            self._by_id[one.id] = one
        for one in self._by_id.values():
            unknown = [other for other in (*one.needs, *one.excused_by, *one.neighbours) if other not in self._by_id]
            if unknown:
                raise ValueError(f"{one.id} names {', '.join(unknown)}, which is no clause")

    def __iter__(self) -> Any:  # noqa: ANN401 - an iterator of Clause
        """Iterate over the clauses in catalogue order."""
        return iter(self._by_id.values())

    def __len__(self) -> int:
        """Count the clauses."""
        return len(self._by_id)

    def __contains__(self, clause_id: object) -> bool:
        """Tell whether there is a clause of that id."""
        return clause_id in self._by_id

    def __getitem__(self, clause_id: str) -> Clause:
        """Give the clause of that id; KeyError where there is none."""
        return self._by_id[clause_id]

    def ids(self) -> tuple[str, ...]:
        """Give all ids in catalogue order."""
        return tuple(self._by_id)

    def planned_sha256(self, ids: Iterable[str]) -> str:
        """Hash a planned set of clauses, so that a certificate tells what was meant to run."""
        return sha256(json.dumps([CATALOGUE_VERSION, sorted(ids)]).encode()).hexdigest()


MARK = "__conformance_clause__"


def clause(
    clause_id: str,
    *,
    level: Level,
    source: Source,
    fix: str,
    example: str = "",
    needs: tuple[str, ...] = (),
    excused_by: tuple[str, ...] = (),
    neighbours: tuple[str, ...] = (),
    per_tool: bool = False,
    gate: Check | None = None,
    explains: Callable[[Finding], bool] | None = None,
    judges_host: bool = False,
) -> Callable[[Check], Check]:
    """Make an async function a clause.

    Args:
        clause_id: its id, as in the catalogue of contracts.
        level: MUST, SHOULD or MAY.
        source: the section that asks for it.
        fix: what an author does about it, in one or two sentences.
        example: a few lines of code that keep the clause, as an author would write them.
        needs: ids of clauses that have to PASS first; otherwise this one is BLOCKED by the first that does not.
        excused_by: ids of clauses whose FAIL explains a FAIL of this one, which is then BLOCKED by the first of them:
            they name the cause, this one would name a symptom.
        neighbours: ids of other clauses that `selftest` also runs on this clause's specimens, to show no false alarm.
        per_tool: the function takes `(observed, tool)` and is run for every tool of the subject.
        gate: the part of the check that the clauses which need this one build on. Those are judged where it holds; what
            they find is BLOCKED all the same if the whole clause turns out not to hold.
        explains: of a clause that excuses others: whether a finding of theirs can be owed to this one, so that it need
            not be judged for each of them.
        judges_host: it is the host that keeps or breaks the clause, so its fault is a FAIL, whoever else shows it too.
    """

    def mark(check: Check) -> Check:
        if not inspect.getdoc(check):
            raise ValueError(f"{clause_id} has no text: its docstring is the clause")
        made = Clause(
            id=clause_id, level=level, source=source, fix=fix, example=inspect.cleandoc(example), needs=needs,
            excused_by=excused_by, neighbours=neighbours, per_tool=per_tool,
            gate=gate, explains=explains, judges_host=judges_host, check=check,
        )  # fmt: skip
        setattr(check, MARK, made)
        return check

    return mark


@lru_cache(maxsize=1)
def catalogue() -> Catalogue:
    """Read all clauses from the family modules; cheap after the first call."""
    found: list[Clause] = []
    for name in FAMILY_MODULES:
        module = importlib.import_module(f"conformance.contracts.{name}")
        found += [getattr(one, MARK) for one in vars(module).values() if hasattr(one, MARK)]
    families = list(dict.fromkeys(one.family for one in found))
    return Catalogue(sorted(found, key=lambda one: families.index(one.family)))
