"""The way to a server under test: its stdin and stdout, or a port on which it listens."""

from __future__ import annotations

import asyncio
import time
from contextlib import AsyncExitStack
from dataclasses import dataclass
from urllib.parse import urlsplit

from conformance.rig.child import Child
from conformance.rig.rig import Rig
from conformance.subject import Subject
from conformance.wire.errors import ServerGone
from conformance.wire.stream import ByteStream

EVERY_SECONDS = 0.02
HTTP_PORT = 80


@dataclass(frozen=True, kw_only=True)
class Way:
    """How messages get to one start of a server."""

    rig: Rig
    url: str = ""
    """Of its endpoint; empty where it speaks over its stdin and stdout."""
    port: int = 0

    def stream(self, child: Child) -> ByteStream:
        """Give what carries messages to a child that was started for this way."""
        if not self.url:
            return child.protocol
        from conformance.wire.http import HttpStream  # noqa: PLC0415 - brings h11, which no other way needs

        parts = urlsplit(self.url)
        host = f"[{parts.hostname}]" if ":" in str(parts.hostname) else parts.hostname
        return HttpStream(self._connect, authority=f"{host}:{self.port}", path=parts.path or "/")

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection(sock=await self.rig.warm.connect(self.port))

    async def open(self, child: Child, seconds: float) -> float:
        """Wait until the server listens; gives how long that took.

        Raises:
            ServerGone: it has ended instead, or does not listen in time.
        """
        began = time.monotonic()
        while self.url:
            try:
                (await self.rig.warm.connect(self.port)).close()
                break
            except ConnectionRefusedError:
                waited = time.monotonic() - began
                if child.ended or waited > seconds:
                    how = "it has ended" if child.ended else f"nothing for {waited:.1f} s"
                    raise ServerGone(f"the server does not listen on port {self.port}: {how}") from None
            await asyncio.sleep(EVERY_SECONDS)
        return time.monotonic() - began


async def way_to(rig: Rig, subject: Subject, stack: AsyncExitStack) -> Way:
    """Choose the way to a server that is about to be started; a fixed port is kept from others until `stack` ends."""
    if not subject.url:
        return Way(rig=rig)
    if any("{port}" in word for word in subject.command):
        with await rig.warm.listen() as free:
            return Way(rig=rig, url=subject.url, port=int(free.getsockname()[1]))
    await stack.enter_async_context(rig.fixed_port)
    return Way(rig=rig, url=subject.url, port=urlsplit(subject.url).port or HTTP_PORT)
