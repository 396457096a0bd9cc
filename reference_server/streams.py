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
        mode = _mode(self._stream)
        read = self._in_loop() if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) else self._in_thread()
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
        self._room: select.poll | None = None
        if stat.S_ISFIFO(_mode(stream)):
            self._room = select.poll()
            self._room.register(stream.fileno(), select.POLLOUT)

    async def write(self, text: str) -> None:
        """Write all of `text`; a slow reader holds up this call and nothing else."""
        rest = self._put_at_once(memoryview(text.encode("utf-8")))
        if rest:
            await anyio.to_thread.run_sync(self._put, rest)

    async def flush(self) -> None:
        """Nothing is held back."""

    def _put_at_once(self, data: memoryview) -> memoryview:
        """Write what a pipe takes without waiting, which saves a thread; gives the rest."""
        while data and self._room is not None and self._room.poll(0):
            data = data[os.write(self._stream.fileno(), data[: select.PIPE_BUF]) :]
        return data

    def _put(self, data: memoryview) -> None:
        try:
            descriptor = self._stream.fileno()
        except OSError:
            self._stream.write(data)
            self._stream.flush()
            return
        while data:
            try:
                data = data[os.write(descriptor, data) :]
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


def _mode(stream: BinaryIO) -> int:
    """What kind of file a stream is, as `st_mode` tells it; 0 for one without a descriptor."""
    try:
        return os.fstat(stream.fileno()).st_mode
    except (OSError, ValueError, AttributeError):
        return 0
