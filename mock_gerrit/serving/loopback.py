"""One host of a world on a port of 127.0.0.1, with TLS: for clients that need no proxy and no real name."""

from __future__ import annotations

import asyncio
from functools import partial
from types import TracebackType
from typing import Self

from mock_gerrit.host import Host
from mock_gerrit.serving.asgi import GerritApp
from mock_gerrit.serving.authority import CertificateAuthority
from mock_gerrit.serving.protocol import Connections
from mock_gerrit.serving.tls import SecureFront
from mock_gerrit.world import World


class Loopback:
    """Serves one host at `https://127.0.0.1:PORT`, under whatever name the client asks.

    Args:
        world: the world of the host; set `loopback.world` to exchange it while serving.
        host: the host, or its name.
        authority: issues the certificate for 127.0.0.1; `loopback.authority.pem` is what clients have to trust.
        port: the port to take instead of a free one.

    Attributes:
        url: where a client reaches the host, its context path included; known once entered.
        port: the port taken.

    Raises:
        OSError: on entering, where the port is taken.
    """

    def __init__(self, world: World, host: Host | str, *, authority: CertificateAuthority, port: int = 0) -> None:
        self.world = world
        self.authority = authority
        self.port = port
        self.url = ""
        self._host = host if isinstance(host, str) else host.name
        self._connections = Connections(GerritApp(lambda: self.world, host=self._host))
        self._server: asyncio.Server | None = None

    async def __aenter__(self) -> Self:
        """Start accepting."""
        context = self.authority.server_context("127.0.0.1")
        loop = asyncio.get_running_loop()
        front = partial(SecureFront, self._connections, context)
        self._server = await loop.create_server(front, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]
        self.url = f"https://127.0.0.1:{self.port}{self.world.host_named(self._host).context_path}"
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop accepting and drop what is open."""
        if self._server is not None:
            self._server.close()
        await self._connections.drop()

    def environment(self) -> dict[str, str]:
        """The variables that make a client trust the authority."""
        return self.authority.environment()
