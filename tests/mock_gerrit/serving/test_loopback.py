"""One host on a port of its own, without proxy and real name."""

from __future__ import annotations

import asyncio
import contextlib
import ssl

import httpx
import pytest

from mock_gerrit.serving.background import in_thread
from mock_gerrit.serving.gateway import Gateway
from mock_gerrit.serving.loopback import Loopback
from tests.mock_gerrit.serving.clients import curl


async def test_curl_needs_nothing_but_the_authority(world, authority):
    async with Loopback(world, "review-a", authority=authority) as served:
        reply = await curl(served.environment(), f"{served.url}/changes/?n=1")
    assert reply.status == 200, reply.complaint
    assert [(entry.host, entry.target) for entry in world.journal] == [("review-a", "/changes/?n=1")]


async def test_the_url_has_the_context_path_of_the_host(world, authority):
    async with Loopback(world, world.hosts[1], authority=authority) as served:
        assert served.url == f"https://127.0.0.1:{served.port}/r"
        assert (await curl(served.environment(), f"{served.url}/changes/")).status == 200


async def test_a_client_without_the_authority_is_turned_away(world, authority):
    async with Loopback(world, "review-a", authority=authority) as served:
        assert (await curl({}, f"{served.url}/changes/")).code == 60
    assert len(world.journal) == 0


async def test_the_world_can_be_exchanged_while_serving(world, authority):
    async with Loopback(world, "review-a", authority=authority) as served:
        served.world = world.copy()
        await curl(served.environment(), f"{served.url}/changes/")
    assert (len(world.journal), len(served.world.journal)) == (0, 1)


async def test_http_clients_of_python_are_served_too(world, authority):
    async with (
        Loopback(world, "review-a", authority=authority) as served,
        httpx.AsyncClient(verify=authority.client_context, trust_env=False) as client,
    ):
        replies = [await client.get(f"{served.url}/changes/") for _ in range(3)]
    assert {reply.status_code for reply in replies} == {200}


def test_a_server_in_a_thread_serves_callers_without_a_loop(world, authority):
    with in_thread(Loopback(world, "review-a", authority=authority)) as served:
        with httpx.Client(verify=authority.client_context, trust_env=False) as client:
            assert client.get(f"{served.url}/changes/").status_code == 200
        port = served.port
    with httpx.Client(verify=authority.client_context, trust_env=False) as client, pytest.raises(httpx.ConnectError):
        client.get(f"https://127.0.0.1:{port}/")


async def test_a_server_in_a_thread_can_be_awaited_upon(world, authority):
    with in_thread(Gateway(world, authority=authority)) as gateway:
        reply = await curl(gateway.environment(), "https://review-a.example.com/changes/")
    assert reply.status == 200


def test_certificates_are_made_once_a_name(authority):
    assert authority.server_context("x.example.com") is authority.server_context("x.example.com")
    assert authority.pem.read_text().startswith("-----BEGIN CERTIFICATE-----")
    assert authority.client_context.verify_mode is ssl.CERT_REQUIRED


async def test_stopping_drops_a_client_in_the_middle_of_its_handshake(world, authority):
    async with Loopback(world, "review-a", authority=authority) as served:
        reader, writer = await asyncio.open_connection("127.0.0.1", served.port)
        writer.write(b"\x16\x03\x01")
        await writer.drain()
        for _ in range(10):  # the server is in this loop: it needs a few turns to begin
            await asyncio.sleep(0)
        assert len(asyncio.all_tasks()) > 1
    assert asyncio.all_tasks() == {asyncio.current_task()}
    with contextlib.suppress(ConnectionResetError):
        assert await reader.read() == b""
    writer.transport.abort()
