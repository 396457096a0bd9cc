"""Sees what leaves no other trace outside the process: memory that is refused, and a signal to PID 1 that is ignored.

A small filter hands every request for one large piece of private writable memory to a listener, the guardian, which
writes it down and has the kernel refuse it. The subject sees an ordinary `MemoryError` and goes on if it catches that.
(https://docs.kernel.org/userspace-api/seccomp_filter.html, user space notification.)
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import platform
import struct
import sys
from dataclasses import dataclass

from conformance.rig import libc

SET_MODE_FILTER, FLAG_NEW_LISTENER = 1, 8
RETURN_ALLOW, RETURN_USER_NOTIFICATION = 0x7FFF0000, 0x7FC00000
PROT_WRITE, MAP_ANONYMOUS = 0x2, 0x20

NOTIFICATION = struct.Struct("=QIIiIQ6Q")
ANSWER = struct.Struct("=QqiI")
RECEIVE, SEND = 0xC0502100, 0xC0182101

LOAD, JUMP_EQUAL, JUMP_GREATER, JUMP_GREATER_EQUAL, JUMP_BITS, RETURN = 0x20, 0x15, 0x25, 0x35, 0x45, 0x06
NUMBER_AT, MACHINE_AT, ARGUMENTS_AT = 0, 4, 16


NOBODY = 0x7FFFFFFF
"""A number that no process has."""


@dataclass(frozen=True, kw_only=True)
class Machine:
    """The numbers of one kind of processor."""

    audit: int
    seccomp: int
    mmap: int
    mremap: int
    kill: int


MACHINES = {
    "x86_64": Machine(audit=0xC000003E, seccomp=317, mmap=9, mremap=25, kill=62),
    "aarch64": Machine(audit=0xC00000B7, seccomp=277, mmap=222, mremap=216, kill=129),
}


class Filter(ctypes.Structure):
    """`struct sock_fprog`."""

    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def _low(index: int) -> int:
    """Where the lower half of a call's argument lies."""
    return ARGUMENTS_AT + 8 * index


def _high(index: int) -> int:
    return _low(index) + 4


def program(machine: Machine, limit: int, parent: int = NOBODY) -> bytes:
    """Write the filter for the listener's calls.

    They are mmap of writable anonymous memory, or mremap, to `limit` bytes or more, and kill of `parent`.
    """
    allow, notify = 22, 23
    steps: list[tuple[int, int, int, int]] = []

    def step(code: int, value: int, *, yes: int | None = None, no: int | None = None) -> None:
        here = len(steps) + 1
        steps.append((code, 0 if yes is None else yes - here, 0 if no is None else no - here, value))

    step(LOAD, MACHINE_AT)
    step(JUMP_EQUAL, machine.audit, no=allow)
    step(LOAD, NUMBER_AT)
    step(JUMP_EQUAL, machine.kill, yes=18)
    step(JUMP_EQUAL, machine.mremap, yes=14)
    step(JUMP_EQUAL, machine.mmap, no=allow)
    step(LOAD, _low(2))
    step(JUMP_BITS, PROT_WRITE, no=allow)
    step(LOAD, _low(3))
    step(JUMP_BITS, MAP_ANONYMOUS, no=allow)
    step(LOAD, _high(1))
    step(JUMP_GREATER, 0, yes=notify)
    step(LOAD, _low(1))
    step(JUMP_GREATER_EQUAL, limit, yes=notify, no=allow)
    step(LOAD, _high(2))  # 14: mremap
    step(JUMP_GREATER, 0, yes=notify)
    step(LOAD, _low(2))
    step(JUMP_GREATER_EQUAL, limit, yes=notify, no=allow)
    step(LOAD, _low(0))  # 18: kill
    step(JUMP_EQUAL, parent, no=allow)
    step(LOAD, _low(1))
    step(JUMP_EQUAL, 0, yes=allow, no=notify)
    step(RETURN, RETURN_ALLOW)  # 22
    step(RETURN, RETURN_USER_NOTIFICATION)  # 23
    return b"".join(struct.pack("=HBBI", *one) for one in steps)


def watch_requests(limit: int) -> int | None:
    """Put the filter on this process and all it will start, for good.

    Args:
        limit: bytes, below 4 GiB, from which on a single request is refused and told.

    Returns:
        The listener's descriptor, for whoever will answer, or None where the system offers no such filter.
    """
    machine = MACHINES.get(platform.machine()) if libc.ON_LINUX and sys.byteorder == "little" else None
    if machine is None:
        return None
    # The kernel ignores what is sent to PID 1 from inside its namespace; elsewhere the guardian sees its own end.
    parent = 1 if os.getppid() == 1 else NOBODY
    code = program(machine, min(limit, 0xFFFFFFFF), parent)
    about = Filter(len(code) // 8, code)
    try:
        return libc.checked("syscall", machine.seccomp, SET_MODE_FILTER, FLAG_NEW_LISTENER, ctypes.byref(about))
    except OSError:
        return None


def refuse_one(listener: int) -> int | None:
    """Refuse one call that waits at the listener.

    Returns:
        How many bytes it was for, 0 where the caller is gone again; None for a signal to the parent.
    """
    buffer = bytearray(NOTIFICATION.size)
    try:
        fcntl.ioctl(listener, RECEIVE, buffer)
        number, _, _, call, _, _, *arguments = NOTIFICATION.unpack(buffer)
        is_kill = call in {machine.kill for machine in MACHINES.values()}
        fcntl.ioctl(listener, SEND, ANSWER.pack(number, 0, -errno.EPERM if is_kill else -errno.ENOMEM, 0))
    except OSError:
        return 0
    if is_kill:
        return None
    is_mmap = call in {machine.mmap for machine in MACHINES.values()}
    return int(arguments[1] if is_mmap else arguments[2])
