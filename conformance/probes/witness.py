"""A probe that does with the context of a server what it is asked to, and tells what came of it.

Copied into the folder of a start, so it imports nothing but the standard library and the ledger beside it. Annotations
are objects and no texts: whoever wraps a function need not be able to look names up where it was written.
"""

import importlib
import inspect
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

PLUGIN = "task"
RAN = "the routed tool ran"


def register(ctx: Any) -> None:  # noqa: ANN401 - the context of any server
    """Register the tools; what keeps one from being made is noted, and does not keep the others."""
    made = importlib.import_module("gerrit_conformance_ledger").attempt

    async def ask(member: str, arguments: str) -> str:
        """Use a member of the context: call it with the arguments (a JSON list), or read it; tells the end as JSON."""
        return json.dumps(await _use(ctx, member, json.loads(arguments)), default=_plain)

    async def append(text: str) -> str:
        """Append a line to the log whose path the context tells; tells the end as JSON."""
        return json.dumps(_appended(ctx, text))

    def probe_repeats(word: str, times: int = 2) -> str:
        """Say a word several times."""
        return "-".join([word] * times)

    async def probe_echoes(change_id: str, gerrit_base_url: str | None = None) -> dict:  # type: ignore[type-arg]
        """Give back what it was given."""
        return {"change_id": change_id, "base_url": gerrit_base_url}

    async def probe_has_plugin(gerrit_base_url: str | None = None) -> str:
        """Say that it was let run (requires the plugin)."""
        return f"{RAN} for {gerrit_base_url}"

    made("probe_ask", lambda: ctx.mcp.tool(name="probe_ask")(ask))
    made("probe_append", lambda: ctx.mcp.tool(name="probe_append")(append))
    made("probe_repeats", lambda: ctx.mcp.tool()(probe_repeats))
    made("probe_echoes", lambda: ctx.mcp.tool()(probe_echoes))
    required = made("import", lambda: importlib.import_module("gerrit_mcp_server.extensions").requires_plugin)
    if required is not None:
        decorate = made("requires_plugin", lambda: required(PLUGIN, ctx.plugin_registry))
        made("probe_has_plugin", lambda: ctx.mcp.tool()(decorate(probe_has_plugin)))


async def _use(ctx: Any, member: str, arguments: list[Any]) -> dict[str, Any]:  # noqa: ANN401 - as above
    """Tell `{"kind", "value", "awaited"}` of what came back, or `{"raised", "text"}`, or `{"missing": true}`."""
    target = ctx
    try:
        for name in member.split("."):
            if not hasattr(target, name):
                return {"missing": True}
            target = getattr(target, name)
        value = target(*arguments) if callable(target) else target
        awaited = inspect.isawaitable(value)
        if awaited:
            value = await value
    except Exception as problem:  # noqa: BLE001 - whatever it is, it is what was asked for
        return {"raised": type(problem).__name__, "text": str(problem)}
    told = {"kind": type(value).__name__, "awaited": awaited, "is_text": isinstance(value, str)}
    return {**told, "value": value, "called": callable(target)}


def _plain(value: Any) -> Any:  # noqa: ANN401 - whatever json cannot write
    """Give a mapping of any kind as a dictionary, and all else as the text that it makes of itself."""
    return dict(value) if isinstance(value, Mapping) else str(value)


def _appended(ctx: Any, text: str) -> dict[str, Any]:  # noqa: ANN401 - as above
    """Tell `{"path", "folder", "appended"}`, with `"problem"` where appending failed."""
    told: dict[str, Any] = {"path": "", "folder": False, "appended": False}
    try:
        told["path"] = str(ctx.log_path)
        told["folder"] = Path(ctx.log_path).absolute().parent.is_dir()
        with open(ctx.log_path, "a", encoding="utf-8") as log:  # noqa: PTH123 - whatever open() takes
            log.write(text + "\n")
        told["appended"] = True
    except Exception as problem:  # noqa: BLE001 - whatever it is, it is what was asked for
        told["problem"] = f"{type(problem).__name__}: {problem}"
    return told
