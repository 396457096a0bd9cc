"""Streamable HTTP: one listening socket and uvicorn on it."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any

import uvicorn


def listen(host: str, port: int) -> socket.socket:
    """A TCP socket that listens on the address; port 0 takes a free one.

    Raises:
        OSError: the address is unknown, or taken.
    """
    family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
    # The protocol must be named: asyncio switches Nagle's algorithm off only for sockets that say they are TCP.
    listening = socket.socket(family, kind, socket.IPPROTO_TCP)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(128)
    except OSError:
        listening.close()
        raise
    return listening


def serve(app: Callable[..., Any], listening: socket.socket) -> None:
    """Serve an ASGI application on the socket until SIGINT or SIGTERM."""
    config = uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=1)
    uvicorn.Server(config).run(sockets=[listening])
