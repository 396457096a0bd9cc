"""A probe with plugin-backed tools, which tells where each call was routed, and how routing fails from inside.

Copied into the folder of a start, so it imports nothing but the standard library, what every MCP SDK brings, and the
ledger beside it; `requires_plugin` comes from where the guide imports it. Annotations are objects and no texts: whoever
wraps a function need not be able to look names up where it was written.
"""

import importlib
import inspect
import json
from collections.abc import Callable
from typing import Any

try:  # pydantic takes no other before Python 3.12
    from typing_extensions import TypedDict
except ImportError:
    from typing import TypedDict

PLUGIN = "task"
ROUTED, PLAIN, NAMED, INSIDE = "probe_routed", "probe_unrouted", "probe_keeps_its_name", "probe_routes_inside"
"""The decorated tool, the same function undecorated, another that has its name from the function, and one that calls
the decorated function by itself."""


class Looked(TypedDict):
    """What the tools promise."""

    step: str
    base_url: str
    answer: str


def register(ctx: Any) -> None:  # noqa: ANN401 - the context of any server
    """Register the tools; what keeps one from being made is noted, and does not keep the others."""
    ledger = importlib.import_module("gerrit_conformance_ledger")
    made = ledger.attempt

    async def look(step: str, gerrit_base_url: str | None = None) -> Looked:
        """Ask the host for a change, and tell which host that was."""
        ledger.note("ran", step, given=gerrit_base_url)
        answer = await _asked(ctx, gerrit_base_url)
        return {"step": step, "base_url": str(gerrit_base_url), "answer": answer}

    async def probe_keeps_its_name(step: str, gerrit_base_url: str | None = None) -> Looked:
        """Do nothing of use, under the name of its function."""
        return {"step": step, "base_url": str(gerrit_base_url), "answer": ""}

    made("undecorated", lambda: ctx.mcp.tool(name=PLAIN)(look))
    required = made("import", lambda: importlib.import_module("gerrit_mcp_server.extensions").requires_plugin)
    registry = made("plugin_registry", lambda: ctx.plugin_registry)
    if required is None or registry is None:
        return
    routed = made("requires_plugin", lambda: required(PLUGIN, registry)(look))
    if routed is None:
        return
    made(ROUTED, lambda: ctx.mcp.tool(name=ROUTED)(routed))
    made(NAMED, lambda: ctx.mcp.tool()(required(PLUGIN, registry)(probe_keeps_its_name)))

    async def inside(step: str, gerrit_base_url: str) -> str:
        """Call the decorated function, and tell as JSON what it returned or raised; an empty address is left out."""
        return json.dumps(await _end_of(routed, step, gerrit_base_url))

    made(INSIDE, lambda: ctx.mcp.tool(name=INSIDE)(inside))


async def _asked(ctx: Any, gerrit_base_url: str | None) -> str:  # noqa: ANN401 - as above
    """Ask for a change; what goes wrong in that is not routing's doing, so it is told and not raised."""
    try:
        base_url = ctx.get_base_url(gerrit_base_url)
        await ctx.run_curl([f"{base_url}/changes/?n=1"], base_url)
    except Exception as problem:  # noqa: BLE001 - whatever it is, it is told
        return f"{type(problem).__name__}: {problem}"
    return "answered"


async def _end_of(routed: Callable[..., Any], step: str, gerrit_base_url: str) -> dict[str, Any]:
    address = {"gerrit_base_url": gerrit_base_url} if gerrit_base_url else {}
    try:
        result = routed(step=step, **address)
        if inspect.isawaitable(result):
            result = await result
    except Exception as problem:  # noqa: BLE001 - what is raised is the question
        return {"raised": type(problem).__name__, "bases": [one.__name__ for one in type(problem).__mro__]}
    return {"returned": type(result).__name__}
