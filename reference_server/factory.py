"""The whole server put together: `build()`, then `load()`, then one of the `serve_…`."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import BinaryIO

import anyio

from reference_server import sdk
from reference_server.context import ExtensionContext
from reference_server.loader import ExtensionLoader
from reference_server.plugin_registry import PluginRegistry
from reference_server.streams import Lines, Messages, own_standard_streams
from reference_server.tools.catalogue import register_core_tools

_INSTRUCTIONS = (
    "Tools for Gerrit Code Review. `gerrit_base_url` names one of the configured hosts in any form; "
    "without it the configured default is used."
)


@dataclass(frozen=True, kw_only=True)
class Application:
    """A built server.

    Attributes:
        context: what extensions are handed.
        loader: finds and loads them.
    """

    context: ExtensionContext
    loader: ExtensionLoader

    @property
    def mcp(self) -> sdk.ServerCore:
        """The SDK's server: a FastMCP (1.x) or MCPServer (2.x)."""
        return self.context.mcp

    def load(self) -> None:
        """Load the extensions that entry points and `GERRIT_MCP_EXTENSIONS` name."""
        self.loader.load()

    def serve_stdio(self, stdin: BinaryIO | None = None, stdout: BinaryIO | None = None) -> None:
        """Serve MCP until stdin ends, then unload the extensions.

        Args:
            stdin: where requests come from; with `stdout` given as well, descriptors 0 and 1 are left alone.
            stdout: where answers go to. Without both, descriptors 0 and 1 are taken while serving.
        """
        if stdin is not None and stdout is not None:
            self._serve_streams(stdin, stdout)
            return
        with own_standard_streams() as (own_in, own_out):
            self._serve_streams(stdin or own_in, stdout or own_out)

    def serve_http(self, host: str, port: int, sock: socket.socket | None = None) -> None:
        """Serve streamable HTTP at `/mcp` until interrupted, then unload the extensions.

        Args:
            host: the address to listen on; a local one switches DNS rebinding protection on.
            port: the port to listen on.
            sock: a socket that listens already, instead of one made here.

        Raises:
            OSError: the address cannot be had.
        """
        from reference_server.streamable_http import listen, serve  # noqa: PLC0415 - uvicorn is for this transport only

        with sock or listen(host, port) as listening:
            try:
                serve(sdk.http_app(self.mcp, host=host), listening)
            finally:
                self.loader.unload()

    def _serve_streams(self, stdin: BinaryIO, stdout: BinaryIO) -> None:
        try:
            anyio.run(_serve_until_the_end, self.mcp, stdin, stdout)
        finally:
            self.loader.unload()


async def _serve_until_the_end(server: sdk.ServerCore, stdin: BinaryIO, stdout: BinaryIO) -> None:
    try:
        await sdk.serve_stdio(server, Lines(stdin), Messages(stdout))
    except* (anyio.BrokenResourceError, anyio.ClosedResourceError):
        pass  # the session ended while a message was on its way to it
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError  # the user's interrupt, which the errors above had covered


def build(*, clock: Callable[[], float] = time.monotonic) -> Application:
    """Build a server with its core tools.

    Reads no configuration and touches no file; starts no thread and no event loop: a process may build once, fork, set
    its environment and go on.

    Args:
        clock: monotonic seconds for the plugin registry.
    """
    import_module("anyio._backends._asyncio")  # what anyio.run would import first thing after a fork, once a child
    server = sdk.new_server("gerrit-mcp-server", instructions=_INSTRUCTIONS)
    register_core_tools(server)
    context = ExtensionContext(mcp=server, plugin_registry=PluginRegistry(clock=clock))
    return Application(context=context, loader=ExtensionLoader(context))
