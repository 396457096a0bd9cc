"""A guardian that is forked before it is needed: of an order's way, only the fork of the subject is then left."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Sequence
from typing import NoReturn

from conformance.rig.control import Message, send


class Standby:
    """The warm process's hold on a guardian that waits for its order.

    Args:
        guard: is the guardian, given its line to here; called in a process forked for that.
        private: gives back what that process shall not hold; called in it first.
    """

    def __init__(self, *, guard: Callable[[socket.socket], NoReturn], private: Callable[[], None]) -> None:
        """Fork it."""
        self._line, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        self.pid = os.fork()
        if self.pid == 0:
            self._line.close()
            private()
            guard(theirs)
        theirs.close()

    def hand_over(self, message: Message, descriptors: Sequence[int]) -> bool:
        """Give it its order, the only thing that it is ever told; False where somebody has killed it meanwhile."""
        with self._line:
            try:
                send(self._line, message, descriptors)
            except OSError:
                return False
        return True
