"""The processes of one child as `/proc` shows them, read by its guardian."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

KIB = 1024


@dataclass(frozen=True, kw_only=True)
class Memory:
    """The memory of one process, in bytes, as in `/proc/PID/status`."""

    resident: int
    peak_resident: int
    reserved: int
    """Writable private memory (VmData): what RLIMIT_DATA counts."""
    peak_address_space: int
    """The largest address space it ever had (VmPeak): the only trace of memory that was asked for and given back."""


@dataclass(frozen=True, kw_only=True)
class Seen:
    """One living process."""

    pid: int
    parent: int
    name: str


class Table(Protocol):
    """The living processes of one child, however they are found out."""

    root: int

    def members(self) -> list[Seen]:
        """List them."""

    def memory(self, pid: int) -> Memory | None:
        """Read the memory of one; None when it is gone."""

    def program(self, pid: int) -> str:
        """The file that one executes; empty when that cannot be told."""

    def as_evidence(self, one: Seen) -> dict[str, Any]:
        """Name one for the record, its arguments still raw."""

    def open_files(self, pid: int) -> Iterator[os.stat_result]:
        """The regular files that one holds open for writing."""


class ProcessTable:
    """The living processes below one root process.

    Args:
        root: the process whose descendants are meant; it is not one of them itself.
        folder: a descriptor of a `/proc`; one of a PID namespace's own shows nothing but the child, with `root` as 1.
        exclusive: every process in that `/proc` but the root belongs to the child.
    """

    def __init__(self, *, root: int, folder: int, exclusive: bool) -> None:
        """Look at nothing yet."""
        self.root = root
        self._folder = folder
        self._exclusive = exclusive
        self._foreign: set[int] = {os.getpid()}

    def members(self) -> list[Seen]:
        """List the living processes; zombies are not."""
        if self._exclusive:
            return [one for pid in self._listed() if pid != self.root and (one := self._seen(pid))]
        return list(self._descendants())

    def _listed(self) -> list[int]:
        return [
            int(name)
            for name in os.listdir(self._folder)  # noqa: PTH208 - a descriptor, no path
            if name.isdigit()
        ]

    def _descendants(self) -> Iterator[Seen]:
        """Follow parents upwards, reading each foreign process only once: it can never become a descendant."""
        listed = set(self._listed())
        self._foreign &= listed
        unknown = {pid: one for pid in listed - self._foreign - {self.root} if (one := self._stat(pid)) is not None}
        family = {self.root}
        found = True
        while found:
            found = [pid for pid, (one, _) in unknown.items() if pid not in family and one.parent in family] != []
            family |= {pid for pid, (one, _) in unknown.items() if one.parent in family}
        self._foreign |= unknown.keys() - family
        yield from (one for pid, (one, alive) in unknown.items() if pid in family and alive)

    def _seen(self, pid: int) -> Seen | None:
        found = self._stat(pid)
        return found[0] if found and found[1] else None

    def _stat(self, pid: int) -> tuple[Seen, bool] | None:
        """Read one process, and whether it is alive; None when it is gone."""
        text = self._read(f"{pid}/stat")
        if not text:
            return None
        name, _, rest = text.partition("(")[2].rpartition(")")
        state, parent = rest.split()[:2]
        return Seen(pid=pid, parent=int(parent), name=name), state not in "ZXx"

    def memory(self, pid: int) -> Memory | None:
        """Read the memory of one process; None when it is gone or has none."""
        found = {}
        for line in self._read(f"{pid}/status").splitlines():
            key, _, value = line.partition(":")
            if key in ("VmRSS", "VmHWM", "VmData", "VmPeak"):
                found[key] = int(value.split()[0]) * KIB
        if len(found) < 4:
            return None
        return Memory(
            resident=found["VmRSS"], peak_resident=found["VmHWM"],
            reserved=found["VmData"], peak_address_space=found["VmPeak"],
        )  # fmt: skip

    def program(self, pid: int) -> str:
        """The file that a process executes; empty when that cannot be read."""
        try:
            return os.readlink(f"{pid}/exe", dir_fd=self._folder)
        except OSError:
            return ""

    def as_evidence(self, one: Seen) -> dict[str, Any]:
        """Name a process for the record; its arguments are still raw."""
        arguments = self._read(f"{one.pid}/cmdline").split("\0")
        return {"pid": one.pid, "name": one.name, "arguments": [word for word in arguments if word]}

    def open_files(self, pid: int) -> Iterator[os.stat_result]:
        """The regular files that a process holds open for writing."""
        try:
            descriptors = [one.name for one in self._path(f"{pid}/fd").iterdir()]
        except OSError:
            return
        for name in descriptors:
            try:
                about = os.stat(f"{pid}/fd/{name}", dir_fd=self._folder)
                writes = os.lstat(f"{pid}/fd/{name}", dir_fd=self._folder).st_mode & stat.S_IWUSR
            except OSError:
                continue
            if stat.S_ISREG(about.st_mode) and writes:
                yield about

    def _path(self, relative: str) -> Path:
        return Path(f"/proc/self/fd/{self._folder}", relative)

    def _read(self, relative: str) -> str:
        try:
            descriptor = os.open(relative, os.O_RDONLY | os.O_CLOEXEC, dir_fd=self._folder)
        except OSError:
            return ""
        try:
            return os.read(descriptor, 1 << 16).decode(errors="replace")
        except OSError:
            return ""
        finally:
            os.close(descriptor)


def files_below(roots: Iterable[str]) -> Iterator[os.stat_result]:
    """The regular files at or below `roots`; links are not followed."""
    for root in map(Path, roots):
        paths = (
            (Path(folder, name) for folder, _, names in os.walk(root) for name in names) if root.is_dir() else [root]
        )
        for path in paths:
            try:
                about = path.lstat()
            except OSError:
                continue
            if stat.S_ISREG(about.st_mode):
                yield about
