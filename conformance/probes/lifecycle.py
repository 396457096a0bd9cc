"""A probe that uses the server's `ExtensionLoader` once more, from inside, and tells what came of each step.

Copied into the folder of a start, so it imports nothing but the standard library, and the ledger beside it.
"""

from __future__ import annotations

import importlib
import json
from typing import Any

ledger = importlib.import_module("gerrit_conformance_ledger")


def register(ctx: Any) -> None:  # noqa: ANN401 - the context of any server
    """Register the tool that plays with a loader."""

    @ctx.mcp.tool(name="probe_plays")  # type: ignore[untyped-decorator]
    async def play(steps: str) -> str:
        """Make a loader and call its methods in this order (names, with blanks between); tells each end as JSON."""
        try:
            loader = importlib.import_module("gerrit_mcp_server.extensions").ExtensionLoader(ctx)
        except Exception as problem:  # noqa: BLE001 - whatever it is, it is what was asked for
            return json.dumps([_told("ExtensionLoader", problem)])
        ends = []
        for step in steps.split():
            ledger.note("step", step)
            ends.append(_end_of(loader, step))
        ledger.note("step", "done")
        return json.dumps(ends)


def _end_of(loader: Any, step: str) -> dict[str, str]:  # noqa: ANN401 - the loader of any server
    try:
        getattr(loader, step)()
    except BaseException as problem:  # noqa: BLE001 - a loader that lets SystemExit through has raised it
        return _told(step, problem)
    return {"step": step}


def _told(step: str, problem: BaseException) -> dict[str, str]:
    return {"step": step, "raised": type(problem).__name__, "text": str(problem)}
