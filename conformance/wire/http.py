"""Streamable HTTP as a stream of messages: each one sent is a POST, and what comes back arrives in the order it comes.

h11 does the parsing and asyncio the carrying, so that a server is seen as it is: an HTTP client of more comfort mends,
retries and follows.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from typing import Any

import h11

Connect = Callable[[], Awaitable[tuple[asyncio.StreamReader, asyncio.StreamWriter]]]
"""Opens a connection to the server; raises ConnectionError where there is none to be had."""

JSON, EVENTS = "application/json", "text/event-stream"
SESSION, VERSION = "mcp-session-id", "mcp-protocol-version"
VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
LONGEST_BODY = 64 << 20
CHUNK = 1 << 16
EXCERPT = 300


class HttpStream:
    """Carries messages to one address and back; a connection for each. It is a `ByteStream`.

    Args:
        connect: opens a connection.
        authority: host and port, for the header Host.
        path: where the endpoint is, for example `/mcp`.
    """

    def __init__(self, connect: Connect, *, authority: str, path: str) -> None:
        """Prepare; nothing is sent yet."""
        self._connect = connect
        self._authority = authority
        self._path = path
        self._session = ""
        self._version = ""
        self._came: asyncio.Queue[bytes | ConnectionError] = asyncio.Queue()
        self._posts: set[asyncio.Task[None]] = set()
        self._closed = False

    async def receive(self) -> bytes:
        """Give the next message exactly as it came; empty bytes when none will come.

        Raises:
            ConnectionError: a connection broke, or an answer carried no message although one was due.
        """
        came = await self._came.get()
        if isinstance(came, ConnectionError):
            raise came
        return came

    async def send(self, message: bytes) -> None:
        """Post one message; a request is answered later, a notification is waited for."""
        if self._closed:
            raise ConnectionError("the session is closed on our side")
        told = _parsed(message)
        if "id" in told and "method" in told:
            post = asyncio.get_running_loop().create_task(self._post_and_tell(message, told))
            self._posts.add(post)
            post.add_done_callback(self._posts.discard)
        else:
            await self._post(message, told)

    async def write(self, data: bytes) -> None:
        """Post bytes as they are: over HTTP there is no smaller part than a message."""
        await self.send(data)

    async def close(self) -> None:
        """End the session with DELETE where the server has given it an id, and let go of what is on its way."""
        if self._closed:
            return
        self._closed = True
        for post in tuple(self._posts):
            post.cancel()
        if self._session:
            with suppress(ConnectionError, h11.ProtocolError, TimeoutError):
                async with asyncio.timeout(1):
                    await self._exchange("DELETE", b"", {}, lambda _: None)
        self._came.put_nowait(b"")

    async def _post_and_tell(self, message: bytes, told: dict[str, Any]) -> None:
        try:
            await self._post(message, told)
        except ConnectionError as problem:
            self._came.put_nowait(problem)

    async def _post(self, message: bytes, told: dict[str, Any]) -> None:
        """Post a message, and put what comes back among what has come.

        Raises:
            ConnectionError: no connection, broken HTTP, or a refusal that holds no message.
        """
        due = "id" in told and "method" in told
        seen = b""

        def take(data: bytes) -> None:
            nonlocal due, seen
            seen, due = data, due and not _answers(data, told["id"])
            self._note_version(told, data)
            self._came.put_nowait(data)

        try:
            status, rest = await self._exchange("POST", message, told, take)
        except h11.ProtocolError as problem:
            raise ConnectionError(f"the answer to POST {self._path} is no HTTP: {problem}") from None
        if due:
            shown = (seen or rest)[:EXCERPT].decode(errors="replace").strip() or "(no body)"
            what = "with a message that is no answer to it" if seen else "without a message"
            raise ConnectionError(f"POST {self._path} was answered {status} {what}: {shown}")

    async def _exchange(
        self, method: str, body: bytes, told: dict[str, Any], take: Callable[[bytes], None]
    ) -> tuple[int, bytes]:
        """Send one HTTP request; hand each message of the answer to `take`, and give the status and any other body."""
        reader, writer = await self._connect()
        try:
            connection = h11.Connection(h11.CLIENT)
            head = h11.Request(method=method, target=self._path, headers=self._headers(body, told))
            parts = [connection.send(head), connection.send(h11.Data(data=body)), connection.send(h11.EndOfMessage())]
            writer.write(b"".join(part for part in parts if part))  # at once: apart they would wait for each other
            await writer.drain()
            return await self._answer(connection, reader, take)
        finally:
            writer.close()

    def _headers(self, body: bytes, told: dict[str, Any]) -> list[tuple[str, str]]:
        made = [
            ("Host", self._authority), ("Accept", f"{JSON}, {EVENTS}"), ("Content-Type", JSON),
            ("Content-Length", str(len(body))), ("Connection", "close"),
        ]  # fmt: skip
        if self._session:
            made.append((SESSION, self._session))
        params = told.get("params")
        meta = params.get("_meta") if isinstance(params, dict) else None
        stateless = meta.get(VERSION_KEY) if isinstance(meta, dict) else None
        if stateless:
            made += [(VERSION, str(stateless)), ("mcp-method", str(told.get("method", "")))]
            if isinstance(params, dict) and isinstance(params.get("name"), str):
                made.append(("mcp-name", params["name"]))
        elif self._version:
            made.append((VERSION, self._version))
        return made

    async def _answer(
        self, connection: h11.Connection, reader: asyncio.StreamReader, take: Callable[[bytes], None]
    ) -> tuple[int, bytes]:
        status, kind, body = 0, "", bytearray()
        while True:
            event = connection.next_event()
            if event is h11.NEED_DATA:
                connection.receive_data(await reader.read(CHUNK))
            elif isinstance(event, h11.Response):
                status = event.status_code
                headers = {name.decode().lower(): value.decode(errors="replace") for name, value in event.headers}
                kind = headers.get("content-type", "").partition(";")[0].strip().lower()
                self._session = headers.get(SESSION, self._session)
            elif isinstance(event, h11.Data):
                body += event.data
                if len(body) > LONGEST_BODY:
                    raise ConnectionError(f"an answer of more than {LONGEST_BODY} bytes")
                if kind == EVENTS:
                    for message in _events(body):
                        take(message)
            elif isinstance(event, h11.EndOfMessage | h11.ConnectionClosed):
                if (kind == JSON and _parsed(bytes(body)).get("jsonrpc")) or body[:1] == b"[":
                    take(bytes(body))
                return status, bytes(body)

    def _note_version(self, told: dict[str, Any], answer: bytes) -> None:
        if told.get("method") == "initialize":
            result = _parsed(answer).get("result")
            self._version = str(result.get("protocolVersion", "")) if isinstance(result, dict) else ""


def _parsed(message: bytes) -> dict[str, Any]:
    try:
        told = json.loads(message)
    except (ValueError, RecursionError):
        return {}
    return told if isinstance(told, dict) else {}


def _answers(message: bytes, request_id: object) -> bool:
    """Tell whether a message, or one of a batch, answers a request."""
    try:
        told = json.loads(message)
    except (ValueError, RecursionError):
        return False
    several = told if isinstance(told, list) else [told]
    return any(isinstance(one, dict) and "method" not in one and one.get("id") == request_id for one in several)


def _events(body: bytearray) -> Iterator[bytes]:
    """Take every whole event off the front of `body`, and give the data of those that have some."""
    while True:
        ends = [(place, len(mark)) for mark in (b"\r\n\r\n", b"\n\n", b"\r\r") if (place := body.find(mark)) >= 0]
        if not ends:
            return
        place, length = min(ends)
        lines = bytes(body[:place]).replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        del body[: place + length]
        data = [line[5:].removeprefix(b" ") for line in lines if line.startswith(b"data:")]
        if any(data):
            yield b"\n".join(data)
