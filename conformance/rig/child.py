"""The caller's hold on one child: its streams, what it tells, and its end."""

from __future__ import annotations

import array
import asyncio
import fcntl
import json
import os
import socket
import termios
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from conformance.rig.capture import Capture, Intake
from conformance.rig.errors import ChildNotStarted, FactMissing
from conformance.rig.limits import Limits
from conformance.rig.pipes import PipeStream
from conformance.rig.record import ProcessSeen, Record

BAIT = b"\n"
"""The one line in the child's stdin, so that a read returns and is noticed."""
STDIN_INTERVAL = 0.05
GUARDIAN_SECONDS = 10.0
END_KNOWN_SECONDS = 2.0
"""How long after a child's last word its record may take."""
FIRST_PHASE = "start"


@dataclass(frozen=True, kw_only=True)
class Told:
    """One fact that the child told of itself."""

    kind: str
    about: Mapping[str, Any]
    seconds: float
    """Since the start of the child."""


@dataclass(frozen=True, kw_only=True)
class OurEnds:
    """Our ends of everything that connects to a child, as descriptors; `stdin` is a pair, or None for a command."""

    stdin: tuple[int, int] | None
    """(a copy of the reading end, by which we see what was consumed; the writing end)."""
    stdout: int | None
    stderr: int
    protocol_out: int
    protocol_in: int
    facts: socket.socket
    guardian: socket.socket


class Child:
    """One child, from its start to its record."""

    def __init__(
        self, *, number: int, limits: Limits, ends: OurEnds, abandon: Callable[[int], Awaitable[None]]
    ) -> None:
        """Begin to read; `abandon` has the warm process kill a guardian that no longer answers."""
        self.number = number
        self.phase = FIRST_PHASE
        self.facts: list[Told] = []
        self.stdout = Capture(limit=limits.output_bytes)
        self.stderr = Capture(limit=limits.output_bytes)
        self.pid: int | None = None
        """The subject's number inside its PID namespace, or outside where there is none; None until known."""
        self.record: Record | None = None
        self._limits = limits
        self._abandon = abandon
        self._started = time.monotonic()
        self._notes: dict[str, Any] = {}
        self._changed = asyncio.Event()
        self._told = asyncio.Event()
        self._read_facts = 0
        self._taken: set[int] = set()
        self._lines: dict[str, bytearray] = {"facts": bytearray(), "guardian": bytearray()}
        self._facts_total = 0
        self._flooded = False
        self._broken = ""
        self.closed = False
        """Whether everything has been given back."""
        self._connect(ends)

    def _connect(self, ends: OurEnds) -> None:
        self._stdin = ends.stdin
        self._facts_socket, self._guardian = ends.facts, ends.guardian
        self._guardian.setblocking(False)  # noqa: FBT003 - the standard library takes it by position only
        is_command = ends.stdout is None
        self.protocol = PipeStream(
            reading=ends.protocol_out,
            writing=ends.protocol_in,
            seen=self._on_stdout if is_command else self._on_protocol,
        )
        self._protocol_total = 0
        self._intakes = [Intake(ends.stderr, take=self._on_stderr)]
        if ends.stdout is not None:
            self._intakes.append(Intake(ends.stdout, take=self._on_stdout))
        self._outputs = tuple(self._intakes)
        self._intakes += [
            Intake(os.dup(ends.facts.fileno()), take=self._on_facts, ended=self._told.set),
            Intake(os.dup(ends.guardian.fileno()), take=self._on_guardian, ended=self._on_guardian_end),
        ]
        self._stdin_watch = asyncio.get_running_loop().call_later(STDIN_INTERVAL, self._watch_stdin)

    # --- what comes in ------------------------------------------------------------------------------------------------

    def _on_stdout(self, data: bytes) -> None:
        self.stdout.add(data, phase=self.phase)
        self._bound(self.stdout.total)

    def _on_stderr(self, data: bytes) -> None:
        self.stderr.add(data, phase=self.phase)
        self._bound(self.stderr.total)

    def _on_protocol(self, data: bytes) -> None:
        self._protocol_total += len(data)
        self._bound(self._protocol_total)

    def _bound(self, total: int) -> None:
        """Have the guardian end a child that writes more than it may."""
        if total > self._limits.output_bytes and not self._flooded:
            self._flooded = True
            self._order({"do": "stop", "why": "output"})

    def _on_facts(self, data: bytes) -> None:
        self._facts_total += len(data)
        self._bound(self._facts_total)
        for line in self._split("facts", data):
            try:
                told = json.loads(line)
                kind = told.pop("kind")
            except (ValueError, AttributeError, KeyError, TypeError):
                kind, told = "garbled", {"line": line.decode(errors="backslashreplace")}
            self._on_fact(str(kind), told)

    def _on_fact(self, kind: str, about: dict[str, Any]) -> None:
        if kind == "phase":
            for one in self._outputs:
                one.drain()
            self.phase = str(about.get("name"))
            with suppress(OSError):
                self._facts_socket.send(b"\n")
        self.facts.append(Told(kind=kind, about=about, seconds=time.monotonic() - self._started))
        self._told.set()

    def _on_guardian(self, data: bytes) -> None:
        for line in self._split("guardian", data):
            word = json.loads(line)
            event = word.pop("event")
            if event == "started":
                self.pid = word["pid"]
            elif event == "notes":
                self._notes = word
            elif event == "broken":
                self._broken = word["text"]
            elif event == "record":
                self._settle(word)

    def _split(self, of: str, data: bytes) -> list[bytes]:
        *lines, rest = (bytes(self._lines[of]) + data).split(b"\n")
        self._lines[of] = bytearray(rest)
        return lines

    def _on_guardian_end(self) -> None:
        """The guardian is gone; without its record the warm process tells us more through `guardian_gone`."""
        if self.record is None and self._broken:
            self._settle({"exit_code": None, "signal": None, "ended_by": "us", "left_behind": []})

    def guardian_gone(self, left: list[dict[str, Any]], *, warm_gone: bool = False) -> None:
        """Take in what the warm process saw when it found the guardian dead, or that the warm process is gone too."""
        if self.record is not None:
            return
        others = [one for one in left if one["pid"] != self.pid]
        word = {"exit_code": None, "signal": None, "ended_by": "itself", "left_behind": others}
        self._settle(word, guardian_killed=True, orphaned=warm_gone)

    def _settle(self, word: dict[str, Any], *, guardian_killed: bool = False, orphaned: bool = False) -> None:
        for one in self._outputs:
            one.drain()
        self.protocol.drain()
        known = {**self._notes, **word}
        exceeded = list(known.get("exceeded", ()))
        if self._flooded and "output" not in exceeded:  # seen only after the guardian had written its record
            exceeded.append("output")
        self.record = Record(
            exit_code=known["exit_code"], signal=known["signal"], ended_by=known["ended_by"],
            peak_memory_bytes=known.get("peak_memory_bytes", 0),
            peak_reserved_bytes=known.get("peak_reserved_bytes", 0),
            peak_processes=known.get("peak_processes", 0), exceeded=tuple(exceeded),
            left_behind=tuple(ProcessSeen.from_json(one) for one in known["left_behind"]),
            seconds=known.get("seconds", time.monotonic() - self._started),
            guardian_killed=guardian_killed, orphaned=orphaned,
        )  # fmt: skip
        self._changed.set()
        self._told.set()

    # --- stdin --------------------------------------------------------------------------------------------------------

    @property
    def stdin_read(self) -> int:
        """Bytes that the child has taken from the stdin that is not for it; always 0 for a command."""
        if self._stdin is None:
            return self._stdin_taken
        left = array.array("i", [0])
        fcntl.ioctl(self._stdin[0], termios.FIONREAD, left)
        self._stdin_taken = len(BAIT) - left[0]
        return self._stdin_taken

    _stdin_taken = 0

    def _watch_stdin(self) -> None:
        """Once the bait is taken, end that stdin, so that the next read does not wait for ever."""
        if self._stdin is None:
            return
        if self.stdin_read:
            self._close_stdin()
            return
        self._stdin_watch = asyncio.get_running_loop().call_later(STDIN_INTERVAL, self._watch_stdin)

    def _close_stdin(self) -> None:
        self._stdin_watch.cancel()
        if self._stdin is not None:
            _ = self.stdin_read
            ends, self._stdin = self._stdin, None
            for descriptor in ends:
                os.close(descriptor)

    # --- what it tells ------------------------------------------------------------------------------------------------

    async def next_fact(self, seconds: float) -> tuple[str, Mapping[str, Any]] | None:
        """Give the next fact in order, as (kind, its values); None when the child ends first or the time is over."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self._read_facts >= len(self.facts):
                    if not self._can_tell:
                        await self.wait_ended(END_KNOWN_SECONDS)
                        return None
                    self._told.clear()
                    await self._told.wait()
                told = self.facts[self._read_facts]
                self._read_facts += 1
                return told.kind, told.about
        return None

    async def fact(self, kind: str, seconds: float) -> Told:
        """Wait for the next fact of one kind that no earlier call of `fact` gave; raises FactMissing otherwise."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while True:
                    for index, told in enumerate(self.facts):
                        if told.kind == kind and index not in self._taken:
                            self._taken.add(index)
                            return told
                    if not self._can_tell:
                        await self.wait_ended(END_KNOWN_SECONDS)
                        raise FactMissing(
                            f"the child ended in phase {self.phase!r} before it told {kind!r}: {self._end()}"
                        )
                    self._told.clear()
                    await self._told.wait()
        raise FactMissing(f"the child told no {kind!r} within {seconds} s; it is in phase {self.phase!r}")

    @property
    def _can_tell(self) -> bool:
        return self._intakes[-2].open and self.record is None

    def _end(self) -> str:
        return self.record.describe() if self.record is not None else "its end is not yet known"

    # --- the end ------------------------------------------------------------------------------------------------------

    @property
    def ended(self) -> bool:
        """Whether the record is there."""
        return self.record is not None

    async def wait_ended(self, seconds: float) -> Record | None:
        """Wait for the child to end by itself or by a limit; None while it goes on."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._changed.wait()
        return self.record

    async def close(self, grace: float = 1.0) -> Record:
        """End the child, give everything back, and give the record; again: the same record.

        Its input ends at once; after `grace` seconds it gets SIGTERM, and at most half a second later SIGKILL.
        """
        if self.record is None:
            self._order({"do": "end", "grace": grace})  # first: what the end of input brings about is our doing
        self.protocol.close_writing()
        if await self.wait_ended(grace + GUARDIAN_SECONDS) is None:
            await self._abandon(self.number)
            await self.wait_ended(GUARDIAN_SECONDS)
        self._release()
        if self.record is None:
            self._settle({"exit_code": None, "signal": None, "ended_by": "us", "left_behind": []}, orphaned=True)
        if self._broken:
            raise ChildNotStarted(f"the guardian could not do its work: {self._broken}")
        assert self.record is not None  # noqa: S101 - set by _settle just above
        return self.record

    def _order(self, word: dict[str, Any]) -> None:
        with suppress(OSError):
            self._guardian.send(json.dumps(word).encode() + b"\n")

    def _release(self) -> None:
        self.closed = True
        self._close_stdin()
        for one in self._intakes:
            one.close()
        self.protocol.shut()
        self._facts_socket.close()
        self._guardian.close()
