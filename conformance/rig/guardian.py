"""The guardian of one child: starts it, watches it, ends it, and tells what it saw.

It is forked from the warm process and lives outside the child's PID namespace where there is one. The child's first
process (1 in the namespace) adopts what the subject abandons; without a namespace the guardian itself is the subreaper.
Judgement rests on this record alone: nothing that the subject catches, hides or kills inside changes it.
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NoReturn

from conformance.rig import libc, seccomp
from conformance.rig.control import Message, receive
from conformance.rig.first import FirstProcess, Launch
from conformance.rig.judge import Judge
from conformance.rig.limits import Exceeded
from conformance.rig.namespaced import NamespacedFirst
from conformance.rig.namespaces import Isolation
from conformance.rig.order import Order
from conformance.rig.plain import PlainFirst

EAGER_SECONDS, EAGER_INTERVAL, CALM_INTERVAL = 2.0, 0.02, 0.04
PS_INTERVAL = 0.25
"""Where each look starts a `ps`."""
SETTLE_SECONDS = 0.15
"""How long processes may take to go after the subject (a curl without its reader) before they count as left behind."""

LeftBehind = list[dict[str, Any]]


class Guardian:
    """Watches over one child until it is gone; `run` is its whole life."""

    def __init__(self, *, order: Order, first: FirstProcess, owner: socket.socket, witness: socket.socket) -> None:
        """Take over a child that has just been started.

        Args:
            order: what the child is.
            first: the hold on its processes.
            owner: the line to the caller's process.
            witness: on which the child hands over its listener for refused requests.
        """
        self._first = first
        self._owner = owner
        self._witness: socket.socket | None = witness
        self._listener: int | None = None
        self._limits = order.limits
        self._judge = Judge(
            limits=order.limits,
            table=first.table(),
            forked=order.kind != "command",
            watched=(order.folder, *order.watched),
        )
        self._started = time.monotonic()
        self._told: tuple[object, ...] = ()
        self._asked = False
        self._attacked = False
        self._limited = False
        self._terminate_at: float | None = None
        self._kill_at: float | None = None
        self._abandoned: LeftBehind | None = None

    def run(self) -> None:
        """Watch until the subject has ended and everything below it is gone, then send the record."""
        self._say("started", pid=self._first.subject_pid, guardian=os.getpid())
        while not self._first.over:
            self._wait(self._interval())
            if self._first.over:
                break
            why = self._judge.look()
            if why is not None:
                self._stop(why)
            self._keep_time()
            self._update()
        self._finish()

    def _interval(self) -> float:
        if not libc.ON_LINUX:
            return PS_INTERVAL
        return EAGER_INTERVAL if self._age() < EAGER_SECONDS else CALM_INTERVAL

    def _age(self) -> float:
        return time.monotonic() - self._started

    # --- waiting ------------------------------------------------------------------------------------------------------

    def _wait(self, seconds: float) -> None:
        """Sleep until something happens, and deal with it."""
        owner = self._owner.fileno()
        witness = self._witness.fileno() if self._witness is not None else None
        poll = select.poll()
        for descriptor in (owner, witness, self._listener, *self._first.waits_on()):
            if descriptor is not None:
                poll.register(descriptor, select.POLLIN)
        ready = dict(poll.poll(seconds * 1000))
        if self._listener is not None and self._listener in ready:
            self._refuse(self._listener, ready[self._listener])
        if witness in ready:
            self._meet_witness()
        if owner in ready:
            self._obey()
        self._first.collect()

    def _meet_witness(self) -> None:
        """Take the listener from the child, which has one where the system offers it."""
        if self._witness is not None:
            _, descriptors, _, _ = socket.recv_fds(self._witness, 1, 1)
            self._listener = descriptors[0] if descriptors else None
            self._witness.close()
            self._witness = None

    def _refuse(self, listener: int, events: int) -> None:
        """Answer one request for too much memory; a listener that only hangs up is given back."""
        if not events & select.POLLIN:
            os.close(listener)
            self._listener = None
        elif (size := seccomp.refuse_one(listener)) is None:
            self._attacked = True
        elif size:
            self._judge.asked_for(size)

    def _obey(self) -> None:
        """Carry out what the owner says; when the owner is gone, end everything."""
        try:
            words = self._owner.recv(1 << 12)
        except OSError:
            words = b""
        if not words:
            end_at_once(self._first)
        for line in words.splitlines():
            word = json.loads(line)
            if word["do"] == "end":
                self._asked = True
                self._terminate_at = time.monotonic() + word["grace"]
                self._kill_at = self._terminate_at + word["patience"]
            else:
                self._stop(word["why"])

    # --- ending -------------------------------------------------------------------------------------------------------

    def _keep_time(self) -> None:
        """End the subject when its time is over, or the time that the owner granted it."""
        now = time.monotonic()
        if self._age() > self._limits.seconds:
            self._stop("seconds")
        if self._terminate_at is not None and now >= self._terminate_at:
            self._terminate_at = None
            self._first.signal_subject(signal.SIGTERM)
        if self._kill_at is not None and now >= self._kill_at:
            self._kill_at = None
            self._kill()

    def _stop(self, why: Exceeded) -> None:
        """Write down the limit, and end the child for it."""
        self._judge.notes.exceed(why)
        self._limited = self._limited or not self._asked
        self._kill()

    def _kill(self) -> None:
        """Kill the child; what the subject had abandoned by then is noted, as what it was using dies with it."""
        table = self._first.table()
        abandoned = [one for one in table.members() if one.parent == table.root and one.pid != self._first.subject_pid]
        if self._abandoned is None:
            self._abandoned = [table.as_evidence(one) for one in abandoned]
        self._first.kill_subject()

    def _finish(self) -> None:
        """List what outlived the subject, end it, and send the record."""
        if select.select([self._owner], [], [], 0)[0]:
            self._obey()  # it asked before the end that we have just seen
        left = self._settle() if self._abandoned is None else self._abandoned
        self._first.kill_all()
        self._judge.resident(self._first.most_resident)
        self._judge.look_at_files()
        out_of_cpu = self._is_out_of_cpu()
        if out_of_cpu:
            self._judge.notes.exceed("cpu")
        ended_by = "limit" if self._limited or out_of_cpu else "us" if self._asked else "itself"
        self._say(
            "record", exit_code=self._first.exit_code, signal=self._first.signal, ended_by=ended_by,
            left_behind=left, seconds=self._age(), cpu_seconds=self._first.cpu_seconds, parent_attacked=self._attacked,
            **self._judge.as_json(),
        )  # fmt: skip

    def _is_out_of_cpu(self) -> bool:
        """Whether the kernel ended the subject for its processor time: by SIGXCPU, or by SIGKILL if that is ignored."""
        if self._first.signal == signal.SIGKILL and self._abandoned is None:
            return self._first.cpu_seconds >= self._limits.cpu_seconds
        return self._first.signal == signal.SIGXCPU

    def _settle(self) -> LeftBehind:
        """Give processes a moment to follow the subject; list those that stay."""
        table = self._first.table()
        until = time.monotonic() + SETTLE_SECONDS
        while (members := table.members()) and time.monotonic() < until and not self._judge.count(members):
            time.sleep(0.005)
            self._first.collect()
        return [table.as_evidence(one) for one in members]

    # --- telling ------------------------------------------------------------------------------------------------------

    def _update(self) -> None:
        """Send the notes when they have changed in a way that matters: they may be the last word."""
        gist = self._judge.notes.gist()
        if gist != self._told:
            self._told = gist
            self._say("notes", **self._judge.as_json())

    def _say(self, event: str, **about: Any) -> None:  # noqa: ANN401 - anything JSON
        with suppress(OSError):  # the owner is gone: the next wait sees that too, and ends everything
            self._owner.sendall(json.dumps({"event": event, **about}).encode() + b"\n")


def end_at_once(first: FirstProcess) -> NoReturn:
    """Leave nothing, tell nothing: the owner is gone."""
    first.kill_all()
    os._exit(0)


def guard(*, line: socket.socket, isolation: Isolation, launch: Launch) -> NoReturn:
    """Be the guardian of one child, from before its order to its end; called in a process forked for that.

    Args:
        line: on which the order comes, in a message with the guardian's line to the caller and the child's ends; where
            it closes instead, no child is wanted any more.
        isolation: which namespaces to use.
        launch: becomes the subject; called in the child.
    """
    owner = None
    try:
        os.setsid()
        libc.die_with_parent(signal.SIGTERM)
        libc.hide_from_tracers()
        first = prepared(isolation, launch, private=line)
        received = receive(line)
        line.close()
        if received is None:
            os._exit(0)
        message, (own, *ends) = received
        owner = socket.socket(fileno=own)
        watch(first, owner, message, ends)
    except BaseException as problem:  # noqa: BLE001 - told to the owner; this process must not return to the warm loop
        with suppress(BaseException):
            text = f"{type(problem).__name__}: {problem}"
            if owner is not None:
                owner.sendall(json.dumps({"event": "broken", "text": text}).encode() + b"\n")
        os._exit(1)
    os._exit(0)


def prepared(isolation: Isolation, launch: Launch, *, private: socket.socket) -> FirstProcess | Exception:
    """Do all for a child that needs no order; what goes wrong is given back, as nobody is there yet to be told."""
    try:
        if isolation.pid:
            return NamespacedFirst(table=isolation.process_table, launch=launch, private=private)
        return PlainFirst(launch=launch)
    except Exception as problem:  # noqa: BLE001 - raised as soon as there is an owner
        return problem


def watch(first: FirstProcess | Exception, owner: socket.socket, message: Message, ends: Sequence[int]) -> None:
    """Start the subject and watch over it to its end; raises what went wrong in preparing for that."""
    if isinstance(first, Exception):
        raise first
    witness, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    first.start({**message, "ends": [*message["ends"], "witness"]}, [*ends, theirs.detach()])
    signal.signal(signal.SIGTERM, lambda *_: end_at_once(first))
    with suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, 0, -5)
    Guardian(order=Order.from_json(message["order"]), first=first, owner=owner, witness=witness).run()
