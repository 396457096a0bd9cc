"""What the plugins of a host contribute, gathered for the parts of the simulated Gerrit that serve it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote_plus

from mock_gerrit.plugins.api import Asked, Operator, PluginFailure, Simulator, SubmitVerdict
from mock_gerrit.plugins.options import OptionValue, read_options
from mock_gerrit.rest.routes import Route

if TYPE_CHECKING:
    from mock_gerrit.changes import Change
    from mock_gerrit.entities import Account
    from mock_gerrit.host import Host

Options = Mapping[str, Mapping[str, OptionValue]]
"""The options a request gives to plugins, by plugin id."""


def simulators(host: Host) -> Iterator[Simulator]:
    """The simulators of the plugins that are switched on, in order of id."""
    for plugin in host.enabled_plugins:
        if plugin.simulator is not None:
            yield plugin.simulator


def own_route(host: Host, method: str, path: str) -> tuple[Route, dict[str, str]] | None:
    """The endpoint below `/plugins/ID/` that a plugin has for a path, and what the path names; None where none has.

    Args:
        host: the host that is asked.
        method: the HTTP method; HEAD is answered as GET.
        path: the path, still percent-encoded.
    """
    if not path.startswith("/plugins/"):
        return None
    for simulator in simulators(host):
        for route in simulator.routes:
            found = re.fullmatch(_pattern(route.pattern), path)
            if found and route.method == ("GET" if method == "HEAD" else method):
                return route, {name: unquote_plus(text) for name, text in found.groupdict().items()}
    return None


@cache
def _pattern(pattern: str) -> str:
    """A route's pattern as a regular expression."""
    return re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>[^/]+)", re.escape(pattern))


def change_options(host: Host, switches: Mapping[str, Sequence[str]]) -> Options:
    """What a request asks of plugins.

    Args:
        host: the host that is asked.
        switches: values by name of the query parameters that are written `PLUGIN--NAME` or `--PLUGIN--NAME`.

    Raises:
        GerritError: 400 for an option that no plugin has, or a value it cannot have.
    """
    declared = {simulator.id: simulator.change_options for simulator in simulators(host)}
    return read_options(declared, ((name, value) for name, values in switches.items() for value in values))


def change_entries(host: Host, change: Change, viewer: Account | None, options: Options) -> list[dict[str, Any]]:
    """The `plugins` of a change: one entry for each plugin that was asked and has something to say.

    Gerrit leaves the key out where the list is empty.
    """
    entries: list[dict[str, Any]] = []
    for simulator in simulators(host):
        if simulator.id not in options or simulator.change_attributes is None:
            continue
        asked = Asked(host=host, viewer=viewer, options=options[simulator.id])
        try:
            found = simulator.change_attributes(asked, change)
        except PluginFailure:
            found = {"message": f"Something went wrong in plugin: {simulator.id}"}
        if found is not None:
            entries.append({**found, "name": simulator.id})
    return entries


def query_operator(host: Host, written: str) -> Operator | None:
    """The operator that is written `NAME_PLUGIN` in a query, such as `in_depends-on`; None where no plugin has it."""
    name, _, plugin = written.partition("_")
    for simulator in simulators(host):
        if simulator.id == plugin:
            return simulator.query_operators.get(name)
    return None


def has_operand(host: Host, written: str) -> Operator | None:
    """What `has:NAME_PLUGIN` asks for, such as `has:a_depends-on`; None where no plugin has it."""
    name, _, plugin = written.partition("_")
    for simulator in simulators(host):
        if simulator.id == plugin:
            return simulator.has_operands.get(name)
    return None


def submit_verdicts(host: Host, change: Change) -> list[tuple[str, SubmitVerdict]]:
    """What the submit rules of plugins say of a change, by plugin id; those without an opinion are left out."""
    verdicts = []
    for simulator in simulators(host):
        verdict = simulator.submit_rule(host, change) if simulator.submit_rule else None
        if verdict is not None:
            verdicts.append((simulator.id, verdict))
    return verdicts
