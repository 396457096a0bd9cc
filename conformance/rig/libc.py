"""The few system calls that Python has no name for (Linux), each under its own name with Python's errors."""

from __future__ import annotations

import ctypes
import os
import sys
from functools import lru_cache

ON_LINUX = sys.platform.startswith("linux")

CLONE_NEWNS = 0x00020000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000

MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REC, MS_PRIVATE = 0x2, 0x4, 0x8, 0x4000, 0x40000

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_CAPBSET_DROP = 1, 4, 24
PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 36, 38

CAPABILITY_VERSION_3 = 0x20080522
LAST_CAPABILITY = 40
M_ARENA_MAX = -8


@lru_cache(maxsize=1)
def library() -> ctypes.CDLL:
    """The C library of this process."""
    return ctypes.CDLL(None, use_errno=True)


def checked(name: str, *arguments: object) -> int:
    """Call a function of the C library; a negative result is raised as the OSError it stands for."""
    outcome = int(getattr(library(), name)(*arguments))
    if outcome < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")
    return outcome


def unshare(flags: int) -> None:
    """Move this process (for a PID namespace: its next children) into new namespaces."""
    checked("unshare", ctypes.c_int(flags))


def prctl(option: int, value: int) -> None:
    """Set one attribute of this process."""
    checked("prctl", ctypes.c_int(option), *(ctypes.c_ulong(word) for word in (value, 0, 0, 0)))


def die_with_parent(signal_number: int) -> None:
    """Have the kernel send this signal when the thread that started this process ends; nothing where it cannot."""
    if ON_LINUX:
        prctl(PR_SET_PDEATHSIG, signal_number)


def adopt_orphans() -> bool:
    """Become the parent of every descendant whose own parent dies; False where the system has no such thing."""
    if not ON_LINUX:
        return False
    try:
        prctl(PR_SET_CHILD_SUBREAPER, 1)
    except OSError:
        return False
    return True


def hide_from_tracers() -> None:
    """Keep processes of the same user from reading or tracing this one."""
    if ON_LINUX:
        prctl(PR_SET_DUMPABLE, 0)


def show_to_tracers() -> None:
    """Undo `hide_from_tracers`, which forks inherit: an ordinary process may read its own `/proc/self`."""
    if ON_LINUX:
        prctl(PR_SET_DUMPABLE, 1)


def few_arenas() -> None:
    """Keep malloc to two arenas: each further one reserves 64 MiB for a thread, which would look like greed."""
    if ON_LINUX and hasattr(library(), "mallopt"):
        library().mallopt(ctypes.c_int(M_ARENA_MAX), ctypes.c_int(2))


def mount(source: str, target: str, kind: str | None, flags: int) -> None:
    """Mount a file system, or change how the mount at `target` propagates."""
    checked(
        "mount", source.encode(), target.encode(), kind.encode() if kind else None, ctypes.c_ulong(flags), None
    )  # fmt: skip


class CapabilityHeader(ctypes.Structure):
    """The first argument of capset(2)."""

    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


class CapabilityWords(ctypes.Structure):
    """32 capabilities of the second argument of capset(2), which takes two of these."""

    _fields_ = (("effective", ctypes.c_uint32), ("permitted", ctypes.c_uint32), ("inheritable", ctypes.c_uint32))


def keep_capabilities(kept: frozenset[int]) -> None:
    """Give up every capability but these, also for programs started later; needs none for an ordinary user."""
    for number in range(LAST_CAPABILITY + 1):
        if number not in kept:
            library().prctl(PR_CAPBSET_DROP, number, 0, 0, 0)  # refused to ordinary users, who have none to lose
    words = (CapabilityWords * 2)()
    held = (CapabilityWords * 2)()
    header = CapabilityHeader(CAPABILITY_VERSION_3, 0)
    checked("capget", ctypes.byref(header), held)
    for index, word in enumerate(words):
        mask = sum(1 << (number - 32 * index) for number in kept if number // 32 == index)
        word.effective = held[index].effective & mask
        word.permitted = held[index].permitted & mask
    checked("capset", ctypes.byref(header), words)
