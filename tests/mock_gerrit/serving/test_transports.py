"""httpx inside the process: one client with a transport, or all of them under a respx router."""

from __future__ import annotations

import asyncio
import time

import httpx
import pytest
import respx

from mock_gerrit.faults import Fault
from mock_gerrit.serving.transports import WorldTransport, respx_router

CHANGES = "https://review-a.example.com/changes/"


async def send_async(transport, *arguments, **options):
    async with httpx.AsyncClient(transport=transport, timeout=0.05) as client:
        return await client.request(*arguments, **options)


async def send_sync(transport, *arguments, **options):
    with httpx.Client(transport=transport, timeout=0.05) as client:
        return await asyncio.to_thread(client.request, *arguments, **options)


@pytest.fixture(params=[send_async, send_sync], ids=["async", "sync"])
def send(request, world):
    transport = WorldTransport(world)

    async def send(method, url, **options):
        return await request.param(transport, method, url, **options)

    return send


async def test_a_client_talks_to_the_hosts_of_the_world(send, world):
    reply = await send("GET", "https://review-b.example.com/r/a/changes/demo%2Fx?o=A", auth=("alice", "alice-secret"))
    (entry,) = world.journal
    assert (entry.host, entry.target, entry.user) == ("review-b", "/r/a/changes/demo%2Fx?o=A", "alice")
    assert (reply.status_code, reply.reason_phrase) == (404, "Not Found")
    assert "alice-secret" not in repr(entry)


async def test_a_body_arrives(send, world):
    await send("POST", CHANGES, json={"a": 1})
    assert world.journal[0].body.replace(b" ", b"") == b'{"a":1}'


async def test_a_foreign_host_cannot_be_reached(send):
    with pytest.raises(httpx.ConnectError, match=r"elsewhere\.example\.org is not a host of this world"):
        await send("GET", "https://elsewhere.example.org/")


async def test_a_reset_is_a_read_error(send, world):
    world.faults.add(Fault(kind="reset"))
    with pytest.raises(httpx.ReadError, match="reset by peer"):
        await send("GET", CHANGES)


async def test_silence_ends_with_the_clients_own_patience(send, world):
    world.faults.add(Fault(kind="timeout"))
    begun = time.perf_counter()
    with pytest.raises(httpx.ReadTimeout):
        await send("GET", CHANGES)
    assert time.perf_counter() - begun >= 0.05


async def test_an_answer_that_is_too_slow_is_a_timeout_and_another_is_not(send, world):
    world.faults.add(Fault(kind="slow", delay=60, nth=1))
    world.faults.add(Fault(kind="slow", delay=0.01))
    with pytest.raises(httpx.ReadTimeout):
        await send("GET", CHANGES)
    assert (await send("GET", CHANGES)).status_code == 200


async def test_a_client_without_a_timeout_is_not_left_hanging(world):
    world.faults.add(Fault(kind="timeout"))
    async with httpx.AsyncClient(transport=WorldTransport(world), timeout=None) as client:
        with pytest.raises(httpx.ReadTimeout):
            await client.get(CHANGES)


def test_a_respx_router_answers_every_synchronous_client_of_the_process(world):
    with respx_router(world), httpx.Client() as client:
        assert client.get(CHANGES).status_code == 200
    assert [entry.host for entry in world.journal] == ["review-a"]


async def test_a_respx_router_answers_every_asynchronous_client_of_the_process(world):
    with respx_router(world):
        async with httpx.AsyncClient() as client:
            assert (await client.get("http://gerrit.inside.example.com/r/changes/")).status_code == 200
    assert [entry.host for entry in world.journal] == ["review-b"]


def test_a_respx_router_leaves_foreign_hosts_to_respx(world):
    with respx_router(world), httpx.Client() as client, pytest.raises(respx.models.AllMockedAssertionError):
        client.get("https://elsewhere.example.org/")


def test_under_a_respx_router_no_time_passes(world):
    world.faults.add(Fault(kind="timeout", nth=1))
    world.faults.add(Fault(kind="slow", delay=4))
    with respx_router(world), httpx.Client() as client:
        with pytest.raises(httpx.ReadTimeout):
            client.get(CHANGES)
        assert client.get(CHANGES).status_code == 200
    assert world.journal[1].finished - world.journal[1].started >= 4
