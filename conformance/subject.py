"""What is under test, where its files are, and the hash that a certificate carries."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from hashlib import sha256
from importlib.metadata import EntryPoint, PathDistribution
from pathlib import Path
from typing import Literal

ENTRY_POINT_GROUP = "gerrit_mcp_server.extensions"
"""The group through which a host finds installed extensions (gerrit-mcp-server docs/extensions.md)."""

REFERENCE = re.compile(r"(?P<module>[\w.]+)\s*(:\s*(?P<attribute>[\w.]+)\s*)?(\[.*\]\s*)?$")
"""The form of an entry point's value, as the standard library reads it."""

_OUTPUT_AT_ROOT = frozenset({"build", "dist", "node_modules", "venv"})
"""Folders that tools leave at the root of a project; deeper down such a name may be a package."""


@dataclass(frozen=True, kw_only=True)
class Subject:
    """An extension or a server as a target named it; nothing of it has been imported or run.

    An extension that still has to be built (a project folder, an archive) has no `modules` and a `build_from`;
    `conformance.preparing.prepare` turns it into one that can be loaded.
    """

    target: str
    """What the user typed."""
    kind: Literal["module", "distribution", "server"]
    name: str
    """The name of the module or distribution; of a server, that of its program or of the module that builds it."""
    version: str | None = None
    modules: tuple[str, ...] = ()
    """The modules that define `register`: the module itself, or those that the entry points name."""
    import_path: tuple[Path, ...] = ()
    """Folders to search before the caller's own import path."""
    metadata: Path | None = None
    """The distribution's `.dist-info` folder, where it has one."""
    build_from: Path | None = None
    """A project folder, wheel or source archive that is not installed yet."""
    blocked: str = ""
    """Why nothing can be judged on this interpreter, which is no fault of the subject; empty where it can."""
    content: tuple[Path, ...] = ()
    """The files and folders that make up the subject, for its hash; of a server, its program."""
    command: tuple[str, ...] = ()
    """What starts a server that speaks over its stdin and stdout, the program first."""
    url: str = ""
    """Where a server listens that speaks streamable HTTP; its command may have `{port}` in it, which then counts."""
    factory: str | None = None
    """`module:callable` that builds a server in Python; None with no command either means the reference server."""

    @property
    def slug(self) -> str:
        """The name as it stands in node ids: without blanks, colons and slashes."""
        return "".join(letter if letter.isalnum() or letter in "._-" else "-" for letter in self.name)

    def sha256(self) -> str:
        """Hash the sorted list of relative path, mode and file hash of all that makes up the subject."""
        digest = sha256()
        for relative, path in sorted(_files(self.content)):
            mode = stat.S_IMODE(path.stat().st_mode)
            digest.update(f"{relative}\0{mode:o}\0{sha256(path.read_bytes()).hexdigest()}\n".encode())
        return digest.hexdigest()


def advertised(metadata: Path) -> list[EntryPoint]:
    """Give the entry points by which an installed distribution advertises extensions, in their order."""
    return [one for one in PathDistribution(metadata).entry_points if one.group == ENTRY_POINT_GROUP]


def misspelt(metadata: Path) -> list[EntryPoint]:
    """Give the entry points whose group is almost the right one: no host looks there, and somebody meant one to."""
    found = PathDistribution(metadata).entry_points
    near = set(get_close_matches(ENTRY_POINT_GROUP, {one.group for one in found}, n=9, cutoff=0.8))
    return [one for one in found if one.group in near - {ENTRY_POINT_GROUP}]


def modules_of(metadata: Path) -> tuple[str, ...]:
    """Give the modules that those entry points name, each once; a value that has not the form of one stands whole."""
    values = [one.value.strip() for one in advertised(metadata)]
    return tuple(dict.fromkeys(found["module"] if (found := REFERENCE.match(value)) else value for value in values))


def _files(roots: Iterable[Path]) -> Iterator[tuple[str, Path]]:
    """Yield each file with its path below its root; caches, build output and hidden folders are no content."""
    for root in roots:
        if root.is_file():
            yield root.name, root
            continue
        for folder, names, files in os.walk(root):
            at_root = Path(folder) == root
            names[:] = [name for name in names if _is_content(name, at_root=at_root)]
            for path in (Path(folder, name) for name in files):
                if path.is_file():
                    yield path.relative_to(root).as_posix(), path


def _is_content(folder: str, *, at_root: bool) -> bool:
    if folder == "__pycache__" or folder.startswith(".") or folder.endswith(".egg-info"):
        return False
    return not (at_root and folder in _OUTPUT_AT_ROOT)
