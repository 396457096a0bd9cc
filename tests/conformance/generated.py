"""Extensions put together from switches: each switch plants one known fault into one tool, or into `register`.

A switch says which clauses it breaks and whether the plainest call still works with it; from that follows what the
suite has to say of any combination.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from textwrap import indent

from conformance.contracts.registry import Clause, catalogue

HEAD = '''"""An extension made from switches."""

import json
from urllib.parse import quote

from gerrit_mcp_server.extensions import requires_plugin
from typing_extensions import TypedDict

KEPT = {}


class Known(TypedDict):
    """A change, as far as it matters here."""

    number: int
    subject: str


def parsed(body):
    """Read an answer, with or without the line that Gerrit puts first."""
    return json.loads(body.removeprefix(")]}'"))


def register(ctx):
'''


QUOTED = "/changes/{quote(change_id, safe='')}/detail"


@dataclass(frozen=True, kw_only=True)
class Parts:
    """The pieces of one tool's source, each of which a switch may replace."""

    decorators: Sequence[str] = ("@ctx.mcp.tool()",)
    signature: str = "change_id: str, gerrit_base_url: str | None = None"
    result: str = " -> Known"
    docstring: str = '"""Give number and subject of a change."""'
    before: str = ""
    base: str = "ctx.get_base_url(gerrit_base_url)"
    path: str = "{base_url}" + QUOTED
    after: str = "change = parsed(body)"
    given: str = '{"number": change["_number"], "subject": change["subject"]}'
    rescue: str = ""


@dataclass(frozen=True, kw_only=True)
class Switch:
    """One fault."""

    name: str
    breaks: frozenset[str]
    """The clauses that it breaks on the tool that has it (or on the whole extension)."""
    changes: dict[str, object] = field(default_factory=dict, hash=False)
    """Fields of `Parts` that it replaces."""
    calls_fail: bool = False
    """The plainest call fails with it, so that what needs a working call is BLOCKED."""
    routed: bool | None = None
    """True: only for a tool behind `requires_plugin`; False: only for one that is not; None: for any."""


def switch(name: str, *breaks: str, calls_fail: bool = False, routed: bool | None = None, **changes: object) -> Switch:
    return Switch(name=name, breaks=frozenset(breaks), changes=changes, calls_fail=calls_fail, routed=routed)


SWITCHES = (
    switch("second prefix", "TOOL-PREFIX", calls_fail=True, path="{base_url}/a" + QUOTED),
    switch("address ignored", "TOOL-BASE", routed=False, base="ctx.get_base_url(None)"),
    switch("untyped", "TOOL-SCHEMA", result=" -> dict"),
    switch(
        "errors swallowed", "TOOL-RAISES", "TOOL-FAULTS", routed=False,
        rescue='{"number": 0, "subject": "nothing known"}',
    ),
    switch(
        "whole configuration", "TOOL-SECRETS",
        given='{"number": change["_number"], "subject": json.dumps(ctx.load_config())}',
    ),
    switch("undescribed", "TOOL-DESCRIBE", docstring=""),
    switch("raw argument", "TOOL-ENCODE", "TOOL-HOSTILE", path="{base_url}/changes/{change_id}/detail"),
    switch("first answer kept", "TOOL-PARALLEL", after="change = KEPT.setdefault(tool_name, parsed(body))"),
    switch("printing", "EXT-QUIET", before='print("called")'),
    switch("the end", "TOOL-EXIT", calls_fail=True, before='raise SystemExit("no more")'),
    switch(
        "decorators swapped", "ROUTE-ORDER", "ROUTE-FIRST", "ROUTE-NAMES", "ROUTE-NONE", routed=True,
        decorators=('@requires_plugin("task", ctx.plugin_registry)', "@ctx.mcp.tool()"),
    ),
    switch(
        "address required", "ROUTE-OPTIONAL", calls_fail=True, routed=True,
        signature="change_id: str, gerrit_base_url: str",
    ),
)  # fmt: skip
ROUTED = ("@ctx.mcp.tool()", '@requires_plugin("task", ctx.plugin_registry)')


@dataclass(frozen=True, kw_only=True)
class GeneratedTool:
    """One tool with its switches."""

    routed: bool
    switches: tuple[Switch, ...]

    def source(self, name: str) -> str:
        """Write the tool's function."""
        parts = Parts(decorators=ROUTED) if self.routed else Parts()
        told = {**vars(parts), **{key: value for one in self.switches for key, value in one.changes.items()}}
        body = [
            told["docstring"], f'tool_name = "{name}"', told["before"], f"base_url = {told['base']}",
            f'body = await ctx.run_curl([f"{told["path"]}"], base_url)',
            told["after"], f"return {told['given']}",
        ]  # fmt: skip
        text = "\n".join(line for line in body if line)
        if told["rescue"]:
            text = f"try:\n{indent(text, '    ')}\nexcept Exception:\n    return {told['rescue']}"
            text = "\n".join([str(told["docstring"]), text]) if told["docstring"] else text
        head = "\n".join([*told["decorators"], f"async def {name}({told['signature']}){told['result']}:"])
        return f"{head}\n{indent(text, '    ')}\n"

    @property
    def expected(self) -> frozenset[str]:
        """The clauses that FAIL on this tool: what the switches break, less what a cause that comes first blocks."""
        broken = frozenset().union(*(one.breaks for one in self.switches))
        if not any(one.calls_fail for one in self.switches):
            return broken
        return frozenset(clause for clause in broken if not needs_a_working_call(catalogue()[clause]))


def needs_a_working_call(clause: Clause) -> bool:
    return any(one == "TOOL-WORKS" or needs_a_working_call(catalogue()[one]) for one in clause.needs)


def extension(tools: Iterable[GeneratedTool]) -> str:
    """Write the module with these tools, named tool_0, tool_1 and so on."""
    written = [one.source(f"tool_{number}") for number, one in enumerate(tools)]
    return HEAD + indent("\n".join(written), "    ")
