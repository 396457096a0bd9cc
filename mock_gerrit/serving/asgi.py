"""The ASGI application of a world: what every way of serving it has in common."""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from typing import Any

from mock_gerrit.exchange import TEXT_TYPE, Request, Response, reason_phrase
from mock_gerrit.host import Host
from mock_gerrit.serving.service import serve
from mock_gerrit.world import World

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
AsgiApp = Callable[[Scope, Receive, Send], Awaitable[None]]

BODY_LIMIT = 32 * 1024 * 1024
"""The largest body that is taken, in bytes, packed and unpacked: clients under test may be hostile."""

CONNECTION = "mock_gerrit.connection"
"""The key in `scope["extensions"]` under which a server that can do more tells so with a `Connection`."""


@dataclass(frozen=True, kw_only=True)
class Connection:
    """What ASGI has no word for.

    Attributes:
        target: path and query exactly as sent; scheme and name of an absolute URL are stripped.
        authority: the name under which the client reached us, from its CONNECT or its absolute URL; None when only the
            `Host` header tells.
        reset: end the connection with a TCP reset.
    """

    target: str
    authority: str | None
    reset: Callable[[], None]


class BodyTooLargeError(Exception):
    """A request's body is larger than `BODY_LIMIT`."""

    def __init__(self) -> None:
        super().__init__(f"The body is larger than {BODY_LIMIT} bytes.")


class GerritApp:
    """All hosts of a world, or one of them, as an ASGI application.

    Args:
        world: the world, or a callable that gives the one in force at the time of a request.
        host: the name of the only host to answer for, whatever name the client used; without it the `Host` header
            decides.

    A request for a host that is not of the world is answered with 421 and a text naming those that are. A fault that
    resets the connection raises `ConnectionResetError` where the server offers no `Connection`.
    """

    def __init__(self, world: World | Callable[[], World], *, host: str | None = None) -> None:
        self._world = world
        self._host = host

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request (or the start and end of a server) as ASGI has it."""
        if scope["type"] == "lifespan":
            await _live(receive, send)
            return
        try:
            request = await read_request(scope, receive)
        except BodyTooLargeError as refused:
            await send_response(send, plain(413, str(refused), ("Connection", "close")))
            return
        if request is None:
            return
        world = self._world() if callable(self._world) else self._world
        host = self._find(world, request.authority)
        if host is None:
            known = ", ".join(one.authority for one in world.hosts)
            await send_response(send, plain(421, f"This world has no host {request.authority}; it has {known}."))
            return
        await _perform(host, request, scope, receive, send)

    def _find(self, world: World, authority: str) -> Host | None:
        if self._host is None:
            return world.host_for(authority)
        return next((host for host in world.hosts if host.name == self._host), None)


def app(world: World | Callable[[], World], *, host: str | None = None) -> GerritApp:
    """The ASGI application of `world`; see `GerritApp`."""
    return GerritApp(world, host=host)


async def _perform(host: Host, request: Request, scope: Scope, receive: Receive, send: Send) -> None:
    served = serve(host, request)
    if served.delay and await gone_within(served.delay, receive):
        return
    if served.ending == "answer":
        await send_response(send, served.response, head=request.method == "HEAD")
    elif served.ending == "silence":
        await _until_gone(receive)
    else:
        _reset(scope)


def _reset(scope: Scope) -> None:
    connection = connection_of(scope)
    if connection is None:
        raise ConnectionResetError("a fault of the simulated Gerrit resets this connection")
    connection.reset()


def connection_of(scope: Scope) -> Connection | None:
    """What the server told about the connection; None for one that is not ours."""
    found: Connection | None = (scope.get("extensions") or {}).get(CONNECTION)
    return found


async def read_request(scope: Scope, receive: Receive) -> Request | None:
    """Read a request, its target untouched and its body unpacked; None where the client left before its end.

    Raises:
        BodyTooLargeError: it is too large.
    """
    body = await _body(receive)
    if body is None:
        return None
    headers = tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"])
    by_name = {name.lower(): value for name, value in reversed(headers)}
    connection = connection_of(scope)
    return Request(
        method=scope["method"],
        target=connection.target if connection else _target(scope),
        headers=headers,
        body=unpacked(body, by_name.get("content-encoding", "")),
        scheme=scope["scheme"],
        authority=(connection and connection.authority) or by_name.get("host", ""),
    )


def _target(scope: Scope) -> str:
    path: bytes = scope.get("raw_path") or scope["path"].encode()
    query: bytes = scope.get("query_string", b"")
    return (path + b"?" + query if query else path).decode("latin-1")


async def _body(receive: Receive) -> bytes | None:
    body = bytearray()
    while len(body) <= BODY_LIMIT:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        body += message.get("body", b"")
        if not message.get("more_body", False):
            return bytes(body)
    raise BodyTooLargeError


def unpacked(body: bytes, encoding: str) -> bytes:
    """Undo gzip; a body that is no gzip reaches Gerrit as it is.

    Raises:
        BodyTooLargeError: it is too large when unpacked.
    """
    if encoding.lower() != "gzip":
        return body
    unpacker = zlib.decompressobj(wbits=31)
    try:
        plain_body = unpacker.decompress(body, BODY_LIMIT)
    except zlib.error:
        return body
    if unpacker.unconsumed_tail:
        raise BodyTooLargeError
    return plain_body if unpacker.eof else body


async def gone_within(seconds: float, receive: Receive) -> bool:
    """Wait; True as soon as the client goes away, False when the time is over."""
    try:
        async with asyncio.timeout(seconds):
            await _until_gone(receive)
    except TimeoutError:
        return False
    return True


async def _until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def plain(status: int, text: str, *headers: tuple[str, str]) -> Response:
    """A response of one line of text."""
    return Response(
        status=status,
        reason=reason_phrase(status),
        headers=(("Content-Type", TEXT_TYPE), *headers),
        body=f"{text}\n".encode(),
    )


async def send_response(send: Send, response: Response, *, head: bool = False) -> None:
    """Send a response whole, with the length of its body where the status admits one."""
    headers = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in response.headers]
    sized = any(name == b"content-length" for name, _ in headers)
    if not sized and response.status not in {204, 304} and not (head and not response.body):
        headers.append((b"content-length", str(len(response.body)).encode()))
    await send({"type": "http.response.start", "status": response.status, "headers": headers})
    await send({"type": "http.response.body", "body": b"" if head else response.body})


async def _live(receive: Receive, send: Send) -> None:
    while True:
        message = await receive()
        await send({"type": f"{message['type']}.complete"})
        if message["type"] == "lifespan.shutdown":
            return
