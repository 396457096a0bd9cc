"""The application alone, under a server that knows nothing of us: httpx's own ASGI transport."""

from __future__ import annotations

import asyncio
import gzip

import httpx
import pytest

from mock_gerrit.faults import Fault
from mock_gerrit.serving.asgi import app


@pytest.fixture
async def client(world):
    transport = httpx.ASGITransport(app=app(world))
    async with httpx.AsyncClient(transport=transport, base_url="https://review-a.example.com") as client:
        yield client


async def test_path_and_query_arrive_exactly_as_sent(client, world):
    await client.get("/changes/demo%2Fx/detail?o=A&o=%2F")
    assert [entry.target for entry in world.journal] == ["/changes/demo%2Fx/detail?o=A&o=%2F"]
    assert world.journal[0].query == (("o", "A"), ("o", "/"))


async def test_the_host_header_decides(client, world):
    await client.get("https://review-b.example.com/r/changes/")
    assert [entry.host for entry in world.journal] == ["review-b"]


async def test_a_foreign_host_is_misdirected_and_told_the_right_ones(client):
    reply = await client.get("https://elsewhere.example.org/")
    assert reply.status_code == 421
    assert "review-a.example.com, review-b.example.com" in reply.text


async def test_one_host_can_answer_to_every_name(world):
    transport = httpx.ASGITransport(app=app(world, host="review-a"))
    async with httpx.AsyncClient(transport=transport, base_url="https://whatever.example.org") as client:
        assert (await client.get("/plugins/task/")).status_code == 404
    assert [(entry.host, entry.authority) for entry in world.journal] == [("review-a", "whatever.example.org")]


async def test_a_gzipped_body_is_unpacked(client, world):
    await client.post("/x", content=gzip.compress(b"{}"), headers={"Content-Encoding": "gzip"})
    await client.post("/x", content=b"no gzip", headers={"Content-Encoding": "gzip"})
    assert [entry.body for entry in world.journal] == [b"{}", b"no gzip"]


async def test_the_world_may_be_given_by_a_callable(world):
    worlds = [world, world.copy()]
    transport = httpx.ASGITransport(app=app(lambda: worlds[0]))
    async with httpx.AsyncClient(transport=transport, base_url="https://review-a.example.com") as client:
        await client.get("/changes/")
        worlds.reverse()
        await client.get("/plugins/")
    assert [[entry.path for entry in one.journal] for one in worlds] == [["/plugins/"], ["/changes/"]]


async def test_a_reset_without_a_connection_of_ours_is_an_error_of_the_transport(client, world):
    world.faults.add(Fault(kind="reset"))
    with pytest.raises(ConnectionResetError):
        await client.get("/changes/")


async def test_a_delay_is_over_when_it_is_over(client, world):
    world.faults.add(Fault(kind="slow", delay=0.01))
    assert (await client.get("/changes/")).status_code == 200


async def test_a_defect_of_the_simulator_is_no_answer_of_gerrits(client, world, monkeypatch, caplog):
    def broken(host, request):
        raise KeyError("lost")

    monkeypatch.setattr("mock_gerrit.serving.service.answer", broken)
    reply = await client.get("/changes/")
    assert reply.status_code == 500
    assert world.journal[0].unsimulated == "the simulated Gerrit broke: KeyError: 'lost'"
    assert "the simulated Gerrit broke" in caplog.text


async def test_the_application_takes_part_in_a_servers_life(world):
    told = asyncio.Queue()
    for word in ("startup", "shutdown"):
        told.put_nowait({"type": f"lifespan.{word}"})
    sent = []

    async def send(message):
        sent.append(message["type"])

    await app(world)({"type": "lifespan"}, told.get, send)
    assert sent == ["lifespan.startup.complete", "lifespan.shutdown.complete"]


async def test_a_body_that_is_too_large_is_refused_packed_or_not(client, world, monkeypatch):
    monkeypatch.setattr("mock_gerrit.serving.asgi.BODY_LIMIT", 1000)
    large = b"x" * 2000
    replies = [
        await client.post("/changes/", content=large),
        await client.post("/changes/", content=gzip.compress(large), headers={"Content-Encoding": "gzip"}),
    ]
    assert [reply.status_code for reply in replies] == [413, 413]
    assert len(world.journal) == 0
