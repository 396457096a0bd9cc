"""A TLS server on a free port of this machine that answers as a test says, and remembers what it was asked."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Self


@dataclass(frozen=True, kw_only=True)
class Asked:
    method: str
    target: str
    headers: dict[str, str]
    body: bytes


@dataclass(frozen=True, kw_only=True)
class Answer:
    status: int = 200
    body: str = ""
    headers: dict[str, str] = field(default_factory=dict)


Respond = Callable[[Asked], "Answer | Awaitable[Answer]"]


def json_answer(body: str, status: int = 200) -> Answer:
    return Answer(status=status, body=f")]}}'\n{body}\n", headers={"Content-Type": "application/json;charset=utf-8"})


def plugins(*names: str, disabled: tuple[str, ...] = ()) -> Answer:
    entries = [f'"{name}":{{"id":"{name}","version":"v1"}}' for name in names]
    entries += [f'"{name}":{{"id":"{name}","version":"v1","disabled":true}}' for name in disabled]
    return json_answer("{" + ",".join(entries) + "}")


class ScriptedGerrit:
    """`async with ScriptedGerrit(context) as gerrit`; set `gerrit.respond`, look at `gerrit.asked`."""

    def __init__(self, context: ssl.SSLContext) -> None:
        self._context = context
        self.respond: Respond = lambda asked: json_answer("{}")
        self.asked: list[Asked] = []
        self._writers: set[asyncio.StreamWriter] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=self._context)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for writer in self._writers:
            writer.transport.abort()
        await self._server.wait_closed()

    @property
    def url(self) -> str:
        return f"https://localhost:{self.port}"

    @property
    def internal_url(self) -> str:
        return f"https://127.0.0.1:{self.port}"

    def paths(self) -> list[str]:
        return [asked.target for asked in self.asked]

    def plugin_list_requests(self) -> int:
        return sum("/plugins/" in path for path in self.paths())

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        try:
            asked = await _read(reader)
            self.asked.append(asked)
            answer = self.respond(asked)
            writer.write(_bytes(answer if isinstance(answer, Answer) else await answer))
            await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass
        finally:
            self._writers.discard(writer)
            writer.close()


async def _read(reader: asyncio.StreamReader) -> Asked:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    method, target, _ = head[0].split(" ")
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in head[1:] if line)}
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    return Asked(method=method, target=target, headers=headers, body=body)


def _bytes(answer: Answer) -> bytes:
    body = answer.body.encode()
    lines = [f"HTTP/1.1 {answer.status} Scripted", f"Content-Length: {len(body)}", "Connection: close"]
    lines += [f"{name}: {value}" for name, value in answer.headers.items()]
    return "\r\n".join([*lines, "", ""]).encode() + body
