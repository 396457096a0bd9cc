"""Whatever bytes a client sends, and whenever it leaves: no exception, no complaint of asyncio's, no task left."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import random

import pytest

from mock_gerrit.faults import KINDS, Fault
from mock_gerrit.serving.gateway import Gateway
from tests.mock_gerrit.serving.clients import open_proxy, open_tunnel

REQUESTS = (
    b"GET http://review-a.example.com/a/changes/?q=x HTTP/1.1\r\nHost: review-a.example.com\r\n\r\n",
    b"CONNECT review-a.example.com:443 HTTP/1.1\r\n\r\n",
    b'POST http://review-a.example.com/changes/ HTTP/1.1\r\nContent-Length: 5\r\n\r\n{"a":',
    b"POST /a/changes/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n{}\n\r\n0\r\n\r\n",
    b"GET /r/\xff%00%zz?\x80#f HTTP/1.0\r\nConnection: keep-alive\r\nAuthorization: Basic !\r\nCookie: \xff\r\n\r\n",
    b"OPTIONS * HTTP/1.1\r\n\r\n",
    b"GET / HTTP/1.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
)


def garbled(chance: random.Random) -> bytes:
    """A request or some in a row, with a few bytes changed, lost or added."""
    garbage = bytearray(chance.choice(REQUESTS) * chance.choice((1, 1, 2, 3)))
    for _ in range(chance.choice((0, 1, 3, 8))):
        at = chance.randrange(len(garbage))
        change = chance.choice(("replace", "lose", "add"))
        if change == "replace":
            garbage[at] = chance.randrange(256)
        elif change == "lose":
            del garbage[at : at + chance.randrange(4)]
        else:
            garbage[at:at] = bytes(chance.choices(b" \r\n:/%?\x00A", k=3))
    return bytes(garbage)


async def misbehave(gateway: Gateway, chance: random.Random) -> None:
    """One connection: some garbage, perhaps a look at the answer, and away."""
    tunnel = chance.random() < 0.5
    reader, writer = await (open_tunnel(gateway, "review-a.example.com") if tunnel else open_proxy(gateway))
    for _ in range(chance.choice((1, 1, 2))):
        writer.write(garbled(chance))
        await asyncio.sleep(0)
    if chance.random() < 0.5:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(reader.read(65536), 0.01)
    if chance.random() < 0.3:
        writer.close()
    else:
        writer.transport.abort()


@pytest.mark.parametrize("seed", range(3))
async def test_no_bytes_break_the_gateway(world, authority, caplog, seed):
    chance = random.Random(seed)
    complaints = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: complaints.append(context))
    async with Gateway(world, authority=authority) as gateway:
        for _ in range(150):
            world.faults.clear()
            if chance.random() < 0.3:
                world.faults.add(Fault(kind=(kind := chance.choice(KINDS)), delay=0.01 if kind == "slow" else 0.0))
            with contextlib.suppress(OSError):
                await misbehave(gateway, chance)
    gc.collect()
    assert complaints == []
    assert [record for record in caplog.records if record.name == "mock_gerrit.http"] == []
    assert asyncio.all_tasks() == {asyncio.current_task()}
    assert len(world.journal) > 5, "some of it is understood all the same"
