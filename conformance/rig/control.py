"""Messages over Unix sockets: framed JSON with descriptors beside it, and JSON lines.

The warm process and the guardians use the blocking half, the caller's event loop the other. A frame is eight bytes of
length, which carry the descriptors, and a JSON object.
"""

from __future__ import annotations

import array
import asyncio
import json
import os
import socket
import struct
from collections.abc import Iterable, Sequence
from typing import Any

Message = dict[str, Any]

HEADER = struct.Struct("!Q")
MOST_DESCRIPTORS = 16


def send(sock: socket.socket, message: Message, descriptors: Sequence[int] = ()) -> None:
    """Send one message on a blocking socket."""
    body = json.dumps(message).encode()
    _send_header(sock, len(body), descriptors)
    sock.sendall(body)


def receive(sock: socket.socket) -> tuple[Message, list[int]] | None:
    """Receive one message on a blocking socket; None when the other side is gone."""
    header, descriptors = _receive_header(sock)
    if len(header) < HEADER.size:
        return None
    left, parts = HEADER.unpack(header)[0], []
    while left:
        part = sock.recv(min(left, 1 << 16))
        if not part:
            return None
        parts.append(part)
        left -= len(part)
    return json.loads(b"".join(parts)), descriptors


async def asend(sock: socket.socket, message: Message, descriptors: Sequence[int] = ()) -> None:
    """Send one message on a non-blocking socket; callers take turns by a lock of their own."""
    loop = asyncio.get_running_loop()
    body = json.dumps(message).encode()
    while True:
        try:
            _send_header(sock, len(body), descriptors)
            break
        except BlockingIOError:
            await _ready(sock.fileno(), writing=True)
    await loop.sock_sendall(sock, body)


async def areceive(sock: socket.socket) -> tuple[Message, list[int]] | None:
    """Receive one message on a non-blocking socket; None when the other side is gone."""
    loop = asyncio.get_running_loop()
    while True:
        try:
            header, descriptors = _receive_header(sock)
            break
        except BlockingIOError:
            await _ready(sock.fileno(), writing=False)
        except ConnectionError:
            return None
    if len(header) < HEADER.size:
        return None
    left, parts = HEADER.unpack(header)[0], []
    while left:
        part = await loop.sock_recv(sock, min(left, 1 << 16))
        if not part:
            return None
        parts.append(part)
        left -= len(part)
    return json.loads(b"".join(parts)), descriptors


def close_all(descriptors: Iterable[int]) -> None:
    """Close descriptors that were sent on, or are another process's affair."""
    for descriptor in descriptors:
        os.close(descriptor)


def _send_header(sock: socket.socket, size: int, descriptors: Sequence[int]) -> None:
    rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))] if descriptors else []
    if sock.sendmsg([HEADER.pack(size)], rights) != HEADER.size:
        raise OSError("a control message was cut in its header")


def _receive_header(sock: socket.socket) -> tuple[bytes, list[int]]:
    room = socket.CMSG_SPACE(MOST_DESCRIPTORS * struct.calcsize("i"))
    header, ancillary, _, _ = sock.recvmsg(HEADER.size, room)
    found = array.array("i")
    for level, kind, data in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            found.frombytes(data[: len(data) - len(data) % found.itemsize])
    for descriptor in found:
        os.set_inheritable(descriptor, False)  # noqa: FBT003 - the standard library takes it by position only
    return header, list(found)


async def _ready(descriptor: int, *, writing: bool) -> None:
    """Wait until a descriptor can be read from, or written to."""
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    watch, unwatch = (loop.add_writer, loop.remove_writer) if writing else (loop.add_reader, loop.remove_reader)
    watch(descriptor, ready.set)
    try:
        await ready.wait()
    finally:
        unwatch(descriptor)
