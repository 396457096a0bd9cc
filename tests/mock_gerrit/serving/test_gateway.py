"""The proxy: real names, nothing but the world's hosts, and nothing left behind."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import socket
import time
from pathlib import Path

import pytest

from mock_gerrit.faults import Fault
from mock_gerrit.serving.authority import CertificateAuthority
from mock_gerrit.serving.gateway import Gateway
from mock_gerrit.world import World
from tests.mock_gerrit.serving.clients import arrived, ask, close, curl, open_proxy, open_tunnel

A = "https://review-a.example.com"
ALICE = ("--user", "alice:alice-secret")


async def test_curl_reaches_a_host_by_its_real_name_and_trusts_it(gateway):
    reply = await curl(gateway.environment(), *ALICE, f"{A}/a/accounts/self")
    assert reply.status == 200, reply.complaint
    assert reply.json["username" if "username" in reply.json else "name"].lower() == "alice"


async def test_each_name_leads_to_its_own_host(gateway, world):
    await curl(gateway.environment(), f"{A}/changes/")
    await curl(gateway.environment(), "https://review-b.example.com/r/changes/")
    assert [entry.host for entry in world.journal] == ["review-a", "review-b"]


async def test_an_internal_http_url_reaches_the_host_in_absolute_form(gateway, world):
    reply = await curl(gateway.environment(), "http://gerrit.inside.example.com/r/changes/?q=status:open")
    assert reply.status == 200
    (entry,) = world.journal
    assert (entry.host, entry.scheme, entry.target) == ("review-b", "http", "/r/changes/?q=status:open")


@pytest.mark.parametrize(
    "target", ["/changes/demo%2Fx~1/detail?o=A&o=%2F", "/projects/a%2fb", "/changes/?", "/a+b/%7E?q=a+b", "//x/./y"]
)
async def test_path_and_query_arrive_exactly_as_sent(gateway, world, target):
    reader, writer = await open_tunnel(gateway, "review-a.example.com")
    await ask(reader, writer, f"GET {target} HTTP/1.1\nHost: review-a.example.com")
    await close(writer)
    assert [entry.target for entry in world.journal] == [target]


@pytest.mark.parametrize("target", ["/plugins/?all", "", "?q=x", "/%2F//a"])
async def test_an_absolute_url_loses_scheme_and_name_and_nothing_else(gateway, world, target):
    reader, writer = await open_proxy(gateway)
    await ask(reader, writer, f"GET http://review-a.example.com{target} HTTP/1.1\nHost: review-a.example.com")
    await close(writer)
    assert [entry.target for entry in world.journal] == [target if target.startswith("/") else f"/{target}"]


async def test_a_tunnel_to_a_foreign_host_is_refused_and_recorded(gateway, world):
    reply = await curl(gateway.environment(), "https://elsewhere.example.org/x")
    assert reply.code == 56
    assert "403" in reply.complaint
    assert [(one.kind, one.target) for one in gateway.refused] == [("connect", "elsewhere.example.org:443")]
    assert len(world.journal) == 0


@pytest.mark.parametrize("port", ["80", "8443"])
async def test_a_tunnel_to_another_port_of_a_host_is_refused(gateway, port):
    await curl(gateway.environment(), f"{A}:{port}/changes/")
    assert [(one.kind, one.target) for one in gateway.refused] == [("connect", f"review-a.example.com:{port}")]


async def test_a_host_on_a_port_of_its_own_is_reached_there_and_nowhere_else(gateway):
    world = World()
    world.host("https://gerrit.example.com:8443")
    gateway.use(world)
    assert (await curl(gateway.environment(), "https://gerrit.example.com:8443/changes/")).status == 200
    assert (await curl(gateway.environment(), "https://gerrit.example.com/changes/")).code == 56


async def test_pipelined_requests_are_answered_in_order_and_a_reset_among_them_is_one(gateway, world):
    world.faults.add(Fault(kind="reset", path="reset"))
    reader, writer = await open_tunnel(gateway, "review-a.example.com")
    heads = [f"GET /config/server/version?{n} HTTP/1.1\r\nHost: x\r\n\r\n" for n in range(2)]
    writer.write("".join([*heads, heads[0].replace("version", "reset"), heads[1]]).encode())
    with pytest.raises(ConnectionResetError):
        await reader.read()
    await close(writer)
    assert [entry.target[-9:] for entry in world.journal] == ["version?0", "version?1", "r/reset?0"]


async def test_a_foreign_http_url_is_refused_and_recorded_with_its_path(gateway):
    reply = await curl(gateway.environment(), "http://elsewhere.example.org/x?y=1")
    assert reply.status == 403
    assert "review-a.example.com" in reply.body, "the refusal names the hosts there are"
    assert [(one.kind, one.target) for one in gateway.refused] == [("http", "http://elsewhere.example.org/x?y=1")]


async def test_the_gateway_is_no_web_server(gateway):
    reply = await curl({}, f"{gateway.proxy_url}/changes/")
    assert reply.status == 400
    assert [(one.kind, one.target) for one in gateway.refused] == [("direct", "GET /changes/")]


async def test_a_client_that_does_not_trust_the_authority_is_recorded(gateway, tmp_path):
    stranger = CertificateAuthority(tmp_path)
    reply = await curl({**gateway.environment(), "CURL_CA_BUNDLE": str(stranger.pem)}, f"{A}/changes/")
    assert (reply.code, reply.status) == (60, 0)
    (refused,) = gateway.refused
    assert refused.kind == "tls"
    assert refused.target.startswith("review-a.example.com: ")


async def test_a_broken_handshake_is_recorded_with_the_host(gateway):
    reader, writer = await open_proxy(gateway)
    writer.write(b"CONNECT review-a.example.com:443 HTTP/1.1\r\n\r\n")
    await reader.readuntil(b"\r\n\r\n")
    writer.write(b"GET / HTTP/1.1\r\n\r\n")
    await reader.read()
    await close(writer)
    assert [one.kind for one in gateway.refused] == ["tls"]
    assert gateway.refused[0].target.startswith("review-a.example.com: ")


@pytest.mark.parametrize(
    "rubbish", [b"SSH-2.0-OpenSSH\r\n\r\n", b"CONNECT somewhere HTTP/1.1\r\n\r\n", b"CONNECT \r\n\r\n"]
)
async def test_what_is_no_http_is_refused_and_recorded(gateway, rubbish):
    reader, writer = await open_proxy(gateway)
    writer.write(rubbish)
    assert (await reader.read()).startswith(b"HTTP/1.1 400 ")
    await close(writer)
    assert [(one.kind, one.target) for one in gateway.refused] == [
        ("malformed", rubbish.decode().removesuffix("\r\n\r\n"))
    ]


async def test_a_head_that_never_ends_is_refused(gateway):
    reader, writer = await open_proxy(gateway)
    writer.write(b"CONNECT " + b"x" * 70_000)
    assert (await reader.read()).startswith(b"HTTP/1.1 400 ")
    await close(writer)


async def test_a_connect_in_pieces_is_understood(gateway):
    reader, writer = await open_proxy(gateway)
    for piece in (b"CON", b"NECT review-a.example.com", b":443 HTTP/1.1\r\nHost: x\r", b"\n\r\n"):
        writer.write(piece)
        await writer.drain()
        await asyncio.sleep(0)
    assert b" 200 " in await reader.readuntil(b"\r\n\r\n")
    await close(writer)


async def test_the_world_can_be_exchanged_while_a_connection_is_kept(gateway, world):
    reader, writer = await open_tunnel(gateway, "review-a.example.com")
    request = "GET /changes/ HTTP/1.1\nHost: review-a.example.com"
    await ask(reader, writer, request)
    twin = world.copy()
    gateway.use(twin)
    await ask(reader, writer, request)
    assert (len(world.journal), len(twin.journal)) == (1, 1)
    gateway.use(World())
    head, _ = await ask(reader, writer, request)
    await close(writer)
    assert " 403 " in head
    assert [one.kind for one in gateway.refused] == ["http"]


async def test_a_listening_socket_made_elsewhere_is_taken_over(world, authority):
    listener = socket.socket()  # without IPPROTO_TCP, for which asyncio alone would set no TCP_NODELAY
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    async with Gateway(world, authority=authority, listener=listener) as gateway:
        assert gateway.proxy_url.endswith(f":{listener.getsockname()[1]}")
        reply = await curl(gateway.environment(), f"{A}/changes/")
    assert reply.status == 200
    assert listener.fileno() == -1, "the gateway closes what it took over"


async def test_kept_connections_answer_without_delayed_acknowledgements(world, authority):
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    async with Gateway(world, authority=authority, listener=listener) as gateway:
        reader, writer = await open_tunnel(gateway, "review-a.example.com")
        durations = []
        for _ in range(30):
            begun = time.perf_counter()
            await ask(reader, writer, "GET /config/server/version HTTP/1.1\nHost: review-a.example.com")
            durations.append(time.perf_counter() - begun)
        await close(writer)
    assert min(durations) < 0.030, "a delayed acknowledgement costs 40 ms, each time"


async def test_starting_and_stopping_wait_for_no_ticks(world, authority, caplog):
    durations = []
    for _ in range(5):
        begun = time.perf_counter()
        gateway = Gateway(world, authority=authority)
        await gateway.__aenter__()
        started = time.perf_counter()
        _, writer = await open_tunnel(gateway, "review-a.example.com")
        stopping = time.perf_counter()
        await gateway.__aexit__(None, None, None)
        durations.append(max(started - begun, time.perf_counter() - stopping))
        await close(writer)
    gc.collect()
    assert min(durations) < 0.090, "a shutdown that waits for ticks costs 100 ms, each time"
    assert not caplog.records, "asyncio complains in the log of what went wrong in a task"


def sockets() -> int:
    """How many sockets this process has open."""
    found = 0
    for name in os.listdir("/proc/self/fd"):  # noqa: PTH208 - the listing's own descriptor may be gone again
        try:
            found += str(Path(f"/proc/self/fd/{name}").readlink()).startswith("socket:")
        except OSError:
            continue
    return found


async def test_stopping_leaves_no_task_and_no_socket_whatever_clients_are_doing(world, authority):
    before = sockets()
    world.faults.add(Fault(kind="timeout", path="silent"))
    world.faults.add(Fault(kind="slow", delay=60, path="slow"))
    clients = []
    async with Gateway(world, authority=authority) as gateway:
        for path in ("/changes/", "/silent", "/slow"):
            reader, writer = await open_tunnel(gateway, "review-a.example.com")
            writer.write(f"GET {path} HTTP/1.1\r\nHost: review-a.example.com\r\n\r\n".encode())
            clients.append((reader, writer))
        await clients[0][0].readuntil(b"\r\n\r\n")
        clients.append(await open_proxy(gateway))  # says nothing
        halfway = await open_proxy(gateway)
        halfway[1].write(b"CONNECT review-a.example.com:443 HTTP/1.1\r\n\r\n")
        await halfway[0].readuntil(b"\r\n\r\n")  # and then no handshake
        clients.append(halfway)
        await arrived(world, 3)
        assert len(asyncio.all_tasks()) > 1
    assert asyncio.all_tasks() == {asyncio.current_task()}
    assert not gateway.refused, "our own end is nobody's refusal"
    for _, writer in clients:
        await close(writer)
    gc.collect()
    assert sockets() == before


async def test_a_taken_port_is_an_error_on_entering(world, authority, gateway):
    port = int(gateway.proxy_url.rpartition(":")[2])
    with pytest.raises(OSError, match="address already in use"):
        await Gateway(world, authority=authority, port=port).__aenter__()


async def test_a_crowd_of_connections_is_kept_small_and_recorded(gateway, monkeypatch):
    monkeypatch.setattr("mock_gerrit.serving.protocol._MOST_CONNECTIONS", 3)
    kept = [await open_proxy(gateway) for _ in range(3)]
    reader, writer = await open_proxy(gateway)
    with contextlib.suppress(ConnectionResetError):
        assert await reader.read() == b""
    assert [one.kind for one in gateway.refused] == ["crowd"]
    for _, one in [*kept, (reader, writer)]:
        await close(one)


async def test_a_request_whose_head_never_ends_is_ended(gateway):
    reader, writer = await open_tunnel(gateway, "review-a.example.com")
    writer.write(b"GET / HTTP/1.1\r\nHost: x\r\n" + b"X-More: and more\r\n" * 20_000)
    head = await reader.readuntil(b"\r\n\r\n")
    await close(writer)
    assert head.startswith(b"HTTP/1.1 400 ")
    assert [one.kind for one in gateway.refused] == ["malformed"]
