"""The command: its words about what the user can mend, and streamable HTTP."""

from __future__ import annotations

import asyncio
import json
import signal
import socket
import sys
import urllib.request
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from reference_server.sdk import SDK_MAJOR

from .conftest import Configure
from .stdio_client import StdioClient

COMMAND = (sys.executable, "-m", "reference_server.cli")


async def run(*arguments: str) -> tuple[int, str, str]:
    process = await asyncio.create_subprocess_exec(
        *COMMAND,
        *arguments,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    async with asyncio.timeout(20):
        output, errors = await process.communicate()
    assert process.returncode is not None
    return process.returncode, output.decode(), errors.decode()


@pytest.mark.parametrize("arguments", [("stdio",), ("--port", "0")])
@pytest.mark.parametrize(
    ("text", "words"),
    [
        (None, "no configuration at"),
        ('{\n "gerrit_hosts": [ ... ]\n}', "line 2, column 20: expected JSON"),
        ('{"default_gerrit_base_url": "https://h", "gerrit_hosts": []}', "is not a configured Gerrit host"),
        ('{"curl_timeout_seconds": "soon"}', "`curl_timeout_seconds`"),
    ],
)
async def test_a_configuration_that_cannot_be_used_is_one_clear_line(
    tmp_path: Path, arguments: tuple[str, ...], text: str | None, words: str
) -> None:
    if text is not None:
        (tmp_path / "gerrit_config.json").write_text(text)
    code, output, errors = await run(*arguments)
    assert (code, output) == (4, "")
    assert words in errors
    assert len(errors.splitlines()) == 1


async def test_a_port_in_use_is_told_with_the_remedy(configure: Configure) -> None:
    configure({"external_url": "https://review.example.com"})
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        code, _, errors = await run("--host", "127.0.0.1", "--port", str(port))
    assert code == 4
    assert f"cannot listen on 127.0.0.1:{port}" in errors
    assert "choose another --port" in errors
    assert "Traceback" not in errors


@pytest.mark.parametrize("arguments", [("sse",), ("--port", "many"), ("--what",), ("--port", "70000")])
async def test_an_argument_that_is_not_understood_exits_with_four(
    configure: Configure, arguments: tuple[str, ...]
) -> None:
    configure({"external_url": "https://review.example.com"})
    code, _, errors = await run(*arguments)
    assert code == 4
    assert "Traceback" not in errors


async def test_help_needs_no_configuration() -> None:
    code, output, _ = await run("--help")
    assert code == 0
    assert "--port" in output


@asynccontextmanager
async def http_server() -> AsyncIterator[tuple[str, asyncio.subprocess.Process]]:
    process = await asyncio.create_subprocess_exec(
        *COMMAND, "--host", "127.0.0.1", "--port", "0", stderr=asyncio.subprocess.PIPE
    )
    assert process.stderr is not None
    try:
        async with asyncio.timeout(20):
            line = (await process.stderr.readline()).decode()
        assert line.startswith("listening on http://127.0.0.1:"), line
        yield line.removeprefix("listening on ").strip(), process
    finally:
        if process.returncode is None:
            process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(20):
            await process.communicate()


async def post(url: str, message: dict[str, Any], **headers: str) -> tuple[Any, dict[str, str]]:
    request = urllib.request.Request(
        url,
        data=json.dumps(message).encode(),
        headers={
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            **{name.replace("_", "-"): value for name, value in headers.items()},
        },
    )

    def send() -> tuple[Any, dict[str, str]]:
        with urllib.request.urlopen(request, timeout=10) as response:
            text = response.read().decode()
            data = next((line[6:] for line in text.splitlines() if line.startswith("data: {")), text)
            return json.loads(data or "null"), {name.lower(): value for name, value in response.headers.items()}

    return await asyncio.to_thread(send)


async def test_streamable_http_serves_the_tools_and_ends_on_a_signal(configure: Configure) -> None:
    configure({"external_url": "https://review.example.com"})
    async with http_server() as (url, process):
        params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
        reply, headers = await post(url, {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})
        assert reply["result"]["serverInfo"]["name"] == "gerrit-mcp-server"
        session = headers["mcp-session-id"]
        await post(url, {"jsonrpc": "2.0", "method": "notifications/initialized"}, Mcp_Session_Id=session)
        listed, _ = await post(url, {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}, Mcp_Session_Id=session)
        assert len(listed["result"]["tools"]) == 25
    assert process.returncode in {0, 130}


@pytest.mark.skipif(SDK_MAJOR == 1, reason="mcp 1.x speaks the protocol with a handshake only")
async def test_streamable_http_speaks_the_stateless_protocol_too(configure: Configure) -> None:
    configure({"external_url": "https://review.example.com"})
    prefix = "io.modelcontextprotocol/"
    meta = {prefix + "protocolVersion": "2026-07-28", prefix + "clientCapabilities": {}}
    headers = {"MCP_Protocol_Version": "2026-07-28", "Mcp_Method": "tools/list"}
    async with http_server() as (url, _):
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": meta}}
        listed, _ = await post(url, message, **headers)
    assert len(listed["result"]["tools"]) == 25
    assert listed["result"]["resultType"] == "complete"


async def test_a_default_named_by_the_environment_is_enough(configure: Configure) -> None:
    configure(gerrit_hosts=[{"external_url": "https://review.example.com"}])
    async with StdioClient(GERRIT_BASE_URL="review.example.com") as client:
        assert await client.tools()
    assert client.exit_code == 0
