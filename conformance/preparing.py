"""Build what has to be built before it can be loaded: a project folder, a source archive or a wheel.

The build backend is the subject's code, so it runs in the same containment as the subject itself: a child without a
network, in a copy of the project. What it needs is fetched before, as wheels only, so that nothing of it runs while
being installed. Results are kept by content hash under the user's cache folder.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import shutil
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, PathDistribution
from importlib.metadata import version as installed_version
from pathlib import Path
from typing import TYPE_CHECKING

from packaging.requirements import InvalidRequirement, Requirement

from conformance.subject import ENTRY_POINT_GROUP, Subject
from conformance.usage import UsageError

if TYPE_CHECKING:
    from conformance.rig.rig import Rig

BUILD_SECONDS = 120.0
DEFAULT_BACKEND = ["setuptools"]
"""What PEP 518 says a project without a `[build-system]` needs."""


def cache_folder() -> Path:
    """Give the folder in which built subjects are kept: `$XDG_CACHE_HOME/gerrit-mcp-conformance`."""
    root = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(root) / "gerrit-mcp-conformance"


async def prepare(subject: Subject, rig: Rig) -> Subject:
    """Give a subject that can be loaded; one that needs no building is given back as it is.

    Raises:
        UsageError: it cannot be built, or what was built advertises no extension.
    """
    if subject.build_from is None:
        _refuse_silent(subject)
        return subject
    key = hashlib.sha256(f"{subject.sha256()} {sys.version} {subject.build_from.suffix}".encode()).hexdigest()[:32]
    kept = cache_folder() / "subjects" / key
    if not kept.is_dir():
        await _build_into(kept, subject, rig)
    return _from_installed(subject, kept)


def _from_installed(subject: Subject, folder: Path) -> Subject:
    metadata = next(folder.glob("*.dist-info"), None)
    if metadata is None:
        raise UsageError(
            f"{subject.target} holds no metadata", f"nothing in {folder} ends in .dist-info", "build the wheel again"
        )
    found = PathDistribution(metadata)
    modules = [e.value.partition(":")[0].strip() for e in found.entry_points if e.group == ENTRY_POINT_GROUP]
    made = replace(
        subject, name=found.name, version=found.version, modules=tuple(dict.fromkeys(modules)),
        import_path=(folder,), metadata=metadata, build_from=None,
    )  # fmt: skip
    _refuse_silent(made)
    return made


def _refuse_silent(subject: Subject) -> None:
    if not subject.modules:
        raise UsageError(
            f"{subject.name} advertises no extension",
            f"it has no entry point in the group {ENTRY_POINT_GROUP}",
            "add one to its pyproject.toml, or name the module that defines register: module:NAME",
        )


async def _build_into(kept: Path, subject: Subject, rig: Rig) -> None:
    """Build and unpack in a temporary folder, then move the result into place whole."""
    kept.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=kept.parent, prefix="building-") as name:
        work = Path(name)
        wheel = await _wheel(subject, work, rig)
        installed = work / "installed"
        await asyncio.to_thread(_unpack_wheel, wheel, installed)
        try:
            installed.rename(kept)
        except OSError:
            if not kept.is_dir():  # else somebody else was faster, with the same content
                raise


async def _wheel(subject: Subject, work: Path, rig: Rig) -> Path:
    source = subject.build_from
    assert source is not None  # noqa: S101 - only subjects that have one come here
    if source.suffix == ".whl":
        return source
    project = work / "project"
    if source.is_dir():
        shutil.copytree(
            source, project, ignore=shutil.ignore_patterns(".git", ".venv", ".tox", "__pycache__"), symlinks=True
        )
    else:
        project = _unpack_archive(source, project)
    requires = await asyncio.to_thread(_build_requirements, _needs(project))
    return await _run_backend(project, work / "wheel", requires, rig)


def _unpack_archive(archive: Path, into: Path) -> Path:
    """Unpack a source archive; its one top folder is the project."""
    into.mkdir()
    try:
        if archive.suffix == ".zip":
            with zipfile.ZipFile(archive) as opened:
                opened.extractall(into)  # noqa: S202 - zipfile drops absolute paths and climbing ones
        else:
            with tarfile.open(archive) as opened_tar:
                opened_tar.extractall(into, filter="data")
    except (tarfile.TarError, zipfile.BadZipFile, EOFError) as problem:
        raise UsageError(f"{archive.name} cannot be unpacked", str(problem), "make the archive again") from None
    tops = [one for one in into.iterdir() if (one / "pyproject.toml").is_file()]
    if len(tops) != 1:
        raise UsageError(
            f"{archive.name} is no source archive",
            "it has no single top folder with pyproject.toml",
            "build one with python -m build --sdist",
        )
    return tops[0]


def _needs(project: Path) -> list[str]:
    try:
        system = tomllib.loads((project / "pyproject.toml").read_text(encoding="utf-8")).get("build-system", {})
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise UsageError(f"{project.name}/pyproject.toml cannot be read", str(problem), "mend the file") from None
    return [str(one) for one in system.get("requires", DEFAULT_BACKEND)]


def _build_requirements(needs: list[str]) -> Path | None:
    """Give a folder that holds what the backend needs, or None where the environment has it all."""
    if all(_is_installed(need) for need in needs):
        return None
    key = hashlib.sha256(json.dumps([sorted(needs), sys.version]).encode()).hexdigest()[:32]
    folder = cache_folder() / "backends" / key
    if not folder.is_dir():
        _fetch(needs, folder)
    return folder


def _is_installed(need: str) -> bool:
    try:
        requirement = Requirement(need)
        return requirement.specifier.contains(installed_version(requirement.name), prereleases=True)
    except (InvalidRequirement, PackageNotFoundError):
        return False


def _fetch(needs: list[str], folder: Path) -> None:
    import subprocess  # noqa: PLC0415 - pip is the ordinary client of the registry

    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as name:
        target = Path(name, "target")
        command = [
            sys.executable,
            "-m",
            "pip",
            "install",
            "--quiet",
            "--only-binary=:all:",
            "--disable-pip-version-check",
        ]
        done = subprocess.run(
            [*command, f"--target={target}", "--", *needs], capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise UsageError(
                f"what the build backend needs cannot be installed: {', '.join(needs)}",
                done.stderr.strip()[-600:],
                "install it beforehand, or give the built wheel instead of the folder",
            )
        target.rename(folder)


async def _run_backend(project: Path, output: Path, requires: Path | None, rig: Rig) -> Path:
    """Run the project's build backend in a contained child without a network."""
    output.mkdir()
    command = [
        sys.executable,
        "-m",
        "build",
        "--wheel",
        "--no-isolation",
        "--skip-dependency-check",
        f"--outdir={output}",
        str(project),
    ]
    code, text = await rig.run(
        command, import_path=[str(requires)] if requires else [], folder=project, seconds=BUILD_SECONDS
    )
    wheels = list(output.glob("*.whl"))
    if code != 0 or len(wheels) != 1:
        raise UsageError(
            f"{project.name} cannot be built",
            text.strip()[-1500:] or f"the backend ended with code {code}",
            "mend the project, or give a built wheel",
        )
    return wheels[0]


def _unpack_wheel(wheel: Path, into: Path) -> None:
    """Lay a wheel out as an installer would, with everything importable in one folder."""
    from installer import install  # noqa: PLC0415 - only where something is built
    from installer.destinations import SchemeDictionaryDestination  # noqa: PLC0415
    from installer.sources import WheelFile  # noqa: PLC0415

    into.mkdir()
    scheme = {name: str(into) for name in ("purelib", "platlib")}
    scheme |= {name: str(into / f".{name}") for name in ("headers", "scripts", "data")}
    try:
        with WheelFile.open(wheel) as source:
            destination = SchemeDictionaryDestination(scheme, interpreter=sys.executable, script_kind="posix")
            install(
                source=source, destination=destination, additional_metadata={"INSTALLER": b"gerrit-mcp-conformance"}
            )
    except (zipfile.BadZipFile, ValueError, KeyError) as problem:
        raise UsageError(f"{wheel.name} is no good wheel", str(problem), "build it again") from None
