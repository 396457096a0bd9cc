"""A `--conformance` value becomes a Subject, without importing or running anything of it."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import sys
import tomllib
from collections.abc import Callable, Sequence
from importlib.metadata import PathDistribution
from pathlib import Path

from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename

from conformance.server_targets import resolve_server
from conformance.subject import Subject, modules_of
from conformance.usage import UsageError, nearest

ARCHIVES = (".tar.gz", ".tgz", ".zip")
SERVER_PREFIXES = ("stdio:", "factory:", "http://", "https://")


def resolve_target(text: str, *, cwd: Path, import_path: Sequence[str] | None = None) -> Subject:
    """Find out what `text` names.

    Args:
        text: `module:NAME`, `dist:NAME`, `path:PATH`, or one of the three without its prefix; or a server:
            `stdio:COMMAND`, `http://127.0.0.1:PORT/PATH`, `factory:MODULE:CALLABLE`.
        cwd: the folder that relative paths and modules start from.
        import_path: where modules and distributions are looked for; `sys.path` where it is left out.

    Raises:
        UsageError: nothing has that name, or more than one thing has; the message names the candidates.
    """
    if not text.strip():
        raise UsageError(
            "--conformance names nothing", "its value is empty", "give a module, a project folder or a wheel"
        )
    path = [str(cwd), *(import_path if import_path is not None else sys.path)]
    prefix, colon, rest = text.partition(":")
    exact: dict[str, Callable[[], Subject]] = {
        "module": lambda: _module(rest, path, text) or _missing_module(rest, path),
        "dist": lambda: _distribution(rest, path, text) or _missing_distribution(rest, path),
        "path": lambda: _path((cwd / rest).resolve(), text),
    }
    if text.startswith(SERVER_PREFIXES):
        return resolve_server(text, cwd=cwd, path=path)
    if text.startswith("server:"):
        raise UsageError(
            f"{text} names a server by name and URL",
            "this version does not certify protocol extensions, which need several of them",
            "give one server: stdio:COMMAND, or http://127.0.0.1:PORT/mcp",
        )
    if colon and prefix in exact:
        return exact[prefix]()
    if colon and prefix.isidentifier() and not (cwd / text).exists():
        likely = nearest(prefix, exact) or ("path" if "/" in rest else "module")
        raise UsageError(
            f"{text} begins with no known prefix",
            f"{prefix}: is not one of module:, dist:, path:",
            f"did you mean {likely}:{rest}?",
        )
    return _guess(text, cwd, path)


def _guess(text: str, cwd: Path, path: Sequence[str]) -> Subject:
    """Take an existing path, else a distribution, else a module; two that are not the same thing are an error."""
    candidates: dict[str, Subject] = {}
    here = (cwd / text).resolve()
    distribution = _distribution(text, path, text)
    if here.exists() and ("/" in text or here.is_file() or is_project(here) or (here / "__init__.py").exists()):
        candidates[f"path:{text}"] = _path(here, text)
    if distribution:
        candidates[f"dist:{text}"] = distribution
    is_name = all(part.isidentifier() for part in text.split("."))
    loose = candidates and _is_loose(_content(text, path)) if is_name else False
    if is_name and not loose and not (candidates and _is_standard(text)) and (module := _module(text, path, text)):
        candidates[f"module:{text}"] = module
    chosen = next(iter(candidates.values()), None)
    if chosen is None:
        raise _nothing(text, path)
    others = [name for name, one in candidates.items() if one is not chosen and not _same_thing(chosen, one)]
    if others:
        names = " or ".join([next(iter(candidates)), *others])
        raise UsageError(f"{text} is ambiguous", f"it names {len(others) + 1} different things", f"say {names}")
    return chosen


def _same_thing(chosen: Subject, other: Subject) -> bool:
    """A module that belongs to the chosen path or distribution is no second candidate."""
    if other.kind == "module" and chosen.kind == "distribution" and other.name in chosen.modules:
        return True
    roots = [root.resolve() for root in chosen.content]
    return all(any(file.resolve().is_relative_to(root) for root in roots) for file in other.content) and bool(roots)


def is_project(folder: Path) -> bool:
    """Tell whether a folder holds a project that can be built; an old one has only a `setup.py`."""
    return (folder / "pyproject.toml").is_file() or (folder / "setup.py").is_file()


def _path(path: Path, text: str) -> Subject:
    if not path.exists():
        raise UsageError(
            f"{path} does not exist", f"{text} names a path", "check the spelling, or give a module's name"
        )
    if path.is_dir():
        return _folder(path, text)
    if path.suffix == ".whl":
        try:
            name, version, _, _ = parse_wheel_filename(path.name)
        except InvalidWheelFilename as problem:
            raise UsageError(
                f"{path.name} is no wheel", str(problem), "give the file as the build backend named it"
            ) from None
        return Subject(
            target=text, kind="distribution", name=name, version=str(version), build_from=path, content=(path,)
        )
    if path.name.endswith(ARCHIVES):
        stem = path.name
        for ending in ARCHIVES:
            stem = stem.removesuffix(ending)
        return Subject(target=text, kind="distribution", name=stem, build_from=path, content=(path,))
    if path.name == "pyproject.toml":
        return _project(path.parent, text)
    if path.suffix in {".py", ".pyc"}:
        return _package(path.parent, text) if path.stem == "__init__" else _file(path, text)
    if path.name == "extension.json":
        raise _manifest(path)
    raise UsageError(
        f"{path} is no extension",
        "a path target is a folder with pyproject.toml, a package folder, a .py file, a wheel or a source archive",
        "give one of those, or the name of an importable module",
    )


def _folder(folder: Path, text: str) -> Subject:
    if (folder / "extension.json").is_file() and is_project(folder):
        raise UsageError(
            f"{text} is ambiguous",
            f"{folder} holds both extension.json and pyproject.toml",
            f"say path:{folder}/extension.json or path:{folder}/pyproject.toml",
        )
    if (folder / "extension.json").is_file():
        raise _manifest(folder / "extension.json")
    if is_project(folder):
        return _project(folder, text)
    if _is_package(folder):
        return _package(folder, text)
    raise UsageError(
        f"{folder} is no extension",
        "it has neither pyproject.toml nor setup.py nor __init__.py",
        "give the folder of a project or of a package",
    )


def _project(folder: Path, text: str) -> Subject:
    project = project_table(folder / "pyproject.toml")
    return Subject(
        target=text,
        kind="distribution",
        name=str(project.get("name") or folder.name),
        version=str(project["version"]) if "version" in project else None,
        build_from=folder,
        content=(folder,),
    )


def _is_package(folder: Path) -> bool:
    return any((folder / f"__init__{suffix}").is_file() for suffix in (".py", ".pyc"))


def _package(folder: Path, text: str) -> Subject:
    return _at(folder, folder.name, text)


def _file(file: Path, text: str) -> Subject:
    return _at(file, file.stem, text)


def _at(place: Path, name: str, text: str) -> Subject:
    """Give the module at `place` under the name by which its package knows it: relative imports need that."""
    parts, root = [name], place.parent
    while _is_package(root) and root.parent != root:
        parts.insert(0, root.name)
        root = root.parent
    dotted = ".".join(parts)
    if any("." in part for part in parts):
        raise UsageError(
            f"{place} cannot be imported", f"{dotted} would be looked for in other folders", "rename it without a dot"
        )
    _refuse_taken(parts[0], root / parts[0] if len(parts) > 1 else place, _TAKEN)
    return Subject(target=text, kind="module", name=dotted, modules=(dotted,), import_path=(root,), content=(place,))


_TAKEN = frozenset({"mcp", "gerrit_mcp_server", "conformance", "reference_server", "mock_gerrit"})
"""Modules that the host has imported before the subject comes; a file of such a name would never be looked at."""


def _is_standard(name: str) -> bool:
    return name.partition(".")[0] in sys.stdlib_module_names


def _refuse_taken(top: str, place: Path, taken: frozenset[str] = frozenset()) -> None:
    if _is_standard(top) or top in taken:
        owner = "the standard library" if _is_standard(top) else "the host"
        raise UsageError(
            f"{place} has the name of a module of {owner}",
            f"`import {top}` gives that module, whatever else is called so",
            "rename the extension's module, or name another target",
        )


def _manifest(path: Path) -> UsageError:
    return UsageError(
        f"{path} is an extension manifest",
        "this version certifies extensions of the Gerrit MCP server",
        "give a module, a distribution, a project folder or a wheel",
    )


def project_table(file: Path) -> dict[str, object]:
    """Read the `[project]` of a `pyproject.toml`; empty where there is none.

    Raises:
        UsageError: the file is no TOML.
    """
    if not file.is_file():
        return {}
    try:
        table = tomllib.loads(file.read_text(encoding="utf-8")).get("project", {})
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise UsageError(f"{file} cannot be read", str(problem), "mend the file: it has to be TOML") from None
    return table if isinstance(table, dict) else {}


def _module(name: str, path: Sequence[str], text: str) -> Subject | None:
    """Find a module's files without importing it, nor its parent packages."""
    content = _content(name, path)
    if not content:
        return None
    _refuse_taken(name.partition(".")[0], content[0])
    if _is_loose(content):
        raise _no_package(name, content)
    top = content[0].resolve()
    for _ in name.split("."):
        top = top.parent
    return Subject(target=text, kind="module", name=name, modules=(name,), import_path=(top,), content=content)


def _is_loose(content: Sequence[Path]) -> bool:
    """Tell whether these are folders that can be imported and define nothing: none of them is a package."""
    return bool(content) and content[0].is_dir() and not any(_is_package(one) for one in content)


def _no_package(name: str, folders: Sequence[Path]) -> UsageError:
    """Say that a folder without `__init__.py` can be imported and defines nothing, and which modules lie in it."""
    inside = sorted(one.stem for folder in folders for one in folder.glob("*.py"))
    several = " or ".join(f"--conformance={folders[0].name}/{one}.py" for one in inside[:3])
    return UsageError(
        f"{name} is no extension",
        f"{folders[0]} is a folder without __init__.py, so it defines no register",
        f"say {several}" if inside else "give a module, a package or a project folder",
    )


def _content(name: str, path: Sequence[str]) -> tuple[Path, ...]:
    spec = _spec(name, path)
    if spec is None:
        return ()
    locations = tuple(Path(one) for one in spec.submodule_search_locations or ())
    return locations or ((Path(spec.origin),) if spec.origin and Path(spec.origin).exists() else ())


def _spec(name: str, path: Sequence[str]) -> importlib.machinery.ModuleSpec | None:
    search: Sequence[str] | None = [one or "." for one in path]
    spec = None
    for index, _ in enumerate(parts := name.split(".")):
        full = ".".join(parts[: index + 1])
        spec = importlib.machinery.PathFinder.find_spec(full, search)
        if spec is None and index == 0 and full not in sys.builtin_module_names:
            spec = _spec_by_hooks(full)  # an editable install is found by its own hook on sys.meta_path
        if spec is None:
            return None
        search = list(spec.submodule_search_locations or ())
    return spec


def _spec_by_hooks(name: str) -> importlib.machinery.ModuleSpec | None:
    try:
        return importlib.util.find_spec(name)
    except (ImportError, ValueError):
        return None


def _distribution(name: str, path: Sequence[str], text: str) -> Subject | None:
    """Find an installed distribution; stale, empty or contradictory metadata is an error that names the folders."""
    wanted = canonicalize_name(name)
    folders = list(dict.fromkeys(found.resolve() for entry in path for found in _metadata_folders(Path(entry), wanted)))
    if not folders:
        return None
    broken = [folder for folder in folders if not any((folder / file).is_file() for file in ("METADATA", "PKG-INFO"))]
    if broken:
        raise UsageError(
            f"the metadata of {name} is incomplete",
            f"no METADATA in {', '.join(map(str, broken))} (an interrupted uninstall leaves such a folder)",
            "delete the folder, or install the distribution again",
        )
    told = {
        (one.version, tuple((e.group, e.value) for e in one.entry_points)): f
        for f in folders
        for one in [PathDistribution(f)]
    }
    if len(told) > 1:
        raise UsageError(
            f"{name} is installed {len(told)} times, and not alike",
            f"see {', '.join(str(one) for one in told.values())}",
            "remove all but one",
        )
    found = PathDistribution(folders[0])
    modules = modules_of(folders[0])
    content = tuple(one for module in modules for one in _content(module, path))
    return Subject(
        target=text, kind="distribution", name=found.name, version=found.version, modules=modules,
        import_path=(folders[0].parent,), metadata=folders[0], content=(*content, folders[0]),
    )  # fmt: skip


def _metadata_folders(entry: Path, wanted: str) -> list[Path]:
    if not entry.is_dir():
        return []
    folders = [*entry.glob("*.dist-info"), *entry.glob("*.egg-info")]
    return [
        one
        for one in folders
        if one.is_dir() and canonicalize_name(one.name.rpartition(".")[0].split("-")[0]) == wanted
    ]


def _installed(path: Sequence[str]) -> list[str]:
    names = [
        one.name.split("-")[0] for entry in path if Path(entry).is_dir() for one in Path(entry).glob("*.dist-info")
    ]
    return sorted(set(names))


def _importable(path: Sequence[str]) -> list[str]:
    found = {
        one.stem for entry in path if Path(entry).is_dir() for one in Path(entry).iterdir() if one.suffix in {".py", ""}
    }
    return sorted(name for name in found if name.isidentifier())


def _missing_module(name: str, path: Sequence[str]) -> Subject:
    near = nearest(name, _importable(path))
    raise UsageError(
        f"there is no module {name}",
        "it was looked for on sys.path, PYTHONPATH and in the current folder",
        f"did you mean {near}?" if near else "install it, set PYTHONPATH, or give its folder as path:FOLDER",
    )


def _missing_distribution(name: str, path: Sequence[str]) -> Subject:
    near = nearest(name, _installed(path))
    raise UsageError(
        f"no distribution is called {name}",
        "it was looked for on sys.path and in the current folder",
        f"did you mean dist:{near}?" if near else "install it, or give its project folder or wheel",
    )


def _nothing(text: str, path: Sequence[str]) -> UsageError:
    near = nearest(text, [*_importable(path), *_installed(path)])
    return UsageError(
        f"nothing is called {text}",
        "no path, installed distribution or importable module has that name",
        f"did you mean {near}?" if near else "check the spelling; a folder can be given as path:FOLDER",
    )
