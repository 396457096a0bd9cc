"""The guardian's hold on a child: on its first process, and through that on all of it.

`plain.py` has the form without a namespace, `namespaced.py` the one with.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import NoReturn, Protocol

from conformance.rig.control import Message
from conformance.rig.processes import Table

KILL_SECONDS = 5.0

Launch = Callable[[Message, Sequence[int]], NoReturn]
"""Becomes the subject of an order, given as a message with the child's ends beside it."""


class FirstProcess(Protocol):
    """The guardian's hold on a child; made before there is an order."""

    subject_pid: int
    """The subject, as numbered in the table."""
    over: bool
    """The subject has ended."""
    exit_code: int | None
    signal: int | None
    cpu_seconds: float
    """Processor time of the subject, once it has ended."""
    most_resident: int
    """The largest resident memory of any process that has ended, in bytes."""

    def start(self, order: Message, descriptors: Sequence[int]) -> None:
        """Start the subject; once only, and before anything else is asked. The descriptors are closed here."""

    def table(self) -> Table:
        """The child's processes."""

    def waits_on(self) -> Sequence[int]:
        """Descriptors that become readable when `collect` has something to do."""

    def collect(self) -> None:
        """Take note of what has ended."""

    def signal_subject(self, number: int) -> None:
        """Send a signal to the subject."""

    def kill_subject(self) -> None:
        """Kill the subject; what it started may still live."""

    def kill_all(self) -> None:
        """Kill everything of the child and wait until it is gone."""


class Ended:
    """How the subject ended, read from a wait status."""

    over = False
    exit_code: int | None = None
    signal: int | None = None
    most_resident = 0
    cpu_seconds = 0.0
    subject_pid = 0

    def _note(self, pid: int, status: int, *, most_resident: int, cpu_seconds: float) -> None:
        self.most_resident = max(self.most_resident, most_resident)
        if pid == self.subject_pid and not self.over:
            code = os.waitstatus_to_exitcode(status)
            self.over = True
            self.cpu_seconds = cpu_seconds
            self.exit_code, self.signal = (code, None) if code >= 0 else (None, -code)
