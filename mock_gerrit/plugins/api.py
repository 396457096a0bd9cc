"""The API through which a plugin is simulated; task, depends-on and code-owners use it as a third party would.

A simulator is a value: it declares what the plugin adds, and the simulated Gerrit reads it. A package offers one by an
entry point whose name is the plugin's id:

    [project.entry-points."mock_gerrit.plugins"]
    my-plugin = "my_package.simulated:simulator"

    simulator = Simulator(
        id="my-plugin",
        version="v1.0",
        routes=routes,                                  # GET /changes/{change}/my-plugin~greeting
        change_options={"applicable": "flag"},          # ?my-plugin--applicable
        change_attributes=attributes,                   # its entry in the `plugins` of a change
        query_operators={"in": in_operator},            # q=in_my-plugin:VALUE
    )
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Any, Literal

from mock_gerrit.changes import Change
from mock_gerrit.errors import GerritError
from mock_gerrit.plugins.options import OptionKind, OptionValue
from mock_gerrit.query import Predicate, Search, parse
from mock_gerrit.rest.routes import CORE, Route, Routes
from mock_gerrit.visibility import may_see

if TYPE_CHECKING:
    from mock_gerrit.entities import Account
    from mock_gerrit.host import Host

__all__ = [
    "Asked",
    "ChangeAttributes",
    "Operator",
    "OptionKind",
    "OptionValue",
    "PluginFailure",
    "Predicate",
    "QueryError",
    "Routes",
    "Search",
    "Simulator",
    "SubmitRule",
    "SubmitVerdict",
    "discover",
]

ENTRY_POINT_GROUP = "mock_gerrit.plugins"
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
_WORD = re.compile(r"[a-z][a-z0-9-]*")

QueryError = GerritError
"""What a query that is malformed or names an unknown operator or value raises."""

RecordStatus = Literal["OK", "NOT_READY", "CLOSED", "RULE_ERROR"]


@dataclass(frozen=True, kw_only=True)
class Asked:
    """Who asks, of which host, with which of the plugin's options.

    Attributes:
        viewer: the account that asks; None for an anonymous caller.
        options: value by name of the options given: True or False for a flag, an int, a str, or a tuple of str.
    """

    host: Host
    viewer: Account | None
    options: Mapping[str, OptionValue] = field(default_factory=dict)

    def matcher(self, query: str) -> Predicate:
        """The predicate that a change query stands for; QueryError where it stands for none."""
        return parse(Search(host=self.host, user=self.viewer), query)

    def changes(self, query: str) -> list[Change]:
        """The changes that a query finds for the caller, the latest updated first; QueryError as for `matcher`."""
        matches = self.matcher(query)
        found = [item for item in self.host.changes.values() if may_see(self.host, self.viewer, item) and matches(item)]
        return sorted(found, key=lambda item: (item.updated, item.number), reverse=True)


ChangeAttributes = Callable[[Asked, Change], Mapping[str, Any] | None]
"""The plugin's entry in the `plugins` of a change, without its `name`; None when it has nothing to say."""

Operator = Callable[[Search, str], Predicate]
"""Compiles the value of a query operator, as the core's own operators do; QueryError for one that makes no sense."""


@dataclass(frozen=True, kw_only=True)
class SubmitVerdict:
    """What a plugin's submit rule says of a change.

    Attributes:
        rule: the name of the rule, as the record of the change shows it.
        status: whether the rule lets the change be submitted.
        requirement: type and text of the requirement it shows; None for a rule that shows none.
    """

    rule: str
    status: RecordStatus
    requirement: tuple[str, str] | None = None


SubmitRule = Callable[["Host", Change], SubmitVerdict | None]


class PluginFailure(Exception):  # noqa: N818 - it is the plugin that fails, in the simulated world
    """A plugin breaks while it makes its entry for a change; Gerrit then shows an entry that only says so."""


@dataclass(frozen=True, kw_only=True)
class Simulator:
    """What a plugin adds to a Gerrit host; checked when it is made.

    Attributes:
        id: the plugin's id, as in `/plugins/`.
        version: the version that the plugin list shows unless the host says another.
        routes: its REST endpoints: below `/plugins/ID/`, or views named `ID~VIEW` of changes, revisions, projects, …;
            such a view is also reached by its bare name while no other has it.
        change_options: kind by name of the options that change queries take as `ID--NAME` or `--ID--NAME`.
        change_attributes: makes its entry in the `plugins` of a change; asked only when an option was given.
        query_operators: by name; `in` is reached as `in_ID:VALUE`.
        has_operands: by name; `a` is reached as `has:a_ID`.
        submit_rule: what it says of submitting a change.
        install: sets up a host that gets the plugin, so that it has something to show.

    Raises:
        ValueError: the id is none a plugin could have, or something is declared that a real plugin could not add:
            a path of Gerrit's own or of another plugin, or a name that cannot be written in a query.
    """

    id: str
    version: str
    routes: Routes = field(default_factory=Routes)
    change_options: Mapping[str, OptionKind] = field(default_factory=dict)
    change_attributes: ChangeAttributes | None = None
    query_operators: Mapping[str, Operator] = field(default_factory=dict)
    has_operands: Mapping[str, Operator] = field(default_factory=dict)
    submit_rule: SubmitRule | None = None
    install: Callable[[Host], None] | None = None

    def __post_init__(self) -> None:
        if not _ID.fullmatch(self.id) or self.id == CORE:
            raise ValueError(
                f"id={self.id!r}: expected the id of a plugin: letters, digits, '-', '_' and '.', and not {CORE!r}"
            )
        if not self.version:
            raise ValueError(f"plugin {self.id!r}: version='': expected what its jar would say, such as 'v1.0'")
        for route in self.routes:
            self._check_route(route)
        self._check_words("change_options", self.change_options)
        self._check_words("query_operators", self.query_operators)
        self._check_words("has_operands", self.has_operands)
        if self.change_options and self.change_attributes is None:
            raise ValueError(f"plugin {self.id!r}: change_options are given, change_attributes to answer them are not")

    def _check_route(self, route: Route) -> None:
        where = f"plugin {self.id!r}: route {route.method} {route.pattern}"
        segments = route.pattern.strip("/").split("/")
        if segments[0] == "plugins":
            if len(segments) < 2 or segments[1] != self.id:
                raise ValueError(f"{where} is below another plugin's path; its own is /plugins/{self.id}/")
            if any(segment.startswith(f"{CORE}~") for segment in segments):
                raise ValueError(f"{where} is a view of Gerrit's own")
            return
        owners = {segment.partition("~")[0] for segment in segments if "~" in segment}
        if not owners:
            raise ValueError(f"{where} is a path of Gerrit's own; a plugin's view is named {self.id}~VIEW")
        if owners != {self.id}:
            raise ValueError(f"{where} is named for {', '.join(sorted(owners - {self.id}))}, not for {self.id}")

    def _check_words(self, what: str, named: Mapping[str, object]) -> None:
        for name in named:
            if not _WORD.fullmatch(name):
                raise ValueError(
                    f"plugin {self.id!r}: {what} has {name!r}: expected small letters, digits and '-', "
                    f"beginning with a letter (the plugin's name is added by Gerrit)"
                )


def discover(id_: str) -> Simulator | None:
    """The simulator that an installed package offers under a plugin's id; None where none does.

    Raises:
        TypeError: the entry point leads to something that is no `Simulator`.
        ValueError: it leads to the simulator of another plugin.
    """
    entry_point = _offered().get(id_)
    return _loaded(entry_point) if entry_point else None


@cache
def _offered() -> dict[str, EntryPoint]:
    """The entry points of the group by name, looked up once in a process."""
    return {found.name: found for found in entry_points(group=ENTRY_POINT_GROUP)}


def _loaded(entry_point: EntryPoint) -> Simulator:
    found = entry_point.load()
    where = f"entry point {entry_point.name} = {entry_point.value}"
    if not isinstance(found, Simulator):
        raise TypeError(f"{where}: expected a Simulator, got {type(found).__name__}")
    if found.id != entry_point.name:
        raise ValueError(f"{where} leads to the simulator of {found.id!r}")
    return found
