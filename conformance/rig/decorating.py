"""What the host's `requires_plugin` makes of a function, as the SDK sees it before and after."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from conformance.rig.naming import tools_of

INSTRUCTION = "compare_decorated"
"""The instruction under which a child tells what decorating changed."""

Tell = Callable[..., None]


async def told_end(tell: Tell, index: int, running: Awaitable[Any]) -> Any:  # noqa: ANN401 - passed on unchanged
    """Run a call of what `requires_plugin` made, and tell how it ended."""
    try:
        result = await running
    except Exception as problem:
        kind = type(problem)
        tell("routing_ended", index=index, raised=kind.__name__, bases=[base.__name__ for base in kind.__mro__])
        raise
    tell("routing_ended", index=index, returned=type(result).__name__)
    return result


def tell_changes(tell: Tell, mcp: Any, index: int, function: Any, decorated: Any) -> None:  # noqa: ANN401 - any server
    """Tell what differs between the tools that the SDK makes of a function and of what decorating made of it."""
    before, problem = _as_tool(mcp, function)
    if before is None:
        tell("compared", index=index, unknown=problem)
        return
    after, problem = _as_tool(mcp, decorated)
    if after is None:
        tell("compared", index=index, changes={"tool": ["a tool", f"none: {problem}"]})
        return
    changes = {part: [value, after[part]] for part, value in before.items() if after[part] != value}
    tell("compared", index=index, changes=changes)


def _as_tool(mcp: Any, function: Any) -> tuple[Mapping[str, Any] | None, str]:  # noqa: ANN401 - any server, any callable
    """Have the SDK derive a tool, as `mcp.tool()` would; gives None and the reason where it refuses."""
    known = next(iter(tools_of(mcp).values()))
    try:
        made = type(known).from_function(function)
    except Exception as problem:  # noqa: BLE001 - whatever the SDK has against it
        return None, f"{type(problem).__name__}: {problem}"
    return {
        "name": made.name,
        "description": made.description,
        "input properties": made.parameters.get("properties", {}),
        "outputSchema": made.output_schema,
    }, ""
