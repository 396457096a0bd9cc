"""The specimens of the kill matrix: subjects that break exactly one clause, and subjects that keep all.

They lie in `extensions/bad/CLAUSE-ID/` and `extensions/good/`, each a module, a package folder or a project folder, and
in `servers/bad/CLAUSE-ID/` and `servers/good/`, each a module whose `build` makes a server.
What a specimen declares stands in its code as plain assignments and is read without importing it:

- `ALSO_VIOLATES = ("TOOL-X",)`: clauses that cannot but fail with it;
- `ONLY_ON = "mcp1"` or `"mcp2"`: the one major version of the SDK on which it is true;
- `PROFILE = {...}`: the profile that its author would write;
- `GUARDS = ("TOOL-X",)`: of a good one, the clauses that might accuse it wrongly, on which `selftest` tries it; one
  that declares none is tried on all;
- `HOST = "factory:module:callable"`: the host that it is tried on; the module lies in the folder `hosts` beside it.
"""

from __future__ import annotations

import ast
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal
from zipfile import ZipFile

from conformance.building import cache_folder
from conformance.families import Kind
from conformance.settings import Settings

SdkMajor = Literal["mcp1", "mcp2"]

_PACKAGE = Path(__file__).resolve().parent
_SHIPPED = _PACKAGE / "fixtures.zip"
_IN_THE_REPOSITORY = _PACKAGE.parent / "fixtures"
KINDS: Mapping[str, Kind] = {"extensions": "extension", "servers": "server"}
"""The folders of specimens, with the kind of subject that lies in each."""
_DECLARED = frozenset({"ALSO_VIOLATES", "GUARDS", "HOST", "ONLY_ON", "PROFILE"})


@dataclass(frozen=True, kw_only=True)
class Specimen:
    """One subject whose verdict is known beforehand."""

    name: str
    path: Path
    """A `.py` file, or the folder of a package or project."""
    clause: str | None
    """The clause that it breaks; None for one that keeps all."""
    also_violates: frozenset[str] = frozenset()
    only_on: SdkMajor | None = None
    profile: dict[str, Any] = field(default_factory=dict)
    guards: frozenset[str] = frozenset()
    """Of a good one: the clauses that it shows to accuse nobody wrongly; empty for all of them."""
    host: str | None = None
    """A factory that builds the host; None for the reference host."""
    kind: Kind = "extension"

    @property
    def target(self) -> str:
        """What `--conformance` would be given for it, from the folder that it lies in."""
        return f"factory:{self.name}:build" if self.kind == "server" else f"path:{self.path}"

    @property
    def label(self) -> str:
        """The name in tallies: `CLAUSE/name`, or `good/name`."""
        return f"{self.clause or 'good'}/{self.name}"

    @property
    def settings(self) -> Settings:
        """The settings under which it is tried."""
        return Settings(host=self.host, host_path=(self.path.parent / "hosts",)) if self.host else Settings()


class SpecimenError(Exception):
    """A specimen declares something in a form that cannot be read; a defect of the specimen."""


@lru_cache(maxsize=1)
def fixtures_root() -> Path:
    """Find the folder of the shipped data; what a wheel brings is one archive, unpacked into the user's cache once.

    Raises:
        FileNotFoundError: if there is neither the archive nor a checkout.
    """
    if _SHIPPED.is_file():
        return _unpacked(_SHIPPED)
    if (_IN_THE_REPOSITORY / "extensions").is_dir():
        return _IN_THE_REPOSITORY
    raise FileNotFoundError(f"neither {_SHIPPED} nor {_IN_THE_REPOSITORY} is there: install the suite again")


def _unpacked(archive: Path) -> Path:
    """Give the folder with what the archive holds; it is whole as soon as it has its name."""
    kept = cache_folder() / "fixtures" / sha256(archive.read_bytes()).hexdigest()
    if not kept.is_dir():
        kept.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="fixtures-", dir=kept.parent) as folder:
            whole = Path(folder, "whole")
            with ZipFile(archive) as packed:
                packed.extractall(whole)
            with suppress(OSError):  # another run was as quick
                whole.rename(kept)
    return kept


def bad_specimens(root: Path | None = None, *, clause_id: str = "*") -> Iterator[Specimen]:
    """Yield the specimens that break a clause (all, or one), by clause and name; `root` replaces `fixtures_root()`."""
    for name, kind in KINDS.items():
        folder = (root or fixtures_root()) / name / "bad"
        for clause in sorted(one for one in folder.glob(clause_id) if one.is_dir()):
            for path in _specimens_in(clause):
                yield read(path, clause=clause.name, kind=kind)


def good_specimens(root: Path | None = None) -> Iterator[Specimen]:
    """Yield the specimens that keep every clause, by name; `root` replaces `fixtures_root()`."""
    for name, kind in KINDS.items():
        for path in _specimens_in((root or fixtures_root()) / name / "good"):
            yield read(path, clause=None, kind=kind)


def read(path: Path, *, clause: str | None, kind: Kind = "extension") -> Specimen:
    """Read what the specimen at `path` declares about itself.

    Raises:
        SpecimenError: if a declaration is no literal, or not of the right form.
    """
    declared: dict[str, Any] = {}
    for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
        declared |= _declarations(file)
    only_on = declared.get("ONLY_ON")
    if only_on not in {None, "mcp1", "mcp2"}:
        raise SpecimenError(f'{path}: ONLY_ON is {only_on!r}, expected "mcp1" or "mcp2"')
    host = declared.get("HOST")
    if host is not None and not str(host).startswith("factory:"):
        raise SpecimenError(f'{path}: HOST is {host!r}, expected "factory:module:callable"')
    return Specimen(
        name=path.stem if path.is_file() else path.name,
        path=path,
        clause=clause,
        also_violates=_ids(declared, "ALSO_VIOLATES", path),
        guards=_ids(declared, "GUARDS", path),
        only_on=only_on,
        profile=declared.get("PROFILE", {}),
        host=host,
        kind=kind,
    )


def _ids(declared: dict[str, Any], name: str, path: Path) -> frozenset[str]:
    """Give the clause ids that a specimen declares under a name.

    Raises:
        SpecimenError: it is no list of texts.
    """
    told = declared.get(name, ())
    if isinstance(told, str) or not all(isinstance(one, str) for one in told):
        raise SpecimenError(f"{path}: {name} is {told!r}, expected a tuple of clause ids")
    return frozenset(told)


def _specimens_in(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if path.suffix == ".py" or (path.is_dir() and _is_extension(path)):
            yield path


def _is_extension(folder: Path) -> bool:
    return (folder / "pyproject.toml").is_file() or (folder / "__init__.py").is_file()


def _declarations(file: Path) -> dict[str, Any]:
    """Read the assignments at the top level of a file; one that does not parse declares nothing."""
    try:
        body = ast.parse(file.read_bytes()).body
    except (SyntaxError, ValueError):
        return {}
    found: dict[str, Any] = {}
    for statement in body:
        target, value = _assignment(statement)
        if target in _DECLARED and value is not None:
            try:
                found[target] = ast.literal_eval(value)
            except ValueError:
                raise SpecimenError(f"{file}:{statement.lineno}: {target} is no literal") from None
    return found


def _assignment(statement: ast.stmt) -> tuple[str, ast.expr | None]:
    if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
        return statement.target.id, statement.value
    if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
        return statement.targets[0].id, statement.value
    return "", None
