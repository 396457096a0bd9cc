"""Whether what is to be judged fits this installation: the interpreter, the platform, the dependencies.

What does not fit is no fault of the subject, so it is told before anything is loaded.
"""

from __future__ import annotations

import platform
import shlex
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.metadata import Distribution, PathDistribution, distributions
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.tags import sys_tags
from packaging.utils import canonicalize_name, parse_wheel_filename

from conformance.usage import UsageError

HOST = canonicalize_name("gerrit-mcp-server")
"""The server that loads the extension; the suite brings one of its own."""


@dataclass(frozen=True, kw_only=True)
class _Unmet:
    """A requirement that this installation does not meet."""

    wanted: str
    seen: str


def interpreter_trouble(requires_python: str | None) -> str:
    """Say why the running interpreter is not meant to run something; empty where it is.

    Args:
        requires_python: the versions that it asks for, as in `Requires-Python`; None where it asks for none.
    """
    try:
        fits = SpecifierSet(requires_python or "").contains(platform.python_version(), prereleases=True)
    except InvalidSpecifier:
        return ""
    return "" if fits else f"it requires Python {requires_python}, and this is Python {platform.python_version()}"


def refuse_foreign_wheel(wheel: Path) -> None:
    """Refuse a wheel that is made for another platform or interpreter.

    Raises:
        UsageError: naming what the wheel is made for and what this is.
    """
    tags = parse_wheel_filename(wheel.name)[3]
    here = list(sys_tags())
    if tags.isdisjoint(here):
        raise UsageError(
            f"{wheel.name} cannot be installed here",
            f"it is made for {', '.join(sorted(map(str, tags)))}; this is {here[0]}",
            "give a wheel for this interpreter and platform, or the project's folder",
        )


def refuse_unmet(subject: PathDistribution, import_path: Iterable[Path]) -> None:
    """Refuse a distribution whose dependencies are not installed here, as nobody would see the subject fail for that.

    Args:
        subject: the distribution.
        import_path: folders to search before `sys.path`.

    Raises:
        UsageError: naming each dependency and the command that installs them.
    """
    places = [*map(str, import_path), *sys.path]
    unmet = list(dict.fromkeys(_unmet(subject, places)))
    if unmet:
        raise UsageError(
            f"{subject.name} needs what is not installed here: {', '.join(one.wanted for one in unmet)}",
            "; ".join(one.seen for one in unmet) + " (the suite installs no dependencies of its subjects)",
            f"{sys.executable} -m pip install {shlex.join(one.wanted for one in unmet)}",
        )


def _unmet(subject: PathDistribution, places: list[str]) -> Iterator[_Unmet]:
    """Follow everything that the subject declares, as far as it is installed."""
    own = canonicalize_name(subject.name)
    waiting = [(text, "", "") for text in subject.requires or ()]
    followed: set[str] = set()
    while waiting:
        text, extra, wanted_by = waiting.pop(0)
        requirement = _applicable(text, extra)
        if requirement is None or text in followed:
            continue
        followed.add(text)
        name = canonicalize_name(requirement.name)
        found = subject if name == own else next(iter(distributions(name=name, path=places)), None)
        if found is None or not found.version:
            if name != HOST:
                yield _Unmet(wanted=_to_install(requirement), seen=f"{name} is missing{wanted_by}")
            continue
        if not requirement.specifier.contains(found.version, prereleases=True) and name != own:
            yield _Unmet(wanted=_to_install(requirement), seen=f"{name} is there in version {found.version}{wanted_by}")
            continue
        waiting += _further(found, requirement)


def _applicable(text: str, extra: str) -> Requirement | None:
    try:
        requirement = Requirement(text)
    except InvalidRequirement:
        return None  # whoever installed it has said so already
    return None if requirement.marker and not requirement.marker.evaluate({"extra": extra}) else requirement


def _further(found: Distribution, requirement: Requirement) -> Iterator[tuple[str, str, str]]:
    extras = ("", *requirement.extras)
    return ((text, extra, f", which {requirement.name} needs") for text in found.requires or () for extra in extras)


def _to_install(requirement: Requirement) -> str:
    """Write a requirement without its marker, which holds already."""
    extras = f"[{','.join(sorted(requirement.extras))}]" if requirement.extras else ""
    where = f" @ {requirement.url}" if requirement.url else str(requirement.specifier)
    return f"{requirement.name}{extras}{where}"
