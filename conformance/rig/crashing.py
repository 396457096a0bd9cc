"""Tells, from inside the child, how a tool failed: by an error that somebody raised on purpose, or by a crash."""

from __future__ import annotations

import functools
import opcode
import sysconfig
from collections.abc import Iterator
from types import TracebackType
from typing import TYPE_CHECKING, Any

from conformance.rig.frames import HOST
from conformance.rig.naming import tools_of

if TYPE_CHECKING:
    from conformance.rig.channel import Channel

TELL_FAILURES = "tell how tools fail"
"""The instruction (see `conformance.rig.hosting.serve`) that switches this observer on."""

RAISING = frozenset({opcode.opmap["RAISE_VARARGS"]})
LIBRARIES = tuple({sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib")})
SDK_PARTS = ("pydantic", "pydantic_core", "mcp", "anyio", "typing_extensions")


def watch_failures(application: Any, channel: Channel) -> None:  # noqa: ANN401 - any host's application
    """Tell a fact whenever a tool of the SDK ends: `tool_failed` or `tool_returned`; its caller sees no difference."""
    for kind in {type(tool) for tool in tools_of(application.mcp).values()}:
        kind.run = _observed(kind.run, channel)


def _observed(run: Any, channel: Channel) -> Any:  # noqa: ANN401 - the SDK's method
    @functools.wraps(run)
    async def observed(self: Any, *arguments: Any, **options: Any) -> Any:  # noqa: ANN401 - passed on unchanged
        try:
            result = await run(self, *arguments, **options)
        except Exception as problem:
            channel.tell("tool_failed", **how_it_failed(problem.__cause__ or problem))
            raise
        is_error = getattr(result, "isError", False) or getattr(result, "is_error", False)
        channel.tell("tool_returned", error=bool(is_error))
        return result

    return observed


def how_it_failed(problem: BaseException) -> dict[str, Any]:
    """Give the type of an exception, and whether it is a crash: something that no `raise` of the author's says."""
    return {"type": type(problem).__name__, "crash": all(map(_is_crash, _parts(problem)))}


def _parts(problem: BaseException) -> Iterator[BaseException]:
    if isinstance(problem, BaseExceptionGroup):
        for one in problem.exceptions:
            yield from _parts(one)
    else:
        yield problem


def _is_crash(problem: BaseException) -> bool:
    place = _innermost(problem.__traceback__)
    if place is None:
        return False
    frame, at = place.tb_frame, place.tb_lasti
    package = str(frame.f_globals.get("__name__", "")).partition(".")[0]
    if package in HOST:
        return False
    is_raised = 0 <= at < len(frame.f_code.co_code) and frame.f_code.co_code[at] in RAISING
    return not is_raised or package in SDK_PARTS or _is_of_python(frame.f_code.co_filename)


def _innermost(where: TracebackType | None) -> TracebackType | None:
    while where is not None and where.tb_next is not None:
        where = where.tb_next
    return where


def _is_of_python(file: str) -> bool:
    return file.startswith(("<frozen", *LIBRARIES)) and "site-packages" not in file
