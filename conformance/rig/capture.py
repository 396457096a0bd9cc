"""Bytes that come from a child, bounded, with the phase in which each came."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from dataclasses import dataclass, field

BLOCK = 1 << 16
MOST_AT_ONCE = 1 << 20


@dataclass(frozen=True, kw_only=True)
class Chunk:
    """Bytes that came in one phase, one after the other."""

    phase: str
    data: bytes


@dataclass(kw_only=True)
class Capture:
    """What came from one descriptor so far; bytes past `limit` are counted, not kept."""

    limit: int
    chunks: list[Chunk] = field(default_factory=list)
    total: int = 0

    def add(self, data: bytes, *, phase: str) -> None:
        """Take in more bytes."""
        kept = data[: max(0, self.limit - self.total)]
        self.total += len(data)
        if not kept:
            return
        if self.chunks and self.chunks[-1].phase == phase:
            self.chunks[-1] = Chunk(phase=phase, data=self.chunks[-1].data + kept)
        else:
            self.chunks.append(Chunk(phase=phase, data=kept))

    @property
    def flooded(self) -> bool:
        """Whether more came than may come."""
        return self.total > self.limit

    @property
    def data(self) -> bytes:
        """All bytes that were kept."""
        return b"".join(chunk.data for chunk in self.chunks)

    @property
    def text(self) -> str:
        """The same as text; what is no UTF-8 is shown as escapes."""
        return self.data.decode(errors="backslashreplace")

    def in_phase(self, phase: str) -> bytes:
        """The bytes that came in one phase."""
        return b"".join(chunk.data for chunk in self.chunks if chunk.phase == phase)


class Intake:
    """Reads one descriptor whenever something is there, and owns it.

    Args:
        descriptor: the reading end; it is made non-blocking, and closed at the end.
        take: called with bytes as they come.
        ended: called once when nothing more can come.
    """

    def __init__(
        self, descriptor: int, *, take: Callable[[bytes], None], ended: Callable[[], None] | None = None
    ) -> None:
        """Begin to read in the running loop."""
        os.set_blocking(descriptor, False)
        self._descriptor = descriptor
        self._take = take
        self._ended = ended
        self._loop = asyncio.get_running_loop()
        self.open = True
        self._loop.add_reader(descriptor, self.drain)

    def drain(self) -> None:
        """Take in what is there now (more than a pipe holds), without waiting."""
        budget = MOST_AT_ONCE
        while self.open and budget > 0:
            try:
                data = os.read(self._descriptor, BLOCK)
            except (BlockingIOError, InterruptedError):
                return
            except OSError:
                data = b""
            if not data:
                self.close()
                return
            budget -= len(data)
            self._take(data)

    def close(self) -> None:
        """Stop reading and give the descriptor back."""
        if not self.open:
            return
        self.open = False
        self._loop.remove_reader(self._descriptor)
        os.close(self._descriptor)
        if self._ended is not None:
            self._ended()
