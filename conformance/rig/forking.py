"""The warm process: imports once, then forks a guardian for every order, the next one always ahead of its order.

It is a process of its own, started with an environment of nothing, and has a single thread for all its life, so that a
fork never copies a held lock. It knows only its control socket; when that closes, it ends everything and itself.
"""

from __future__ import annotations

import gc
import importlib
import os
import select
import signal
import socket
import sys
import threading
import time
import traceback
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

from conformance.rig import landlock, libc, namespaces
from conformance.rig.control import Message, close_all, receive, send
from conformance.rig.guardian import guard
from conformance.rig.launch import KEPT_BY_ROOT, Confinement, Ends, become
from conformance.rig.namespaces import Containment, Isolation
from conformance.rig.order import Order
from conformance.rig.plain import kill_below, table_below
from conformance.rig.standby import Standby
from conformance.rig.strays import Strays
from conformance.rig.waking import waking_pipe

GUARDIANS_LEAVE_SECONDS = 3.0
QUIET_SECONDS = 0.05
"""How long no order may come before the next guardian is forked, so that this does not slow down the child before."""


class WarmLoop:
    """The warm process's whole life after its imports."""

    def __init__(
        self, control: socket.socket, isolation: Isolation, containment: Containment, preloaded: dict[str, Any]
    ) -> None:
        """Be ready to fork."""
        self._control = control
        self._isolation = isolation
        self._containment = containment
        self._preloaded = preloaded
        self._guardians: dict[int, int] = {}
        self._standby: Standby | None = None
        self._tasks = tasks_of_user()
        self._wake, self._woken = waking_pipe()
        signal.signal(signal.SIGTERM, lambda *_: self._end())

    def run(self) -> NoReturn:
        """Serve the caller until it goes away."""
        while True:
            control = self._control.fileno()
            ready, _, _ = select.select([control, self._wake], [], [], QUIET_SECONDS if self._standby is None else None)
            if not ready:
                self._standby = self._ahead()
            if self._wake in ready:
                with suppress(BlockingIOError):
                    os.read(self._wake, 1 << 10)
                self._reap()
            if control in ready:
                request = receive(self._control)
                if request is None:
                    self._end()
                self._serve(*request)

    def _serve(self, message: Message, descriptors: list[int]) -> None:
        if message["do"] == "listen":
            with listening_socket() as listener:
                send(self._control, {"event": "listening"}, [listener.fileno()])
        elif message["do"] == "connect":
            with connected_socket(message["port"]) as connected:
                send(self._control, {"event": "connected"}, [] if connected is None else [connected.fileno()])
        elif message["do"] == "start":
            self._start(message, descriptors)
        elif message["do"] == "abandon":
            pid = next((pid for pid, number in self._guardians.items() if number == message["number"]), None)
            if pid is not None:
                os.kill(pid, signal.SIGKILL)

    def _start(self, message: Message, descriptors: list[int]) -> None:
        """Give the order to the guardian that waits, or to one that is forked for it; that forks the child."""
        standby, self._standby = self._standby or self._ahead(descriptors), None
        if not standby.hand_over(message, descriptors):
            standby = self._ahead(descriptors)
            standby.hand_over(message, descriptors)
        self._guardians[standby.pid] = message["number"]
        close_all(descriptors)

    def _ahead(self, foreign: Sequence[int] = ()) -> Standby:
        """Fork a guardian that waits for its order; it closes the descriptors that this process holds for another."""
        return Standby(guard=self._guard, private=partial(self._give_back, foreign))

    def _guard(self, line: socket.socket) -> NoReturn:
        guard(line=line, isolation=self._isolation, launch=self._launch)

    def _give_back(self, foreign: Sequence[int]) -> None:
        """Let go, in a forked process, of what makes this one the warm process."""
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        self._control.close()
        close_all((self._wake, self._woken, *foreign))

    def _launch(self, message: Message, descriptors: Sequence[int]) -> NoReturn:
        """Become the subject of an order."""
        become(
            Order.from_json(message["order"]),
            Ends(**dict(zip(message["ends"], descriptors, strict=True))),
            preloaded=self._preloaded,
            confinement=self._confinement(message["ports"]),
        )

    def _confinement(self, ports: Sequence[int]) -> Confinement:
        return Confinement(
            keeps=KEPT_BY_ROOT if os.geteuid() == 0 else frozenset(),
            tasks_of_user=self._tasks,
            signals=self._containment.confined_signals,
            ports=tuple(ports) if self._containment.confined_network else None,
        )

    def _reap(self) -> None:
        """Note which guardians ended; those that were killed leave their children to us, and we end them."""
        killed: dict[int, int] = {}
        left: list[dict[str, Any]] = []
        while found := self._dead_guardians():  # again, as another may have died while we were ending strays
            killed |= found
            left += self._kill_strays()
        for number, status in killed.items():
            send(self._control, {"event": "guardian-gone", "number": number, "status": status, "left": left})

    def _dead_guardians(self) -> dict[int, int]:
        """Reap all that ended; gives the numbers of guardians that did not end well, with their wait statuses."""
        killed = {}
        with suppress(ChildProcessError):
            while (found := os.waitpid(-1, os.WNOHANG))[0]:
                if self._standby is not None and self._standby.pid == found[0]:
                    self._standby = None
                number = self._guardians.pop(found[0], None)
                if number is not None and found[1] != 0:
                    killed[number] = found[1]
        return killed

    def _living_guardians(self) -> set[int]:
        """All that have not been reaped, the one that waits included."""
        return {*self._guardians, *([self._standby.pid] if self._standby is not None else ())}

    def _kill_strays(self) -> list[dict[str, Any]]:
        """Kill all that came to us from dead guardians; gives what it was."""
        table = Strays(table_below(os.getpid()), guardians=frozenset(self._living_guardians()))
        found: dict[int, dict[str, Any]] = {}
        until = time.monotonic() + GUARDIANS_LEAVE_SECONDS
        while (members := table.members()) and time.monotonic() < until:
            found |= {one.pid: table.as_evidence(one) for one in members if one.pid not in found}
            for pid in kill_below(table):
                with suppress(ChildProcessError):
                    os.waitpid(pid, os.WNOHANG)
            time.sleep(0.001)
        return list(found.values())

    def _end(self) -> NoReturn:
        """Let the guardians end their children, end what they leave, and go."""
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        leaving = self._living_guardians()
        for pid in leaving:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)
        until = time.monotonic() + GUARDIANS_LEAVE_SECONDS
        while leaving and time.monotonic() < until:
            with suppress(ChildProcessError):
                pid, _ = os.waitpid(-1, os.WNOHANG)
                leaving.discard(pid)
                if pid:
                    continue
            time.sleep(0.001)
        self._guardians.clear()
        self._standby = None
        self._kill_strays()
        os._exit(0)


def listening_socket() -> socket.socket:
    """Listen on a free loopback port of the children's network; TCP is named, or Nagle's algorithm stays on."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.bind(("127.0.0.1", 0))
    listener.listen(128)
    return listener


def connected_socket(port: int) -> AbstractContextManager[socket.socket | None]:
    """Connect to a loopback port of the children's network; None where nobody listens there."""
    for family, address in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
        connected = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        try:
            connected.connect((address, port))
        except OSError:
            connected.close()
        else:
            return connected
    return nullcontext()


def tasks_of_user() -> int:
    """Count the tasks that the kernel holds against this user's process limit; 0 for root, whom it does not limit."""
    if os.geteuid() == 0 or not libc.ON_LINUX:
        return 0
    own = f"{os.getuid()}"
    count = 0
    for status in Path("/proc").glob("[0-9]*/status"):
        with suppress(OSError):
            fields = dict(line.split(":", 1) for line in status.read_text().splitlines())
            if fields["Uid"].split()[0] == own:
                count += int(fields["Threads"])
    return count or 1


def preload(names: Sequence[str]) -> dict[str, Any]:
    """Call each `module:function` once; gives what they gave."""
    made = {}
    for name in names:
        module, _, function = name.partition(":")
        made[name] = getattr(importlib.import_module(module), function)()
    if threading.active_count() > 1:
        raise RuntimeError(f"preloading started threads, which a fork would lose: {threading.enumerate()}")
    return made


def main(descriptor: int) -> NoReturn:
    """Be the warm process on this control socket."""
    libc.die_with_parent(signal.SIGKILL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    control = socket.socket(fileno=descriptor)
    control.set_inheritable(False)
    first = receive(control)
    if first is None:
        sys.exit(0)
    message, _ = first
    try:
        isolation = namespaces.available(Isolation(**message["isolation"]))
        namespaces.enter_shared(isolation)
        subreaper = libc.adopt_orphans()
        libc.few_arenas()
        sys.path.extend(one for one in message["import_path"] if one not in sys.path)
        preloaded = preload(message["preload"])
    except BaseException:  # noqa: BLE001 - told to the caller in full
        send(control, {"event": "failed", "traceback": traceback.format_exc()})
        sys.exit(1)
    libc.die_with_parent(signal.SIGTERM)
    gc.collect()
    gc.freeze()
    containment = in_force(isolation, subreaper=subreaper)
    loop = WarmLoop(control, isolation, containment, preloaded)
    send(control, {"event": "ready", "containment": asdict(containment)})
    loop.run()


def in_force(isolation: Isolation, *, subreaper: bool) -> Containment:
    """Say what holds the children of this process."""
    abi = landlock.version()
    return Containment(
        pid_namespace=isolation.pid,
        network_namespace=isolation.network,
        user_namespace=isolation.user and isolation.unshares,
        own_process_table=isolation.process_table,
        confined_signals=isolation.confinement and not isolation.pid and abi >= landlock.VERSION_WITH_SCOPES,
        confined_network=isolation.confinement and not isolation.network and abi >= landlock.VERSION_WITH_NETWORK,
        subreaper=subreaper,
    )
