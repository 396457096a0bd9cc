"""Fixed answers of plugins that nobody simulates: `{"GET /changes/*/my-plugin~status": {"json": {"ok": True}}}`.

A key is `METHOD /path`, the path as it follows the host's own and `/a`; `*` stands for one segment. What a key says
after a `?` must be among the parameters of the request; an option of a plugin counts with or without its dashes.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

if TYPE_CHECKING:
    from mock_gerrit.host import Host


def canned_answer(host: Host, method: str, path: str, query: str) -> Any:  # noqa: ANN401 - what the host was given
    """The fixed answer to a request, by the first plugin that is switched on and has one; None where none has.

    Args:
        host: the host that is asked.
        method: the HTTP method; HEAD is answered as GET.
        path: the path, still percent-encoded.
        query: the query string, still percent-encoded.
    """
    asked = f"{'GET' if method == 'HEAD' else method} {path}"
    for plugin in host.enabled_plugins:
        for key, given in plugin.canned.items():
            if fits(key, asked, query):
                return given
    return None


def fits(key: str, asked: str, query: str) -> bool:
    """Whether a key is that of a request, given as `METHOD /path` and its query string."""
    wanted, _, parameters = key.partition("?")
    pattern = re.escape(wanted).replace(r"\*", "[^/]+")
    return re.fullmatch(pattern, asked) is not None and _pairs(parameters) <= _pairs(query)


def _pairs(query: str) -> set[tuple[str, str]]:
    return {(name.removeprefix("--"), value) for name, value in parse_qsl(query, keep_blank_values=True)}
