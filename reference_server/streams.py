"""The two ends of the stdio transport: reading without a thread where that can be, writing whole messages."""

from __future__ import annotations

import asyncio
import os
import select
import stat
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO

import anyio.to_thread

_LONGEST_LINE = 256 * 1024 * 1024


class Lines:
    """Lines of UTF-8 text from a binary stream, as they come."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[str]:
        """The lines until the stream ends."""
        read = self._in_loop() if _is_pipe(self._stream) else self._in_thread()
        async for line in read:
            yield line.decode("utf-8", errors="replace")

    async def _in_loop(self) -> AsyncIterator[bytes]:
        # A thread that waits for input could not be interrupted, and would hold up the end of the process.
        reader = asyncio.StreamReader(limit=_LONGEST_LINE)
        pipe = os.fdopen(os.dup(self._stream.fileno()), "rb", buffering=0)
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), pipe
        )
        try:
            while line := await reader.readline():
                yield line
        finally:
            transport.close()

    async def _in_thread(self) -> AsyncIterator[bytes]:
        while line := await anyio.to_thread.run_sync(self._stream.readline, abandon_on_cancel=True):
            yield line


class Messages:
    """Text to a binary stream, each piece written whole."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    async def write(self, text: str) -> None:
        """Write all of `text`; a slow reader holds up this call and nothing else."""
        await anyio.to_thread.run_sync(self._put, text.encode("utf-8"))

    async def flush(self) -> None:
        """Nothing is held back."""

    def _put(self, data: bytes) -> None:
        try:
            descriptor = self._stream.fileno()
        except OSError:
            self._stream.write(data)
            self._stream.flush()
            return
        rest = memoryview(data)
        while rest:
            try:
                rest = rest[os.write(descriptor, rest) :]
            except BlockingIOError:
                # A socket that is stdin and stdout in one became non-blocking when reading began.
                waiting = select.poll()
                waiting.register(descriptor, select.POLLOUT)
                waiting.poll()


@contextmanager
def own_standard_streams() -> Iterator[tuple[BinaryIO, BinaryIO]]:
    """Take the process's stdin and stdout for the protocol alone.

    Meanwhile descriptor 0 is at its end and descriptor 1 leads to stderr, for everybody else in the process and for
    its children: whatever an extension prints or reads cannot touch the protocol. Both are put back afterwards.
    """
    with suppress(OSError, ValueError, AttributeError):
        sys.stdout.flush()
    stdin, stdout = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    try:
        with os.fdopen(stdin, "rb", closefd=False) as reading, os.fdopen(stdout, "wb", closefd=False) as writing:
            yield reading, writing
    finally:
        with suppress(OSError, ValueError, AttributeError):
            sys.stdout.flush()
        os.dup2(stdin, 0)
        os.dup2(stdout, 1)
        os.close(stdin)
        os.close(stdout)


def _is_pipe(stream: BinaryIO) -> bool:
    try:
        mode = os.fstat(stream.fileno()).st_mode
    except (OSError, ValueError, AttributeError):
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)
