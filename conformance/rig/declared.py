"""Make undeclared dependencies unimportable in the child: a distribution is seen with only what it asked for."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from importlib.machinery import ModuleSpec
from importlib.metadata import (
    Distribution,
    PackageNotFoundError,
    PathDistribution,
    distribution,
    packages_distributions,
)
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

HOST_BRINGS = ("mcp", "gerrit-mcp-server")
"""What stands beside every extension: its host, and the SDK that the host is made of."""

OURS = frozenset({"conformance", "reference_server"})
"""Modules that serve the trial itself."""


def refuse_undeclared(metadata: str) -> None:
    """From now on a module of a distribution that the subject does not declare cannot be found."""
    subject = PathDistribution(Path(metadata))
    allowed = closure([*(subject.requires or ()), *HOST_BRINGS]) | {canonicalize_name(subject.name)}
    refusal = _Refusal(allowed, _distributions_by_module())
    for name in [one for one in sys.modules if refusal.owners(one.partition(".")[0])]:
        del sys.modules[name]  # our own imports must not lend the subject what it forgot to declare
    sys.meta_path.insert(0, refusal)


@lru_cache(maxsize=1)
def _distributions_by_module() -> Mapping[str, Sequence[str]]:
    return packages_distributions()


def closure(requirements: Iterable[str]) -> set[str]:
    """Give the canonical names of everything that `requirements` bring along, as installed here."""
    found: set[str] = set()
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
        waiting += [(one, wanted) for one in _requires(requirement.name) for wanted in ("", *requirement.extras)]
    return found


def _requires(name: str) -> list[str]:
    try:
        installed: Distribution = distribution(name)
    except PackageNotFoundError:
        return []
    return installed.requires or []


class _Refusal:
    """A finder that finds nothing, and says why for what is installed but not declared."""

    def __init__(self, allowed: set[str], by_module: Mapping[str, Sequence[str]]) -> None:
        self._allowed = allowed
        self._by_module = by_module

    def owners(self, name: str) -> set[str]:
        """Give the distributions that a top-level module belongs to, if none of them is declared."""
        owners: set[str] = {canonicalize_name(one) for one in self._by_module.get(name, ())}
        return set() if name in OURS or owners & self._allowed else owners

    def find_spec(
        self,
        name: str,
        path: object = None,  # noqa: ARG002 - the protocol of finders
        target: object = None,  # noqa: ARG002 - likewise
    ) -> ModuleSpec | None:
        """Refuse the top-level modules of undeclared distributions."""
        if owners := self.owners(name):
            told = f"it belongs to {', '.join(sorted(owners))}, which is not declared"
            raise ModuleNotFoundError(f"No module named {name!r} ({told})", name=name)
        return None
