"""The caller's hold on one child: its streams, what it tells, and its end."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from conformance.rig import libc
from conformance.rig.bait import Bait
from conformance.rig.capture import Capture, Intake
from conformance.rig.errors import ChildNotStarted, FactMissing
from conformance.rig.facts import Facts, Lines, Told
from conformance.rig.limits import Limits
from conformance.rig.pipes import PipeStream
from conformance.rig.processes import ProcessTable
from conformance.rig.record import ProcessSeen, Record

GUARDIAN_SECONDS = 10.0
TERMINATE_SECONDS = 0.5
"""The most that lies between SIGTERM and SIGKILL, unless more is granted."""
END_KNOWN_SECONDS = 2.0
"""How long after a child's last word its record may take."""
FIRST_PHASE = "start"


@dataclass(frozen=True, kw_only=True)
class OurEnds:
    """Our ends of everything that connects to a child, as descriptors; `stdin` is a pair, or None for a command."""

    stdin: tuple[int, int] | None
    """See `Bait`: a copy of the reading end, and the writing end."""
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
        self.stdout = Capture(limit=limits.output_bytes)
        self.stderr = Capture(limit=limits.output_bytes)
        self.pid: int | None = None
        """The subject's number inside its PID namespace, or outside where there is none; None until known."""
        self.record: Record | None = None
        self._guardian_pid = 0
        self._limits = limits
        self._abandon = abandon
        self._started = time.monotonic()
        self._notes: dict[str, Any] = {}
        self._changed = asyncio.Event()
        self._facts = Facts()
        self._facts_total = 0
        self._guardian_lines = Lines()
        self._flooded = False
        self._broken = ""
        self.closed = False
        """Whether everything has been given back."""
        self._connect(ends)

    def _connect(self, ends: OurEnds) -> None:
        self._bait = Bait(reading=ends.stdin[0], writing=ends.stdin[1]) if ends.stdin is not None else None
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
            Intake(os.dup(ends.facts.fileno()), take=self._on_facts, ended=self._facts.end),
            Intake(os.dup(ends.guardian.fileno()), take=self._on_guardian, ended=self._on_guardian_end),
        ]

    # --- what comes in ------------------------------------------------------------------------------------------------

    def _on_stdout(self, data: bytes) -> None:
        self.stdout.add(data, phase=self.phase)
        self._bound(self.stdout.total)

    def _on_stderr(self, data: bytes) -> None:
        self.stderr.add(data, phase=self.phase)
        self._bound(self.stderr.total)

    def _on_protocol(self, data: bytes) -> None:
        self._protocol_total += len(data)
        self._bound(self._protocol_total, self._limits.protocol_bytes)

    def _bound(self, total: int, limit: int | None = None) -> None:
        """Have the guardian end a child that writes more than it may."""
        if total > (limit or self._limits.output_bytes) and not self._flooded:
            self._flooded = True
            self._order({"do": "stop", "why": "output"})

    def _on_facts(self, data: bytes) -> None:
        self._facts_total += len(data)
        self._bound(self._facts_total)
        for fact in self._facts.take(data):
            if fact.kind == "phase":
                self._begin_phase(str(fact.about.get("name")))

    def _begin_phase(self, name: str) -> None:
        """File all that was written until now under the phase before, then let the child go on."""
        for one in self._outputs:
            one.drain()
        self.phase = name
        with suppress(OSError):
            self._facts_socket.send(b"\n")

    def _on_guardian(self, data: bytes) -> None:
        for line in self._guardian_lines.cut(data):
            word = json.loads(line)
            event = word.pop("event")
            if event == "started":
                self.pid, self._guardian_pid = word["pid"], word["guardian"]
            elif event == "notes":
                self._notes = word
            elif event == "broken":
                self._broken = word["text"]
            elif event == "record":
                self._settle(word)

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
            seconds=known.get("seconds", time.monotonic() - self._started), cpu_seconds=known.get("cpu_seconds", 0.0),
            guardian_killed=guardian_killed, orphaned=orphaned, parent_attacked=known.get("parent_attacked", False),
        )  # fmt: skip
        self._changed.set()
        self._facts.end()

    # --- what it tells ------------------------------------------------------------------------------------------------

    @property
    def facts(self) -> list[Told]:
        """All that it told so far, in order."""
        return self._facts.told

    async def next_fact(self, seconds: float) -> tuple[str, Mapping[str, Any]] | None:
        """Give the next fact in order, as (kind, its values); None when the child ends first or the time is over.

        After the last word of a child that is ending, this waits (at most two seconds more) until its record is there.
        """
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                fact = await self._facts.next()
            if fact is not None:
                return fact.kind, fact.about
            await self.wait_ended(END_KNOWN_SECONDS)
        return None

    async def fact(self, kind: str, seconds: float) -> Told:
        """Wait for the next fact of one kind that no earlier call of `fact` gave; raises FactMissing otherwise."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                fact = await self._facts.next_of(kind)
            if fact is not None:
                return fact
            record = await self.wait_ended(END_KNOWN_SECONDS)
            end = record.describe() if record is not None else "its end is not yet known"
            raise FactMissing(f"the child ended in phase {self.phase!r} before it told {kind!r}: {end}")
        raise FactMissing(f"the child told no {kind!r} within {seconds} s; it is in phase {self.phase!r}")

    @property
    def stdin_read(self) -> int:
        """Bytes that the child has taken from the stdin that is not for it; always 0 for a command."""
        return self._bait.taken if self._bait is not None else 0

    def command_lines(self) -> list[str]:
        """Give what a list of processes shows of the child to anybody on this machine: a line for each process.

        Empty where the system has no /proc.
        """
        if not self._guardian_pid or self.ended or not libc.ON_LINUX:
            return []
        folder = os.open("/proc", os.O_RDONLY | os.O_DIRECTORY)
        try:
            table = ProcessTable(root=self._guardian_pid, folder=folder, exclusive=False)
            return [" ".join(table.as_evidence(one)["arguments"]) for one in table.members()]
        finally:
            os.close(folder)

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

    async def close(self, grace: float = 1.0, *, patience: float | None = None) -> Record:
        """End the child, give everything back, and give the record; again: the same record.

        Its input ends at once; after `grace` seconds it gets SIGTERM, and after `patience` seconds more SIGKILL: by
        default at most half a second, and none without grace.
        """
        patience = min(grace, TERMINATE_SECONDS) if patience is None else patience
        if self.record is None:
            # First: what the end of input brings about is our doing.
            self._order({"do": "end", "grace": grace, "patience": patience})
        self.protocol.close_writing()
        if await self.wait_ended(grace + patience + GUARDIAN_SECONDS) is None:
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
        if self._bait is not None:
            self._bait.close()
        for one in self._intakes:
            one.close()
        self.protocol.shut()
        self._facts_socket.close()
        self._guardian.close()
