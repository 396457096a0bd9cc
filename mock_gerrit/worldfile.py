"""Worlds written in TOML: read, checked, and built; every mistake is told with its file and line."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from mock_gerrit.faults import Fault
from mock_gerrit.host import ALL_PROJECTS, ALL_USERS, Host
from mock_gerrit.tomllines import Path, line_of
from mock_gerrit.world import Clock, World, system_clock
from mock_gerrit.worldtables import (
    TABLES,
    AccountTable,
    CannedTable,
    ChangeTable,
    HostTable,
    PluginTable,
    PopulateTable,
    ProjectTable,
    Table,
    WorldTable,
)  # fmt: skip

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails


class WorldFileError(ValueError):
    """A world file that cannot be built.

    Attributes:
        file: its name as it was given.
        line: where the mistake is, from 1; 0 where there is no text at all.
        problem: what was expected and what stands there.
    """

    def __init__(self, file: str, line: int, problem: str) -> None:
        super().__init__(f"{file}:{line}: {problem}" if line else f"{file}: {problem}")
        self.file = file
        self.line = line
        self.problem = problem


def load_world(path: FilePath | str, *, clock: Clock = system_clock) -> World:
    """Build the world that a TOML file describes.

    Args:
        path: the file.
        clock: tells the present to every host.

    Raises:
        WorldFileError: the file cannot be read, is no TOML, or describes something that cannot be.
    """
    try:
        text = FilePath(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as broken:
        reason = getattr(broken, "strerror", None) or str(broken)
        raise WorldFileError(str(path), 0, f"expected a readable TOML file: {reason}") from broken
    return parse_world(text, file=str(path), clock=clock)


def parse_world(text: str, *, file: str = "world", clock: Clock = system_clock) -> World:
    """Build the world that a TOML text describes; `file` is what errors call it. Raises as `load_world` does."""
    try:
        raw = tomllib.loads(text)
    except tomllib.TOMLDecodeError as broken:
        raise WorldFileError(file, _toml_line(str(broken), text), f"expected valid TOML: {broken}") from broken
    try:
        table = WorldTable.model_validate(raw)
    except ValidationError as refused:
        lines = [(line_of(text, _place(raw, error)), error) for error in refused.errors()]
        line, error = min(lines, key=lambda one: (one[1]["type"] != "extra_forbidden", one[0]))
        raise WorldFileError(file, line, _problem(raw, error)) from None
    return _Builder(text, file).world(table, clock)


def _toml_line(message: str, text: str) -> int:
    found = re.search(r"at line (\d+)", message)
    return int(found[1]) if found else max(len(text.splitlines()), 1)


def _place(raw: Any, error: ErrorDetails) -> Path:  # noqa: ANN401 - whatever TOML holds
    """The path of a pydantic error without the names of union members, which stand nowhere in the file."""
    path: Path = ()
    for part in error["loc"]:
        inside = isinstance(raw, dict) and part in raw, isinstance(raw, list) and isinstance(part, int)
        if any(inside):
            raw = raw[part]
            path = (*path, part)
    return path


def _problem(raw: Any, error: ErrorDetails) -> str:  # noqa: ANN401 - whatever TOML holds
    place = _place(raw, error)
    key = error["loc"][-1]
    if error["type"] == "extra_forbidden":
        keys = _keys(place[:-1])
        near = get_close_matches(str(key), keys, n=1)
        hint = f" (did you mean {near[0]!r}?)" if near else ""
        return f"{_words(place[:-1])} has no key {str(key)!r}{hint}; expected one of {', '.join(keys)}"
    if error["type"] == "missing":
        return f"{_words(place)} needs the key {str(key)!r}"
    if error["type"] == "value_error":
        return f"{_words(place)}: {error['msg'].removeprefix('Value error, ')}"
    if key == "[key]":
        return f"{_words(place)}: expected a key such as 'GET /plugins/NAME/path', got {error['input']!r}"
    expected = error["msg"].replace("Input should be ", "")
    near = get_close_matches(str(error["input"]), re.findall(r"'([^']+)'", expected), n=1)
    hint = f" (did you mean {near[0]!r}?)" if near else ""
    return f"{_words(place)}: expected {expected}, got {error['input']!r}{hint}"


def _keys(place: Path) -> list[str]:
    """The keys that the table at a path may have."""
    names = tuple(part for part in place if isinstance(part, str))
    table: type[Table] = TABLES.get(names, CannedTable)
    return sorted(field.alias or name for name, field in table.model_fields.items())


def _words(place: Path) -> str:
    """A path as people read it: `hosts[1].plugins[0].id`."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{_key(part)}" for part in place)
    return text.lstrip(".") or "a world file"


def _key(name: str) -> str:
    return name if re.fullmatch(r"[\w-]+", name) else f'"{name}"'


class _Builder:
    """Builds what the tables say; what the world itself refuses is told with the line of the table it came from."""

    def __init__(self, text: str, file: str) -> None:
        self._text = text
        self._file = file

    @contextmanager
    def _at(self, *path: str | int) -> Iterator[None]:
        try:
            yield
        except ValueError as refused:
            raise WorldFileError(self._file, line_of(self._text, path), f"{_words(path)}: {refused}") from refused

    def world(self, table: WorldTable, clock: Clock) -> World:
        world = World(clock=clock, seed=table.seed)
        for index, one in enumerate(table.hosts):
            with self._at("hosts", index):
                host = world.host(one.url, internal_url=one.internal_url, name=one.name)
            self._fill(host, one, index)
        names = [host.name for host in world.hosts]
        for index, fault in enumerate(table.faults):
            with self._at("faults", index):
                if fault.host is not None and fault.host not in names:
                    raise ValueError(f"host = {fault.host!r} is no host of this world; it has {', '.join(names)}")
                world.faults.add(Fault(**fault.model_dump()))
        return world

    def _fill(self, host: Host, table: HostTable, index: int) -> None:
        host.forbid_plugin_list = table.forbid_plugin_list
        host.operator_aliases.update(table.operator_aliases)
        builders: tuple[tuple[str, Any, Any], ...] = (
            ("plugins", table.plugins, _add_plugin),
            ("accounts", table.accounts, _add_account),
            ("groups", table.groups, lambda host, group: host.group(**group.model_dump())),
            ("projects", table.projects, _add_project),
            ("changes", table.changes, _add_change),
        )
        for key, entries, build in builders:
            for number, entry in enumerate(entries):
                with self._at("hosts", index, key, number):
                    build(host, entry)
        if table.populate is not None:
            with self._at("hosts", index, "populate"):
                _populate(host, table.populate)


def _populate(host: Host, table: PopulateTable) -> None:
    try:
        from mock_gerrit.populate import populate  # noqa: PLC0415 - faker is an extra, and slow to load
    except ImportError as missing:
        raise ValueError("needs faker: pip install 'gerrit-mcp-conformance[worlds]'") from missing
    populate(host, **table.model_dump())


def _add_plugin(host: Host, table: PluginTable) -> None:
    canned = {asked: _canned(answer) for asked, answer in table.canned.items()}
    host.add_plugin(table.id, version=table.version, disabled=table.disabled, canned=canned)


def _canned(answer: CannedTable) -> dict[str, Any]:
    if answer.text is not None:
        return {"status": answer.status, "text": answer.text}
    return {"status": answer.status, "json": answer.json_}


def _add_account(host: Host, table: AccountTable) -> None:
    given = table.model_dump()
    host.account(given.pop("username"), http_password=given.pop("password"), **given)


def _add_project(host: Host, table: ProjectTable) -> None:
    if table.name in {ALL_PROJECTS, ALL_USERS}:
        _change_built_in(host, table)
        return
    given = table.model_dump(exclude={"settings"})
    host.project(given.pop("name"), **given).settings.update(table.settings)


def _change_built_in(host: Host, table: ProjectTable) -> None:
    """Every host has the project already; plugins are configured in it."""
    others = sorted(table.model_fields_set - {"name", "settings"})
    if others:
        raise ValueError(f"{table.name} comes with the host: it can be given settings, not {', '.join(others)}")
    host.projects[table.name].settings.update(table.settings)


def _add_change(host: Host, table: ChangeTable) -> None:
    given = table.model_dump(exclude={"parent", "comments"})
    if table.parent is not None and table.parent not in host.changes:
        known = ", ".join(map(str, host.changes)) or "none yet"
        raise ValueError(f"parent = {table.parent} is no earlier change of this host; it has {known}")
    host.change(
        given.pop("project"),
        parent=host.changes[table.parent] if table.parent is not None else None,
        comments=[comment.model_dump(exclude_none=True) for comment in table.comments],
        **given,
    )
