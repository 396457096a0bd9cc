"""Clients as simple as possible: the real curl, and a socket that speaks HTTP to a proxy."""

from __future__ import annotations

import asyncio
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass

from mock_gerrit.serving.gateway import Gateway
from mock_gerrit.world import World


@dataclass(frozen=True, kw_only=True)
class CurlResult:
    """What curl ended with: its exit code, the last status, the last head, the body, and what it complained of."""

    code: int
    status: int
    head: str
    body: str
    complaint: str

    @property
    def json(self):
        return json.loads(self.body.removeprefix(")]}'\n"))


async def curl(environment: Mapping[str, str], *arguments: str) -> CurlResult:
    """Run curl with nothing in its environment but PATH and what is given."""
    process = await asyncio.create_subprocess_exec(
        "curl",
        "--disable",
        "--silent",
        "--show-error",
        "--include",
        "--suppress-connect-headers",
        "--max-time",
        "20",
        *arguments,
        env={"PATH": os.environ["PATH"], **environment},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, complaint = await process.communicate()
    heads, body = [], out.decode()
    while re.match(r"HTTP/\S+ \d+", body):
        head, _, body = body.partition("\r\n\r\n")
        heads.append(head)
    status = int(heads[-1].split()[1]) if heads else 0
    return CurlResult(
        code=process.returncode, status=status, head="\n".join(heads), body=body, complaint=complaint.decode()
    )


async def open_tunnel(gateway: Gateway, name: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A TLS connection to a host through the proxy, ready for requests."""
    reader, writer = await open_proxy(gateway)
    writer.write(f"CONNECT {name}:443 HTTP/1.1\r\n\r\n".encode())
    head = await reader.readuntil(b"\r\n\r\n")
    assert b" 200 " in head, f"the proxy opens a tunnel to {name}"
    await writer.start_tls(gateway.authority.client_context, server_hostname=name)
    return reader, writer


async def open_proxy(gateway: Gateway) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A plain connection to the proxy."""
    host, _, port = gateway.proxy_url.removeprefix("http://").partition(":")
    return await asyncio.open_connection(host, int(port))


async def ask(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, request: str) -> tuple[str, bytes]:
    """Send the head of a request (its lines, without the last empty one); give head and body of the answer."""
    writer.write("\r\n".join([*request.strip().splitlines(), "", ""]).encode("latin-1"))
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    length = re.search(r"(?im)^content-length: (\d+)", head)
    return head, await reader.readexactly(int(length[1])) if length else b""


async def arrived(world: World, requests: int) -> None:
    """Wait until so many requests are in the journal of a world that this loop serves."""
    enough = asyncio.Event()
    world.journal.listen(lambda _: enough.set() if len(world.journal) >= requests else None)
    if len(world.journal) < requests:
        await enough.wait()


async def close(writer: asyncio.StreamWriter) -> None:
    """End a connection and wait until it is gone."""
    writer.transport.abort()
    await asyncio.sleep(0)
