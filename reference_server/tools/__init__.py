"""The core tools, one file a topic."""

from __future__ import annotations

from reference_server.sdk import ServerCore


def register_core_tools(server: ServerCore) -> None:
    """Register every core tool on `server`."""
    from reference_server.tools import catalogue  # noqa: PLC0415 - the package itself imports nothing heavy

    catalogue.register(server)
