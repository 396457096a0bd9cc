"""Make undeclared dependencies unimportable in the child: a distribution is seen with only what it asked for."""

from __future__ import annotations

import email
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.machinery import ModuleSpec
from importlib.metadata import Distribution, PackageNotFoundError, PathDistribution, distribution, distributions
from pathlib import Path
from typing import Any

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

HOST_BRINGS = ("mcp", "gerrit-mcp-server")
"""What stands beside every extension: its host, and the SDK that the host is made of."""

OURS = frozenset({"conformance", "reference_server"})
"""Modules that serve the trial itself."""


@dataclass(frozen=True, kw_only=True)
class _Installed:
    """What is installed on `sys.path`; distributions by their canonical names."""

    requires: Mapping[str, list[str]]
    owners: Mapping[str, set[str]]
    """The distributions that each top-level module belongs to."""
    host: frozenset[str]
    """What the host brings, with all that it requires."""


def remember() -> None:
    """Look through the installed distributions, once for this process and all that are forked from it."""
    _installed()


@lru_cache(maxsize=1)
def _installed() -> _Installed:
    requires: dict[str, list[str]] = {}
    owners: defaultdict[str, set[str]] = defaultdict(set)
    for found in distributions():
        told, wanted = _told(found)
        if not told:
            continue  # what an interrupted uninstall leaves
        name = canonicalize_name(told)
        requires.setdefault(name, wanted)
        for module in top_level(found):
            owners[module].add(name)
    return _Installed(requires=requires, owners=owners, host=frozenset(_closure(HOST_BRINGS, requires)))


def _told(found: Distribution) -> tuple[str, list[str]]:
    """Give a distribution's name and requirements, from the head of its metadata alone: the rest may be a book."""
    text = found.read_text("METADATA")
    if text is None:
        return str(found.metadata.json.get("name", "")), found.requires or []
    head = email.message_from_string(text.partition("\n\n")[0])
    return head["Name"] or "", head.get_all("Requires-Dist") or []


def top_level(found: Distribution) -> Iterator[str]:
    """Give the top-level modules of a distribution, by what its installer has recorded."""
    record = found.read_text("RECORD")
    if record is None:
        yield from (found.read_text("top_level.txt") or "").split()
        return
    for first in {line.partition(",")[0].partition("/")[0] for line in record.splitlines()}:
        name, _, ending = first.partition(".")
        if (
            name.isidentifier()
            and name != "__pycache__"
            and ending.rpartition(".")[2] in {"", "py", "pyc", "so", "pyd"}
        ):
            yield name


def refuse_undeclared(metadata: str, host: str | None = None) -> None:
    """From now on a module of a distribution that the subject does not declare cannot be found.

    Args:
        metadata: the subject's `.dist-info` folder.
        host: `module:callable` of a factory whose own distribution may import what it likes.
    """
    subject = PathDistribution(Path(metadata))
    installed = _installed()
    hosts = installed.owners.get((host or "").partition(":")[0].partition(".")[0], set())
    allowed = _closure([*(subject.requires or ()), *hosts], installed.requires, known=installed.host)
    hidden = _Hidden(allowed | {canonicalize_name(subject.name)}, installed.owners)
    for name in [one for one in sys.modules if hidden.owners(one.partition(".")[0])]:
        del sys.modules[name]  # our own imports must not lend the subject what it forgot to declare
    sys.meta_path[:] = [_Blinkered(finder, hidden) for finder in sys.meta_path]


def why_missing(problem: BaseException) -> str:
    """Say why a module was not found although it is installed; empty for any other problem."""
    if not isinstance(problem, ModuleNotFoundError) or not problem.name:
        return ""
    finder = next((one for one in sys.meta_path if isinstance(one, _Blinkered)), None)
    owners = finder.hidden.owners(problem.name.partition(".")[0]) if finder else ()
    return f" (it belongs to {', '.join(sorted(owners))}, which is installed but not declared)" if owners else ""


def _closure(requirements: Iterable[str], requires: Mapping[str, list[str]], *, known: Iterable[str] = ()) -> set[str]:
    """Follow requirements; `requires` says what is known of distributions, `known` what need not be followed again."""
    found: set[str] = set(known)
    waiting = [(text, "") for text in requirements]
    while waiting:
        text, extra = waiting.pop()
        try:
            requirement = Requirement(text)
        except InvalidRequirement:
            continue  # the installer has said so already
        if requirement.marker and not requirement.marker.evaluate({"extra": extra}):
            continue
        name = canonicalize_name(requirement.name)
        key = {name, *(f"{name}[{one}]" for one in requirement.extras)}
        if key <= found:
            continue
        found |= key
        told = requires[name] if name in requires else _requires(name)
        waiting += [(one, wanted) for one in told for wanted in ("", *requirement.extras)]
    return found


def _requires(name: str) -> list[str]:
    try:
        return distribution(name).requires or []
    except PackageNotFoundError:
        return []


class _Hidden:
    """Tells which modules are installed but not declared."""

    def __init__(self, allowed: set[str], by_module: Mapping[str, set[str]]) -> None:
        self._allowed = allowed
        self._by_module = by_module

    def owners(self, name: str) -> set[str]:
        """Give the distributions that a top-level module belongs to, if none of them is declared."""
        owners = self._by_module.get(name, set())
        return set() if name in OURS or owners & self._allowed else owners


class _Blinkered:
    """A finder that does not see what is hidden, as if it were not installed, and sees all else as before."""

    def __init__(self, finder: Any, hidden: _Hidden) -> None:  # noqa: ANN401 - finders share no type
        self._finder = finder
        self.hidden = hidden

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:  # noqa: ANN401
        """Find nothing for the top-level modules of undeclared distributions."""
        if self.hidden.owners(name):
            return None
        spec: ModuleSpec | None = self._finder.find_spec(name, path, target)
        return spec

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever else the finder has
        return getattr(self._finder, name)
