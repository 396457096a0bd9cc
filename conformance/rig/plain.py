"""A child without a PID namespace: the subject is the guardian's own, and what it abandons comes to the guardian."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Protocol

from conformance.rig import libc
from conformance.rig.control import Message, close_all
from conformance.rig.first import KILL_SECONDS, Ended, Launch
from conformance.rig.processes import ProcessTable, Seen, Table
from conformance.rig.ps import PsTable
from conformance.rig.waking import waking_pipe


class PlainFirst(Ended):
    """The subject as a direct child of the guardian, which adopts whatever the subject abandons."""

    def __init__(self, *, launch: Launch) -> None:
        """Be ready to adopt; `launch` becomes the subject."""
        self._launch = launch
        libc.adopt_orphans()
        self._wake, _ = waking_pipe()

    def start(self, order: Message, descriptors: Sequence[int]) -> None:
        """Fork the subject."""
        self.subject_pid = os.fork()
        if self.subject_pid == 0:
            libc.die_with_parent(signal.SIGKILL)
            libc.show_to_tracers()
            self._launch(order, descriptors)
        close_all(descriptors)
        self._table = table_below(os.getpid())

    def table(self) -> Table:
        """The descendants of the guardian."""
        return self._table

    def waits_on(self) -> Sequence[int]:
        """Readable after SIGCHLD."""
        return [self._wake]

    def collect(self) -> None:
        """Reap whatever has ended."""
        with suppress(BlockingIOError):
            os.read(self._wake, 1 << 10)
        with suppress(ChildProcessError):
            while True:
                pid, status, usage = os.wait4(-1, os.WNOHANG)
                if pid == 0:
                    return
                self._note(
                    pid, status, most_resident=usage.ru_maxrss * 1024, cpu_seconds=usage.ru_utime + usage.ru_stime
                )

    def signal_subject(self, number: int) -> None:
        """The subject cannot be another process yet, as only we reap it."""
        if not self.over:
            with suppress(ProcessLookupError):
                os.kill(self.subject_pid, number)

    def kill_subject(self) -> None:
        """Kill all at once: without a namespace, what runs on must not gain time."""
        self.kill_all()

    def kill_all(self) -> None:
        """Kill group by group and one by one until no descendant is left."""
        until = time.monotonic() + KILL_SECONDS
        while time.monotonic() < until:
            kill_below(self._table)
            self.collect()
            if not self._table.members():
                self.collect()
                return
            time.sleep(0.001)


class Listing(Protocol):
    """Whatever can list processes."""

    def members(self) -> list[Seen]:
        """List the living ones."""


def table_below(root: int) -> Table:
    """The descendants of `root`, by whatever this system offers."""
    if libc.ON_LINUX:
        return ProcessTable(root=root, folder=os.open("/proc", os.O_RDONLY | os.O_DIRECTORY), exclusive=False)
    return PsTable(root=root)


def kill_below(table: Listing) -> list[int]:
    """Send SIGKILL to every process in the table; whole groups first, as no member can outrun that by forking."""
    pids = [one.pid for one in table.members()]
    own = os.getpgrp()
    groups = set()
    for pid in pids:
        with suppress(ProcessLookupError):
            groups.add(os.getpgid(pid))
    for group in groups & set(pids) - {own}:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    return pids
