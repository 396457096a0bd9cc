"""Clauses about what a server hands to an extension: the members of the context."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conformance.contracts.registry import GUIDE, clause
from conformance.contracts.server_asked import MCP, answer, given, usual
from conformance.outcomes import Blocked, Evidence, Finding, Inconclusive, Level
from conformance.probes.witness import RAN
from conformance.scenes import server_context as scenes
from conformance.scenes.server_asking import APPENDS, ASKS, ECHOES, HAS_PLUGIN, REPEATS

if TYPE_CHECKING:
    from conformance.rig.trial import Call
    from conformance.scenes.server_asking import Asked
    from conformance.server_observations import ServerObservations

MUST = Level.MUST
CONTEXT = GUIDE.section("The ExtensionContext")


@clause(
    "SRV-CTX-MCP",
    level=MUST,
    source=CONTEXT,
    needs=("SRV-ENV",),
    fix="Hand the SDK's own server to extensions as ctx.mcp, and serve that very object.",
    example="""
        server = FastMCP("gerrit-mcp-server")
        load_extensions(ExtensionContext(mcp=server, plugin_registry=registry))
        server.run()
    """,
    neighbours=("SRV-ENV", "SRV-FIRST"),
)
async def tools_are_registered_with_mcp_and_served(observed: ServerObservations) -> None:
    """What is registered with `ctx.mcp.tool()` is served: under its name, with its parameters, and it answers calls.

    Tried with plain functions and coroutines, named by the decorator or by their function, with and without defaults.
    """
    seen = await observed.of(scenes.usual)
    if not seen.served.in_session:
        raise Blocked(f"no session beside the probe: {seen.served.session_trouble}", by="SRV-ENV",
                      evidence=seen.served.evidence())  # fmt: skip
    for name in (ASKS, APPENDS, REPEATS, ECHOES):
        if name not in seen.served.names:
            raise Finding(
                expected=f"the tool {name} served, which was registered with ctx.mcp.tool()",
                saw=_trouble(seen, name) or "no tool of that name in tools/list",
                evidence=seen.served.evidence(),
            )
    _judge_parameters(seen, REPEATS, ("word", "times"))
    _judge_parameters(seen, ECHOES, ("change_id", "gerrit_base_url"))
    _judge_call(seen, "repeated", '"leaf" three times, as asked', "leaf-leaf-leaf")
    _judge_call(seen, "repeated by default", '"leaf" twice, by default', "leaf-leaf")
    _judge_call(seen, "echoed", "the change that was given to a coroutine", "demo~1")
    if (asked := next(iter(seen.answers.values()), None)) is not None and not asked.told:
        raise Finding(expected="what the coroutine of a tool returns", saw=asked.saw(), evidence=asked.call.evidence())


def _trouble(seen: Asked, what: str) -> str:
    """Tell what kept the probe from making something; empty where nothing did."""
    told = next((one for one in seen.served.noted if one["event"] == "failed" and one["module"] == what), None)
    return f"{told['raised']}: {told['text']}" if told is not None else ""


def _judge_parameters(seen: Asked, name: str, wanted: tuple[str, ...]) -> None:
    tool = next(one for one in seen.served.tools if one["name"] == name)
    told = (tool.get("inputSchema") or {}).get("properties") or {}
    if missing := [one for one in wanted if one not in told]:
        raise Finding(
            expected=f"an inputSchema of {name} with {' and '.join(wanted)}",
            saw=f"none of {' and '.join(missing)}; properties: {', '.join(told) or 'none'}",
            evidence=(Evidence(kind="reply", text=f"tools/list: {tool}"),),
        )


def _judge_call(seen: Asked, key: str, expected: str, text: str) -> None:
    call = seen.calls.get(key)
    if call is None:
        return  # the call before it was not answered, which was told there
    told = call.reply.everything if call.reply is not None else ""
    if not call.succeeded or text not in told:
        raise Finding(expected=expected, saw=call.saw(), evidence=call.evidence())


@clause(
    "SRV-CTX-LOAD-CONFIG",
    level=MUST,
    source=CONTEXT,
    needs=(MCP,),
    fix="Return the parsed file as it is, with the keys that the server itself has no use for.",
    example="""
        def load_config(self):
            return json.loads(config_path().read_bytes())
    """,
    neighbours=("SRV-CTX-EXTENSION-CONFIG",),
)
async def load_config_gives_the_whole_file(observed: ServerObservations) -> None:
    """`load_config()` gives the whole parsed `gerrit_config.json`, with keys that the server does not know.

    What it adds to the file, such as defaults, is left open.
    """
    seen = await usual(observed)
    told = given(seen, "load_config()", expected="the parsed configuration file")
    evidence = answer(seen, "load_config()").call.evidence()
    if not isinstance(told, dict):
        saw = answer(seen, "load_config()").saw()
        raise Finding(expected="the configuration file as a dictionary", saw=saw, evidence=evidence)
    for key, value in seen.document.items():
        if key not in told:
            saw = f"no {key!r}; keys: {', '.join(told)}"
            raise Finding(expected=f"{key!r} of the file", saw=saw, evidence=evidence)
        if told[key] != value:
            saw = json.dumps(told[key], ensure_ascii=False)[:300]
            raise Finding(expected=f"{key!r} as it stands in the file", saw=saw, evidence=evidence)


@clause(
    "SRV-CTX-EXTENSION-CONFIG",
    level=MUST,
    source=GUIDE.section("Namespaced configuration"),
    needs=(MCP,),
    fix="Return extensions.NAME of the file where that is an object, and {} in every other case.",
    example="""
        block = (load_config().get("extensions") or {}).get(name)
        return block if isinstance(block, dict) else {}
    """,
    neighbours=("SRV-CTX-LOAD-CONFIG",),
)
async def extension_config_gives_the_block(observed: ServerObservations) -> None:
    """`extension_config(name)` gives the block `extensions.NAME`, and `{}` where it is absent, null or no object.

    Absent is also every block of a file without the key `extensions`.
    """
    seen = await usual(observed)
    for name in (*scenes.BLOCKS, *scenes.ABSENT):
        block = scenes.BLOCKS.get(name)
        _judge_block(seen, name, block if isinstance(block, dict) else {})
    without = await observed.of(scenes.signed)
    for name in ("leaves", *scenes.ABSENT):
        if f'extension_config("{name}")' in without.answers:
            _judge_block(without, name, {})


def _judge_block(seen: Asked, name: str, wanted: Mapping[str, Any]) -> None:
    extensions = seen.document.get("extensions", {})
    stands = f"{json.dumps(extensions[name], ensure_ascii=False)} there" if name in extensions else "nothing there"
    key = f'extension_config("{name}")'
    expected = f"{json.dumps(wanted, ensure_ascii=False)} from {key}, with {stands}"
    if given(seen, key, expected=expected) != wanted:
        told = answer(seen, key)
        raise Finding(expected=expected, saw=told.saw(), evidence=told.call.evidence())


@clause(
    "SRV-CTX-LOG-PATH",
    level=MUST,
    source=CONTEXT,
    needs=(MCP,),
    fix="Give the path of server.log, and make its folder before any extension is handed the context.",
    example="""
        path = log_path()
        path.parent.mkdir(parents=True, exist_ok=True)
    """,
    neighbours=(MCP,),
)
async def log_path_can_be_appended_to(observed: ServerObservations) -> None:
    """`log_path` is the path of server.log, a text or a Path: its folder exists, and lines can be appended.

    Where it is known which file the server logs to, what was appended has to stand in that one.
    """
    seen = await usual(observed)
    given(seen, "log_path", expected="the path of server.log")
    _judge_appended(seen, "")
    if seen.served.log_is_known and scenes.MARK not in seen.served.let_out()["server.log"]:
        _raise_lost(seen)
    _judge_appended(await observed.of(scenes.unsigned), ", where GERRIT_MCP_LOG_PATH names a folder that is not there")


def _raise_lost(seen: Asked) -> None:
    """Raise for a line that was appended, and does not stand in the server's own log."""
    call = seen.calls.get("appended")
    if call is None or not call.succeeded:
        return
    path = str(json.loads(call.text)["path"])
    same = Path(path).resolve() == seen.served.log_path.resolve()
    raise Finding(
        expected="a line that was appended in the log that the server writes itself",
        saw=f"it gone from {path} afterwards" if same else f"it in {path}, while the log is {seen.served.log_path}",
        evidence=call.evidence(),
    )


def _judge_appended(seen: Asked, where: str) -> None:
    call = seen.calls.get("appended")
    if call is None or not call.succeeded:
        return  # nothing was told: the clause about mcp judges whether tools answer
    told = json.loads(call.text)
    if not told["appended"] or not told["folder"]:
        trouble = told.get("problem", "the folder is not there")
        raise Finding(
            expected=f"a log in a folder that exists, to which lines can be appended{where}",
            saw=f"{trouble}, for the path {told['path'] or '(none)'}",
            evidence=call.evidence(),
        )


@clause(
    "SRV-CTX-PLUGIN-REGISTRY",
    level=MUST,
    source=GUIDE.section("Plugin-backed tools and requires_plugin"),
    needs=(MCP,),
    fix="Give the context the PluginRegistry that requires_plugin takes, made with the configured hosts.",
    example="""
        context = ExtensionContext(mcp=server, plugin_registry=PluginRegistry())
    """,
    neighbours=("SRV-ROUTE-GIVEN",),
)
async def plugin_registry_tells_hosts_with_a_plugin(observed: ServerObservations) -> None:
    """`plugin_registry` is what `requires_plugin` takes, and tells the hosts that have a plugin from those that do not.

    Judged by a decorated tool, as the guide documents no more of it: it runs on a host with the plugin, also where none
    is named, and does not run on one without.
    """
    seen = await usual(observed)
    told = answer(seen, "plugin_registry")
    if "missing" in told.told or (not told.raised and told.value is None and told.told.get("kind") == "NoneType"):
        raise Finding(expected="a plugin_registry", saw=told.saw(), evidence=told.call.evidence())
    if HAS_PLUGIN not in seen.served.names:
        if why := _trouble(seen, "import"):
            raise Inconclusive(
                f"nothing that the guide documents of it can be tried: {why}",
                supply="requires_plugin, to be imported from gerrit_mcp_server.extensions",
            )
        raise Finding(
            expected="a tool decorated with requires_plugin(..., ctx.plugin_registry)",
            saw=_trouble(seen, HAS_PLUGIN) or f"no {HAS_PLUGIN} in tools/list",
            evidence=seen.served.evidence(),
        )
    _judge_routed(seen.calls.get(scenes.ELM.name), f"{scenes.ELM.name}, which has the plugin", runs=True)
    _judge_routed(seen.calls.get("without a host"), "no host, while two have the plugin", runs=True)
    _judge_routed(seen.calls.get(scenes.ROWAN.name), f"{scenes.ROWAN.name}, which lacks the plugin", runs=False)


def _judge_routed(call: Call | None, named: str, *, runs: bool) -> None:
    if call is not None and (call.succeeded and RAN in call.text) is not runs:
        kind = "a tool that runs" if runs else "an error and no run of the tool"
        raise Finding(expected=f"{kind}, for a call that names {named}", saw=call.saw(), evidence=call.evidence())
