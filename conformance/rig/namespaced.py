"""A child in a PID namespace of its own: with the namespace's first process, everything in it ends."""

from __future__ import annotations

import json
import os
import select
import signal
import socket
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NoReturn

from conformance.rig import libc, namespaces
from conformance.rig.control import Message, close_all, receive, send
from conformance.rig.first import KILL_SECONDS, Ended, Launch
from conformance.rig.processes import ProcessTable, Table


class NamespacedFirst(Ended):
    """The subject below a process 1 of its own PID namespace; with that process everything in it ends."""

    def __init__(self, *, table: bool, launch: Launch, private: socket.socket) -> None:
        """Fork the first process, which prepares the namespace and waits.

        Args:
            table: give the child a `/proc` of its own.
            launch: becomes the subject.
            private: the guardian's own line, closed in the first process.
        """
        self._exclusive = table
        self._line, line = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        libc.unshare(libc.CLONE_NEWPID)
        self._pid = os.fork()
        if self._pid == 0:
            self._line.close()
            private.close()
            be_first(line, table=table, launch=launch)
        line.close()
        self._left = b""

    def start(self, order: Message, descriptors: Sequence[int]) -> None:
        """Have the first process fork the subject; it sends descriptors of its `/proc` and of the subject."""
        with suppress(BrokenPipeError):  # it has ended, which `_greet` puts into words
            send(self._line, order, descriptors)
        close_all(descriptors)
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
        if self._exclusive:
            self._table = ProcessTable(root=1, folder=folder, exclusive=True)
        else:
            self._inner_pid, self.subject_pid = self.subject_pid, _pid_of(self._subject)
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
        if not self._exclusive:
            pid = self.subject_pid if pid == self._inner_pid else -1
        self._note(pid, word["status"], most_resident=word["most_resident"], cpu_seconds=word["cpu_seconds"])

    def _lost(self) -> None:
        """Only when somebody outside killed the first process: the subject died with it."""
        if not self.over:
            self._note(self.subject_pid, signal.SIGKILL, most_resident=0, cpu_seconds=0.0)

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


def be_first(line: socket.socket, *, table: bool, launch: Launch) -> NoReturn:
    """Be process 1 of a new PID namespace: start the subject, then reap, and tell the guardian of each end."""
    try:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        libc.die_with_parent(signal.SIGKILL)
        libc.hide_from_tracers()
        if table:
            namespaces.mount_process_table()
        received = receive(line)
        if received is None:
            os._exit(0)
        order, descriptors = received
        subject = os.fork()
        if subject == 0:
            line.close()
            libc.die_with_parent(signal.SIGKILL)
            libc.show_to_tracers()
            launch(order, descriptors)
        close_all(descriptors)
        folder = os.open("/proc", os.O_RDONLY | os.O_DIRECTORY)
        watched = os.pidfd_open(subject)
        socket.send_fds(line, [json.dumps({"pid": subject}).encode() + b"\n"], [watched, folder])
        while True:
            pid, status, usage = os.wait4(-1, 0)
            cpu = usage.ru_utime + usage.ru_stime
            word = {"pid": pid, "status": status, "most_resident": usage.ru_maxrss * 1024, "cpu_seconds": cpu}
            line.sendall(json.dumps(word).encode() + b"\n")
    except ChildProcessError:
        os._exit(0)
    except BaseException:  # noqa: BLE001 - the guardian sees the end of the line and says so
        os._exit(1)
