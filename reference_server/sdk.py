"""The one place that knows mcp 1.x (`FastMCP`) from mcp 2.x (`MCPServer`).

Everything else of the server speaks to `ServerCore` and the functions here, which behave alike on both majors.
"""

from __future__ import annotations

import logging
import os
import traceback
from collections.abc import AsyncIterable, Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol, TypeVar

_Function = TypeVar("_Function", bound=Callable[..., Any])

SDK_MAJOR: Final[Literal[1, 2]] = 1 if version("mcp").startswith("1.") else 2
"""The major version of the installed mcp distribution."""

if TYPE_CHECKING:

    class ToolError(Exception):
        """A failure whose text reaches the caller of a tool on both SDKs."""

    class McpServer:
        """What both SDKs offer under different names, as far as this server uses it."""

        def __init__(self, name: str, *, instructions: str, log_level: str) -> None: ...

        def add_tool(self, fn: Callable[..., Any], name: str | None = None, **options: object) -> None:
            """Register a tool; the first of a name stays."""

        def remove_tool(self, name: str) -> None:
            """Remove a registered tool."""

        def tool(self, name: str | None = None, **options: object) -> Callable[[_Function], _Function]:
            """Register what is decorated as a tool."""

        async def list_tools(self) -> list[Any]:
            """The tools as `tools/list` tells them."""

        async def call_tool(self, name: str, arguments: dict[str, Any], *rest: object) -> object:
            """Run a tool."""

else:
    _SDK_PACKAGE = "mcp.server.fastmcp" if SDK_MAJOR == 1 else "mcp.server.mcpserver"
    McpServer = getattr(import_module(_SDK_PACKAGE), "FastMCP" if SDK_MAJOR == 1 else "MCPServer")
    ToolError = import_module(f"{_SDK_PACKAGE}.exceptions").ToolError

_CRASHES: tuple[type[Exception], ...] = (
    () if SDK_MAJOR == 1 else (import_module("mcp.server.mcpserver.exceptions").UnexpectedToolError,)
)
_TABLES = (
    ("_tool_manager", "_tools"),
    ("_resource_manager", "_resources"),
    ("_resource_manager", "_templates"),
    ("_prompt_manager", "_prompts"),
)


class TextSink(Protocol):
    """Where the transport puts whole messages."""

    async def write(self, text: str, /) -> None:
        """Write all of the text."""

    async def flush(self) -> None:
        """Hold nothing back."""


@dataclass(frozen=True, kw_only=True)
class Registrations:
    """Tools, resources, resource templates and prompts of a server, by name and in their order."""

    tables: tuple[dict[str, Any], ...]

    @property
    def tools(self) -> frozenset[str]:
        """The names of the tools."""
        return frozenset(self.tables[0])


class ServerCore(McpServer):
    """The SDK's server, which also tells of taken names and passes on what a failing tool said."""

    on_taken_name: Callable[[str], None] | None = None
    """Called with a tool's name when somebody registers it a second time; the SDK keeps the first."""

    def add_tool(self, fn: Callable[..., Any], name: str | None = None, **options: object) -> None:
        """Register a tool as the SDK does; a name that is taken is reported to `on_taken_name`."""
        wanted = name or getattr(fn, "__name__", "")
        if self.on_taken_name is not None and wanted in _tables(self)[0]:
            self.on_taken_name(wanted)
        super().add_tool(fn, name=name, **options)

    async def call_tool(self, name: str, arguments: dict[str, Any], *rest: object) -> object:
        """Run a tool; the text of whatever it raises reaches the caller on both SDKs.

        With `GERRIT_MCP_MASK_ERRORS=1` the SDK decides what gets through, as on a server that adds nothing to it.

        Raises:
            ToolError: the tool is unknown, refused its arguments or raised.
        """
        try:
            return await super().call_tool(name, arguments, *rest)
        except _CRASHES as crash:
            if os.environ.get("GERRIT_MCP_MASK_ERRORS") == "1":
                raise
            # SDK 2 keeps the text of anything but a ToolError to itself, and then nobody learns what to do about it.
            cause = crash.__cause__
            traceback.print_exception(cause)
            raise ToolError(f"{crash}: {cause}") from crash


def new_server(name: str, *, instructions: str) -> ServerCore:
    """Make a server without tools; starts no thread and no event loop and opens no file."""
    # First come: else the SDK colours each traceback wherever rich lies beside it, which takes longer than the call.
    logging.basicConfig(level=logging.WARNING, format="%(message)s")
    return ServerCore(name, instructions=instructions, log_level="WARNING")


def read_only() -> object:
    """Tool annotations that claim `readOnlyHint`, as the installed SDK spells them."""
    if SDK_MAJOR == 1:
        return import_module("mcp.types").ToolAnnotations(readOnlyHint=True)
    return import_module("mcp_types").ToolAnnotations(read_only_hint=True)


def registrations(server: McpServer) -> Registrations:
    """What is registered on `server` now."""
    return Registrations(tables=tuple(dict(table) for table in _tables(server)))


def restore(server: McpServer, earlier: Registrations) -> None:
    """Bring `server` back to an earlier state: what was added since is gone, what was removed is back."""
    for table, then in zip(_tables(server), earlier.tables, strict=True):
        table.clear()
        table.update(then)


def added_since(server: McpServer, earlier: Registrations) -> Registrations:
    """What is registered on `server` now and was not then."""
    both = zip(_tables(server), earlier.tables, strict=True)
    return Registrations(tables=tuple({key: now[key] for key in now if key not in then} for now, then in both))


def withdraw(server: McpServer, added: Registrations) -> None:
    """Remove from `server` what of `added` is still registered."""
    for table, names in zip(_tables(server), added.tables, strict=True):
        for name in names:
            table.pop(name, None)


async def serve_stdio(server: McpServer, stdin: AsyncIterable[str], stdout: TextSink) -> None:
    """Speak MCP until `stdin`, which gives one message a line, ends."""
    core = _lower_layer(server)
    transport = import_module("mcp.server.stdio").stdio_server
    async with transport(stdin, stdout) as (incoming, outgoing):
        await core.run(incoming, outgoing, core.create_initialization_options())


def http_app(server: McpServer, *, host: str) -> Callable[..., Any]:
    """The ASGI application that serves streamable HTTP at `/mcp`.

    Args:
        server: the server to expose.
        host: the address that is listened on; a local one switches protection against DNS rebinding on.
    """
    engine: Any = server
    if SDK_MAJOR == 2:
        app = engine.streamable_http_app(host=host)
    else:
        if host not in {"127.0.0.1", "localhost", "::1"}:
            engine.settings.transport_security = None
        app = engine.streamable_http_app()
    return app  # type: ignore[no-any-return]  # which class it is of depends on the SDK


def _lower_layer(server: McpServer) -> Any:  # noqa: ANN401 - a class of its own on each SDK
    return getattr(server, "_mcp_server" if SDK_MAJOR == 1 else "_lowlevel_server")


def _tables(server: McpServer) -> list[dict[str, Any]]:
    return [getattr(getattr(server, keeper), table) for keeper, table in _TABLES]
