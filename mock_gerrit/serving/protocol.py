"""HTTP on one connection, by uvicorn's protocol, and the set of all connections of one server."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
import struct
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any, cast

from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from uvicorn.server import ServerState

from mock_gerrit.serving.asgi import CONNECTION, AsgiApp, Connection

_logger = logging.getLogger("mock_gerrit.http")
_logger.setLevel(logging.ERROR)  # bytes that are no HTTP are told to whoever listens, not to the terminal

_RESET_ON_CLOSE = struct.pack("ii", 1, 0)
_KEEP_ALIVE_SECONDS = 60
_DROP_SECONDS = 1.0
_MOST_CONNECTIONS = 256
_LONGEST_HEAD = 256 * 1024


def ignore_malformed(first_line: str) -> None:
    """Do nothing about bytes that are no HTTP, beyond the 400 they get."""


class Connections:
    """Everything one server has open: makes protocols, remembers their connections and tasks, drops them at once.

    Args:
        app: the ASGI application that answers.
        malformed: told the beginning of whatever is no HTTP.

    Attributes:
        over: True from the moment of dropping on; connections that come later are aborted too.

    uvicorn's own server is not used, because it looks for its end only every 100 ms.
    """

    def __init__(self, app: AsgiApp, *, malformed: Callable[[str], None] = ignore_malformed) -> None:
        self._config = Config(
            app, http=HttpToolsProtocol, ws="none", lifespan="off", interface="asgi3", loop="none", log_config=None,
            access_log=False, proxy_headers=False, timeout_keep_alive=_KEEP_ALIVE_SECONDS,
        )  # fmt: skip
        self._config.load()
        self._state = ServerState()
        self._open: set[asyncio.BaseTransport] = set()
        self._all_closed = asyncio.Event()
        self._all_closed.set()
        self.malformed = malformed
        self.over = False

    @property
    def crowded(self) -> bool:
        """Whether there are more connections at once than a client needs: none shall take all our files."""
        return len(self._open) > _MOST_CONNECTIONS

    def protocol(self, authority: str | None = None) -> HttpProtocol:
        """A protocol for a new connection, on which the client reached us as `authority` if that is known."""
        return HttpProtocol(self, self._config, self._state, authority=authority)

    def take_over(self, transport: asyncio.Transport, authority: str | None, seen: bytes) -> None:
        """Go on with HTTP on a connection from which some bytes were read already."""
        protocol = self.protocol(authority)
        transport.set_protocol(protocol)
        protocol.connection_made(transport)
        if seen:
            protocol.data_received(seen)

    def opened(self, transport: asyncio.BaseTransport) -> None:
        """Remember a connection, and have it send every write at once.

        Without the latter, header and body apart cost 40 ms a request on a kept connection; asyncio itself sees to it
        only on sockets that were made with IPPROTO_TCP named, which one that was handed in need not be.
        """
        self._open.add(transport)
        self._all_closed.clear()
        if self.over and isinstance(transport, asyncio.Transport):
            transport.abort()
        connection: socket.socket = transport.get_extra_info("socket")
        with contextlib.suppress(OSError):  # the client may be gone already
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def closed(self, transport: asyncio.BaseTransport) -> None:
        """Forget a connection."""
        self._open.discard(transport)
        if not self._open:
            self._all_closed.set()

    def run(self, work: Coroutine[Any, Any, None]) -> None:
        """Start a task that ends with the server."""
        task = asyncio.get_running_loop().create_task(work)
        self._state.tasks.add(task)
        task.add_done_callback(self._state.tasks.discard)

    async def drop(self) -> None:
        """Abort every connection, and return when no task and no socket is left."""
        self.over = True
        for transport in tuple(self._open):
            if isinstance(transport, asyncio.Transport):
                transport.abort()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_DROP_SECONDS):
                await self._all_closed.wait()
        tasks = tuple(self._state.tasks)
        if tasks:
            await asyncio.wait(tasks, timeout=_DROP_SECONDS)


class HttpProtocol(HttpToolsProtocol):
    """uvicorn's HTTP, which also tells the application the raw target, the name the client used and how to reset."""

    def __init__(self, connections: Connections, config: Config, state: ServerState, *, authority: str | None) -> None:
        super().__init__(config, state, {})
        self.logger = _logger
        self._connections = connections
        self._authority = authority
        self._head_length = 0
        self._in_head = True
        self._cycles: list[RequestResponseCycle] = []

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # uvicorn narrows it too
        """Take over a connection."""
        super().connection_made(transport)
        self._connections.opened(transport)

    def connection_lost(self, exc: Exception | None) -> None:
        """Let go of it, whatever it ended with, and tell all requests on it; uvicorn tells only the latest."""
        super().connection_lost(exc)
        self._unset_keepalive_if_required()
        if exc is not None:
            self.transport.close()
        self._give_up()
        self._connections.closed(self.transport)

    def _give_up(self) -> None:
        """Tell every request on the connection that nobody waits for its answer any more."""
        for cycle in self._cycles:
            cycle.disconnected = True
            cycle.message_event.set()

    def data_received(self, data: bytes) -> None:
        """Keep the beginning of what may turn out to be no HTTP, and end a head that never ends."""
        if self.transport.is_closing():
            return
        self._latest = data
        self._head_length += len(data)
        super().data_received(data)
        if not self._in_head:
            self._head_length = 0
        elif self._head_length > _LONGEST_HEAD and not self.transport.is_closing():
            self.send_400_response("The head is too long.")

    def on_message_begin(self) -> None:
        """A head begins."""
        self._in_head = True
        super().on_message_begin()

    def send_400_response(self, msg: str) -> None:
        """Tell about bytes that are no HTTP."""
        self._connections.malformed(self._latest[:200].split(b"\r\n")[0].decode("latin-1"))
        super().send_400_response(msg)
        self._give_up()

    def on_headers_complete(self) -> None:
        """Add what ASGI has no word for."""
        authority, target = split_target(self.url.decode("latin-1"))
        self.url = target.encode("latin-1")
        self._in_head = False
        super().on_headers_complete()  # the application is started in a task, after this
        self._cycles = [cycle for cycle in self._cycles if not cycle.response_complete] + [self.cycle]
        reset = partial(self._reset, self.cycle)
        extension = Connection(target=target, authority=self._authority or authority, reset=reset)
        cast("dict[str, Any]", self.scope)["extensions"] = {CONNECTION: extension}

    def _reset(self, cycle: RequestResponseCycle) -> None:
        """Close so that the client's kernel sees RST, not FIN."""
        if self.transport.is_closing():
            return
        connection: socket.socket = self.transport.get_extra_info("socket")
        with contextlib.suppress(OSError):  # the client may be gone already
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_ON_CLOSE)
        cycle.disconnected = True
        self.transport.abort()


def split_target(target: str) -> tuple[str | None, str]:
    """Split a target into the name in it, None where it has none, and path and query exactly as they are."""
    scheme, separator, rest = target.partition("://")
    if not separator or "/" in scheme:
        return None, target
    end = next((index for index, character in enumerate(rest) if character in "/?"), len(rest))
    path = rest[end:]
    return rest[:end].rpartition("@")[2], path if path.startswith("/") else f"/{path}"
