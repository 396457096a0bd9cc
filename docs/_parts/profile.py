"""The keys of a profile."""

from __future__ import annotations

from pydantic import BaseModel

from _parts.models import keys
from _parts.words import beside_fields, first_sentence
from conformance.profile import CannedAnswer, ExtensionTable, Profile, ServerTable, ToolTable

_MORE: dict[type[BaseModel], dict[str, str]] = {
    Profile: {
        "extension": "the settings that the extension reads",
        "server": "how a server under test is told where things are",
        "tools": "how to call a tool, by its name",
        "canned": "what plugins answer that the simulated Gerrit does not know",
    },
    CannedAnswer: {
        "plugin": "the id of the plugin; the rig installs it on the hosts that are to have it",
        "method": "the HTTP method",
        "status": "the HTTP status",
        "json": "the body, sent after Gerrit's prefix",
        "text": "the body, sent as it is",
    },
}
_TITLES: dict[type[BaseModel], str] = {
    Profile: "[tool.gerrit-conformance]",
    ExtensionTable: "[tool.gerrit-conformance.extension]",
    ServerTable: "[tool.gerrit-conformance.server]",
    ToolTable: "[tool.gerrit-conformance.tools.NAME]",
    CannedAnswer: "[[tool.gerrit-conformance.canned]]",
}


def reference(_: str) -> str:
    """Render every table of a profile."""
    return "\n\n".join(_section(model, title) for model, title in _TITLES.items())


def _section(model: type[BaseModel], title: str) -> str:
    words = beside_fields(model) | _MORE.get(model, {})
    said = first_sentence(model).partition(": ")[2] or first_sentence(model)
    return f"#### `{title}`\n\n{said[:1].upper()}{said[1:]}\n\n{keys(model, words)}"
