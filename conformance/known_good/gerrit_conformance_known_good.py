"""Three tools that keep every clause: a plain one, one that the host routes, and one with routing of its own."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

from gerrit_mcp_server.extensions import requires_plugin
from typing_extensions import TypedDict

try:
    from mcp.server.mcpserver.exceptions import ToolError
except ImportError:  # mcp 1.x
    from mcp.server.fastmcp.exceptions import ToolError  # type: ignore[import-not-found,no-redef,unused-ignore]

PLUGIN = "task"
XSSI_PREFIX = ")]}'"


class RefusalError(ToolError, RuntimeError):
    """No host can serve the call; as a ToolError its text gets through on every SDK."""


class KnownChange(TypedDict):
    """A change, as far as it matters here."""

    number: int
    subject: str


async def host_with_plugin(registry: Any, url: str | None) -> str:  # noqa: ANN401 - the registry of whichever host
    """Choose the host that serves a call; raises RefusalError where none can."""
    if url is None:
        for host in registry.configured_hosts():
            if await registry.host_has_plugin(host, PLUGIN):
                return str(host)
        raise RefusalError(f"no configured host has the plugin {PLUGIN}")
    if not await registry.host_has_plugin(url, PLUGIN):
        registry.invalidate(url)
        if not await registry.host_has_plugin(url, PLUGIN):
            having = ", ".join(await registry.hosts_with_plugin(PLUGIN)) or "none"
            raise RefusalError(f"{url} is not known to have the plugin {PLUGIN}; hosts that have it: {having}")
    return url


def register(ctx: Any) -> None:  # noqa: ANN401 - the context of whichever host
    """Register the three tools."""

    async def change_at(base_url: str, change_id: str) -> KnownChange:
        body = await ctx.run_curl([f"{base_url}/changes/{quote(change_id, safe='')}/detail"], base_url)
        change = json.loads(body.removeprefix(XSSI_PREFIX))
        return {"number": change["_number"], "subject": change["subject"]}

    @ctx.mcp.tool()  # type: ignore[untyped-decorator,unused-ignore]
    async def known_good_plain(change_id: str, gerrit_base_url: str | None = None) -> KnownChange:
        """Tell number and subject of a change."""
        return await change_at(ctx.get_base_url(gerrit_base_url), change_id)

    @ctx.mcp.tool()  # type: ignore[untyped-decorator,unused-ignore]
    @requires_plugin(PLUGIN, ctx.plugin_registry)
    async def known_good_routed(change_id: str, gerrit_base_url: str | None = None) -> KnownChange:
        """Tell number and subject of a change, on a host that has the plugin."""
        return await change_at(ctx.get_base_url(gerrit_base_url), change_id)

    @ctx.mcp.tool()  # type: ignore[untyped-decorator,unused-ignore]
    async def known_good_own_routing(change_id: str, gerrit_base_url: str | None = None) -> KnownChange:
        """Tell number and subject of a change, on a host that this tool finds by itself."""
        return await change_at(
            ctx.get_base_url(await host_with_plugin(ctx.plugin_registry, gerrit_base_url)), change_id
        )
