"""Just enough of an MCP client to talk to a server process over its pipes, with every byte kept."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Mapping
from typing import Any, Self

COMMAND = (sys.executable, "-m", "reference_server.cli", "stdio")


class StdioClient:
    """`async with StdioClient(environment) as client`; the process has ended afterwards."""

    def __init__(self, *command: str, initialize: bool = True, **environment: str) -> None:
        self._command = command or COMMAND
        self._environment: Mapping[str, str] = {**os.environ, **environment}
        self._initialize = initialize
        self._waiting: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._next = 0
        self.stdout: list[bytes] = []
        self.stderr = b""
        self.exit_code: int | None = None

    async def __aenter__(self) -> Self:
        self.process = await asyncio.create_subprocess_exec(
            *self._command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=self._environment,
            limit=2**24,
        )
        assert self.process.stderr is not None
        self._reading = asyncio.create_task(self._read())
        self._listening = asyncio.create_task(self.process.stderr.read())
        if self._initialize:
            await self.initialize()
        return self

    async def __aexit__(self, *_: object) -> None:
        if self.process.returncode is None:
            assert self.process.stdin is not None
            self.process.stdin.close()
        try:
            async with asyncio.timeout(20):
                self.exit_code = await self.process.wait()
                await self._reading
                self.stderr = await self._listening
        finally:
            if self.process.returncode is None:
                self.process.kill()

    async def initialize(self, version: str = "2025-06-18") -> dict[str, Any]:
        client = {"name": "test", "version": "1"}
        reply = await self.request("initialize", protocolVersion=version, capabilities={}, clientInfo=client)
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return reply

    def send(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message).encode() + b"\n")

    async def request(self, method: str, **params: Any) -> dict[str, Any]:
        self._next += 1
        number = self._next
        self._waiting[number] = asyncio.get_running_loop().create_future()
        self.send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        async with asyncio.timeout(20):
            return await self._waiting[number]

    async def tools(self) -> dict[str, dict[str, Any]]:
        reply = await self.request("tools/list")
        return {tool["name"]: tool for tool in reply["result"]["tools"]}

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        reply = await self.request("tools/call", name=tool, arguments=arguments)
        return reply.get("result") or {"isError": True, "content": [{"type": "text", "text": str(reply["error"])}]}

    async def _read(self) -> None:
        assert self.process.stdout is not None
        while line := await self.process.stdout.readline():
            self.stdout.append(line)
            try:
                message = json.loads(line)
            except ValueError:
                continue
            if isinstance(message, dict) and message.get("id") in self._waiting:
                self._waiting.pop(message["id"]).set_result(message)


def text_of(result: dict[str, Any]) -> str:
    return "".join(block.get("text", "") for block in result["content"])


def not_protocol(lines: list[bytes]) -> list[bytes]:
    """The lines that are no JSON-RPC message."""
    stray = []
    for line in lines:
        try:
            message = json.loads(line)
        except ValueError:
            message = None
        if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
            stray.append(line)
    return stray
