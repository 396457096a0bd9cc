"""How endpoints are declared, found, and what they stand."""

from __future__ import annotations

import re
from typing import Any

import pytest

from mock_gerrit.host import Host
from mock_gerrit.rest import families
from mock_gerrit.rest.routes import Route, Routes, nearest
from tests.mock_gerrit.plugin_asking import a_host, ask

NAMES = {
    "change": "1",
    "revision": "current",
    "account": "alice",
    "project": "demo",
    "branch": "master",
    "plugin": "task",
    "config": "server",
    "file": "a.txt",
    "reviewer": "bob",
    "vote": "Code-Review",
    "attention": "bob",
    "star": "1",
    "capability": "queryLimit",
}
BODIES: tuple[Any, ...] = (
    None,
    {},
    {"message": 1, "path": "a.txt", "line": "x", "reviewer": True, "labels": {"Code-Review": None}, "topic": " "},
    {"comments": {"a.txt": [{}]}, "reviewers": [{}], "add_to_attention_set": [{}], "user": "bob", "reason": "r"},
    {"project": "demo", "branch": "master", "subject": "x", "base": "1", "destination": "master", "range": {}},
    {"message": "m", "path": "a.txt", "in_reply_to": "x", "add": ["a"], "remove": [1], "name": "", "revision": "x"},
)


@pytest.fixture
def host() -> Host:
    host = a_host("task")
    host.change("demo", files={"a.txt": "1\n"}, votes={"Code-Review": 1}, comments=[{"path": "a.txt", "message": "x"}])
    return host


@pytest.mark.parametrize("route", tuple(families.routes()), ids=str)
def test_an_endpoint_answers_whatever_it_is_sent(route: Route, host: Host) -> None:
    path = re.sub(r"\{(\w+)\}", lambda name: NAMES.get(name[1], "x"), route.pattern)
    if path.startswith("/plugins/task/"):
        path = path.replace("/task/", "/task/gerrit~")
    for body in BODIES:
        for user in ("bob", "alice", "admin"):
            there = host.world.copy().host_named(host.name)
            response = ask(there, path, method=route.method, body=body, user=user)
            assert 200 <= response.status <= 500, f"{route} with {body} as {user}"
            assert response.unsimulated is None, f"{route} is declared and not found"


def test_every_route_says_where_gerrit_documents_it() -> None:
    assert [str(route) for route in families.routes() if not route.doc.startswith("#")] == []


def test_a_route_that_is_declared_twice_is_refused_at_once() -> None:
    routes = Routes()
    routes.get("/changes/{change}/x")(lambda call, *, change: None)
    with pytest.raises(ValueError, match="declared twice"):
        routes.get("/changes/{change}/x")(lambda call, *, change: None)


def test_a_route_begins_with_a_slash() -> None:
    with pytest.raises(ValueError, match="begins with a slash"):
        Routes().get("changes/")


def test_the_nearest_route_shares_the_longest_beginning() -> None:
    routes = {"gerrit": families.routes()}
    assert nearest(routes, "GET", "/changes/1/revisions/current/nosuch").startswith(
        "GET /changes/{change}/revisions/{revision}/"
    )
    assert nearest(routes, "POST", "/changes/").startswith("POST /changes/")
