"""The processes of one child where there is no `/proc`: from `ps`, which every other Unix has.

It sees less than `/proc` shows: no peaks, no open files, no reserved memory. As such systems give orphans to nobody in
particular, a process counts as the child's once it has been seen below the root, whoever its parent is later.
"""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Iterator
from typing import Any

from conformance.rig.processes import KIB, Memory, Seen

COLUMNS = ("pid=", "ppid=", "rss=", "stat=", "command=")


class PsTable:
    """The living processes below `root`; offers what `ProcessTable` does."""

    def __init__(self, *, root: int) -> None:
        """Look at nothing yet."""
        self.root = root
        self._resident: dict[int, int] = {}
        self._commands: dict[int, str] = {}
        self._family: set[int] = set()

    def members(self) -> list[Seen]:
        """List the living processes; zombies and the `ps` itself are not."""
        rows = {one.pid: one for one in self._rows()}
        family = {self.root} | (self._family & rows.keys())
        while more := {pid for pid, one in rows.items() if one.parent in family} - family:
            family |= more
        self._family = family - {self.root}
        return [one for pid, one in rows.items() if pid in self._family]

    def _rows(self) -> Iterator[Seen]:
        with subprocess.Popen(["ps", "-axo", ",".join(COLUMNS)], stdout=subprocess.PIPE, text=True) as ps:
            text, _ = ps.communicate()
        for line in text.splitlines():
            pid, parent, resident, state, command = [*line.split(None, 4), ""][:5]
            if state.startswith("Z") or int(pid) == ps.pid:
                continue
            self._resident[int(pid)] = int(resident) * KIB
            self._commands[int(pid)] = command
            yield Seen(pid=int(pid), parent=int(parent), name=command.partition(" ")[0].rpartition("/")[2])

    def memory(self, pid: int) -> Memory | None:
        """The resident memory at the last look."""
        if pid not in self._resident:
            return None
        size = self._resident[pid]
        return Memory(resident=size, peak_resident=size, reserved=0, peak_address_space=0)

    def program(self, pid: int) -> str:
        """Not to be had from `ps` in a form that can be compared."""
        del pid
        return ""

    def as_evidence(self, one: Seen) -> dict[str, Any]:
        """Name a process for the record; its arguments are still raw."""
        try:
            arguments = shlex.split(self._commands.get(one.pid, ""))
        except ValueError:
            arguments = self._commands[one.pid].split()
        return {"pid": one.pid, "name": one.name, "arguments": arguments}

    def open_files(self, pid: int) -> Iterator[os.stat_result]:
        """Not to be had from `ps`."""
        del pid
        return iter(())
