"""The last steps before a subject runs: a forked process becomes the child that its order describes."""

from __future__ import annotations

import atexit
import importlib
import io
import os
import signal
import socket
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NoReturn, TextIO

from conformance.rig import landlock, libc, seccomp
from conformance.rig.channel import Channel
from conformance.rig.order import Order

KEPT_BY_ROOT = frozenset({0, 1, 3, 4, 10})
"""Capabilities that a child of root keeps: those over files (chown, dac_override, fowner, fsetid), and low ports."""
UMASK = 0o077
CANNOT_EXECUTE = 127


@dataclass(frozen=True, kw_only=True)
class Ends:
    """The child's ends of all that it is connected to, as descriptors."""

    stdin: int
    stdout: int
    stderr: int
    facts: int
    protocol_in: int = -1
    """-1 for a command or a program: its stdin is the protocol."""
    protocol_out: int = -1
    witness: int = -1
    """A socket on which the guardian is handed the listener for refused requests."""

    def close(self) -> None:
        """Give them back in a process that does not use them."""
        for descriptor in {*vars(self).values()} - {-1}:
            os.close(descriptor)


@dataclass(frozen=True, kw_only=True)
class Confinement:
    """What a child loses before its subject runs."""

    keeps: frozenset[int]
    """The capabilities that stay."""
    tasks_of_user: int
    """See `Limits.apply`."""
    signals: bool
    """Landlock holds its signals inside."""
    ports: tuple[int, ...] | None
    """Landlock lets it connect to these TCP ports only; None: it does not look at the network."""


def become(order: Order, ends: Ends, *, preloaded: Mapping[str, Any], confinement: Confinement) -> NoReturn:
    """Turn this forked process into the subject of `order` and run it to its end."""
    try:
        ends = take_descriptors(ends)
        surround(order)
        drop_privileges(confinement)
        seen = hand_over_requests(ends.witness, order.limits.memory_bytes)
        order.limits.apply(tasks_of_user=confinement.tasks_of_user, requests_seen=seen)
        if order.kind == "command":
            execute(order, ends)
        code = run_entry(order, ends, preloaded)
    except BaseException:  # noqa: BLE001 - no exception may travel up into the warm process's own frames
        with suppress(BaseException):
            os.write(ends.stderr, traceback.format_exc().encode())
        os._exit(70)
    os._exit(code)


def take_descriptors(ends: Ends) -> Ends:
    """Put the descriptors in their places, from 0 on, and close all others of the warm process."""
    wanted = [getattr(ends, name) for name in Ends.__dataclass_fields__]
    base = max(*wanted, len(wanted)) + 1
    for place, descriptor in enumerate(wanted):
        if descriptor >= 0:
            os.dup2(descriptor, base + place, inheritable=False)
    for place, descriptor in enumerate(wanted):
        if descriptor >= 0:
            os.dup2(base + place, place, inheritable=place < 3)
    used = {place for place, descriptor in enumerate(wanted) if descriptor >= 0}
    for number in map(int, os.listdir("/dev/fd")):  # noqa: PTH208 - pathlib would copy its pages into the child
        if number not in used:
            with suppress(OSError):  # the descriptor of that very listing is among them
                os.close(number)
    places = [place if place in used else -1 for place in range(len(wanted))]
    return Ends(**dict(zip(Ends.__dataclass_fields__, places, strict=True)))


def surround(order: Order) -> None:
    """Give the process its own session, folder and environment, and Python's start-up state."""
    os.setsid()
    os.umask(UMASK)
    os.chdir(order.folder)
    os.environ.clear()
    os.environ.update(order.environment)
    time.tzset()
    tempfile.tempdir = None
    signal.set_wakeup_fd(-1)
    for number in range(1, signal.NSIG):  # `valid_signals` makes an enumeration of them, in 0.3 ms
        if signal.getsignal(number) not in (signal.SIG_DFL, None):
            with suppress(OSError, ValueError):  # KILL and STOP
                signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    if order.kind != "command":
        for number in (signal.SIGPIPE, signal.SIGXFSZ):  # as Python starts
            signal.signal(number, signal.SIG_IGN)
        signal.signal(signal.SIGINT, signal.default_int_handler)


def drop_privileges(confinement: Confinement) -> None:
    """Give up capabilities, and the way back to them, and reach out no further than is allowed."""
    if libc.ON_LINUX:
        libc.prctl(libc.PR_SET_NO_NEW_PRIVS, 1)
        libc.keep_capabilities(confinement.keeps)
        landlock.confine(signals=confinement.signals, ports=confinement.ports)


def hand_over_requests(witness: int, limit: int) -> bool:
    """Let the guardian refuse large requests for memory; gives whether it can."""
    with socket.socket(fileno=witness) as line:
        listener = seccomp.watch_requests(limit)
        if listener is None:
            return False
        socket.send_fds(line, [b"+"], [listener])
        os.close(listener)
        return True


def execute(order: Order, ends: Ends) -> NoReturn:
    """Become the command; where it cannot be executed, tell so as the fact `not-executed` and end with 127."""
    try:
        os.execvpe(order.command[0], list(order.command), dict(order.environment))  # noqa: S606 - that is the order
    except OSError as problem:
        with socket.socket(fileno=ends.facts) as facts:
            text = f"{order.command[0]}: {problem.strerror}"
            Channel(protocol_in=io.BytesIO(), protocol_out=io.BytesIO(), facts=facts, preloaded={}).tell(
                "not-executed", text=text
            )
            os._exit(CANNOT_EXECUTE)


def run_entry(order: Order, ends: Ends, preloaded: Mapping[str, Any]) -> int:
    """Call the entry function and give the exit code that a script with that function would have."""
    for name, stream in zip(("stdin", "stdout", "stderr"), standard_streams(), strict=True):
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    sys.argv = [order.entry]
    sys.dont_write_bytecode = True
    own = ends.protocol_in >= 0
    channel = Channel(
        protocol_in=open(ends.protocol_in, "rb") if own else sys.stdin.buffer,  # noqa: SIM115, PTH123 - owned to the end
        protocol_out=open(ends.protocol_out, "wb") if own else sys.stdout.buffer,  # noqa: SIM115, PTH123 - likewise
        facts=socket.socket(fileno=ends.facts),
        preloaded=preloaded,
    )
    try:
        module, _, name = order.entry.partition(":")
        code = exit_code(getattr(importlib.import_module(module), name)(dict(order.payload), channel))
    except SystemExit as request:
        code = exit_code(request.code)
    except BaseException as problem:  # noqa: BLE001 - told to the rig, and shown as an interpreter would
        traceback.print_exc()
        code = 1
        with suppress(OSError):
            channel.tell("crash", type=type(problem).__name__, text=str(problem), traceback=traceback.format_exc())
    finish()
    return code


def standard_streams() -> tuple[TextIO, TextIO, TextIO]:
    """Make stdin, stdout and stderr anew; what is written goes out at once, so that `os._exit` loses nothing."""
    return (
        io.TextIOWrapper(open(0, "rb", closefd=False), encoding="utf-8", errors="surrogateescape"),
        io.TextIOWrapper(open(1, "wb", 0, closefd=False), encoding="utf-8", write_through=True),
        io.TextIOWrapper(
            open(2, "wb", 0, closefd=False), encoding="utf-8", errors="backslashreplace", write_through=True
        ),
    )  # fmt: skip


def exit_code(value: object) -> int:
    """Read the argument of `sys.exit` as Python does."""
    if value is None:
        return 0
    if isinstance(value, int):
        return value & 0xFF
    print(value, file=sys.stderr)
    return 1


def finish() -> None:
    """Do what an interpreter does at its end: wait for threads that are no daemons, run `atexit`, flush."""
    with suppress(BaseException):
        # Tells executors to end their idle threads, then joins what is no daemon: a plain join would wait for ever.
        threading._shutdown()  # type: ignore[attr-defined]  # noqa: SLF001
    with suppress(BaseException):
        atexit._run_exitfuncs()  # noqa: SLF001 - the only way to run them without unwinding into the warm process
    with suppress(BaseException):
        sys.stdout.flush()
