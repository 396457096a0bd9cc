"""`task.config`, read: which tasks there are, and what each asks for.

https://gerrit.googlesource.com/plugins/task/+/master/src/main/resources/Documentation/task.md
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from io import BytesIO
from typing import Literal

from dulwich.config import ConfigFile

FILE = "task.config"
REF = "refs/meta/config"

Values = Mapping[str, tuple[str, ...]]


class ConfigurationError(ValueError):
    """The text of `task.config` is no git configuration."""


@dataclass(frozen=True, kw_only=True)
class Definition:
    """One task as it is written down.

    Attributes:
        kind: `root` for a task that stands at the top.
        applicable, passes, fails, in_progress: change queries; None where not given.
        subtasks: references to other tasks, each a name or alternatives between `|`.
        factories: names of the factories that make more subtasks.
        exported, properties: what the task exports, and what it sets for its texts.
    """

    kind: Literal["root", "task"]
    name: str
    applicable: str | None = None
    passes: str | None = None
    fails: str | None = None
    in_progress: str | None = None
    ready_hint: str | None = None
    fail_hint: str | None = None
    subtasks: tuple[str, ...] = ()
    factories: tuple[str, ...] = ()
    exported: Mapping[str, str] = field(default_factory=dict)
    properties: Mapping[str, str] = field(default_factory=dict)

    @property
    def queries(self) -> tuple[str, ...]:
        """Every query the task asks."""
        asked = (self.applicable, self.passes, self.fails, self.in_progress)
        return tuple(query for query in asked if query is not None)


@dataclass(frozen=True, kw_only=True)
class Factory:
    """Makes tasks of one shape: one for each name, or for each change that a query finds.

    Attributes:
        shape: how each task is defined; its name is that of the factory.
        names: the names of the tasks; empty when `changes` makes them.
        changes: the query; None for a factory of given names.
        valid: False where the factory names a source of names that is not there, or of an unknown type.
    """

    shape: Definition
    names: tuple[str, ...] = ()
    changes: str | None = None
    valid: bool = True


@dataclass(frozen=True, kw_only=True)
class Configuration:
    """What a `task.config` defines; roots in the order of the file."""

    roots: tuple[Definition, ...]
    tasks: Mapping[str, Definition]
    factories: Mapping[str, Factory]


def read(text: str) -> Configuration:
    """The tasks that a configuration defines; keys that nobody knows are ignored.

    Raises:
        ConfigurationError: the text is malformed.
    """
    sections = _sections(text)
    names = {name: values for (kind, name), values in sections.items() if kind == "names-factory"}
    return Configuration(
        roots=tuple(_definition("root", name, values) for (kind, name), values in sections.items() if kind == "root"),
        tasks={name: _definition("task", name, values) for (kind, name), values in sections.items() if kind == "task"},
        factories={
            name: _factory(name, values, names) for (kind, name), values in sections.items() if kind == "tasks-factory"
        },
    )


def _sections(text: str) -> dict[tuple[str, str], Values]:
    try:
        parsed = ConfigFile.from_file(BytesIO(text.encode()))
    except ValueError as error:
        raise ConfigurationError(f"{FILE}: {error}") from error
    found: dict[tuple[str, str], Values] = {}
    for section in parsed.sections():
        if len(section) == 2:
            kind, name = (part.decode() for part in section)
            keys = dict.fromkeys(key.decode().lower() for key, _ in parsed.items(section))
            found[kind, name] = {
                key: tuple(value.decode() for value in parsed.get_multivar(section, key.encode())) for key in keys
            }
    return found


def _definition(kind: Literal["root", "task"], name: str, values: Values) -> Definition:
    def one(key: str) -> str | None:
        return values[key][-1] if key in values else None

    def prefixed(prefix: str) -> dict[str, str]:
        return {key.removeprefix(prefix): found[-1] for key, found in values.items() if key.startswith(prefix)}

    return Definition(
        kind=kind,
        name=name,
        applicable=one("applicable"),
        passes=one("pass"),
        fails=one("fail"),
        in_progress=one("in-progress"),
        ready_hint=one("ready-hint"),
        fail_hint=one("fail-hint"),
        subtasks=values.get("subtask", ()),
        factories=values.get("subtasks-factory", ()),
        exported=prefixed("export-"),
        properties=prefixed("set-"),
    )


def _factory(name: str, values: Values, sources: Mapping[str, Values]) -> Factory:
    shape = _definition("task", name, values)
    source = sources.get(values.get("names-factory", ("",))[-1], {})
    match source.get("type", ("",))[-1]:
        case "static":
            return Factory(shape=shape, names=source.get("name", ()))
        case "change" if "changes" in source:
            return Factory(shape=shape, changes=source["changes"][-1])
        case _:
            return Factory(shape=shape, valid=False)
