"""An extension without its source: the same files, compiled.

With it the suite shows that no verdict comes from reading source text.
"""

from __future__ import annotations

import py_compile
import shutil
from dataclasses import replace
from pathlib import Path

from conformance.subject import Subject

_IGNORED = shutil.ignore_patterns("__pycache__", ".*")


def without_source(subject: Subject, folder: Path) -> Subject:
    """Copy a subject into `folder` with every `.py` replaced by the `.pyc` beside it.

    Args:
        subject: a module, or a distribution that has been built (`conformance.preparing.prepare`).
        folder: an existing empty folder; it has to stay as long as the subject is used.

    Returns:
        The subject as it lies in `folder`; the one that was given if it cannot be compiled (a syntax error stays one).
    """
    moved = _moved_module(subject, folder) if subject.metadata is None else _moved_distribution(subject, folder)
    try:
        _compile_all(folder)
    except py_compile.PyCompileError:
        return subject
    return moved


def _moved_distribution(subject: Subject, folder: Path) -> Subject:
    assert subject.metadata is not None  # noqa: S101 - asked by the caller
    root = subject.import_path[0]
    shutil.copytree(root, folder, ignore=_IGNORED, dirs_exist_ok=True)
    return replace(subject, import_path=(folder,), metadata=folder / subject.metadata.relative_to(root))


def _moved_module(subject: Subject, folder: Path) -> Subject:
    """Copy a module's files; a single file will be a `.pyc` once it is compiled."""
    copies = [_copy(one, folder) for one in subject.content]
    content = tuple(one if one.is_dir() else one.with_suffix(".pyc") for one in copies)
    return replace(subject, import_path=(folder,), content=content)


def _copy(path: Path, folder: Path) -> Path:
    if path.is_dir():
        return Path(shutil.copytree(path, folder / path.name, ignore=_IGNORED))
    return Path(shutil.copy2(path, folder / path.name))


def _compile_all(folder: Path) -> None:
    for source in folder.rglob("*.py"):
        py_compile.compile(str(source), cfile=str(source.with_suffix(".pyc")), doraise=True)
        source.unlink()
