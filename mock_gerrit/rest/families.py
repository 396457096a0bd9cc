"""All endpoint families together, and what lies beside REST."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING
from urllib.parse import quote

from mock_gerrit.rest import (
    accounts,
    attention,
    branches,
    changes,
    comments,
    config,
    create,
    edits,
    files,
    messages,
    moves,
    plugins,
    projects,
    review,
    reviewers,
    revisions,
    states,
    submit,
)
from mock_gerrit.rest.call import Content
from mock_gerrit.rest.routes import Route, Routes

if TYPE_CHECKING:
    from mock_gerrit.host import Host

_ROOTS = ("/changes", "/accounts", "/projects", "/groups", "/config", "/access")
_PAGES = re.compile(r"/(?:login|logout|c|q|dashboard|settings|admin|Documentation|tools|ssh_info)?(?:/.*)?|/\d+/.*")
_SHORT_ADDRESS = re.compile(r"/(\d+)/?")


_FAMILIES = (
    config,
    plugins,
    accounts,
    projects,
    branches,
    changes,
    create,
    states,
    attention,
    reviewers,
    messages,
    moves,
    comments,
    review,
    revisions,
    files,
    edits,
    submit,
)


@cache
def routes() -> Routes:
    """The endpoints of Gerrit's core."""
    every = Routes()
    for family in _FAMILIES:
        every.include(family.routes)
    return every


def is_rest(method: str, path: str) -> bool:
    """Whether a request, context path and `/a` taken off its path, is for the REST servlets.

    Of what is below `/plugins/` only the list, Gerrit's own views and installing or removing are; the rest belongs to
    the plugin of that name.
    """
    if path.startswith("/plugins/"):
        rest = path.removeprefix("/plugins/")
        return rest == "" or "/gerrit~" in rest or ("/" not in rest and method in {"PUT", "DELETE"})
    return any(path == root or path.startswith(f"{root}/") for root in _ROOTS)


def page(host: Host, path: str, *, login: bool = False) -> Content | None:
    """What the simulation has besides REST: files of JavaScript plugins, short addresses of changes; None elsewhere.

    `login` is whether `/a` stood before the path: there are no short addresses below it.
    """
    for plugin in host.enabled_plugins:
        if plugin.content is not None and path == f"/plugins/{plugin.id}/static/{plugin.filename}":
            return Content(data=plugin.content, content_type="application/javascript")
    short = None if login else _SHORT_ADDRESS.fullmatch(path)
    change = host.changes.get(int(short[1])) if short else None
    if change is None:
        return None
    location = f"{host.url}/c/{quote(change.project)}/+/{change.number}/"
    return Content(data=b"", content_type="", status=302, headers=(("Location", location),))


def has_unsimulated_page(host: Host, path: str) -> bool:
    """Whether a real Gerrit has something at a path outside REST that the simulation has not."""
    if path.startswith("/plugins/"):
        name = path.split("/")[2]
        return name in host.plugins and not host.plugins[name].disabled
    return _PAGES.fullmatch(path) is not None


def takes_plugin_options(route: Route) -> bool:
    """Whether plugins may add options to an endpoint."""
    return route.method == "GET" and route.pattern in {"/changes/", "/changes/{change}", "/changes/{change}/detail"}
