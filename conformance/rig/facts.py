"""What a child tells of itself, kept in order."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

GARBLED = "garbled"
"""The kind under which a line is kept that is no fact."""


@dataclass(frozen=True, kw_only=True)
class Told:
    """One fact that the child told of itself."""

    kind: str
    about: Mapping[str, Any]
    seconds: float
    """Since the start of the child."""


class Lines:
    """Cuts a stream of bytes into lines."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self._rest = b""

    def cut(self, data: bytes) -> list[bytes]:
        """Take in bytes; gives the lines that are complete now."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        return lines


class Facts:
    """The facts of one child."""

    def __init__(self) -> None:
        """None told yet."""
        self.told: list[Told] = []
        self.complete = False
        """Nothing more will be told."""
        self._lines = Lines()
        self._started = time.monotonic()
        self._more = asyncio.Event()
        self._read = 0
        self._taken: set[int] = set()

    def take(self, data: bytes) -> Iterator[Told]:
        """Take in bytes from the child; gives each fact that they complete, once it is kept."""
        for line in self._lines.cut(data):
            kind, about = _parsed(line)
            fact = Told(kind=kind, about=about, seconds=time.monotonic() - self._started)
            self.told.append(fact)
            self._more.set()
            yield fact

    def end(self) -> None:
        """Let go of whoever waits: nothing more will be told."""
        self.complete = True
        self._more.set()

    async def next(self) -> Told | None:
        """Give the first fact that was not given yet; None when there will be none."""
        while self._read >= len(self.told):
            if self.complete:
                return None
            await self._change()
        self._read += 1
        return self.told[self._read - 1]

    async def next_of(self, kind: str) -> Told | None:
        """Give the first fact of one kind that this has not given yet; None when there will be none."""
        while True:
            for index, fact in enumerate(self.told):
                if fact.kind == kind and index not in self._taken:
                    self._taken.add(index)
                    return fact
            if self.complete:
                return None
            await self._change()

    async def _change(self) -> None:
        self._more.clear()
        await self._more.wait()


def _parsed(line: bytes) -> tuple[str, dict[str, Any]]:
    try:
        about = json.loads(line)
        return str(about.pop("kind")), about
    except (ValueError, AttributeError, KeyError, TypeError, RecursionError):
        return GARBLED, {"line": line.decode(errors="backslashreplace")}
