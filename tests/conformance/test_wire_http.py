"""Messages over streamable HTTP: what is sent, and what of an answer arrives."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from conformance.wire.client import Client, NoAnswer, ServerGone
from conformance.wire.http import HttpStream

RESULT = {"jsonrpc": "2.0", "id": 1, "result": {"protocolVersion": "2025-11-25"}}
OK = "HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\n{more}Content-Length: {length}\r\n\r\n"


def answer(body: str, *, kind: str = "application/json", more: str = "") -> bytes:
    return OK.format(kind=kind, more=more, length=len(body)).encode() + body.encode()


ACCEPTED = b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n"


@asynccontextmanager
async def serving(*answers: bytes) -> AsyncIterator[tuple[Client, list[bytes]]]:
    """Answer one connection after another with these bytes; gives a client, and what was sent to the server."""
    asked: list[bytes] = []
    left = list(answers)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = next(int(line[15:]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:"))
        asked.append(head + await reader.readexactly(length))
        writer.write(left.pop(0) if left else ACCEPTED)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    host, port = server.sockets[0].getsockname()

    async def connect() -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection(host, port)

    async with server, Client(HttpStream(connect, authority=f"{host}:{port}", path="/mcp")) as client:
        yield client, asked


def header(request: bytes, name: str) -> str | None:
    lines = request.split(b"\r\n\r\n")[0].decode().split("\r\n")
    return next((line.partition(": ")[2] for line in lines if line.lower().startswith(f"{name.lower()}:")), None)


async def test_an_answer_in_json_and_one_in_events_both_arrive() -> None:
    event = f"event: message\nid: 7\ndata: {json.dumps(RESULT | {'id': 2})}\n\n"
    async with serving(answer(json.dumps(RESULT)), answer(event, kind="text/event-stream; charset=utf-8")) as (
        client,
        _,
    ):
        assert (await client.request("one")).result == RESULT["result"]
        assert (await client.request("two")).result == RESULT["result"]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
async def test_an_event_ends_with_any_line_end_and_joins_its_lines_of_data(end: str) -> None:
    head, tail = json.dumps(RESULT)[:-1], "}"
    body = f": a remark{end}data: {head}{end}data:{tail}{end}{end}"
    async with serving(answer(body, kind="text/event-stream")) as (client, _):
        assert (await client.request("one")).result == RESULT["result"]


async def test_the_session_and_the_version_are_named_after_initialize_and_the_session_is_deleted() -> None:
    opened = answer(json.dumps(RESULT), more="Mcp-Session-Id: s-1\r\n")
    async with serving(opened, ACCEPTED) as (client, asked):
        await client.initialize()
        await client.close()
    assert header(asked[0], "mcp-session-id") is None
    assert [header(one, "mcp-session-id") for one in asked[1:]] == ["s-1", "s-1"]
    assert [header(one, "mcp-protocol-version") for one in asked] == [None, "2025-11-25", "2025-11-25"]
    assert [one.split(b" ")[0] for one in asked] == [b"POST", b"POST", b"DELETE"]


async def test_a_request_without_a_session_says_what_it_is_in_its_headers() -> None:
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}
    async with serving(answer(json.dumps(RESULT))) as (client, asked):
        await client.request("tools/call", {"name": "look", "_meta": meta})
    assert [header(asked[0], name) for name in ("mcp-protocol-version", "mcp-method", "mcp-name")] == [
        "2026-07-28", "tools/call", "look",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("answered", "said"),
    [
        (b"HTTP/1.1 404 Not Found\r\nContent-Length: 7\r\n\r\nno such", "was answered 404 without a message: no such"),
        (b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 4\r\n\r\n<hi>", "was answered 200 without"),
        (answer('{"jsonrpc": "2.0", "id": "server-error", "error": {}}'), "with a message that is no answer to it: "),
        (b"SSH-2.0-OpenSSH_9.2\r\n", "is no HTTP"),
        (b"", "is no HTTP"),
    ],
    ids=["refused", "no MCP", "of another request", "no HTTP", "hangs up"],
)
async def test_an_answer_without_a_message_ends_the_session_and_says_why(answered: bytes, said: str) -> None:
    async with serving(answered) as (client, _):
        with pytest.raises(ServerGone, match=said):
            await client.request("one")


async def test_an_error_with_a_message_is_an_answer_like_any_other() -> None:
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "error": {"code": -32602, "message": "no"}})
    refused = f"HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n{body}"
    async with serving(refused.encode()) as (client, _):
        reply = await client.request("one")
    assert reply.error is not None
    assert reply.error.code == -32602


async def test_an_answer_that_does_not_come_is_waited_for_as_long_as_was_asked() -> None:
    async with serving(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n: wait\n\n") as (client, _):
        with pytest.raises((NoAnswer, ServerGone)):
            await client.request("one", timeout=0.2)
