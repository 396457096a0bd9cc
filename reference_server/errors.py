"""The failures that this server reports on purpose; the text of each reaches the caller of a tool on both SDKs."""

from __future__ import annotations

from reference_server.sdk import ToolError


class ConfigError(ToolError, ValueError):
    """The configuration cannot be used; the text names the file, what was expected and what was seen."""


class RoutingError(ToolError, RuntimeError):
    """No host, or not the named one, can serve a plugin-backed tool."""


class GerritError(ToolError, RuntimeError):
    """A request to Gerrit did not succeed.

    Args:
        message: what was asked, what came back, and Gerrit's own words.
        status: the HTTP status, or None where no answer came.
    """

    def __init__(self, message: str, *, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status
