"""What is said to hosts that are not of the world: it is heard, also inside TLS, and goes nowhere."""

from __future__ import annotations

import pytest

from mock_gerrit.serving.asgi import BodyTooLargeError
from mock_gerrit.serving.elsewhere import Elsewhere
from mock_gerrit.serving.gateway import Gateway
from tests.mock_gerrit.serving.clients import ask, close, curl, open_proxy, open_tunnel

API = "api.example.org"
ANSWERS = {API: {"GET /status/*": {"json": {"build": "green"}}, "POST /notes": {"status": 201, "text": "noted"}}}


@pytest.fixture
def elsewhere():
    return Elsewhere(ANSWERS)


@pytest.fixture
async def listening(world, authority, elsewhere):
    async with Gateway(world, authority=authority, elsewhere=elsewhere) as gateway:
        yield gateway


async def test_what_is_said_to_a_stranger_inside_tls_is_kept_and_refused(listening, elsewhere):
    sent = ("-H", "X-Key: k-1", "--data", "token=t-1", "https://collector.example.net/in?x=1")
    reply = await curl(listening.environment(), *sent)
    assert reply.status == 403
    assert "nothing is let out" in reply.body
    (request,) = elsewhere.requests
    assert (request.method, request.url, request.body) == ("POST", "https://collector.example.net/in?x=1", b"token=t-1")
    assert ("X-Key", "k-1") in [(name.title(), value) for name, value in request.headers]
    assert (request.status, request.answered_by) == (403, "refusal")
    assert [(one.kind, one.target) for one in listening.refused] == [("connect", "collector.example.net:443")]


async def test_what_is_said_to_a_stranger_in_the_clear_is_kept_and_refused(listening, elsewhere):
    reply = await curl(listening.environment(), "http://collector.example.net/in?x=1")
    assert reply.status == 403
    assert [request.url for request in elsewhere.requests] == ["http://collector.example.net/in?x=1"]
    assert [(one.kind, one.target) for one in listening.refused] == [("http", "http://collector.example.net/in?x=1")]


async def test_a_tunnel_to_port_80_is_heard_without_tls(listening, elsewhere):
    reply = await curl(listening.environment(), "--proxytunnel", "http://collector.example.net/in")
    assert reply.status == 403
    assert [request.url for request in elsewhere.requests] == ["http://collector.example.net/in"]


async def test_another_port_of_a_stranger_is_part_of_its_name(listening, elsewhere):
    await curl(listening.environment(), "https://collector.example.net:8443/in")
    assert [request.url for request in elsewhere.requests] == ["https://collector.example.net:8443/in"]


async def test_a_named_host_answers_as_told_and_is_no_refusal(listening, elsewhere):
    reply = await curl(listening.environment(), f"https://{API.upper()}/status/7")
    assert (reply.status, reply.json) == (200, {"build": "green"})
    reply = await curl(listening.environment(), "--data", "x", f"https://{API}/notes")
    assert (reply.status, reply.body.strip()) == (201, "noted")
    assert [request.answered_by for request in elsewhere.requests] == ["answer", "answer"]
    assert not listening.refused


async def test_a_named_host_has_an_empty_object_for_whatever_nobody_told(listening, elsewhere):
    reply = await curl(listening.environment(), f"http://{API}/other")
    assert (reply.status, reply.json) == (200, {})
    assert [request.answered_by for request in elsewhere.requests] == ["default"]
    assert not listening.refused


async def test_the_hosts_of_the_world_are_reached_as_ever(listening, elsewhere, world):
    reply = await curl(listening.environment(), "https://review-a.example.com/changes/")
    assert reply.status == 200
    assert len(world.journal) == 1
    assert not elsewhere.requests


@pytest.mark.parametrize("url", ["https://review-a.example.com:8443/changes/", "http://review-a.example.com:8080/"])
async def test_another_port_of_a_host_of_the_world_is_no_stranger_and_refused(listening, elsewhere, url):
    await curl(listening.environment(), url)
    assert [one.kind for one in listening.refused] == ["connect" if url.startswith("https") else "http"]
    assert not elsewhere.requests


async def test_a_name_that_no_certificate_can_carry_is_refused_as_it_was_written(listening, elsewhere):
    reader, writer = await open_proxy(listening)
    head, _ = await ask(reader, writer, "CONNECT Tok_1.-.example.net:443 HTTP/1.1")
    await close(writer)
    assert " 403 " in head
    assert [one.target for one in listening.refused] == ["Tok_1.-.example.net:443"]
    assert not elsewhere.requests


async def test_only_so_many_strangers_are_listened_to(listening, elsewhere, monkeypatch):
    monkeypatch.setattr("mock_gerrit.serving.elsewhere._MOST_NAMES", 1)
    replies = [await curl(listening.environment(), f"http://{name}.example.net/") for name in ("one", "two")]
    assert [reply.status for reply in replies] == [403, 403]
    assert [request.authority for request in elsewhere.requests] == ["one.example.net"]
    assert len(listening.refused) == 2
    assert (await curl(listening.environment(), f"https://{API}/status/1")).status == 200, "a named host always is"


async def test_a_body_is_kept_in_part_only(listening, elsewhere, monkeypatch):
    monkeypatch.setattr("mock_gerrit.serving.elsewhere._LONGEST_BODY", 4)
    await curl(listening.environment(), "--data", "0123456789", "https://collector.example.net/")
    assert [request.body for request in elsewhere.requests] == [b"0123"]


async def test_a_body_beyond_all_bounds_is_refused(listening, elsewhere, monkeypatch):
    async def too_large(*_):
        raise BodyTooLargeError

    monkeypatch.setattr("mock_gerrit.serving.elsewhere.read_request", too_large)
    reply = await curl(listening.environment(), "--data", "0123456789", "https://collector.example.net/")
    assert reply.status == 413
    assert not elsewhere.requests


async def test_only_so_many_requests_are_kept(listening, elsewhere, monkeypatch):
    monkeypatch.setattr("mock_gerrit.serving.elsewhere._MOST_REQUESTS", 1)
    reader, writer = await open_tunnel(listening, "collector.example.net")
    for path in ("/a", "/b"):
        head, _ = await ask(reader, writer, f"GET {path} HTTP/1.1\nHost: collector.example.net")
        assert " 403 " in head
    await close(writer)
    assert [request.target for request in elsewhere.requests] == ["/a"]


async def test_printing_a_request_shows_no_credentials(listening, elsewhere):
    await curl(listening.environment(), "--user", "bob:bob-secret", "https://collector.example.net/")
    assert "(hidden)" in repr(elsewhere.requests[0])
