"""Clauses about what becomes of a tool's result, and of its exception, on the way to the client."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from conformance.contracts.registry import GUIDE, clause
from conformance.outcomes import Blocked, Evidence, Finding, Level
from conformance.probes.typed import RAISED
from conformance.scenes import server_results as scenes

if TYPE_CHECKING:
    from conformance.scenes.server_results import Answers
    from conformance.server_observations import ServerObservations

MUST, SHOULD = Level.MUST, Level.SHOULD
PROMISED: dict[str, Any] = {"number": 4711, "subject": "as promised"}


@clause(
    "SRV-SCHEMA",
    level=MUST,
    source=GUIDE.section("Writing an extension"),
    needs=("SRV-ENV",),
    fix="Leave the SDK's structured output on, and send what it made of the result, not the text of it alone.",
    example="""
        mcp.tool(name=name, structured_output=True)(function)  # the default; do not wrap it in one that returns text
    """,
    neighbours=("SRV-ERRORS", "SRV-FIRST"),
)
async def a_typed_result_reaches_the_client_as_one(observed: ServerObservations) -> None:
    """A tool with a typed result has an outputSchema, and its result reaches the client as structuredContent.

    A result that leaves a promised key out, or has words where a number is promised, is a tool error. That holds in a
    session, and without one where the server offers the protocol that knows none (2026-07-28).
    """
    _judge_results(await _answers(observed))
    sessionless = await observed.of(scenes.answered, stateless=True)
    if sessionless.calls:
        _judge_results(sessionless)


def _judge_results(seen: Answers) -> None:
    entry = next(tool for tool in seen.served.tools if tool["name"] == scenes.TELLS)
    promised = (entry.get("outputSchema") or {}).get("properties") or {}
    if not set(PROMISED) <= set(promised):
        raise Finding(
            expected=f"an outputSchema with {' and '.join(PROMISED)}, as the tool promises",
            saw=f"properties {', '.join(promised) or '(none)'}",
            evidence=(Evidence(kind="reply", text=f"tools/list: {entry}"),),
        )
    told = seen.calls[scenes.TELLS]
    if not told.succeeded or told.reply is None or told.reply.structured != PROMISED:
        structured = told.reply.structured if told.reply is not None and told.reply.has_structured else "none"
        raise Finding(
            expected=f"structuredContent {PROMISED}", saw=f"{structured}; {told.saw()}", evidence=told.evidence()
        )
    for name, what in ((scenes.LEAVES_OUT, "without a key that it promises"), (scenes.MISTYPES, "with a wrong type")):
        call = seen.calls[name]
        if call.succeeded or call.reply is None:
            raise Finding(expected=f"a tool error for a result {what}", saw=call.saw(), evidence=call.evidence())


@clause(
    "SRV-ERRORS",
    level=MUST,
    source=GUIDE.section("Writing an extension"),
    needs=("SRV-ENV",),
    fix="Let exceptions of tools go up to the SDK, which makes tool errors of them; never turn one into a result.",
    example="""
        try:
            return await function(**arguments)
        except Exception as problem:
            raise ToolError(str(problem)) from problem  # not: return [TextContent(text=f"Error: {problem}")]
    """,
    neighbours=("SRV-SCHEMA",),
)
async def an_exception_is_a_tool_error(observed: ServerObservations) -> None:
    """What a tool raises reaches the client as a result with `isError`, and the server goes on.

    Tried with a coroutine, a plain function, and a tool that promises a typed result.
    """
    seen = await _answers(observed)
    for name, what in scenes.RAISING.items():
        call = seen.calls[name]
        if call.reply is None or not call.reply.is_error:
            raise Finding(expected=f"isError for {what}", saw=call.saw(), evidence=call.evidence())
    if seen.again is None or not seen.again.succeeded:
        raise Finding(
            expected="a server that goes on after tools have raised",
            saw="no answer" if seen.again is None else seen.again.saw(),
            evidence=seen.served.evidence(),
        )


@clause(
    "SRV-ERRORS-TEXT",
    level=SHOULD,
    source=GUIDE.section("Routing behavior"),
    needs=("SRV-ERRORS",),
    fix="Raise a ToolError with the text of the exception: version 2 of the SDK hides that of any other.",
    example="""
        try:
            return await super().call_tool(name, arguments)
        except UnexpectedToolError as crash:
            raise ToolError(f"{crash}: {crash.__cause__}") from crash
    """,
    neighbours=("SRV-SCHEMA",),
)
async def the_text_of_an_exception_reaches_the_caller(observed: ServerObservations) -> None:
    """The text of an exception is in the tool error that the client gets: it says what to do about it."""
    seen = await _answers(observed)
    for name, what in scenes.RAISING.items():
        call = seen.calls[name]
        if RAISED not in call.text:
            raise Finding(
                expected=f"the text {RAISED!r} in the error of {what}", saw=call.saw(), evidence=call.evidence()
            )


async def _answers(observed: ServerObservations) -> Answers:
    """Give the calls of the probe; raises Blocked where it was not loaded in this one start."""
    seen = await observed.of(scenes.answered)
    missing = [name for name in (scenes.TELLS, *scenes.RAISING) if name not in seen.calls]
    if missing:
        raise Blocked(f"the probe's tool {missing[0]} is not there", by="SRV-ENV", evidence=seen.served.evidence())
    return seen
