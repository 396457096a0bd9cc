"""TLS on a connection that was accepted without it: in a tunnel, or from the first byte on."""

from __future__ import annotations

import asyncio
import contextlib
import ssl

from mock_gerrit.serving.protocol import Connections

_HANDSHAKE_SECONDS = 10.0


async def secure(
    connections: Connections, transport: asyncio.Transport, context: ssl.SSLContext, *, authority: str | None = None
) -> None:
    """Perform the server's side of a handshake, then go on with HTTP.

    Args:
        connections: of the server; the transport is among them, and its secure successor will be.
        transport: the connection, of which nothing has been read that belongs to the handshake.
        context: the settings to answer with.
        authority: the name under which the client reached us, if that is known.

    Raises:
        OSError: the handshake failed, timed out or was broken off; the connection is closed.
    """
    early = _Early()
    try:
        successor = await asyncio.get_running_loop().start_tls(
            transport, early, context, server_side=True, ssl_handshake_timeout=_HANDSHAKE_SECONDS
        )
        if successor is None:  # lost between the end of the handshake and this line
            raise ConnectionAbortedError("the connection ended together with the handshake")
        connections.opened(successor)
    finally:
        connections.closed(transport)
    if early.lost:
        successor.abort()
        connections.closed(successor)
    else:
        connections.take_over(successor, authority, early.data)


class _Early(asyncio.Protocol):
    """Keeps what arrives together with the end of the handshake, before HTTP can be attached."""

    def __init__(self) -> None:
        self.data = b""
        self.lost = False

    def data_received(self, data: bytes) -> None:
        self.data += data

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's signature
        self.lost = True


class SecureFront(asyncio.Protocol):
    """A connection that begins with TLS. asyncio's own way would not tell of it until the handshake is over."""

    def __init__(self, connections: Connections, context: ssl.SSLContext) -> None:
        self._connections = connections
        self._context = context

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin the handshake."""
        assert isinstance(transport, asyncio.Transport)  # noqa: S101 - what a TCP server hands over, told to mypy
        transport.pause_reading()
        self._connections.opened(transport)
        self._connections.run(self._secure(transport))

    async def _secure(self, transport: asyncio.Transport) -> None:
        with contextlib.suppress(OSError):  # whoever does not trust us has been told so by TLS
            await secure(self._connections, transport, self._context)
