"""A probe whose tools return what they promise, return less, or raise.

Copied into the folder of a start, so it imports nothing but the standard library and what every MCP SDK brings.
"""

from __future__ import annotations

from typing import Any

try:  # pydantic takes no other before Python 3.12
    from typing_extensions import TypedDict
except ImportError:
    from typing import TypedDict

RAISED = "the probe cannot answer: no such change 4711"


class Told(TypedDict):
    """What the typed tools promise."""

    number: int
    subject: str


async def tell() -> Told:
    """Return all that is promised."""
    return {"number": 4711, "subject": "as promised"}


async def leave_out() -> Told:
    """Return less than is promised."""
    return {"number": 4711}  # type: ignore[typeddict-item]


async def mistype() -> Told:
    """Return words where a number is promised."""
    return {"number": "not a number", "subject": "as promised"}  # type: ignore[typeddict-item]


async def fail() -> str:
    """Raise as most tools do."""
    raise ValueError(RAISED)


def fail_plainly() -> str:
    """Raise, in a tool that is no coroutine."""
    raise RuntimeError(RAISED)


async def fail_typed() -> Told:
    """Raise, where a typed result is promised."""
    raise LookupError(RAISED)


TOOLS = {
    "probe_tells": tell,
    "probe_leaves_out": leave_out,
    "probe_mistypes": mistype,
    "probe_fails": fail,
    "probe_fails_plainly": fail_plainly,
    "probe_fails_typed": fail_typed,
}


def register(ctx: Any) -> None:  # noqa: ANN401 - the context of any server
    """Register them all."""
    for name, function in TOOLS.items():
        ctx.mcp.tool(name=name)(function)
