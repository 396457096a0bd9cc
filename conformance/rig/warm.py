"""The warm process as its owner sees it: started beside the caller, asked for listeners and children."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
import tempfile
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict
from pathlib import Path
from typing import IO, Self

from conformance.rig.child import Child, OurEnds
from conformance.rig.control import Message, areceive, asend
from conformance.rig.errors import WarmProcessFailed
from conformance.rig.limits import Limits
from conformance.rig.namespaces import Containment, Isolation
from conformance.rig.order import Order
from conformance.rig.record import ProcessSeen, Record

__all__ = ["Child", "Containment", "Isolation", "Limits", "Order", "ProcessSeen", "Record", "WarmProcess"]

BOOTSTRAP = (
    "import sys; sys.path.append({home!r}) if {home!r} not in sys.path else None; "
    "from conformance.rig.forking import main; main({descriptor})"
)
LEAVE_SECONDS = 5.0
PORTS_REMEMBERED = 256


class WarmProcess:
    """A process that has imported everything once and forks a child for each order.

    Use it as an async context manager; all its use stays in the event loop that entered it. When that ends, or the
    whole process is killed, the warm process and all children go too; so enter it in a thread that lives as long.

    Args:
        preload: `module:function` names that are called once, before any fork; they must start no thread.
        import_path: folders added to the end of `sys.path`.
        isolation: what may be tried to shut children in.
        environment: the warm process's environment; by default PATH and a UTF-8 locale only.
    """

    containment: Containment
    """What is in force; known once entered."""

    def __init__(
        self,
        *,
        preload: Sequence[str] = (),
        import_path: Sequence[str | os.PathLike[str]] = (),
        isolation: Isolation | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """Prepare; nothing is started yet."""
        self._first_message: Message = {
            "preload": list(preload),
            "import_path": [os.fspath(one) for one in import_path],
            "isolation": asdict(isolation or Isolation()),
        }
        self._environment = (
            dict(environment) if environment is not None else {"PATH": os.environ.get("PATH", os.defpath)}
        )
        self._children: dict[int, Child] = {}
        self._ports: deque[int] = deque(maxlen=PORTS_REMEMBERED)
        self._started = 0
        self._sending = asyncio.Lock()
        self._listening = asyncio.Lock()
        self._listeners: asyncio.Queue[int | None] = asyncio.Queue()
        self._connecting = asyncio.Lock()
        self._connected: asyncio.Queue[int | None] = asyncio.Queue()

    async def __aenter__(self) -> Self:
        """Start it, and wait until it has imported everything."""
        self._spawn()
        try:
            self.containment = await self._introduced()
        except BaseException:
            self._control.close()
            await self._gone()
            raise
        self._hearing = asyncio.create_task(self._hear(), name="warm process")
        return self

    async def __aexit__(self, *_: object) -> None:
        """End all children, then the warm process."""
        try:
            await asyncio.gather(*(child.close(0.0) for child in self._children.values()), return_exceptions=True)
        finally:
            self._hearing.cancel()
            with suppress(asyncio.CancelledError):
                await self._hearing
            self._control.close()
            await self._gone()

    async def _introduced(self) -> Containment:
        """Tell it what to import; gives what holds its children."""
        await asend(self._control, self._first_message)
        answer = await areceive(self._control)
        if answer is None or answer[0]["event"] != "ready":
            raise WarmProcessFailed(self._why(answer))
        return Containment(**answer[0]["containment"])

    def _spawn(self) -> None:
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        self._control.setblocking(False)  # noqa: FBT003 - the standard library takes it by position only
        self._output: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed in _gone
        home = str(Path(__file__).parents[2])
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-X", "utf8", "-c", BOOTSTRAP.format(home=home, descriptor=theirs.fileno())],
                stdin=subprocess.DEVNULL, stdout=self._output, stderr=self._output,
                env={"LC_CTYPE": "C.UTF-8", **self._environment}, pass_fds=[theirs.fileno()], start_new_session=True,
            )  # fmt: skip

    def _why(self, answer: tuple[Message, list[int]] | None) -> str:
        self._output.seek(0)
        said = self._output.read().decode(errors="backslashreplace").strip()
        told = answer[0].get("traceback", "") if answer is not None else ""
        return f"the warm process ({sys.executable}) did not start:\n{told or said or 'it said nothing'}"

    async def _gone(self) -> None:
        """Wait for the process's end; one that does not go is killed."""
        async with asyncio.TaskGroup() as group:
            waiting = group.create_task(self._ended())
            with suppress(TimeoutError):
                await asyncio.wait_for(asyncio.shield(waiting), LEAVE_SECONDS)
            if not waiting.done():
                self._process.kill()
        self._process.wait()
        self._output.close()

    async def _ended(self) -> None:
        """Wait, without a thread, until the process can be reaped."""
        if not hasattr(os, "pidfd_open"):
            while self._process.poll() is None:  # noqa: ASYNC110 - there is nothing to wait on without a pidfd
                await asyncio.sleep(0.01)
            return
        loop = asyncio.get_running_loop()
        ended = asyncio.Event()
        descriptor = os.pidfd_open(self._process.pid)
        loop.add_reader(descriptor, ended.set)
        try:
            await ended.wait()
        finally:
            loop.remove_reader(descriptor)
            os.close(descriptor)

    async def _hear(self) -> None:
        """Take in what the warm process says until it goes."""
        while (heard := await areceive(self._control)) is not None:
            message, descriptors = heard
            if message["event"] == "listening":
                self._listeners.put_nowait(descriptors[0])
            elif message["event"] == "connected":
                self._connected.put_nowait(descriptors[0] if descriptors else None)
            elif message["event"] == "guardian-gone" and message["number"] in self._children:
                self._children[message["number"]].guardian_gone(message["left"])
        self._listeners.put_nowait(None)
        self._connected.put_nowait(None)
        for child in self._children.values():
            child.guardian_gone([], warm_gone=True)

    async def _ask(self, message: Message, descriptors: Sequence[int] = ()) -> None:
        try:
            async with self._sending:
                await asend(self._control, message, descriptors)
        except OSError as problem:
            raise WarmProcessFailed(f"the warm process is gone ({problem}); a child may have killed it") from problem

    async def listen(self) -> socket.socket:
        """Make a listening TCP socket on a loopback port that the children can reach; the caller owns it."""
        async with self._listening:
            await self._ask({"do": "listen"})
            descriptor = await self._listeners.get()
        if descriptor is None:
            self._listeners.put_nowait(None)
            raise WarmProcessFailed("the warm process ended before it could listen")
        listener = socket.socket(fileno=descriptor)
        self._ports.append(listener.getsockname()[1])
        listener.setblocking(False)  # noqa: FBT003 - the standard library takes it by position only
        return listener

    async def connect(self, port: int) -> socket.socket:
        """Connect to a port on which a child listens; the caller owns the socket.

        Raises:
            ConnectionRefusedError: nobody listens there.
        """
        async with self._connecting:
            await self._ask({"do": "connect", "port": port})
            descriptor = await self._connected.get()
        if descriptor is None:
            raise ConnectionRefusedError(f"nothing listens on port {port}")
        connected = socket.socket(fileno=descriptor)
        connected.setblocking(False)  # noqa: FBT003 - the standard library takes it by position only
        return connected

    async def start(self, order: Order) -> Child:
        """Start a child; it may still be about to run when this returns."""
        self._started += 1
        number = self._started
        with ExitStack() as on_error, ExitStack() as theirs:
            ends, names, descriptors = _connections(order, on_error, theirs)
            start = {"do": "start", "number": number, "order": order.as_json(), "ends": names, "ports": [*self._ports]}
            await self._ask(start, descriptors)
            on_error.pop_all()
        child = Child(number=number, limits=order.limits, ends=ends, abandon=self._abandon)
        self._children[number] = child
        self._forget_closed()
        return child

    def _forget_closed(self) -> None:
        self._children = {number: child for number, child in self._children.items() if not child.closed}

    async def _abandon(self, number: int) -> None:
        with suppress(WarmProcessFailed):
            await self._ask({"do": "abandon", "number": number})


def _connections(order: Order, ours: ExitStack, theirs: ExitStack) -> tuple[OurEnds, list[str], list[int]]:
    """Make every pipe and socket of one child; `theirs` closes the child's ends here once they are sent."""

    def pipe() -> tuple[int, int]:
        reading, writing = os.pipe()
        return reading, writing

    facts, their_facts = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    guardian, their_guardian = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    requests, answers, errors = pipe(), pipe(), pipe()
    for one in (facts, guardian):
        ours.callback(one.close)
    for one in (their_facts, their_guardian):
        theirs.callback(one.close)
    given = {"stderr": errors[1], "facts": their_facts.fileno()}
    stdin: tuple[int, int] | None = None
    stdout: int | None = None
    if order.kind == "entry":
        bait, output = pipe(), pipe()
        stdin, stdout = (os.dup(bait[0]), bait[1]), output[0]
        given |= {"stdin": bait[0], "stdout": output[1], "protocol_in": requests[0], "protocol_out": answers[1]}
    else:
        given |= {"stdin": requests[0], "stdout": answers[1]}
    for descriptor in set(given.values()) - {their_facts.fileno()}:
        theirs.callback(os.close, descriptor)
    for descriptor in (requests[1], answers[0], errors[0], *(stdin or ()), *([stdout] if stdout is not None else ())):
        ours.callback(os.close, descriptor)
    ends = OurEnds(
        stdin=stdin, stdout=stdout, stderr=errors[0], protocol_out=answers[0], protocol_in=requests[1],
        facts=facts, guardian=guardian,
    )  # fmt: skip
    return ends, list(given), [their_guardian.fileno(), *given.values()]
