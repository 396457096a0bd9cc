"""What a client has changed, told by comparing the state before and after."""

from __future__ import annotations

import json

import pytest

from mock_gerrit.exchange import Request
from mock_gerrit.faults import Fault
from mock_gerrit.serving.service import serve
from mock_gerrit.snapshot import changed, snapshot
from mock_gerrit.world import World


@pytest.fixture
def host():
    host = World().host("https://review.example.com", name="review")
    host.account("ada", http_password="secret", admin=True)
    host.project("demo")
    host.change("demo", owner="ada", subject="Count", files={"a.py": "1\n"})
    return host


def asks(host, method, path, body=None):
    signed = ("Authorization", "Basic YWRhOnNlY3JldA==")
    data = b"" if body is None else json.dumps(body).encode()
    headers = (signed, ("Content-Type", "application/json")) if data else (signed,)
    return serve(host, Request(method=method, target=f"/a{path}", headers=headers, body=data, authority=host.authority))


@pytest.mark.parametrize(
    ("method", "path", "body", "told"),
    [
        ("GET", "/changes/1/detail", None, ()),
        ("PUT", "/changes/1/topic", {"topic": "roots"}, ("review: change 1: topic, messages",)),
        ("PUT", "/accounts/self/starred.changes/1", None, ("review: account Ada: stars",)),
        ("PUT", "/projects/demo/branches/next", {}, ("review: project demo: refs/heads/next",)),
        ("DELETE", "/changes/1", None, ("review: change 1: removed",)),
        ("POST", "/changes/", {"project": "demo", "branch": "master", "subject": "s"}, ("review: change 2: added",)),
    ],
)
def test_what_a_request_changed_is_named(host, method, path, body, told):
    before = snapshot(host.world)
    assert asks(host, method, path, body).response.status < 300
    assert changed(before, snapshot(host.world))[: len(told) or None] == told


def test_a_snapshot_keeps_nothing_of_what_comes_later(host):
    before = snapshot(host)
    host.changes[1].hashtags.add("x")
    host.changes[1].reviewers[7] = "CC"
    assert changed(before, snapshot(host)) == ("review: change 1: hashtags, reviewers",)
    assert changed(before, before) == ()


@pytest.mark.parametrize("fault", [{"kind": "reset"}, {"kind": "html", "status": 504}])
@pytest.mark.parametrize("applied", [True, False])
def test_what_a_fault_hides_is_done_only_where_it_says_so(host, fault, applied):
    host.world.faults.add(Fault(method="PUT", applied=applied, **fault))
    before = snapshot(host)
    served = asks(host, "PUT", "/changes/1/topic", {"topic": "roots"})
    assert served.response.status in {0, 504}
    assert bool(changed(before, snapshot(host))) is applied
