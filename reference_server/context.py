"""What an extension is handed: the documented members, and nothing else to lean on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reference_server import gerrit
from reference_server.config import load_document
from reference_server.log import log_path
from reference_server.plugin_registry import PluginRegistry
from reference_server.sdk import ServerCore


@dataclass(frozen=True, kw_only=True)
class ExtensionContext:
    """The stable surface of the server for extensions (gerrit-mcp-server `docs/extensions.md`, "The ExtensionContext").

    Attributes:
        mcp: the MCP server; register tools with `@ctx.mcp.tool()`.
        plugin_registry: which plugins the configured hosts have.
    """

    mcp: ServerCore
    plugin_registry: PluginRegistry

    def get_base_url(self, url: str | None = None) -> str:
        """The base URL to build requests on: `url`, else `GERRIT_BASE_URL`, else the configured default.

        Returns:
            An https URL without trailing slash, `/a` included for hosts with authentication.

        Raises:
            ConfigError: the configuration cannot be used, or names no usable default.
        """
        return gerrit.get_base_url(url)

    def normalize_url(self, url: str) -> str:
        """The base URL of the configured host that `url` names; an unknown one becomes https without trailing slash.

        Raises:
            ConfigError: the configuration cannot be used.
        """
        return gerrit.normalize_url(url)

    async def run_curl(self, args: Sequence[str], base_url: str) -> str:
        """Run curl with the credentials of the host that `base_url` names.

        Returns:
            The body, without surrounding blanks and without Gerrit's `)]}'` prefix.

        Raises:
            ConfigError: `base_url` is not configured, or its credentials cannot be had.
            GerritError: curl failed, took too long, or the status is 300 or above (returned instead with
                `GERRIT_MCP_RETURN_HTTP_ERRORS=1`).
        """
        return await gerrit.run_curl_for_extension(args, base_url)

    def load_config(self) -> dict[str, Any]:
        """The whole parsed `gerrit_config.json`, a fresh copy each time.

        Raises:
            ConfigError: the file is missing or no JSON object.
        """
        return load_document()

    def extension_config(self, name: str) -> dict[str, Any]:
        """The block `extensions.NAME` of the configuration; `{}` where it is absent, null or no object.

        Raises:
            ConfigError: the file is missing or no JSON object.
        """
        blocks = load_document().get("extensions")
        block = blocks.get(name) if isinstance(blocks, dict) else None
        return block if isinstance(block, dict) else {}

    @property
    def log_path(self) -> Path:
        """The shared `server.log`; its folder exists, and appending is allowed."""
        return log_path()
