"""What the reference server reads and offers."""

from __future__ import annotations

import asyncio

from pydantic import BaseModel

from _parts.markdown import code, table
from _parts.models import keys
from _parts.words import first_sentence, one_line
from reference_server.config import Authentication, Configuration, GerritHost
from reference_server.factory import build

_TABLES: dict[type[BaseModel], tuple[str, dict[str, str]]] = {
    Configuration: (
        "The top level",
        {
            "default_gerrit_base_url": "the host for calls that name none; one of `gerrit_hosts`",
            "gerrit_hosts": "the hosts that may be asked, in the order in which routing tries them",
            "plugin_list_ttl_seconds": "how long the plugin list of a host is remembered",
            "curl_timeout_seconds": "the time after which a request is given up",
            "extension_load_seconds": "how long importing an extension, and then registering, may take",
        },
    ),
    GerritHost: (
        "`gerrit_hosts[]`",
        {
            "name": "how messages speak of it",
            "external_url": "where its users reach it; requests go there",
            "internal_url": "another address of it; requests go there where it is the only one",
            "authentication": "left out or null: none",
        },
    ),
    Authentication: (
        "`gerrit_hosts[].authentication`",
        {
            "type": "how requests are signed; the first two go to `/a/`",
            "username": "for `http_basic`",
            "auth_token": "for `http_basic`: the HTTP password",
            "gitcookies_path": "for `git_cookies`: a cookie file; `~` is understood",
        },
    ),
}


def configuration(_: str) -> str:
    """Render every key of `gerrit_config.json` that the server reads."""
    return "\n\n".join(
        f"#### {title}\n\n{first_sentence(model)}\n\n{keys(model, words)}" for model, (title, words) in _TABLES.items()
    )


def core_tools(_: str) -> str:
    """Render the tools that are there without any extension."""
    tools = asyncio.run(build().mcp.list_tools())
    return table(
        ("tool", "what it does"),
        [(code(tool.name), one_line(tool.description.partition("\n\n")[0])) for tool in tools],
    )
