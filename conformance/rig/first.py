"""The first process of a child: number 1 of its PID namespace, or, without one, the subject itself.

`start_first` is called by the guardian and gives it one handle for both forms: who has ended, how to signal, how to end
all of it.
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, NoReturn, Protocol

from conformance.rig import libc, namespaces
from conformance.rig.namespaces import Isolation
from conformance.rig.processes import ProcessTable, Seen, Table
from conformance.rig.ps import PsTable
from conformance.rig.waking import waking_pipe

KILL_SECONDS = 5.0


class Listing(Protocol):
    """Whatever can list processes."""

    def members(self) -> list[Seen]:
        """List the living ones."""


class FirstProcess(Protocol):
    """The guardian's hold on a child."""

    subject_pid: int
    """The subject, as numbered in the table."""
    exclusive: bool
    """The table shows nothing but the child."""
    over: bool
    """The subject has ended."""
    exit_code: int | None
    signal: int | None
    most_resident: int
    """The largest resident memory of any process that has ended, in bytes."""

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


class _Ended:
    """How the subject ended, read from a wait status."""

    over = False
    exit_code: int | None = None
    signal: int | None = None
    most_resident = 0
    subject_pid = 0

    def _note(self, pid: int, status: int, most_resident: int) -> None:
        self.most_resident = max(self.most_resident, most_resident)
        if pid == self.subject_pid and not self.over:
            code = os.waitstatus_to_exitcode(status)
            self.over = True
            self.exit_code, self.signal = (code, None) if code >= 0 else (None, -code)


def start_first(
    *,
    isolation: Isolation,
    launch: Callable[[], NoReturn],
    release: Callable[[], None],
    private: Sequence[socket.socket],
) -> FirstProcess:
    """Start a child under the calling guardian; `private` is the guardian's own, and closed in the first process."""
    if isolation.pid:
        return NamespacedFirst(isolation=isolation, launch=launch, release=release, private=private)
    return PlainFirst(launch=launch, release=release)


class PlainFirst(_Ended):
    """The subject as a direct child of the guardian, which adopts whatever the subject abandons."""

    exclusive = False

    def __init__(self, *, launch: Callable[[], NoReturn], release: Callable[[], None]) -> None:
        """Fork the subject."""
        libc.adopt_orphans()
        self._wake = waking_pipe()
        self.subject_pid = os.fork()
        if self.subject_pid == 0:
            libc.die_with_parent(signal.SIGKILL)
            libc.show_to_tracers()
            launch()
        release()
        self._table = table_below(os.getpid())

    def table(self) -> Table:
        """The descendants of the guardian."""
        return self._table

    def waits_on(self) -> Sequence[int]:
        """Readable after SIGCHLD."""
        return [self._wake]

    def collect(self) -> None:
        """Reap whatever has ended."""
        with suppress(BlockingIOError):
            os.read(self._wake, 1 << 10)
        with suppress(ChildProcessError):
            while True:
                pid, status, usage = os.wait4(-1, os.WNOHANG)
                if pid == 0:
                    return
                self._note(pid, status, usage.ru_maxrss * 1024)

    def signal_subject(self, number: int) -> None:
        """The subject cannot be another process yet, as only we reap it."""
        if not self.over:
            with suppress(ProcessLookupError):
                os.kill(self.subject_pid, number)

    def kill_subject(self) -> None:
        """Kill all at once: without a namespace, what runs on must not gain time."""
        self.kill_all()

    def kill_all(self) -> None:
        """Kill group by group and one by one until no descendant is left."""
        until = time.monotonic() + KILL_SECONDS
        while time.monotonic() < until:
            kill_below(self._table)
            self.collect()
            if not self._table.members():
                self.collect()
                return
            time.sleep(0.001)


def table_below(root: int) -> Table:
    """The descendants of `root`, by whatever this system offers."""
    if libc.ON_LINUX:
        return ProcessTable(root=root, folder=os.open("/proc", os.O_RDONLY | os.O_DIRECTORY), exclusive=False)
    return PsTable(root=root)


def kill_below(table: Listing) -> list[int]:
    """Send SIGKILL to every process in the table; whole groups first, as no member can outrun that by forking."""
    pids = [one.pid for one in table.members()]
    own = os.getpgrp()
    groups = set()
    for pid in pids:
        with suppress(ProcessLookupError):
            groups.add(os.getpgid(pid))
    for group in groups & set(pids) - {own}:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    return pids


class NamespacedFirst(_Ended):
    """The subject below a process 1 of its own PID namespace; with that process everything in it ends."""

    def __init__(
        self,
        *,
        isolation: Isolation,
        launch: Callable[[], NoReturn],
        release: Callable[[], None],
        private: Sequence[socket.socket],
    ) -> None:
        """Fork the first process, which forks the subject and sends descriptors of its `/proc` and of the subject."""
        self.exclusive = isolation.process_table
        self._line, line = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        libc.unshare(libc.CLONE_NEWPID)
        self._pid = os.fork()
        if self._pid == 0:
            self._line.close()
            for one in private:
                one.close()
            be_first(line, table=isolation.process_table, launch=launch, release=release)
        line.close()
        release()
        self._left = b""
        self._greet()

    def _greet(self) -> None:
        """Receive what the first process sends once the subject is started."""
        about, descriptors, _, _ = socket.recv_fds(self._line, 1 << 10, 2)
        if not about:
            _, status = os.waitpid(self._pid, 0)
            raise OSError(f"the first process of a PID namespace ended with status {status} before it started anything")
        word, _, self._left = about.partition(b"\n")
        self._subject, folder = descriptors
        self.subject_pid = json.loads(word)["pid"]
        if self.exclusive:
            self._table = ProcessTable(root=1, folder=folder, exclusive=True)
        else:
            self.subject_pid_outside = _pid_of(self._subject)
            self._namespaced_pid, self.subject_pid = self.subject_pid, self.subject_pid_outside
            self._table = ProcessTable(root=self._pid, folder=folder, exclusive=False)
        self._line.setblocking(False)  # noqa: FBT003 - the standard library takes it by position only

    def table(self) -> Table:
        """The processes of the namespace, or, where `/proc` could not be mounted, the descendants of its first."""
        return self._table

    def waits_on(self) -> Sequence[int]:
        """Readable when the first process has reaped something."""
        return [self._line.fileno()]

    def collect(self) -> None:
        """Read what the first process has reaped."""
        with suppress(BlockingIOError):
            while True:
                data = self._line.recv(1 << 16)
                if not data:
                    self._lost()
                    return
                *lines, self._left = (self._left + data).split(b"\n")
                for line in lines:
                    self._heard(json.loads(line))

    def _heard(self, word: dict[str, Any]) -> None:
        pid = word["pid"]
        if not self.exclusive:
            pid = self.subject_pid if pid == self._namespaced_pid else -1
        self._note(pid, word["status"], word["most_resident"])

    def _lost(self) -> None:
        """Only when somebody outside killed the first process: the subject died with it."""
        if not self.over:
            self._note(self.subject_pid, signal.SIGKILL, 0)

    def signal_subject(self, number: int) -> None:
        """By descriptor: it can never reach another process."""
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._subject, number)

    def kill_subject(self) -> None:
        """Kill the whole namespace; the kernel lets nothing escape."""
        self.signal_subject(signal.SIGKILL)
        select.select([self._line], [], [], KILL_SECONDS)
        self.collect()
        self.kill_all()

    def kill_all(self) -> None:
        """Kill the first process and wait: the kernel ends all others of the namespace before it lets go."""
        with suppress(ProcessLookupError):
            os.kill(self._pid, signal.SIGKILL)
        with suppress(ChildProcessError):
            os.waitpid(self._pid, 0)
        self.collect()


def _pid_of(descriptor: int) -> int:
    """The number, in this process's namespace, of the process behind a pidfd."""
    with open(f"/proc/self/fdinfo/{descriptor}", encoding="ascii") as about:  # noqa: PTH123 - a file of the kernel
        found = dict(line.split(":", 1) for line in about)
    return int(found["Pid"])


def be_first(
    line: socket.socket, *, table: bool, launch: Callable[[], NoReturn], release: Callable[[], None]
) -> NoReturn:
    """Be process 1 of a new PID namespace: start the subject, then reap, and tell the guardian of each end."""
    try:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        libc.die_with_parent(signal.SIGKILL)
        libc.hide_from_tracers()
        if table:
            namespaces.mount_process_table()
        subject = os.fork()
        if subject == 0:
            line.close()
            libc.die_with_parent(signal.SIGKILL)
            libc.show_to_tracers()
            launch()
        release()
        folder = os.open("/proc", os.O_RDONLY | os.O_DIRECTORY)
        watched = os.pidfd_open(subject)
        socket.send_fds(line, [json.dumps({"pid": subject}).encode() + b"\n"], [watched, folder])
        while True:
            pid, status, usage = os.wait4(-1, 0)
            word = {"pid": pid, "status": status, "most_resident": usage.ru_maxrss * 1024}
            line.sendall(json.dumps(word).encode() + b"\n")
    except ChildProcessError:
        os._exit(0)
    except BaseException:  # noqa: BLE001 - the guardian sees the end of the line and says so
        os._exit(1)
