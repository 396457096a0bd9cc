"""The guardian of one child: starts it, watches it, ends it, and writes down what it saw.

It is forked from the warm process and lives outside the child's PID namespace where there is one. The child's first
process (1 in the namespace) adopts what the subject abandons; without a namespace the guardian itself is the subreaper.
Judgement rests on this record alone: nothing that the subject catches, hides or kills inside changes it.
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from conformance.rig import libc
from conformance.rig.first import FirstProcess, start_first
from conformance.rig.limits import Exceeded, Limits
from conformance.rig.namespaces import Isolation
from conformance.rig.order import Order
from conformance.rig.processes import ProcessTable, Seen, largest_file

EAGER_SECONDS, EAGER_INTERVAL, CALM_INTERVAL = 2.0, 0.01, 0.025
FILES_INTERVAL = 0.2
SETTLE_SECONDS = 0.15
"""How long processes may take to go after the subject (a curl without its reader) before they count as left behind."""
TERMINATE_SECONDS = 0.5


@dataclass(kw_only=True)
class Notes:
    """What the guardian has written down so far; sent whenever it changes, so that it survives the guardian."""

    peak_memory_bytes: int = 0
    peak_reserved_bytes: int = 0
    peak_processes: int = 0
    exceeded: list[Exceeded] = field(default_factory=list)

    def exceed(self, what: Exceeded) -> None:
        """Write down that a limit was passed."""
        if what not in self.exceeded:
            self.exceeded.append(what)


@dataclass(kw_only=True)
class Ending:
    """How the subject came to its end."""

    asked: bool = False
    """We asked it to end."""
    limited: bool = False
    """The guardian ended it."""
    kill_at: float | None = None
    terminate_at: float | None = None
    abandoned: dict[int, Seen] = field(default_factory=dict)
    """Processes without a parent of the child's own, seen before we killed anything."""


class Guardian:
    """Watches over one child until it is gone; `run` is its whole life."""

    def __init__(self, *, order: Order, first: FirstProcess, owner: socket.socket, started: float) -> None:
        """Take over the first process of a child that has just been started."""
        self._first = first
        self._owner = owner
        self._limits: Limits = order.limits
        self._watched = (order.folder, *order.watched)
        self._forked = order.kind == "entry"
        self._started = started
        self._notes = Notes()
        self._sent = ""
        self._ending = Ending()
        self._table: ProcessTable = first.table()
        self._base: dict[str, int] = {}
        self._program = (
            self._table.program(os.getpid()) if not first.exclusive else str(Path("/proc/self/exe").readlink())
        )
        self._files_at = 0.0

    def run(self) -> None:
        """Watch until the subject has ended and everything below it is gone, then send the record."""
        self._say({"event": "started", "pid": self._first.subject_pid})
        while not self._first.over:
            self._wait(EAGER_INTERVAL if time.monotonic() - self._started < EAGER_SECONDS else CALM_INTERVAL)
            if self._first.over:
                break
            self._look()
            self._keep_time()
        self._finish()

    # --- waiting ------------------------------------------------------------------------------------------------------

    def _wait(self, seconds: float) -> None:
        """Sleep until something happens: a word of the owner, or of the first process."""
        owner = self._owner.fileno()
        ready, _, _ = select.select([owner, *self._first.waits_on()], [], [], seconds)
        if owner in ready:
            self._obey()
        self._first.collect()

    def _obey(self) -> None:
        """Carry out what the owner says; when the owner is gone, end everything."""
        try:
            words = self._owner.recv(1 << 12)
        except OSError:
            words = b""
        if not words:
            _end_at_once(self._first)
        for line in words.splitlines():
            word = json.loads(line)
            if word["do"] == "end":
                now = time.monotonic()
                self._ending.asked = True
                self._ending.terminate_at = now + word["grace"]
                self._ending.kill_at = now + word["grace"] + min(word["grace"], TERMINATE_SECONDS)
            else:
                self._stop(word["why"])

    # --- watching -----------------------------------------------------------------------------------------------------

    def _look(self) -> None:
        """Read all processes of the child once and hold them against the limits."""
        members = self._table.members()
        self._notes.peak_processes = max(self._notes.peak_processes, len(members))
        if len(members) > self._limits.processes:
            self._stop("processes")
            return
        extra = sum(self._weigh(one) for one in members)
        if extra > 2 * self._limits.memory_bytes:
            self._stop("memory")
        if time.monotonic() >= self._files_at:
            self._files_at = time.monotonic() + FILES_INTERVAL
            sizes = (size for one in members for size in self._table.open_sizes(one.pid))
            if max(sizes, default=0) > self._limits.file_bytes:
                self._stop("file")
        self._update()

    def _weigh(self, one: Seen) -> int:
        """Judge the memory of one process; gives what it holds beyond what the first of its kind began with."""
        memory = self._table.memory(one.pid)
        if memory is None:
            return 0
        base = self._base or self._set_base(memory.resident, memory.reserved, memory.peak_address_space)
        notes = self._notes
        notes.peak_memory_bytes = max(notes.peak_memory_bytes, memory.peak_resident)
        asked = memory.reserved - base["reserved"]
        grown = memory.peak_address_space - base["space"]
        if self._forked and grown > self._limits.grown_bytes and self._table.program(one.pid) == self._program:
            asked = max(asked, grown)
        notes.peak_reserved_bytes = max(notes.peak_reserved_bytes, asked)
        if memory.peak_resident > self._limits.memory_bytes:
            self._stop("memory")
        elif asked > self._limits.reserved_bytes:
            notes.exceed("memory")
        return max(0, memory.resident - base["resident"])

    def _set_base(self, resident: int, reserved: int, space: int) -> dict[str, int]:
        """Keep what the guardian itself, a fork of the same process, holds: the subject began with as much."""
        own = self._own_memory() if self._forked else None
        found = own or {"resident": 0, "reserved": 0, "space": 0}
        self._base = {
            "resident": min(found["resident"], resident), "reserved": min(found["reserved"], reserved),
            "space": min(found["space"], space),
        }  # fmt: skip
        return self._base

    @staticmethod
    def _own_memory() -> dict[str, int] | None:
        descriptor = os.open("/proc", os.O_RDONLY | os.O_DIRECTORY)
        try:
            memory = ProcessTable(root=1, folder=descriptor, exclusive=False).memory(os.getpid())
        finally:
            os.close(descriptor)
        if memory is None:
            return None
        return {"resident": memory.resident, "reserved": memory.reserved, "space": memory.peak_address_space}

    def _keep_time(self) -> None:
        """End the subject when its time is over, or the time that the owner granted it."""
        now = time.monotonic()
        if now - self._started > self._limits.seconds:
            self._stop("seconds")
        ending = self._ending
        if ending.terminate_at is not None and now >= ending.terminate_at:
            ending.terminate_at = None
            self._first.signal_subject(signal.SIGTERM)
        if ending.kill_at is not None and now >= ending.kill_at:
            ending.kill_at = None
            self._kill()

    def _stop(self, why: Exceeded) -> None:
        """Write down the limit and kill the subject and all below it; what it had abandoned is noted first."""
        self._notes.exceed(why)
        self._ending.limited = self._ending.limited or not self._ending.asked
        self._kill()

    def _kill(self) -> None:
        for one in self._table.members():
            if one.parent == self._table.root and one.pid != self._first.subject_pid:
                self._ending.abandoned.setdefault(one.pid, one)
                self._ending.abandoned[one.pid] = one
        self._evidence = [self._table.as_evidence(one) for one in self._ending.abandoned.values()]
        self._first.kill_subject()

    _evidence: list[dict[str, Any]] = []  # noqa: RUF012 - replaced, never changed in place

    # --- the end ------------------------------------------------------------------------------------------------------

    def _finish(self) -> None:
        """List what outlived the subject, end it, and send the record."""
        killed = self._ending.limited or (self._ending.asked and self._ending.kill_at is None)
        remaining = self._evidence if killed else self._settle()
        self._first.kill_all()
        notes = self._notes
        notes.peak_memory_bytes = max(notes.peak_memory_bytes, self._first.most_resident)
        if self._first.most_resident > self._limits.memory_bytes:
            notes.exceed("memory")
        if largest_file(self._watched) > self._limits.file_bytes:
            notes.exceed("file")
        if self._first.signal == signal.SIGXCPU:
            notes.exceed("cpu")
        ended_by = "limit" if self._ending.limited or self._first.signal == signal.SIGXCPU else "itself"
        if ended_by == "itself" and self._ending.asked:
            ended_by = "us"
        self._say({
            "event": "record", "exit_code": self._first.exit_code, "signal": self._first.signal,
            "ended_by": ended_by, "left_behind": remaining, "seconds": time.monotonic() - self._started, **vars(notes),
        })  # fmt: skip

    def _settle(self) -> list[dict[str, Any]]:
        """Give processes a moment to follow the subject; list those that stay."""
        until = time.monotonic() + SETTLE_SECONDS
        while (members := self._table.members()) and time.monotonic() < until:
            if len(members) > self._limits.processes:
                self._notes.exceed("processes")
                break
            time.sleep(0.005)
            self._first.collect()
        self._notes.peak_processes = max(self._notes.peak_processes, len(members))
        return [self._table.as_evidence(one) for one in members[: self._limits.processes]]

    def _update(self) -> None:
        """Send the notes when they have changed in a way that matters: they may be the last word."""
        notes = self._notes
        word = json.dumps(
            [notes.exceeded, notes.peak_memory_bytes >> 24, notes.peak_reserved_bytes >> 24, notes.peak_processes]
        )
        if word != self._sent:
            self._sent = word
            self._say({"event": "notes", **vars(notes)})

    def _say(self, message: dict[str, Any]) -> None:
        with suppress(OSError):  # the owner is gone: the next wait sees that too, and ends everything
            self._owner.sendall(json.dumps(message).encode() + b"\n")


def _end_at_once(first: FirstProcess) -> NoReturn:
    """Leave nothing, tell nothing: the owner is gone."""
    first.kill_all()
    os._exit(0)


def guard(
    *,
    order: Order,
    owner: socket.socket,
    isolation: Isolation,
    launch: Callable[[], NoReturn],
    release: Callable[[], None],
) -> NoReturn:
    """Be the guardian of one child, from its start to its end; called in a process forked for that.

    Args:
        order: what the child is.
        owner: the line to the caller's process.
        isolation: which namespaces to use.
        launch: becomes the subject; called in the child.
        release: closes what only the child needs; called in the guardian and in the first process.
    """
    try:
        os.setsid()
        libc.die_with_parent(signal.SIGTERM)
        libc.hide_from_tracers()
        started = time.monotonic()
        first = start_first(isolation=isolation, launch=launch, release=release, owner=owner)
        signal.signal(signal.SIGTERM, lambda *_: _end_at_once(first))
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, 0, -5)
        Guardian(order=order, first=first, owner=owner, started=started).run()
    except BaseException as problem:  # noqa: BLE001 - told to the owner; this process must not return to the warm loop
        with suppress(BaseException):
            text = f"{type(problem).__name__}: {problem}"
            owner.sendall(json.dumps({"event": "broken", "text": text}).encode() + b"\n")
        os._exit(1)
    os._exit(0)
