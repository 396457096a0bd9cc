"""What the probe extensions of this process have lived through, in order.

Copied beside them under a name of its own, so it imports nothing but the standard library.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Any

EVENTS: list[dict[str, Any]] = []


def note(event: str, module: str, **about: Any) -> None:  # noqa: ANN401 - anything JSON
    """Keep one event, in memory and in the file that the suite has named."""
    told = {"event": event, "module": module, **about}
    EVENTS.append(told)
    path = os.environ.get("GERRIT_CONFORMANCE_LEDGER")
    if path:
        with open(path, "a", encoding="utf-8") as file:  # noqa: PTH123 - nothing more than it takes
            file.write(json.dumps(told) + "\n")


def offer(ctx: Any, module: str) -> None:  # noqa: ANN401 - the context of any server
    """Register the tool that tells all events."""

    def told_so_far() -> str:
        """Tell what the probes of this process have lived through so far."""
        return json.dumps(EVENTS)

    ctx.mcp.tool(name="probe_" + module.replace(".", "_"))(told_so_far)


def attempt(what: str, make: Callable[[], Any]) -> Any:  # noqa: ANN401 - whatever is made
    """Make something; a failure is noted, and gives None."""
    try:
        return make()
    except Exception as problem:  # noqa: BLE001 - whatever it is, it is noted
        note("failed", what, raised=type(problem).__name__, text=str(problem))
        return None
