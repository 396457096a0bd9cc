"""The keys of a world file, with the words of the builders that they are handed to."""

from __future__ import annotations

from _parts.models import keys
from _parts.words import first_sentence, in_section
from mock_gerrit.faults import Fault
from mock_gerrit.host import Host
from mock_gerrit.populate import populate
from mock_gerrit.world import World
from mock_gerrit.worldtables import TABLES, CannedTable, Table

_RENAMED = {"http_password": "password", "id_": "id"}
"""Parameters of builders that a world file calls otherwise."""

_BUILDERS: dict[tuple[str, ...], dict[str, str]] = {
    ("faults",): in_section(Fault, "Attributes"),
    ("hosts",): in_section(World.host, "Args"),
    ("hosts", "accounts"): in_section(Host.account, "Args"),
    ("hosts", "changes"): in_section(Host.change, "Args"),
    ("hosts", "plugins"): in_section(Host.add_plugin, "Args"),
    ("hosts", "populate"): in_section(populate, "Args"),
    ("hosts", "projects"): in_section(Host.project, "Args"),
}
_MORE: dict[tuple[str, ...], dict[str, str]] = {
    ("faults",): {"kind": "what the client gets instead; see the table of faults above"},
    (): {
        "seed": "another number makes other hashes; the same file makes the same ones",
        "hosts": "at least one",
        "faults": "in the order in which they are tried; the first that strikes decides",
    },
    ("hosts",): {
        "plugins": "a plugin's id alone stands for a table of it",
        "forbid_plugin_list": "`/plugins/` answers 403 to everybody",
        "operator_aliases": "query operators under further names, as a site's `gerrit.config` gives them",
        "accounts": "besides `admin` (password `secret`), which every host has",
        "groups": "besides the two that every host has",
        "projects": "`All-Projects` and `All-Users` are there already; they take `settings` only",
        "changes": "in the order in which they are numbered",
        "populate": "invented content, from faker (extra `worlds`)",
    },
    ("hosts", "accounts"): {"username": "what it signs in with"},
    ("hosts", "changes"): {
        "files": "content by path, on top of what the parent has",
        "parent": "the number of an earlier change it builds on; else the tip of the branch",
    },
    ("hosts", "changes", "comments"): {
        "message": "its text",
        "path": "the file; without one it is on the patch set as a whole",
        "line": "the line; without one it is on the file as a whole",
        "author": "a user name; else a reviewer",
        "unresolved": "whether it waits for an answer",
    },
    ("hosts", "groups"): {
        "name": "its name",
        "members": "user names",
        "description": "its description",
    },
    ("hosts", "plugins"): {"canned": "fixed answers by `METHOD /path`, the path as after `/a`; `*` is one segment"},
    ("hosts", "projects"): {"settings": "files of `refs/meta/config` by path, where plugins are configured"},
    ("hosts", "plugins", "canned"): {
        "status": "the HTTP status",
        "json": "the body, sent after Gerrit's prefix",
        "text": "the body, sent as it is; not together with `json`",
    },
}


def reference(_: str) -> str:
    """Render every table of a world file."""
    tables: dict[tuple[str, ...], type[Table]] = {**TABLES, ("hosts", "plugins", "canned"): CannedTable}
    # The keys of a table, then those of the tables in it, then the next; faults come last, as they do in a file.
    in_order = sorted(tables, key=lambda place: (place == ("faults",), place))
    return "\n\n".join(_section(place, tables[place]) for place in in_order)


def _section(place: tuple[str, ...], model: type[Table]) -> str:
    told = {_RENAMED.get(name, name): text for name, text in _BUILDERS.get(place, {}).items()}
    known = {field.alias or name for name, field in model.model_fields.items()}
    words = {name: text for name, text in told.items() if name in known} | _MORE.get(place, {})
    return f"#### {_title(place)}\n\n{first_sentence(model)}\n\n{keys(model, words)}"


def _title(place: tuple[str, ...]) -> str:
    if place[-1:] == ("canned",):
        return '`[hosts.plugins.canned."GET /path"]`'
    if place == ("hosts", "populate"):
        return "`[hosts.populate]`"
    return f"`[[{'.'.join(place)}]]`" if place else "The top level"
