"""The protocol's byte stream over two pipes, for the caller's event loop."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable

from conformance.rig.capture import Intake


class PipeStream:
    """Lines from a child and bytes to it; one reader, any number of writers. Owns both descriptors.

    It is a `conformance.wire.stream.ByteStream`.
    """

    def __init__(self, *, reading: int, writing: int, seen: Callable[[bytes], None]) -> None:
        """Begin to read; `seen` is told of all bytes as they come, whether or not anybody takes them."""
        self._buffer = bytearray()
        self._searched = 0
        self._more = asyncio.Event()
        self._seen = seen
        self._lock = asyncio.Lock()
        self._room = asyncio.Event()
        self._intake = Intake(reading, take=self._take, ended=self._more.set)
        os.set_blocking(writing, False)
        self._writing: int | None = writing

    def _take(self, data: bytes) -> None:
        self._buffer += data
        self._seen(data)
        self._more.set()

    async def receive(self) -> bytes:
        """Give the next line with its end; at the end of the stream what is left, then empty bytes."""
        while (end := self._buffer.find(b"\n", self._searched)) < 0 and self._intake.open:
            self._searched = len(self._buffer)
            self._more.clear()
            await self._more.wait()
        self._searched = 0
        stop = end + 1 if end >= 0 else len(self._buffer)
        line = bytes(self._buffer[:stop])
        del self._buffer[:stop]
        return line

    async def send(self, message: bytes) -> None:
        """Write one message and a line end."""
        await self.write(message + b"\n")

    async def write(self, data: bytes) -> None:
        """Write raw bytes; raises ConnectionError when the child no longer reads."""
        async with self._lock:
            rest = memoryview(data)
            while rest:
                if self._writing is None:
                    raise ConnectionError("the protocol stream is closed on our side")
                try:
                    rest = rest[os.write(self._writing, rest) :]
                except BlockingIOError:
                    await self._writable(self._writing)

    async def _writable(self, descriptor: int) -> None:
        """Wait until there is room, or until the stream is closed under the writer."""
        loop = asyncio.get_running_loop()
        self._room.clear()
        loop.add_writer(descriptor, self._room.set)
        try:
            await self._room.wait()
        finally:
            if self._writing == descriptor:
                loop.remove_writer(descriptor)

    def close_writing(self) -> None:
        """Give the child the end of its input."""
        if self._writing is not None:
            descriptor, self._writing = self._writing, None
            asyncio.get_running_loop().remove_writer(descriptor)
            os.close(descriptor)
            self._room.set()

    async def close(self) -> None:
        """End the input; what the child still says is read until its end."""
        self.close_writing()

    def drain(self) -> None:
        """Take in what is there now."""
        self._intake.drain()

    def shut(self) -> None:
        """Give both descriptors back."""
        self.close_writing()
        self._intake.close()
