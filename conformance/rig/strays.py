"""What dead guardians left to the warm process."""

from __future__ import annotations

from typing import Any

from conformance.rig.processes import Seen, Table


class Strays:
    """What lives below the warm process without a guardian that is still there."""

    def __init__(self, below: Table, *, guardians: frozenset[int]) -> None:
        """Look at all that is `below`, but not at these guardians and what is below them."""
        self.root = below.root
        self._below = below
        self._guardians = guardians

    def members(self) -> list[Seen]:
        """List the strays."""
        found = {one.pid: one for one in self._below.members()}
        kept = set(self._guardians)
        while more := {pid for pid, one in found.items() if one.parent in kept} - kept:
            kept |= more
        return [one for pid, one in found.items() if pid not in kept]

    def as_evidence(self, one: Seen) -> dict[str, Any]:
        """Name one for the record."""
        return self._below.as_evidence(one)
