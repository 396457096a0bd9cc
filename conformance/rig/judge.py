"""Holds what the processes of a child use against its limits, and writes it down."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from conformance.rig import libc
from conformance.rig.limits import Exceeded, Limits
from conformance.rig.processes import Memory, ProcessTable, Seen, Table, files_below

FILES_INTERVAL = 0.2
CLOCK_TICK = 0.02
"""How far a file's time may lag behind the clock."""
NOTHING = Memory(resident=0, peak_resident=0, reserved=0, peak_address_space=0)


@dataclass(kw_only=True)
class Notes:
    """What has been seen so far; sent to the owner whenever it changes, so that it survives the guardian."""

    peak_memory_bytes: int = 0
    peak_reserved_bytes: int = 0
    peak_processes: int = 0
    exceeded: list[Exceeded] = field(default_factory=list)

    def exceed(self, what: Exceeded) -> None:
        """Write down that a limit was passed; each once, in order."""
        if what not in self.exceeded:
            self.exceeded.append(what)

    def gist(self) -> tuple[object, ...]:
        """What has to change before the notes are worth sending again: memory counts in steps of 16 MiB."""
        steps = (self.peak_memory_bytes >> 24, self.peak_reserved_bytes >> 24)
        return (*self.exceeded, *steps, self.peak_processes)


class Judge:
    """Judges one child.

    Args:
        limits: what it is held to.
        table: its processes.
        forked: it is a fork of the warm process, so that what that held is not its doing.
        watched: files and folders looked through for files that grew too large.
    """

    def __init__(self, *, limits: Limits, table: Table, forked: bool, watched: Sequence[str]) -> None:
        """Write nothing down yet."""
        self.notes = Notes()
        self._limits = limits
        self._table = table
        self._watched = watched
        self._base = own_memory() if forked else NOTHING
        self._forked_program = str(Path("/proc/self/exe").readlink()) if forked and libc.ON_LINUX else None
        self._files_at = 0.0
        self._since = time.time()

    def look(self) -> Exceeded | None:
        """Read all processes once; gives the limit for which the child has to be ended now, if any."""
        members = self._table.members()
        if self.count(members):
            return "processes"
        extra = [self._weigh(one) for one in members]
        if max(extra, default=0) > self._limits.deadly_bytes or sum(extra) > 2 * self._limits.deadly_bytes:
            self.notes.exceed("memory")
            return "memory"
        self._look_at_open_files(members)
        return None

    def count(self, members: Sequence[Seen]) -> bool:
        """Write down how many processes there are, and tell whether they are too many."""
        self.notes.peak_processes = max(self.notes.peak_processes, len(members))
        too_many = len(members) > self._limits.processes
        if too_many:
            self.notes.exceed("processes")
        return too_many

    def _weigh(self, one: Seen) -> int:
        """Judge the memory of one process; gives what it is resident with beyond what it began with."""
        memory = self._table.memory(one.pid)
        if memory is None:
            return 0
        self.resident(memory.peak_resident)
        asked = memory.reserved - self._base.reserved
        self.notes.peak_reserved_bytes = max(self.notes.peak_reserved_bytes, asked)
        grown = memory.peak_address_space - self._base.peak_address_space
        if grown > self._limits.grown_bytes and self._table.program(one.pid) == self._forked_program:
            self.asked_for(grown)
        if asked > self._limits.reserved_bytes:
            self.notes.exceed("memory")
        return max(0, memory.resident - self._base.resident)

    def resident(self, size: int) -> None:
        """Take in the largest resident size of one process."""
        self.notes.peak_memory_bytes = max(self.notes.peak_memory_bytes, size)
        if size > self._limits.memory_bytes:
            self.notes.exceed("memory")

    def asked_for(self, size: int) -> None:
        """Take in a request for memory that passes the limit, granted or not."""
        self.notes.peak_reserved_bytes = max(self.notes.peak_reserved_bytes, size)
        self.notes.exceed("memory")

    def _look_at_open_files(self, members: Sequence[Seen]) -> None:
        """Look, every now and then, for too large a file among those open for writing; it may be gone at the end."""
        now = time.monotonic()
        if now < self._files_at:
            return
        self._files_at = now + FILES_INTERVAL
        self._hold_against_limit(about for one in members for about in self._table.open_files(one.pid))

    def look_at_files(self) -> None:
        """Look for files that have grown too large, at the end."""
        self._hold_against_limit(files_below(self._watched))

    def _hold_against_limit(self, files: Iterable[os.stat_result]) -> None:
        """Judge the files that were changed since the start (their ctime, which nobody can set); others were there."""
        if any(one.st_size > self._limits.file_bytes and one.st_ctime >= self._since - CLOCK_TICK for one in files):
            self.notes.exceed("file")

    def as_json(self) -> dict[str, Any]:
        """The notes for a message."""
        return vars(self.notes)


def own_memory() -> Memory:
    """What this process holds: as a fork of the warm process, what every child begins with."""
    if not libc.ON_LINUX:
        return NOTHING
    folder = os.open("/proc", os.O_RDONLY | os.O_DIRECTORY)
    try:
        return ProcessTable(root=0, folder=folder, exclusive=False).memory(os.getpid()) or NOTHING
    finally:
        os.close(folder)
