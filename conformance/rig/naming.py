"""Watch over the names in the host's tables: which were taken twice, which of the host's own are gone or replaced.

The SDK keeps the first tool of a name and tells nobody but its log, so what is asked of it has to be seen here.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from conformance.rig.channel import Channel

TABLES = {
    "tool": ("_tool_manager", "_tools"),
    "resource": ("_resource_manager", "_resources"),
    "resource template": ("_resource_manager", "_templates"),
    "prompt": ("_prompt_manager", "_prompts"),
}
"""Where both majors of the SDK keep what is registered of a kind: the manager, and its table by name."""

ADDING = (
    ("tool", "_tool_manager", "add_tool"),
    ("resource", "_resource_manager", "add_resource"),
    ("resource template", "_resource_manager", "add_template"),
    ("prompt", "_prompt_manager", "add_prompt"),
)
"""Through which method of a manager a thing of each kind comes into its table, however it was registered."""

Name = tuple[str, str]
"""A kind, and a name of that kind."""


def registered(mcp: Any) -> dict[Name, Any]:  # noqa: ANN401 - the SDK's server
    """Give all that is registered; empty on a host that keeps its tables elsewhere."""
    return {(kind, name): one for kind in TABLES for name, one in _table(mcp, kind).items()}


def _table(mcp: Any, kind: str) -> dict[str, Any]:  # noqa: ANN401 - the SDK's server
    """Copy one table: what is registered of a kind, by name."""
    manager, table = TABLES[kind]
    return dict(getattr(getattr(mcp, manager, None), table, {}))


def tools_of(mcp: Any) -> dict[str, Any]:  # noqa: ANN401 - the SDK's server
    """Give the SDK's tools by name; none on a host that keeps them elsewhere."""
    return _table(mcp, "tool")


def written(names: Mapping[Name, Any]) -> list[str]:
    """Write names so that they can be told and compared, such as `tool get_change`."""
    return [f"{kind} {name}" for kind, name in names]


class Names:
    """Tells which names that were there already something was registered under, and what became of the host's own."""

    def __init__(self, channel: Channel, application: Any) -> None:  # noqa: ANN401 - any host's application
        """Watch `application`, which has loaded no extension yet."""
        self._channel = channel
        self._mcp = application.mcp
        self.of_host = registered(self._mcp)
        self._functions = {name: _function(one) for name, one in self.of_host.items()}
        self._told: set[Name] = set()
        for kind, manager, method in ADDING:
            if hasattr(getattr(self._mcp, manager, None), method):
                self._watch(kind, getattr(self._mcp, manager), method)
        self._watch_end(getattr(application, "loader", None))

    def tell(self, when: str = "loaded") -> None:
        """Tell what has become of the names that the host had before it loaded anything."""
        now = registered(self._mcp)
        gone = [name for name in self.of_host if name not in now]
        other = [name for name, function in self._functions.items() if name in now and _function(now[name]) != function]
        self._channel.tell(
            "names", when=when, watched=hasattr(self._mcp, "_tool_manager"), removed=written(dict.fromkeys(gone)),
            replaced=written(dict.fromkeys(other)), host_tools=[name for kind, name in self.of_host if kind == "tool"],
        )  # fmt: skip

    def _watch(self, kind: str, manager: Any, method: str) -> None:  # noqa: ANN401 - the SDK's manager
        original: Callable[..., Any] = getattr(manager, method)

        @functools.wraps(original)
        def observed(*arguments: Any, **options: Any) -> Any:  # noqa: ANN401 - passed on unchanged
            before = _table(self._mcp, kind)
            result = original(*arguments, **options)
            given = arguments[0] if arguments else next(iter(options.values()), None)
            name = _name(result)
            if name in before and _function(before[name]) != _function(given):
                self._tell_taken((kind, name))
            return result

        setattr(manager, method, observed)

    def _tell_taken(self, name: Name) -> None:
        if name not in self._told:
            self._told.add(name)
            owner = "the host" if name in self.of_host else "the extension itself"
            self._channel.tell("name_taken", what=f"{name[0]} {name[1]}", owner=owner)

    def _watch_end(self, loader: Any) -> None:  # noqa: ANN401 - any host's loader
        """Tell once more when the host unloads its extensions: a call may have changed what loading had left alone."""
        unload = getattr(loader, "unload", None)
        if unload is None:
            return

        @functools.wraps(unload)
        def observed(*arguments: Any, **options: Any) -> Any:  # noqa: ANN401 - passed on unchanged
            self.tell("unloading")
            return unload(*arguments, **options)

        with suppress(AttributeError):  # a loader that takes no attributes is only watched up to here
            loader.unload = observed


def _name(one: Any) -> str:  # noqa: ANN401 - a tool, resource, template or prompt of the SDK
    """Give the name under which its table keeps it."""
    for attribute in ("uri_template", "uri", "name"):
        if (found := getattr(one, attribute, None)) is not None:
            return str(found)
    return ""


def _function(one: Any) -> Any:  # noqa: ANN401 - a tool, resource, template or prompt of the SDK, or a function
    """Give the function behind what is registered; a thing without one stands for itself."""
    found = getattr(one, "fn", None)
    return found if found is not None else one
