"""The two ends of the stdio transport."""

from __future__ import annotations

import asyncio
import io
import os
import socket
import tempfile
from typing import BinaryIO

import pytest

from reference_server.streams import Lines, Messages

TEXT = b'{"a":1}\n{"b":"\xff"}\nunfinished'
READ = ['{"a":1}\n', '{"b":"\ufffd"}\n', "unfinished"]


def pipe() -> BinaryIO:
    reading, writing = os.pipe()
    os.write(writing, TEXT)
    os.close(writing)
    return os.fdopen(reading, "rb")


def file() -> BinaryIO:
    opened = tempfile.TemporaryFile()  # noqa: SIM115 - the caller closes it
    opened.write(TEXT)
    opened.seek(0)
    return opened


@pytest.mark.parametrize("make", [pipe, file, lambda: io.BytesIO(TEXT)], ids=["pipe", "file", "memory"])
async def test_lines_come_from_whatever_they_stand_in_until_it_ends(make: object) -> None:
    with make() as stream:  # type: ignore[operator]
        assert [line async for line in Lines(stream)] == READ


async def test_waiting_for_a_line_can_be_cancelled_and_needs_no_thread() -> None:
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as stream:

        async def read() -> list[str]:
            return [line async for line in Lines(stream)]

        waiting = asyncio.create_task(read())
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
    os.close(writing)


async def test_a_message_is_written_whole_to_a_reader_that_is_slow() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs, os.fdopen(os.dup(ours.fileno()), "wb", buffering=0) as stream:
        ours.setblocking(False)
        theirs.setblocking(False)
        text = "\u00e9" * 1_000_000
        writing = asyncio.create_task(Messages(stream).write(text))
        received = b""
        while len(received) < 2_000_000:
            received += await asyncio.get_running_loop().sock_recv(theirs, 65536)
        await writing
    assert received.decode() == text


async def test_a_stream_without_a_descriptor_is_written_to() -> None:
    stream = io.BytesIO()
    messages = Messages(stream)
    await messages.write("hello\n")
    await messages.flush()
    assert stream.getvalue() == b"hello\n"
