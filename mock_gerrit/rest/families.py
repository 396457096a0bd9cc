"""All endpoint families together, and what lies beside REST."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from mock_gerrit.rest.call import Content
from mock_gerrit.rest.routes import Route, Routes

if TYPE_CHECKING:
    from mock_gerrit.host import Host

ROOTS = ("/changes", "/accounts", "/projects", "/groups", "/config", "/plugins/", "/access", "/Documentation/")
QUERY_PATTERN = "/changes/"


@cache
def routes() -> Routes:
    """The endpoints of Gerrit's core."""
    from mock_gerrit.rest import (  # noqa: PLC0415 - the families import what this module offers
        accounts, attention, branches, changes, comments, config, create, messages, plugins, projects, review, reviewers, revisions, states, submit, files,
    )  # fmt: skip

    every = Routes()
    for family in (
        config, plugins, accounts, changes, create, states, attention, reviewers, comments, review, messages, submit,
        revisions, files, projects, branches,
    ):  # fmt: skip
        every.include(family.routes)
    return every


def is_rest(path: str) -> bool:
    """Whether a path, context path and `/a` taken off, belongs to the REST servlets."""
    if path.startswith("/plugins/"):
        rest = path.removeprefix("/plugins/")
        return rest == "" or "/gerrit~" in rest or "/" not in rest
    return any(path == root or path.startswith(root.rstrip("/") + "/") for root in ROOTS[:5])


def page(host: Host, path: str) -> Content | None:
    """What Gerrit serves besides REST: the files of JavaScript plugins; None elsewhere."""
    for plugin in host.enabled_plugins:
        if plugin.content is not None and path == f"/plugins/{plugin.id}/static/{plugin.filename}":
            return Content(data=plugin.content, content_type="application/javascript")
    return None


def takes_plugin_options(route: Route) -> bool:
    """Whether plugins may add options to an endpoint."""
    return route.method == "GET" and route.pattern in {"/changes/", "/changes/{change}", "/changes/{change}/detail"}
