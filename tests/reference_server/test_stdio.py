"""The whole server as a process over stdio, as a client and an operator see it."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from reference_server.sdk import SDK_MAJOR
from reference_server.tools.catalogue import READING, WRITING

from .conftest import TOKEN, Configure, basic
from .scripted_gerrit import Answer, Asked, ScriptedGerrit, json_answer, plugins
from .stdio_client import StdioClient, not_protocol, text_of

CORE_TOOLS = [tool.__name__ for tool in (*READING, *WRITING)]

LOUD = """
from __future__ import annotations
import os, pathlib, subprocess, sys, time
from typing_extensions import TypedDict
from gerrit_mcp_server.extensions import requires_plugin

class Result(TypedDict):
    change_id: str
    body: str

def shout(where):
    print("stray from", where)
    sys.stdout.flush()
    os.write(1, b"stray bytes\\n")
    subprocess.run(["echo", "stray child"])

shout("import")

def register(ctx):
    shout("register")

    @ctx.mcp.tool()
    async def shouting(change_id: str, gerrit_base_url: str | None = None) -> Result:
        \"\"\"Read a change and shout.\"\"\"
        shout("call")
        base_url = ctx.get_base_url(gerrit_base_url)
        body = await ctx.run_curl([f"{base_url}/changes/{change_id}"], base_url)
        return {"change_id": change_id, "body": body}

    @ctx.mcp.tool()
    @requires_plugin("task", ctx.plugin_registry)
    async def routed(gerrit_base_url: str | None = None) -> Result:
        \"\"\"Tell where it ran.\"\"\"
        return {"change_id": "", "body": str(gerrit_base_url)}

    @ctx.mcp.tool()
    async def incomplete() -> Result:
        \"\"\"Forget a key.\"\"\"
        return {"change_id": "1"}

    @ctx.mcp.tool()
    async def crashing() -> Result:
        \"\"\"Raise.\"\"\"
        raise KeyError("the reason of the crash")

    @ctx.mcp.tool()
    async def reading_stdin() -> Result:
        \"\"\"Read what is not meant for it.\"\"\"
        return {"change_id": "", "body": repr(os.read(0, 10))}

def unregister(ctx):
    shout("unregister")
    pathlib.Path(os.environ["TRACE"]).write_text("unregistered")
"""


@pytest.fixture
def loud(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Makes servers load an extension that shouts on every occasion; the path is where it notes its end."""
    (tmp_path / "loud_extension.py").write_text(LOUD)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("GERRIT_MCP_EXTENSIONS", "loud_extension")
    monkeypatch.setenv("TRACE", str(tmp_path / "trace"))
    return tmp_path / "trace"


def noted(trace: Path) -> str:
    return trace.read_text()


async def test_core_and_extension_tools_are_in_the_first_list_with_schemas(
    gerrit: ScriptedGerrit, configure: Configure, loud: Path
) -> None:
    configure(basic(gerrit))
    async with StdioClient() as client:
        tools = await client.tools()
    assert list(tools)[:25] == CORE_TOOLS
    assert list(tools)[25:] == ["shouting", "routed", "incomplete", "crashing", "reading_stdin"]
    for tool in tools.values():
        assert tool["outputSchema"]["properties"], tool["name"]
        assert tool["description"], tool["name"]
    for name in CORE_TOOLS:
        parameters = tools[name]["inputSchema"]["properties"]
        assert "gerrit_base_url" in parameters, name
        assert "gerrit_base_url" not in tools[name]["inputSchema"].get("required", []), name
    assert gerrit.asked == [], "nothing is asked before the first call"


async def test_an_extension_that_prints_and_reads_cannot_touch_the_protocol(
    gerrit: ScriptedGerrit, configure: Configure, loud: Path
) -> None:
    configure(basic(gerrit))
    gerrit.respond = lambda asked: json_answer('{"x":1}')
    async with StdioClient() as client:
        reply = await client.call("shouting", change_id="7")
        reading = await client.call("reading_stdin")
        again = await client.call("shouting", change_id="8")
    assert reply["structuredContent"] == {"change_id": "7", "body": '{"x":1}'}
    assert reading["structuredContent"]["body"] == "b''"
    assert not again.get("isError")
    assert not_protocol(client.stdout) == []
    for where in ("import", "register", "call", "unregister"):
        assert f"stray from {where}".encode() in client.stderr


async def test_a_clean_end_unregisters_and_exits_with_zero(
    gerrit: ScriptedGerrit, configure: Configure, loud: Path
) -> None:
    configure(basic(gerrit))
    async with StdioClient() as client:
        await client.tools()
    assert client.exit_code == 0
    assert noted(loud) == "unregistered"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_ends_it_without_a_traceback_and_unregisters(
    gerrit: ScriptedGerrit, configure: Configure, loud: Path, number: signal.Signals
) -> None:
    configure(basic(gerrit))
    async with StdioClient() as client:
        client.process.send_signal(number)
        await client.process.wait()
    assert client.exit_code == 130, client.stderr.decode()
    assert b"Traceback" not in client.stderr
    assert noted(loud) == "unregistered"


async def test_a_missing_key_is_a_tool_error(gerrit: ScriptedGerrit, configure: Configure, loud: Path) -> None:
    configure(basic(gerrit))
    async with StdioClient() as client:
        reply = await client.call("incomplete")
    assert reply["isError"]
    assert "structuredContent" not in reply


async def test_what_a_crashing_tool_says_reaches_the_caller(
    gerrit: ScriptedGerrit, configure: Configure, loud: Path
) -> None:
    configure(basic(gerrit))
    async with StdioClient() as client:
        reply = await client.call("crashing")
        after = await client.call("routed")
    assert reply["isError"]
    assert "the reason of the crash" in text_of(reply)
    assert after["isError"], "the server lives on"


async def test_a_routing_error_reaches_the_caller_with_the_hosts_that_would_do(
    gerrit: ScriptedGerrit, another_gerrit: ScriptedGerrit, configure: Configure, loud: Path
) -> None:
    configure(basic(gerrit), basic(another_gerrit, "two"))
    another_gerrit.respond = lambda asked: plugins("task")
    async with StdioClient() as client:
        refused = await client.call("routed", gerrit_base_url=gerrit.url)
        routed = await client.call("routed")
    assert refused["isError"]
    assert another_gerrit.url in text_of(refused)
    assert routed["structuredContent"]["body"] == another_gerrit.url + "/a"


async def test_no_secret_is_written_anywhere(
    gerrit: ScriptedGerrit, configure: Configure, loud: Path, server_log: Callable[[], str]
) -> None:
    configure(basic(gerrit))
    gerrit.respond = lambda asked: Answer(status=500, body="Internal server error")
    async with StdioClient() as client:
        await client.call("shouting", change_id="7")
        await client.call("routed")
        await client.call("get_change_details", change_id="7")
        await client.call("get_change_details", change_id="7", gerrit_base_url="https://elsewhere.example.com")
    assert server_log()
    for place in (server_log().encode(), client.stderr, *client.stdout):
        assert TOKEN.encode() not in place


async def test_a_slow_call_does_not_hold_up_another(gerrit: ScriptedGerrit, configure: Configure) -> None:
    configure(basic(gerrit))
    release, arrived = asyncio.Event(), asyncio.Event()

    async def slow(asked: Asked) -> Answer:
        if "slow" in asked.target:
            arrived.set()
            await release.wait()
        return json_answer('{"full_message":"m"}')

    gerrit.respond = slow
    async with StdioClient() as client:
        waiting = asyncio.create_task(client.call("get_commit_message", change_id="slow"))
        await arrived.wait()
        quick = await client.call("get_commit_message", change_id="quick")
        assert not waiting.done()
        release.set()
        assert (await waiting)["structuredContent"] == quick["structuredContent"]


async def test_a_message_larger_than_any_pipe_comes_and_goes_whole(
    gerrit: ScriptedGerrit, configure: Configure
) -> None:
    configure(basic(gerrit))
    long = "x" * 1_000_000
    gerrit.respond = lambda asked: json_answer(f'{{"full_message":"{long}"}}')
    async with StdioClient() as client:
        reply = await client.call("get_commit_message", change_id="1")
        refused = await client.call("post_draft_comment", change_id="1", file_path="a", message=long, line_number=0)
    assert reply["structuredContent"]["full_message"] == long
    assert refused["isError"]


async def test_arguments_that_the_schema_refuses_reach_no_host(gerrit: ScriptedGerrit, configure: Configure) -> None:
    configure(basic(gerrit))
    async with StdioClient() as client:
        for arguments in ({}, {"change_id": ["1"]}, {"change_id": "1", "options": "x" * 3}):
            assert (await client.call("get_change_details", **arguments))["isError"]
    assert gerrit.asked == []


@pytest.mark.skipif(SDK_MAJOR == 1, reason="mcp 1.x speaks the protocol with a handshake only")
async def test_the_stateless_protocol_is_spoken_too(gerrit: ScriptedGerrit, configure: Configure, loud: Path) -> None:
    configure(basic(gerrit))
    gerrit.respond = lambda asked: json_answer('{"full_message":"m"}')
    prefix = "io.modelcontextprotocol/"
    meta = {prefix + "protocolVersion": "2026-07-28", prefix + "clientCapabilities": {}}
    async with StdioClient(initialize=False) as client:
        discovered = await client.request("server/discover", _meta=meta)
        listed = await client.request("tools/list", _meta=meta)
        called = await client.request("tools/call", name="get_commit_message", arguments={"change_id": "1"}, _meta=meta)
        crashed = await client.request("tools/call", name="crashing", arguments={}, _meta=meta)
    assert "2026-07-28" in discovered["result"]["supportedVersions"]
    assert len(listed["result"]["tools"]) == 30
    assert called["result"]["structuredContent"]["full_message"] == "m"
    assert "the reason of the crash" in text_of(crashed["result"])


FORKING = """
import os, sys
from reference_server.factory import build
from reference_server.names import install

install()
before = os.listdir("/proc/self/fd")
application = build()
assert os.listdir("/proc/self/fd") == before, "building opens no file"
assert len(os.listdir("/proc/self/task")) == 1, "building starts no thread"
to_child, from_parent = os.pipe()
if os.fork():
    os.close(to_child)
    os.wait()
    sys.exit()
os.environ["GERRIT_MCP_EXTENSIONS"] = "loud_extension"
application.load()
reading, writing = os.fdopen(int(sys.argv[1]), "rb"), os.fdopen(int(sys.argv[2]), "wb")
application.serve_stdio(reading, writing)
os.write(1, b"served\\n")
"""


async def test_a_forked_child_serves_on_the_streams_it_is_given_and_leaves_stdout_alone(
    gerrit: ScriptedGerrit, configure: Configure, loud: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(basic(gerrit))
    monkeypatch.delenv("GERRIT_MCP_EXTENSIONS")
    wrapper = 'exec 3<&0 4>&1 </dev/null >&2; exec "$0" -c "$1" 3 4'
    async with StdioClient("sh", "-c", wrapper, sys.executable, FORKING) as client:
        tools = await client.tools()
    assert "shouting" in tools
    assert not_protocol(client.stdout) == []
    assert client.stderr.count(b"stray bytes") == 3, "descriptor 1 is what the parent made of it"
    assert client.stderr.endswith(b"served\n")
