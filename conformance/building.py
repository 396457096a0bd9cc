"""Turn a project into a wheel, by its own build backend.

The backend is the subject's code, so it runs in the same containment as the subject itself: a child without a network,
in a copy of the project. What it needs is fetched before, as wheels only, so that nothing of it runs while being
installed.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import sys
import tempfile
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from packaging.requirements import InvalidRequirement, Requirement

from conformance import backend_child
from conformance.usage import UsageError, last_words

if TYPE_CHECKING:
    from conformance.rig.rig import Rig

BUILD_SECONDS = 120.0
ROUNDS = 4
"""How often a backend may ask for something that it has not asked for before."""
LEGACY = ("setuptools>=40.8.0",)
"""What PEP 517 says a project without a `[build-system]` needs."""


def cache_folder() -> Path:
    """Give the folder in which built subjects are kept: `$XDG_CACHE_HOME/gerrit-mcp-conformance`."""
    root = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(root) / "gerrit-mcp-conformance"


async def build_wheel(project: Path, work: Path, rig: Rig, *, named: str) -> Path:
    """Build the wheel of a project.

    Args:
        project: the folder of the project, which the backend may write to.
        work: a folder for everything that is made.
        rig: where the backend is run.
        named: what messages call the project, as the folder may be a copy.

    Raises:
        UsageError: the backend fails, or what it needs cannot be had; the message holds the end of what was written.
    """
    needs = _told_needs(project, named)
    for number in range(ROUNDS):
        requires = await asyncio.to_thread(_provide, needs)
        output = work / f"wheel-{number}"
        told = await _run_backend(project, output, requires, rig, named)
        if isinstance(told, Path):
            return told
        needs = needs | set(told)
    raise UsageError(
        f"{named} cannot be built",
        f"its backend goes on asking for more than {', '.join(sorted(needs))}",
        "mend the project, or give a built wheel",
    )


def _told_needs(project: Path, named: str) -> set[str]:
    """Read what the project says that its backend needs; without that the backend cannot even be asked."""
    file = project / "pyproject.toml"
    try:
        system = tomllib.loads(file.read_text(encoding="utf-8")).get("build-system", {}) if file.is_file() else {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise UsageError(f"{named}/pyproject.toml cannot be read", str(problem), "mend the file") from None
    told = system.get("requires", LEGACY) if isinstance(system, dict) else LEGACY
    return {str(one) for one in told}


def _provide(needs: Iterable[str]) -> Path | None:
    """Give a folder that holds what the backend needs, or None where the environment has it all."""
    wanted = sorted(needs)
    if all(backend_child.is_there(need) for need in wanted):
        return None
    for need in wanted:
        _refuse_unsafe(need)
    key = hashlib.sha256(json.dumps([wanted, sys.version]).encode()).hexdigest()[:32]
    folder = cache_folder() / "backends" / key
    if not folder.is_dir():
        _fetch(wanted, folder)
    return folder


def _refuse_unsafe(need: str) -> None:
    """Refuse what pip would not take from the registry as a wheel: its code would run outside the containment."""
    try:
        plain = Requirement(need).url is None
    except InvalidRequirement:
        plain = False
    if not plain:
        raise UsageError(
            f"the build backend needs {need}",
            "only a name with a version is fetched, so that nothing runs while being installed",
            "install it beforehand, or give the built wheel instead of the folder",
        )


def _fetch(needs: list[str], folder: Path) -> None:
    import subprocess  # noqa: PLC0415 - pip is the ordinary client of the registry

    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as name:
        target = Path(name, "target")
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--only-binary=:all:", "--disable-pip-version-check"]
        done = subprocess.run([*pip, f"--target={target}", "--", *needs], capture_output=True, text=True, check=False)
        if done.returncode:
            raise UsageError(
                f"what the build backend needs cannot be installed: {', '.join(needs)}",
                last_words(done.stderr, 600),
                "install it beforehand, or give the built wheel instead of the folder",
            )
        target.mkdir(exist_ok=True)  # where every need is for other circumstances pip makes none
        try:
            target.rename(folder)
        except OSError:
            if not folder.is_dir():  # else somebody else was faster, with the same content
                raise


async def _run_backend(project: Path, output: Path, requires: Path | None, rig: Rig, named: str) -> Path | list[str]:
    """Run the backend in a contained child without a network; give the wheel, or all that it needs to make one."""
    output.mkdir()
    answer = output / "needs.json"
    command = [sys.executable, "-P", str(Path(backend_child.__file__)), str(project), str(output), str(answer)]
    code, text = await rig.run(
        command, import_path=[str(requires)] if requires else [], folder=project, seconds=BUILD_SECONDS
    )
    if code == 0 and answer.is_file():
        return [str(need) for need in json.loads(answer.read_text(encoding="utf-8"))]
    wheels = list(output.glob("*.whl"))
    if code != 0 or len(wheels) != 1:
        raise UsageError(
            f"{named} cannot be built",
            last_words(text) or f"the backend ended with code {code}",
            "mend the project, or give a built wheel",
        )
    return wheels[0]
