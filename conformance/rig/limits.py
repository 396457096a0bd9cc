"""What one child may use up, and how the kernel is told; the guardian judges the rest.

Two kinds of limit work together. The kernel's own (`setrlimit`) stop what must never happen, and are set *above* the
figure that is reported: a subject that asks for 4 GB and catches the refusal would otherwise leave no trace. The
guardian reads sizes from `/proc`, records whatever passes a figure below, and ends the child where waiting would hurt
the machine.
"""

from __future__ import annotations

import resource
from dataclasses import dataclass
from typing import Literal

Exceeded = Literal["memory", "processes", "output", "file", "seconds", "cpu"]
"""Which limit a child went past; the words that stand in `Record.exceeded`."""

MIB = 1024 * 1024
GIB = 1024 * MIB
HEADROOM = 128 * MIB
"""Between what is recorded and what is refused, so that growth in small steps is recorded before it is refused."""


@dataclass(frozen=True, kw_only=True)
class Limits:
    """The figures that a child is held to.

    Memory past `memory_bytes` is recorded, and the subject goes on: it may catch the refusals of the kernel, which come
    a little later, and everything else about it can still be judged. Only what gets round those is ended
    (`deadly_bytes`).
    """

    memory_bytes: int = 512 * MIB
    """Resident memory of any one process of the child."""
    processes: int = 64
    """Living processes of the child at one moment, the subject itself included."""
    file_bytes: int = 64 * MIB
    """The size of any one file that the child writes."""
    open_files: int = 512
    """Descriptors of one process; the kernel refuses more, which is not recorded."""
    protocol_bytes: int = 256 * MIB
    """Bytes of the protocol where it has descriptors of its own: large answers are no flood."""
    output_bytes: int = 8 * MIB
    """Bytes on any one of stdout (of a command: its protocol too), stderr and the facts."""
    seconds: float = 60.0
    """Wall time from the start to the end of the child."""
    cpu_seconds: int = 60
    """Processor time of any one process."""

    @property
    def reserved_bytes(self) -> int:
        """Writable private memory that one process may hold, touched or not: room for forty thread stacks of 8 MiB."""
        return 2 * self.memory_bytes

    @property
    def grown_bytes(self) -> int:
        """How far the address space of a forked process may ever have grown: what a freed 4 GB buffer leaves behind."""
        return 4 * self.memory_bytes

    @property
    def deadly_bytes(self) -> int:
        """Resident memory, beyond what it began with, for which a process is ended."""
        return 3 * self.memory_bytes + HEADROOM

    def data_ceiling(self, *, requests_seen: bool) -> int:
        """The kernel's RLIMIT_DATA.

        Where refused requests are seen (`conformance.rig.seccomp`), it is what may be reserved. Elsewhere it is so high
        that a greedy request succeeds on paper, and is seen by its size.
        """
        return self.reserved_bytes + HEADROOM if requests_seen else max(16 * self.memory_bytes, 8 * GIB)

    def apply(self, *, tasks_of_user: int, requests_seen: bool) -> None:
        """Set the kernel's limits on the calling process and all that it will start.

        Args:
            requests_seen: large requests for memory are told to the guardian when they are refused.
            tasks_of_user: tasks that already count against the user's RLIMIT_NPROC; 0 where that limit is void (root).
        """
        lower(resource.RLIMIT_CORE, 0)
        lower(resource.RLIMIT_NOFILE, self.open_files)
        lower(resource.RLIMIT_FSIZE, 2 * self.file_bytes)
        lower(resource.RLIMIT_CPU, self.cpu_seconds, hard=self.cpu_seconds + 1)
        lower(resource.RLIMIT_DATA, self.data_ceiling(requests_seen=requests_seen))
        if tasks_of_user:
            lower(resource.RLIMIT_NPROC, tasks_of_user + max(4 * self.processes, 256))


def lower(which: int, ceiling: int, *, hard: int | None = None) -> None:
    """Bring a limit down to `ceiling`; one that is lower already stays, as only a privileged process may raise it.

    Args:
        which: a constant of `resource`.
        ceiling: the soft limit.
        hard: the hard limit, where it is another.
    """
    _, now = resource.getrlimit(which)
    wanted = (ceiling, ceiling if hard is None else hard)
    resource.setrlimit(which, wanted if now == resource.RLIM_INFINITY else (min(wanted[0], now), min(wanted[1], now)))
