"""What the system offers to shut a child in, found out by trying, and what of it is in force.

Everything here is Linux; elsewhere nothing is offered and the guardian stands alone. Every combination is first tried
in a throw-away process, because a namespace cannot be left again and half of one is worse than none: some systems grant
a user namespace but no rights inside it.
"""

from __future__ import annotations

import fcntl
import os
import socket
import struct
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from conformance.rig import libc

SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP, IFF_RUNNING = 0x8913, 0x8914, 0x1, 0x40


@dataclass(frozen=True, kw_only=True)
class Isolation:
    """Which namespaces to use: as a wish, what may be tried; as an answer, what works here."""

    pid: bool = True
    """A PID namespace per child: nothing outlives its first process, nothing outside can be signalled."""
    network: bool = True
    """A network namespace for all children: only what the rig listens on can be reached."""
    process_table: bool = True
    """A `/proc` of the child's own, in which it finds only its own processes."""
    user: bool = True
    """A user namespace, where the caller is no administrator; never used by one who can do without."""
    confinement: bool = True
    """Landlock in place of a missing namespace: signals stay inside the child, TCP goes to the rig's ports only."""

    @classmethod
    def none(cls) -> Isolation:
        """No namespace and no confinement at all: the guardian alone."""
        return cls(pid=False, network=False, process_table=False, user=False, confinement=False)

    @property
    def unshares(self) -> bool:
        """Whether anything has to be unshared."""
        return self.pid or self.network


def candidates(wish: Isolation) -> Iterator[Isolation]:
    """List what may be tried under `wish`, the most complete first, and an administrator's way before a user's."""
    shapes = (
        (wish.pid, wish.network, wish.process_table and wish.pid),
        (wish.pid, wish.network, False),
        (wish.pid, False, wish.process_table and wish.pid),
        (wish.pid, False, False),
        (False, wish.network, False),
    )
    seen = set()
    for pid, network, table in shapes:
        for user in (False, True) if wish.user else (False,):
            one = Isolation(pid=pid, network=network, process_table=table, user=user, confinement=wish.confinement)
            if one.unshares and one not in seen:
                seen.add(one)
                yield one


def available(wish: Isolation) -> Isolation:
    """Find the best of `wish` that this system grants to this user; a few milliseconds, nothing is left behind."""
    if libc.ON_LINUX:
        for one in candidates(wish):
            if succeeds(partial(rehearse, one)):
                return one
    return Isolation(pid=False, network=False, process_table=False, user=False, confinement=wish.confinement)


def succeeds(attempt: Callable[[], None]) -> bool:
    """Tell whether `attempt` ends without an exception, in a process of its own."""
    pid = os.fork()
    if pid == 0:
        try:
            attempt()
        except BaseException:  # noqa: BLE001 - whatever goes wrong in the throw-away process means "does not work here"
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


def rehearse(one: Isolation) -> None:
    """Do all that `one` asks for, as the warm process, a guardian and a first process would."""
    enter_shared(one)
    if one.pid:
        libc.unshare(libc.CLONE_NEWPID)
        if not succeeds(mount_process_table if one.process_table else lambda: None):
            raise OSError("a PID namespace cannot be entered")


def enter_shared(one: Isolation) -> None:
    """Enter the namespaces that all children share; the caller must have a single thread."""
    if one.user:
        uid, gid = os.geteuid(), os.getegid()
        libc.unshare(libc.CLONE_NEWUSER)
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{uid} {uid} 1")
        Path("/proc/self/gid_map").write_text(f"{gid} {gid} 1")
    if one.network:
        libc.unshare(libc.CLONE_NEWNET)
        raise_loopback()


def raise_loopback() -> None:
    """Switch on the loopback interface, which is down in a new network namespace."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as handle:
        name = b"lo"
        answer = fcntl.ioctl(handle, SIOCGIFFLAGS, struct.pack("16sh14x", name, 0))
        flags = struct.unpack("16sh14x", answer)[1] | IFF_UP | IFF_RUNNING
        fcntl.ioctl(handle, SIOCSIFFLAGS, struct.pack("16sh14x", name, flags))


def mount_process_table() -> None:
    """Give this process and its children a `/proc` that shows their PID namespace only."""
    libc.unshare(libc.CLONE_NEWNS)
    libc.mount("none", "/", None, libc.MS_REC | libc.MS_PRIVATE)
    libc.mount("proc", "/proc", "proc", libc.MS_NOSUID | libc.MS_NODEV | libc.MS_NOEXEC)


@dataclass(frozen=True, kw_only=True)
class Containment:
    """What really held the children of one warm process; stands in the certificate."""

    pid_namespace: bool
    network_namespace: bool
    user_namespace: bool
    own_process_table: bool
    confined_signals: bool
    """Landlock keeps signals inside the child (only used where there is no PID namespace)."""
    confined_network: bool
    """Landlock lets TCP connections reach the rig's ports only (only used where there is no network namespace)."""
    subreaper: bool
    guardian: bool = True

    def describe(self) -> str:
        """Name what was in force in one line for people."""
        words = [word.replace("_", " ") for word, held in asdict(self).items() if held]
        return ", ".join(words)
