"""Inside the child: whose code is running, and at which line of the subject.

A line is told as `my_ext/tools.py:41 in get_x`, so that it reads alike on every machine. Lines are for people; no
verdict depends on one.
"""

from __future__ import annotations

import functools
import inspect
import itertools
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextvars import ContextVar
from types import FrameType
from typing import Any, Literal

from conformance.rig.frames import HOST, Frames, place
from conformance.rig.naming import tools_of

Whose = Literal["host", "subject", ""]

MOST_TOLD = 200
"""How many exceptions are told: a subject that raises in a loop must not drown the rest."""

_DEEPEST = 200
_LOOPS = frozenset({"asyncio.events", "asyncio.base_events"})
_TURNS = frozenset({"_run", "_run_once", "run_forever"})

_NUMBERS = itertools.count(1)
"""Of the calls of this process, in order."""
RUNNING: ContextVar[tuple[str, Any, int]] = ContextVar("running_tool", default=("", None, 0))
"""The tool that is being run here, and the coroutine that runs it."""


class Origins:
    """Tells the subject's code from the host's, and both from everybody else's."""

    def __init__(self, payload: Mapping[str, Any], application: Any) -> None:  # noqa: ANN401 - any host's application
        """Take what `hosting.serve` was ordered to load, and the host that it is loaded into."""
        self._frames = Frames(payload)
        theirs = {type(one).__module__.partition(".")[0] for one in (application, application.context)}
        self._hosts = ({*HOST} | theirs) - {"builtins"}

    def whose(self, frame: FrameType | None) -> Whose:
        """Tell whose code it was that led to a frame: whoever comes first, seen from there."""
        for one in _outwards(frame):
            if self._frames.owns(one):
                return "subject"
            if str(one.f_globals.get("__name__", "")).partition(".")[0] in self._hosts:
                return "host"
        return ""

    def line(self, frame: FrameType | None) -> str:
        """Tell the innermost line of the subject that led to a frame; of a task of its own, where its tool waits."""
        own = next((one for one in _outwards(frame) if self._frames.owns(one)), None)
        return place(own, own.f_lineno) if own is not None else self._waiting_line(RUNNING.get()[1])

    def line_of(self, problem: BaseException) -> str:
        """Tell the innermost line of the subject that an exception came through; empty where it came through none."""
        found, trace = "", problem.__traceback__
        while trace is not None:
            if self._frames.owns(trace.tb_frame):
                found = place(trace.tb_frame, trace.tb_lineno)
            trace = trace.tb_next
        return found

    def _waiting_line(self, coroutine: Any) -> str:  # noqa: ANN401 - whatever is awaited
        found = ""
        for _ in range(_DEEPEST):
            frame = getattr(coroutine, "cr_frame", None)
            if frame is None:
                break
            if self._frames.owns(frame):
                found = place(frame, frame.f_lineno)
            coroutine = coroutine.cr_await
        return found


def _outwards(frame: FrameType | None) -> Iterator[FrameType]:
    """Give a frame and those that called it, up to the event loop's: beyond it, nobody asked for what is done."""
    depth = 0
    while frame is not None and depth < _DEEPEST and not _is_the_loop(frame):
        yield frame
        frame, depth = frame.f_back, depth + 1


def _is_the_loop(frame: FrameType) -> bool:
    return frame.f_code.co_name in _TURNS and frame.f_globals.get("__name__") in _LOOPS


def watch_tools(application: Any, origins: Origins, tell: Callable[..., None]) -> None:  # noqa: ANN401 - any host's
    """Keep which tool runs, and tell of each exception that leaves one, through what both majors of the SDK run.

    The exception goes on untouched, and so does the tool's function.
    """
    for kind in {type(tool) for tool in tools_of(application.mcp).values()}:
        if inspect.iscoroutinefunction(getattr(kind, "run", None)):
            kind.run = _watched(kind.run, origins, tell)


def _watched(
    run: Callable[..., Coroutine[Any, Any, Any]], origins: Origins, tell: Callable[..., None]
) -> Callable[..., Coroutine[Any, Any, Any]]:
    told = 0

    @functools.wraps(run)
    async def watched(self: Any, *arguments: Any, **options: Any) -> Any:  # noqa: ANN401 - passed on unchanged
        nonlocal told
        running, name = run(self, *arguments, **options), str(getattr(self, "name", ""))
        number = next(_NUMBERS)
        tell("tool_called", tool=name, call=number)
        token = RUNNING.set((name, running, number))
        try:
            return await running
        except Exception as problem:
            told += 1
            if told <= MOST_TOLD:
                tell("tool_raised", tool=name, **_in_words(problem, origins))
            raise
        finally:
            RUNNING.reset(token)

    return watched


def _in_words(problem: Exception, origins: Origins) -> dict[str, str]:
    """Put what left the tool into words: the exception of the subject's, not what the SDK made of it."""
    chain = list(_chain(problem))
    theirs = next((one for one in chain if origins.line_of(one)), chain[-1])
    try:
        text = str(theirs)
    except Exception:  # noqa: BLE001 - a stranger's __str__
        text = "(its text cannot be shown)"
    return {"type": type(theirs).__name__, "text": text[:1000], "line": origins.line_of(theirs)}


def _chain(problem: BaseException) -> Sequence[BaseException]:
    """Give an exception and, in order, those that it was raised from."""
    chain: list[BaseException] = []
    one: BaseException | None = problem
    while one is not None and one not in chain and len(chain) < 20:
        chain.append(one)
        one = one.__cause__ or (None if one.__suppress_context__ else one.__context__)
    return chain
