"""Waking a loop when a child process ends, without a thread and without missing one."""

from __future__ import annotations

import os
import signal


def waking_pipe() -> tuple[int, int]:
    """Give a pipe whose first end becomes readable whenever a child of this process ends; once per process.

    A forked process has to close both ends: Python 3.13 forgets the second one in a fork, and leaves it open.
    """
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    os.set_blocking(writing, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    return reading, writing
