"""The first bytes of a connection to the gateway: a CONNECT opens a tunnel with TLS, anything else is HTTP at once."""

from __future__ import annotations

import asyncio
import ssl
from typing import Literal, Protocol

from mock_gerrit.serving.protocol import Connections
from mock_gerrit.serving.tls import secure

RefusalKind = Literal["connect", "http", "direct", "tls", "malformed", "crowd"]

_HEAD_LIMIT = 65536
_ESTABLISHED = b"HTTP/1.1 200 Connection established\r\n\r\n"


class Doorkeeper(Protocol):
    """Who decides which tunnels are opened."""

    def knows(self, authority: str) -> bool:
        """Whether there is a host of that name."""

    def listens_to(self, authority: str) -> bool:
        """Whether to hear what a client has to say to a host that is not of the world."""

    def may_be_asked(self, name: str) -> bool:
        """Whether a host that is not of the world is one that is expected to be asked."""

    def refuse(self, kind: RefusalKind, target: str) -> None:
        """Record a refusal."""

    def refusal(self, authority: str) -> str:
        """The text of a refusal."""

    def server_context(self, name: str) -> ssl.SSLContext:
        """The TLS settings with which to answer as a host."""


class Front(asyncio.Protocol):
    """Reads until it is clear what the client wants, then hands the connection over to HTTP."""

    def __init__(self, connections: Connections, doorkeeper: Doorkeeper) -> None:
        self._connections = connections
        self._doorkeeper = doorkeeper
        self._transport: asyncio.Transport
        self._seen = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Somebody connected."""
        assert isinstance(transport, asyncio.Transport)  # noqa: S101 - what a TCP server hands over, told to mypy
        self._transport = transport
        self._connections.opened(transport)
        if self._connections.crowded:
            self._doorkeeper.refuse("crowd", str(transport.get_extra_info("peername")))
            transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's signature
        """They left before it was clear what they wanted."""
        self._connections.closed(self._transport)

    def data_received(self, data: bytes) -> None:
        """Collect the head of a CONNECT; leave anything else to HTTP."""
        self._seen += data
        word = b"CONNECT "
        if not self._seen.startswith(word[: len(self._seen)]):
            self._connections.take_over(self._transport, None, self._seen)
        elif b"\r\n\r\n" in self._seen:
            head, _, rest = self._seen.partition(b"\r\n\r\n")
            self._connect(head.split(b"\r\n")[0].decode("latin-1"), rest)
        elif len(self._seen) > _HEAD_LIMIT:
            self._refuse("malformed", "a CONNECT whose head does not end", "400 Bad Request", "The head is too long.")

    def _connect(self, line: str, rest: bytes) -> None:
        self._transport.pause_reading()
        words = line.split()
        name, _, port = words[1].lower().rpartition(":") if len(words) == 3 else ("", "", "")
        authority = name if port == "443" else f"{name}:{port}"
        if not port.isdigit() or rest:
            self._refuse("malformed", line, "400 Bad Request", "Expected CONNECT host:port HTTP/1.1 and no more.")
        elif port != "80" and self._doorkeeper.knows(authority):
            self._connections.run(self._tunnel(authority))
        elif self._doorkeeper.listens_to(f"{name}:{port}"):
            self._listen(words[1], name, port)
        else:
            self._refuse("connect", words[1], "403 Forbidden", self._doorkeeper.refusal(f"{name}:{port}"))

    def _listen(self, wanted: str, name: str, port: str) -> None:
        """Open a tunnel that leads nowhere, so that what is said in it can be heard."""
        if not self._doorkeeper.may_be_asked(name):
            self._doorkeeper.refuse("connect", wanted)
        if port == "80":
            self._transport.write(_ESTABLISHED)
            self._connections.take_over(self._transport, name, b"")
            self._transport.resume_reading()
        else:
            self._connections.run(self._tunnel(name if port == "443" else f"{name}:{port}"))

    def _refuse(self, kind: RefusalKind, target: str, status: str, text: str) -> None:
        self._doorkeeper.refuse(kind, target)
        body = f"{text}\n".encode()
        head = f"HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {len(body)}\r\nConnection: close"
        self._transport.write(f"{head}\r\n\r\n".encode() + body)
        self._transport.close()

    async def _tunnel(self, authority: str) -> None:
        """Open the tunnel and end TLS in it."""
        context = self._doorkeeper.server_context(host_name(authority))
        self._transport.write(_ESTABLISHED)
        try:
            await secure(self._connections, self._transport, context, authority=authority)
        except OSError as broken:
            if not self._connections.over:
                self._doorkeeper.refuse("tls", f"{authority}: {broken or type(broken).__name__}")


def host_name(authority: str) -> str:
    """The name in an authority, without port and without the brackets of an IPv6 address."""
    if authority.startswith("["):
        return authority[1:].partition("]")[0]
    return authority.partition(":")[0]
