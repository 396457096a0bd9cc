"""The stdin that is not for the child: a line in it, so that a read returns, and a watch, so that it is noticed."""

from __future__ import annotations

import array
import asyncio
import fcntl
import os
import termios

BAIT = b"\n"
INTERVAL = 0.05


class Bait:
    """Watches the pipe that a child has as its stdin; owns both of our ends.

    Once the line is taken the pipe is ended, so that the next read does not wait for ever.
    """

    def __init__(self, *, reading: int, writing: int) -> None:
        """Put the line in and begin to watch.

        Args:
            reading: a copy of the child's own end.
            writing: the other end.
        """
        os.write(writing, BAIT)
        self._ends: tuple[int, int] | None = (reading, writing)
        self._taken = 0
        self._next = asyncio.get_running_loop().call_later(INTERVAL, self._watch)

    @property
    def taken(self) -> int:
        """How many bytes the child has read."""
        if self._ends is not None:
            left = array.array("i", [0])
            fcntl.ioctl(self._ends[0], termios.FIONREAD, left)
            self._taken = len(BAIT) - left[0]
        return self._taken

    def _watch(self) -> None:
        if self.taken:
            self.close()
        else:
            self._next = asyncio.get_running_loop().call_later(INTERVAL, self._watch)

    def close(self) -> None:
        """End the pipe; what was taken until now stays known."""
        self._next.cancel()
        if self._ends is None:
            return
        self._taken = self.taken
        for descriptor in self._ends:
            os.close(descriptor)
        self._ends = None
