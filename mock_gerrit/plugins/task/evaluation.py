"""The state of each task for a change, worked out from the queries of its definition."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, NotRequired

from typing_extensions import TypedDict

from mock_gerrit.changes import Change
from mock_gerrit.errors import bad_request
from mock_gerrit.plugins.api import Asked, QueryError
from mock_gerrit.plugins.task.configuration import FILE, REF, Configuration, Definition

Status = Literal["PASS", "FAIL", "READY", "WAITING", "INVALID", "DUPLICATE", "UNKNOWN"]


class TaskPath(TypedDict):
    """Where a task is defined, or why that is not told."""

    name: NotRequired[str]
    type: NotRequired[str]
    project: NotRequired[str]
    ref: NotRequired[str]
    file: NotRequired[str]
    error: NotRequired[str]


class TaskEntry(TypedDict):
    """A task of a change, as the plugin shows it."""

    name: str
    status: Status
    applicable: NotRequired[bool]
    has_pass: NotRequired[bool]
    in_progress: NotRequired[bool | None]
    hint: NotRequired[str]
    exported: NotRequired[dict[str, str]]
    change: NotRequired[int]
    path: NotRequired[TaskPath]
    sub_tasks: NotRequired[list[TaskEntry]]
    evaluation_milli_seconds: NotRequired[int]


NAMELESS = "UNKNOWN"
_DUPLICATE_HINT = "Duplicate task is non blocking and empty to break the loop"
_NO_PATHS = "Can't perform operation, need viewTaskPaths capability"
_DONE = {"PASS", "DUPLICATE"}
_NO_INDEX_LESS = re.compile(r"\bis:submittable\b")
"""What the plugin cannot ask of a change although a change query can; Gerrit fails such a task."""


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What the caller wants to see.

    Attributes:
        applicable_only: leave out tasks that do not apply; without it, each tells whether it does.
        invalid_only: leave out tasks that are defined properly.
        paths: tell where each task is defined.
        times: tell how long each took.
    """

    applicable_only: bool
    invalid_only: bool
    paths: bool = False
    times: bool = False


@dataclass(frozen=True, kw_only=True)
class Node:
    """A task in its place: of a change, below other tasks.

    Attributes:
        above: the tasks on the way to it, by name and change.
        properties: what its texts may refer to.
        made_for_change: True where a factory made it for a change of its own.
    """

    definition: Definition
    change: Change
    above: tuple[tuple[str, int], ...] = ()
    properties: Mapping[str, str] = field(default_factory=dict)
    made_for_change: bool = False

    @property
    def key(self) -> tuple[str, int]:
        """What makes it the same task as another."""
        return self.definition.name, self.change.number

    @property
    def is_duplicate(self) -> bool:
        """Whether it is one of the tasks above it again."""
        return self.key in self.above

    def expanded(self, text: str) -> str:
        """A text with `${NAME}` replaced by the property; unknown names stay as they are."""
        return re.sub(r"\$\{(\w[\w-]*)\}", lambda found: self.properties.get(found[1], found[0]), text)


def node_of(definition: Definition, change: Change, parent: Node | None = None, *, made: bool = False) -> Node:
    """A task below another (or at the top), with the properties it can refer to."""
    node = Node(
        definition=definition,
        change=change,
        above=(*parent.above, parent.key) if parent else (),
        properties={
            **(parent.properties if parent else {}),
            "_name": definition.name,
            "_change_number": str(change.number),
            "_change_id": change.change_id,
            "_change_project": change.project,
            "_change_branch": f"refs/heads/{change.branch}",
            "_change_status": change.status,
            "_change_topic": change.topic or "",
        },
        made_for_change=made,
    )
    own = {name: node.expanded(text) for name, text in {**definition.exported, **definition.properties}.items()}
    return replace(node, properties={**node.properties, **own})


class Evaluation:
    """The tasks of one configuration, for one caller."""

    def __init__(self, asked: Asked, configuration: Configuration, wanted: Wanted) -> None:
        self.asked = asked
        self.configuration = configuration
        self.wanted = wanted
        self.sees_names = asked.viewer is not None and asked.viewer.admin

    def roots(self, change: Change) -> list[TaskEntry]:
        """The tasks at the top, for a change."""
        entries = (self.entry(node_of(root, change)) for root in self.configuration.roots)
        return [entry for entry in entries if entry is not None]

    def entry(self, node: Node) -> TaskEntry | None:
        """A task as the caller sees it; None where it is left out."""
        try:
            applicable = self.matches(node, node.definition.applicable)
            if not self.sees_names and not applicable and not self.wanted.applicable_only:
                return {"name": NAMELESS, "status": "UNKNOWN"}
            if not applicable and self.wanted.applicable_only:
                return None
        except QueryError:
            return self._invalid(node)
        return self._shown(node, applicable)

    def _shown(self, node: Node, applicable: bool) -> TaskEntry | None:  # noqa: FBT001 - one of two facts
        subtasks = [] if node.is_duplicate else self._subtasks(node)
        status = self._status(node, subtasks)
        if self.wanted.invalid_only and not self._asks_properly(node):
            status = "INVALID"
        if status is None:
            return None
        if self.wanted.invalid_only and status != "INVALID" and not subtasks:
            return None
        return self._facts(node, status, subtasks, applicable)

    def _facts(self, node: Node, status: Status, subtasks: list[TaskEntry], applicable: bool) -> TaskEntry:  # noqa: FBT001
        definition = node.definition
        asks = definition.passes is not None or definition.fails is not None
        entry: TaskEntry = {"name": node.expanded(definition.name), "status": status, "has_pass": asks}
        if node.is_duplicate:
            entry["has_pass"] = False
        else:
            self._add_details(entry, node)
        if not self.wanted.applicable_only:
            entry["applicable"] = applicable
        if node.made_for_change:
            entry["change"] = node.change.number
        hint = self._hint(definition, status)
        if hint is not None:
            entry["hint"] = node.expanded(hint)
        if self.wanted.paths:
            entry["path"] = self._path(definition)
        if self.wanted.times:
            entry["evaluation_milli_seconds"] = 0
        if subtasks:
            entry["sub_tasks"] = subtasks
        return entry

    def _add_details(self, entry: TaskEntry, node: Node) -> None:
        definition = node.definition
        if definition.in_progress is not None:
            try:
                entry["in_progress"] = self.matches(node, definition.in_progress)
            except QueryError:
                entry.pop("in_progress", None)
        if definition.exported:
            entry["exported"] = {name: node.expanded(text) for name, text in definition.exported.items()}

    def _invalid(self, node: Node | None) -> TaskEntry:
        named = node is not None and self.sees_names
        return {"name": node.definition.name if node and named else NAMELESS, "status": "INVALID"}

    def _hint(self, definition: Definition, status: Status) -> str | None:
        match status:
            case "READY":
                return definition.ready_hint
            case "FAIL":
                return definition.fail_hint
            case "DUPLICATE":
                return _DUPLICATE_HINT
            case _:
                return None

    def _path(self, definition: Definition) -> TaskPath:
        if not self.sees_names:
            return {"error": _NO_PATHS}
        return {"name": definition.name, "type": definition.kind, "project": "All-Projects", "ref": REF, "file": FILE}

    def _status(self, node: Node, subtasks: list[TaskEntry]) -> Status | None:
        """The state of a task; None for a group of tasks of which none applies."""
        try:
            return self._status_or_error(node, subtasks)
        except QueryError:
            return "INVALID"

    def _status_or_error(self, node: Node, subtasks: list[TaskEntry]) -> Status | None:
        definition = node.definition
        if node.is_duplicate:
            return "DUPLICATE"
        if definition.passes is None and definition.fails is None and not subtasks:
            return None if definition.subtasks or definition.factories else "INVALID"
        if definition.fails is not None and self.matches(node, definition.fails):
            return "FAIL"
        if any(subtask["status"] not in _DONE for subtask in subtasks):
            return "WAITING"
        if definition.passes is not None and not self.matches(node, definition.passes):
            return "READY"
        return "PASS"

    def _asks_properly(self, node: Node) -> bool:
        try:
            for query in node.definition.queries:
                self.matches(node, query)
        except QueryError:
            return False
        return True

    def _subtasks(self, node: Node) -> list[TaskEntry]:
        entries = (self._invalid(None) if below is None else self.entry(below) for below in self._below(node))
        return [entry for entry in entries if entry is not None]

    def _below(self, node: Node) -> Iterator[Node | None]:
        """The tasks below one; None stands for one that is not defined."""
        for reference in node.definition.subtasks:
            names = [name.strip() for name in node.expanded(reference).split("|")]
            known = next((name for name in names if name in self.configuration.tasks), None)
            if known is not None:
                yield node_of(self.configuration.tasks[known], node.change, node)
            elif names[-1]:
                yield None
        for name in node.definition.factories:
            yield from self._made(name, node)

    def _made(self, name: str, node: Node) -> Iterator[Node | None]:
        factory = self.configuration.factories.get(name)
        if factory is None or not factory.valid:
            yield None
            return
        for given in factory.names:
            yield node_of(replace(factory.shape, name=given), node.change, node)
        if factory.changes is None:
            return
        try:
            found = self.asked.changes(node.expanded(factory.changes))
        except QueryError:
            yield None
            return
        for change in found:
            yield node_of(replace(factory.shape, name=str(change.number)), change, node, made=True)

    def matches(self, node: Node, query: str | None) -> bool:
        """Whether a task's change is found by a query; no query and `True` find every change.

        Raises:
            QueryError: the query is malformed, or none the plugin can ask.
        """
        if query is None or query.lower() == "true":
            return True
        if _NO_INDEX_LESS.search(query):
            raise bad_request(f"not to be asked of a single change: {query}")
        return self.asked.matcher(node.expanded(query))(node.change)
