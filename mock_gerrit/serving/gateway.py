"""The proxy that gives simulated hosts their real names: clients reach them as they would reach the real ones."""

from __future__ import annotations

import asyncio
import socket
import ssl
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from mock_gerrit.serving.asgi import GerritApp, Receive, Scope, Send, connection_of, plain, send_response
from mock_gerrit.serving.authority import CertificateAuthority
from mock_gerrit.serving.elsewhere import Elsewhere
from mock_gerrit.serving.front import Front, RefusalKind, host_name
from mock_gerrit.serving.protocol import Connections
from mock_gerrit.world import World


@dataclass(frozen=True, kw_only=True)
class Refused:
    """Something that the gateway would not do.

    Attributes:
        target: what the client wanted: `host:port` of a tunnel, a URL, or the first line of what it sent.
        kind: `connect`: a tunnel to a host that is not of the world; `http`: a URL of such a host; `direct`: a request
            to the gateway itself, as if it were a web server; `tls`: a tunnel whose client broke off the handshake, for
            instance because it does not trust the authority; `malformed`: no HTTP; `crowd`: one connection too many.
        at: when, in seconds of `time.monotonic()`.
    """

    target: str
    kind: RefusalKind
    at: float


class Gateway:
    """An HTTP proxy on one listening socket that answers for the hosts of a world itself and refuses all others.

    Args:
        world: the world to answer for; set `gateway.world` to exchange it while serving.
        authority: issues the certificates; `gateway.authority.pem` is what clients have to trust.
        listener: a listening TCP socket made elsewhere, perhaps in another network namespace, which the gateway takes
            over and closes in the end; left out, a free port of 127.0.0.1 is taken.
        port: the port to take instead of a free one, where no listener is given.
        elsewhere: stands for all hosts that are not of the world: it hears what is said to them, also inside TLS, and
            answers. Such a host counts as refused all the same, unless `elsewhere` names it. Left out, a tunnel to it
            is not opened.

    Attributes:
        proxy_url: the value for `https_proxy` and `http_proxy`.
        refused: what was refused so far, in order.
        gate: awaited with its scope before a request for a host of the world is read; None lets all pass at once.

    Raises:
        OSError: on entering, where the port is taken.
    """

    def __init__(
        self,
        world: World,
        *,
        authority: CertificateAuthority,
        listener: socket.socket | None = None,
        port: int = 0,
        elsewhere: Elsewhere | None = None,
    ) -> None:
        self.world = world
        self.authority = authority
        self.elsewhere = elsewhere
        self.refused: list[Refused] = []
        self.proxy_url = ""
        self.gate: Callable[[Scope], Awaitable[None]] | None = None
        self._listener = listener
        self._port = port
        self._app = GerritApp(lambda: self.world)
        self._connections = Connections(self._serve, malformed=lambda line: self.refuse("malformed", line))
        self._server: asyncio.Server | None = None

    async def __aenter__(self) -> Self:
        """Start accepting."""
        loop = asyncio.get_running_loop()
        if self._listener is None:
            self._server = await loop.create_server(self._front, "127.0.0.1", self._port)
        else:
            self._server = await loop.create_server(self._front, sock=self._listener)
        name, port = self._server.sockets[0].getsockname()[:2]
        self.proxy_url = f"http://[{name}]:{port}" if ":" in name else f"http://{name}:{port}"
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop accepting and drop what is open."""
        if self._server is not None:
            self._server.close()
        await self._connections.drop()

    def use(self, world: World) -> None:
        """Answer for another world from now on, with nothing refused so far."""
        self.world = world
        self.refused = []

    def environment(self) -> dict[str, str]:
        """The variables that send a client through the gateway and make it trust the authority."""
        proxies = dict.fromkeys(("http_proxy", "https_proxy"), self.proxy_url)
        without_exceptions = dict.fromkeys(("no_proxy", "NO_PROXY"), "")
        return {**proxies, **without_exceptions, **self.authority.environment()}

    def refuse(self, kind: RefusalKind, target: str) -> None:
        """Record that something was refused."""
        self.refused.append(Refused(target=target, kind=kind, at=time.monotonic()))

    def knows(self, authority: str) -> bool:
        """Whether the world has a host of that name, external or internal."""
        return self.world.host_for(authority) is not None

    def listens_to(self, authority: str) -> bool:
        """Whether to hear what a client has to say to a host that is not of the world, and a certificate can be had."""
        name = host_name(authority)
        if not self._is_strange(name):
            return False
        try:
            self.authority.server_context(name)
        except ValueError:  # no name that could stand in a certificate
            return False
        return True

    def _is_strange(self, name: str) -> bool:
        """Whether `elsewhere` stands for the host: not for one of the world, on whatever port."""
        return self.elsewhere is not None and self.world.host_for(name) is None and self.elsewhere.admits(name)

    def may_be_asked(self, name: str) -> bool:
        """Whether a host that is not of the world is one that is expected to be asked."""
        return self.elsewhere is not None and self.elsewhere.names(name)

    def server_context(self, name: str) -> ssl.SSLContext:
        """The TLS settings with which to answer as a host."""
        return self.authority.server_context(name)

    def _front(self) -> Front:
        return Front(self._connections, self)

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request inside a tunnel, or one in absolute form."""
        connection = connection_of(scope)
        if connection is None:
            raise RuntimeError("the gateway serves its own connections only")
        authority = connection.authority
        if authority is None:
            self.refuse("direct", f"{scope['method']} {connection.target}")
            await send_response(send, plain(400, "This is a proxy: ask it with CONNECT or with an absolute http URL."))
        elif self.knows(authority):
            if self.gate is not None:
                await self.gate(scope)
            await self._app(scope, receive, send)
        else:
            await self._serve_elsewhere(authority, scope, receive, send)

    async def _serve_elsewhere(self, authority: str, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request to a host that is not of the world; one in a tunnel was refused with the tunnel."""
        connection, name = connection_of(scope), host_name(authority)
        target = connection.target if connection is not None else ""
        heard = self.elsewhere is not None and self._is_strange(name)
        if not self.may_be_asked(name) and not (heard and scope["scheme"] == "https"):
            self.refuse("http", f"{scope['scheme']}://{authority}{target}")
        if heard and self.elsewhere is not None:
            await self.elsewhere.serve(name, scope, receive, send)
        else:
            await send_response(send, plain(403, self.refusal(authority)))

    def refusal(self, authority: str) -> str:
        """The text of a refusal."""
        known = ", ".join(host.authority for host in self.world.hosts) or "none"
        return f"mock-gerrit: {authority} is not a host of this world; its hosts: {known}."
