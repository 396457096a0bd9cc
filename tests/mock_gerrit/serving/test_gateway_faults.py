"""Each fault as the real curl sees it, through the proxy."""

from __future__ import annotations

import asyncio
import json
import re
import time

import pytest

from mock_gerrit.faults import Fault
from tests.mock_gerrit.serving.clients import arrived, ask, close, curl, open_tunnel

PLUGINS = "https://review-a.example.com/a/plugins/"
ALICE = ("--user", "alice:alice-secret", "--location")


@pytest.fixture
def get(gateway):
    async def get(*more, url=PLUGINS):
        return await curl(gateway.environment(), *ALICE, *more, url)

    return get


def length(head: str) -> int:
    return int(re.search(r"(?i)content-length: (\d+)", head)[1])


async def test_an_error_of_gerrits_own_is_plain_text(world, get):
    world.faults.add(Fault(kind="status", status=503))
    reply = await get()
    assert (reply.status, reply.body) == (503, "Server temporarily unavailable\n")
    assert "text/plain;charset=utf-8" in reply.head


async def test_the_proxy_in_front_answers_502_with_html(world, get):
    world.faults.add(Fault(kind="html"))
    reply = await get()
    assert reply.status == 502
    assert reply.body.startswith("<!DOCTYPE html>")


async def test_an_ended_session_leads_to_a_login_page_of_html(world, get):
    world.faults.add(Fault(kind="redirect"))
    reply = await get()
    assert "location: https://review-a.example.com/login/%2Fplugins%2F" in reply.head
    assert reply.status == 200
    assert "Sign In" in reply.body
    assert [entry.status for entry in world.journal] == [302, 200]


async def test_the_login_page_of_a_host_with_a_context_path_is_below_it(world, get):
    world.faults.add(Fault(kind="redirect", path="^/plugins/"))
    reply = await get(url="https://review-b.example.com/r/a/plugins/")
    assert "location: https://review-b.example.com/r/login/%2Fplugins%2F" in reply.head
    assert reply.status == 200


async def test_an_empty_answer_is_a_success_without_a_byte(world, get):
    world.faults.add(Fault(kind="empty"))
    reply = await get()
    assert (reply.code, reply.status, reply.body, length(reply.head)) == (0, 200, "", 0)


async def test_truncated_json_has_a_length_that_fits(world, get):
    world.faults.add(Fault(kind="truncated"))
    reply = await get(url="https://review-a.example.com/a/changes/")
    assert (reply.code, length(reply.head)) == (0, len(reply.body))
    with pytest.raises(json.JSONDecodeError):
        _ = reply.json


async def test_json_of_the_wrong_type_keeps_prefix_and_status(world, get):
    world.faults.add(Fault(kind="wrong-type"))
    plugins, changes = await get(), await get(url="https://review-a.example.com/a/changes/")
    assert isinstance(plugins.json, list)
    assert isinstance(changes.json, dict)
    assert changes.body.startswith(")]}'\n")


async def test_the_prefix_can_be_missing(world, get):
    world.faults.add(Fault(kind="unprefixed"))
    assert json.loads((await get()).body) == {}


async def test_silence_lasts_until_the_client_gives_up(world, get):
    world.faults.add(Fault(kind="timeout"))
    reply = await get("--max-time", "0.2")
    assert (reply.code, reply.status) == (28, 0)
    (entry,) = world.journal
    assert (entry.status, entry.fault, entry.user) == (0, "timeout", "alice")


async def test_silence_ends_with_the_gateway(world, gateway, get):
    world.faults.add(Fault(kind="timeout"))
    waiting = asyncio.create_task(get())
    await arrived(world, 1)
    await gateway.__aexit__(None, None, None)
    assert (await waiting).code in {52, 56}


async def test_a_reset_is_a_reset_and_no_orderly_end(world, get):
    world.faults.add(Fault(kind="reset"))
    reply = await get()
    assert reply.code in {35, 56}
    assert "reset by peer" in reply.complaint


async def test_a_reset_on_a_kept_connection_hits_a_socket_too(world, gateway):
    world.faults.add(Fault(kind="reset", nth=2))
    reader, writer = await open_tunnel(gateway, "review-a.example.com")
    request = "GET /changes/ HTTP/1.1\nHost: review-a.example.com"
    await ask(reader, writer, request)
    with pytest.raises(ConnectionResetError):
        await ask(reader, writer, request)
    await close(writer)


async def test_a_slow_answer_is_right_and_late(world, get):
    world.faults.add(Fault(kind="slow", delay=0.1))
    begun = time.perf_counter()
    reply = await get()
    assert (reply.status, reply.json) == (200, {})
    assert time.perf_counter() - begun > 0.1
    (entry,) = world.journal
    assert entry.finished - entry.started >= 0.1


async def test_a_fault_that_is_played_before_gerrit_changes_nothing(world, get):
    world.faults.add(Fault(kind="html", method="POST"))
    change = world.host_named("review-a").changes[1]
    url = "https://review-a.example.com/a/changes/1/abandon"
    assert (await get("--request", "POST", url=url)).status == 502
    assert change.status == "NEW"
    assert [(entry.method, entry.fault) for entry in world.journal] == [("POST", "html")]


async def test_faults_stay_on_their_host(world, get):
    world.faults.add(Fault(kind="status", host="review-b"))
    assert (await get()).status == 200
    assert (await get(url="https://review-b.example.com/r/a/plugins/")).status == 500


async def test_a_fault_on_head_has_a_head_and_no_body(world, get):
    world.faults.add(Fault(kind="html"))
    reply = await get("--head")
    assert (reply.code, reply.status, reply.body) == (0, 502, "")
    assert world.journal[0].response_body == b""


async def test_a_request_that_is_broken_off_is_none(world, gateway):
    _, writer = await open_tunnel(gateway, "review-a.example.com")
    writer.write(b"POST /a/changes/1/abandon HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n{}")
    await writer.drain()
    writer.close()
    await writer.wait_closed()
    another = await open_tunnel(gateway, "review-a.example.com")
    await ask(*another, "GET /config/server/version HTTP/1.1\nHost: x")
    await close(another[1])
    assert [entry.method for entry in world.journal] == ["GET"]
