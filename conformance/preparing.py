"""Make a subject loadable: what is not installed is built and unpacked, and all has to fit this installation.

Results are kept by content hash under the user's cache folder.
"""

from __future__ import annotations

import asyncio
import hashlib
import shutil
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from importlib.metadata import PathDistribution
from pathlib import Path
from typing import TYPE_CHECKING

from conformance.building import build_wheel, cache_folder
from conformance.fitting import interpreter_trouble, refuse_foreign_wheel, refuse_unmet
from conformance.subject import ENTRY_POINT_GROUP, Subject, misspelt, modules_of
from conformance.targets import is_project, project_table
from conformance.usage import UsageError

if TYPE_CHECKING:
    from conformance.rig.rig import Rig


async def prepare(subject: Subject, rig: Rig) -> Subject:
    """Give a subject that can be loaded; one that needs no building is given back as it is.

    One that asks for another interpreter is given back with the reason in `blocked`.

    Raises:
        UsageError: it cannot be built, what was built advertises no extension, or a dependency is not installed.
    """
    if subject.kind == "server":
        return subject
    if subject.build_from is None:
        _refuse_silent(subject)
        return _fitted(subject)
    if subject.build_from.suffix == ".whl":
        refuse_foreign_wheel(subject.build_from)
    kept = _place_of(subject, subject.build_from)
    if not kept.is_dir():
        try:
            await _build_into(kept, subject, rig)
        except UsageError:
            if trouble := _told_trouble(subject.build_from):
                return replace(subject, blocked=trouble)
            raise
    return _fitted(_from_installed(subject, kept))


def needs_building(subject: Subject) -> bool:
    """Tell whether preparing the subject would build it: it is neither installed nor built already."""
    return subject.build_from is not None and not _place_of(subject, subject.build_from).is_dir()


def _place_of(subject: Subject, source: Path) -> Path:
    """Give the folder in which what is built of a subject is kept."""
    key = hashlib.sha256("\0".join(_identity(subject, source)).encode()).hexdigest()[:32]
    return cache_folder() / "subjects" / key


def _identity(subject: Subject, source: Path) -> Iterator[str]:
    """Give everything that what is built depends on."""
    yield from (subject.sha256(), sys.version, source.suffix)
    history = source / ".git"  # a backend may take the version from there
    heads = [history / "HEAD", history / "packed-refs", *sorted((history / "refs").rglob("*"))]
    yield from (f"{one.name} {one.read_bytes().hex()}" for one in heads if one.is_file())


def _told_trouble(source: Path) -> str:
    """Say why this interpreter is none for a project, as far as its `pyproject.toml` tells."""
    file = source / "pyproject.toml"
    return interpreter_trouble(str(project_table(file).get("requires-python") or "")) if file.is_file() else ""


def _fitted(subject: Subject) -> Subject:
    """Hold the metadata of an installed subject against this installation."""
    if subject.metadata is None:
        return subject
    found = PathDistribution(subject.metadata)
    if trouble := interpreter_trouble(str(found.metadata.json.get("requires_python", ""))):
        return replace(subject, blocked=trouble)
    refuse_unmet(found, subject.import_path)
    return subject


def _from_installed(subject: Subject, folder: Path) -> Subject:
    metadata = next(folder.glob("*.dist-info"), None)
    if metadata is None:
        raise UsageError(
            f"{subject.target} holds no metadata", f"nothing in {folder} ends in .dist-info", "build the wheel again"
        )
    found = PathDistribution(metadata)
    made = replace(
        subject, name=found.name, version=found.version, modules=modules_of(metadata),
        import_path=(folder,), metadata=metadata, build_from=None,
    )  # fmt: skip
    _refuse_silent(made)
    return made


def _refuse_silent(subject: Subject) -> None:
    """Refuse what is no extension; one that only misspells the group of its entry points is, and fails for it."""
    if not subject.modules and not (subject.metadata and misspelt(subject.metadata)):
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
        shutil.copytree(source, project, ignore=shutil.ignore_patterns(".venv", ".tox", "__pycache__"), symlinks=True)
    else:
        project = _unpack_archive(source, project)
    return await build_wheel(project, work, rig, named=source.name)


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
    tops = [one for one in into.iterdir() if is_project(one)]
    if len(tops) != 1:
        raise UsageError(
            f"{archive.name} is no source archive",
            "it has no single top folder with pyproject.toml or setup.py",
            "build one with python -m build --sdist",
        )
    return tops[0]


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
