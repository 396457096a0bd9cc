"""Several calls in flight at once: requests held at the gateway, answers in any order, and requests gone astray."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from conformance.rig.trial import Trial
    from conformance.wire.reply import ToolReply
    from mock_gerrit.journal import Entry
    from mock_gerrit.serving.asgi import Scope

SECONDS = 15.0
"""How long one call may take."""
BUSY_SECONDS = 5.0
BLOCKED_SECONDS = 1.0
"""A child that answers nothing else for so long is held up, and not only slow."""
PROMPT_SECONDS = 0.05
"""A child that has nothing to do answers within this."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Held:
    """A request that has arrived, and that Gerrit does not answer yet."""

    host: str
    path: str
    """As Gerrit's documentation writes it, without the query."""
    at: float = field(default_factory=time.monotonic)
    let_go: asyncio.Event = field(default_factory=asyncio.Event)


class Gate:
    """Holds the requests of one trial until they are let go; a context, at the end of which nothing is held.

    A request enters the journal when it is let go.
    """

    def __init__(self, trial: Trial, *, holds: Callable[[Held], bool] = lambda _: True) -> None:
        """Prepare to hold whatever `holds` says; the rest passes at once."""
        self.waiting: list[Held] = []
        """What is held now, in the order of arrival."""
        self.news = asyncio.Event()
        """Set whenever a request is held."""
        self._trial = trial
        self._holds = holds
        self._open = False

    def __enter__(self) -> Self:
        """Close the gate."""
        self._trial.gateway.gate = self._stop
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Let everything pass, also what is held."""
        self.open()
        self._trial.gateway.gate = None

    async def _stop(self, scope: Scope) -> None:
        held = self._described(scope)
        if self._open or not self._holds(held):
            return
        self.waiting.append(held)
        self.news.set()
        try:
            await held.let_go.wait()
        finally:
            if held in self.waiting:
                self.waiting.remove(held)

    def _described(self, scope: Scope) -> Held:
        from mock_gerrit.journal import gerrit_path  # noqa: PLC0415 - loaded with the first trial
        from mock_gerrit.serving.asgi import connection_of  # noqa: PLC0415 - likewise

        connection = connection_of(scope)
        target, authority = (connection.target, connection.authority or "") if connection else ("", "")
        host = self._trial.world.host_for(authority)
        path = gerrit_path(target.partition("?")[0], host.context_path if host else "")
        return Held(host=host.name if host else authority, path=path)

    def let_go(self, those: Iterable[Held]) -> None:
        """Let some requests go, in the order given."""
        for held in tuple(those):
            held.let_go.set()
            if held in self.waiting:
                self.waiting.remove(held)

    def open(self) -> None:
        """Let everything go, what came last first, and all that is still to come."""
        self._open = True
        self.let_go(reversed(self.waiting))

    async def filled(self, count: int, *, quiet: float) -> None:
        """Wait until so many requests are held, or none has come for `quiet` seconds although the child had its time.

        A busy machine is given up to five seconds more.
        """
        until = time.monotonic() + BUSY_SECONDS
        while len(self.waiting) < count:
            self.news.clear()
            try:
                async with asyncio.timeout(quiet):
                    await self.news.wait()
            except TimeoutError:
                if time.monotonic() > until or not await self._may_come():
                    return

    async def _may_come(self) -> bool:
        """Tell whether a request is on its way here, or the child has not had the time to make one.

        A child whose event loop is held up by a request that is held here makes no other one.
        """
        from conformance.wire.client import WireTrouble  # noqa: PLC0415 - loaded with the first trial

        if len(self._trial.told("run_curl")) - len(self._trial.told("run_curl_over")) > len(self.waiting):
            return True
        began, held = time.monotonic(), len(self.waiting)
        try:
            await self._trial.client.request("ping", timeout=BLOCKED_SECONDS)
        except WireTrouble:
            return len(self.waiting) > held
        return time.monotonic() - began > PROMPT_SECONDS or len(self.waiting) > held


@dataclass(frozen=True, kw_only=True)
class Answered:
    """What one of several calls came to."""

    which: int
    """Which of the possible arguments it was given."""
    reply: ToolReply | None
    trouble: str = ""

    @property
    def succeeded(self) -> bool:
        """There is an answer, and it is no error."""
        return self.reply is not None and not self.reply.is_error


async def at_once(
    trial: Trial, tool: str, choices: Sequence[Mapping[str, Any]], order: Sequence[int], *, gate: Gate, quiet: float
) -> list[Answered]:
    """Make several calls of one tool at once, and answer their first requests when all of them wait.

    Args:
        trial: where.
        tool: the tool.
        choices: the arguments that there are.
        order: which of them to give to the first call, the second, and so on.
        gate: closed; it is opened when every call has a request held there.
        quiet: or when no further request has come for so many seconds, as some calls ask for nothing.
    """
    calls = [asyncio.ensure_future(answered(trial, tool, which, choices[which])) for which in order]
    everybody, crowd = asyncio.gather(*calls), asyncio.ensure_future(gate.filled(len(order), quiet=quiet))
    everybody.add_done_callback(lambda _: crowd.cancel())
    with suppress(asyncio.CancelledError):
        await crowd
    gate.open()
    return await everybody


async def answered(trial: Trial, tool: str, which: int, arguments: Mapping[str, Any]) -> Answered:
    """Call a tool with the arguments number `which`, beside whatever else is on its way."""
    from conformance.wire.client import WireTrouble  # noqa: PLC0415 - loaded with the first trial

    try:
        return Answered(which=which, reply=await trial.client.call_tool(tool, dict(arguments), timeout=SECONDS))
    except WireTrouble as problem:
        return Answered(which=which, reply=None, trouble=str(problem))


Question = tuple[str, str, bytes]
"""What a request asks, whichever host it goes to: method, path and query as Gerrit's documentation has them, body."""
Asked = Counter[tuple[str, Question]]
"""How often each host was asked each question."""


def questions(entries: Iterable[Entry]) -> Asked:
    """Count the requests by host and question."""
    return Counter((one.host, _question(one)) for one in entries)


def _question(entry: Entry) -> Question:
    _, mark, query = entry.target.partition("?")
    return entry.method, entry.gerrit_path + mark + query, entry.body


@dataclass(frozen=True, kw_only=True)
class Astray:
    """A question that a call did not put to the host that it names, while another host was asked it."""

    which: int
    """Which of the possible arguments the call was given."""
    host: str
    """The host that it names."""
    question: Question
    elsewhere: str
    """The host that was asked instead."""


def astray(
    asked: Asked, order: Sequence[int], alone: Mapping[int, Sequence[Asked]], named: Mapping[int, str], *, fresh: bool
) -> Astray | None:
    """Find a question that went to another host than the one that its call names; None where there is none.

    It counts only if the host named was never asked it, and another one more often than all calls for that one need;
    or, where nothing can be remembered yet, if none of the call's questions came to the host named, but all to others.
    A host that was asked what no call alone asks may have been asked for several calls in one.

    Args:
        asked: the requests of all calls together.
        order: which arguments were given, one entry a call.
        alone: for each arguments, what they ask alone, in one run or more.
        named: for each arguments that name a host, which; what asks other hosts as well, alone, is left aside.
        fresh: these were the first calls in their process.
    """
    due: Asked = Counter()
    for which in order:
        due.update(_at_most(alone[which]))
    for which, host in named.items():
        runs = alone[which] if which in order else ()
        usual = [question for _, question in _at_most(runs) if all(run[host, question] for run in runs)]
        if not usual or any(one != host for run in runs for one, _ in run):
            continue
        wandered = [
            (Astray(which=which, host=host, question=question, elsewhere=other), asked[other, question])
            for question in usual
            if not asked[host, question]
            for other in sorted({one for one, put in asked if put == question})
        ]
        for found, count in wandered:
            if count > due[found.elsewhere, found.question]:
                return found
        all_wandered = len({found.question for found, _ in wandered}) == len(usual)
        if fresh and all_wandered and all(key in due for key in asked if key[0] == host):
            return wandered[0][0]
    return None


def _at_most(runs: Sequence[Asked]) -> Asked:
    """Give how often each question was put in that run in which it was put most often."""
    return Counter({key: max(run[key] for run in runs) for run in runs for key in run})
