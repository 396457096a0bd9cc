"""The wire client against servers that behave, and servers that do not."""

import asyncio
import json

import pytest

from conformance.wire.client import Client, Garbled, NoAnswer, Refused, ServerGone, WireTrouble
from conformance.wire.reply import Reply, RpcError, ToolReply
from conformance.wire.stream import ByteStream


class Scripted:
    """A server in the same process: what it is sent goes to `react`, which says what to send back."""

    def __init__(self, react=lambda message: []):
        self.sent = []
        self.react = react
        self.coming = asyncio.Queue()
        self.broken = False

    async def receive(self):
        data = await self.coming.get()
        if isinstance(data, Exception):
            raise data
        return data

    async def send(self, message):
        await self.write(message + b"\n")

    async def write(self, data):
        if self.broken:
            raise BrokenPipeError("nobody reads")
        self.sent.append(data)
        try:
            message = json.loads(data)
        except ValueError:
            return
        for answer in self.react(message):
            self.say(answer)

    def say(self, answer):
        self.coming.put_nowait(answer if isinstance(answer, bytes | Exception) else json.dumps(answer).encode() + b"\n")

    async def close(self):
        self.coming.put_nowait(b"")


def answering(**results):
    """A server that gives each method its result; an RpcError is given as an error."""

    def react(message):
        if "id" not in message or "method" not in message:
            return []
        result = results[message["method"].replace("/", "_")]
        key = "error" if isinstance(result, dict) and "code" in result else "result"
        return [{"jsonrpc": "2.0", "id": message["id"], key: result}]

    return react


async def test_a_reply_keeps_the_bytes_as_they_came():
    async with Client(Scripted(answering(ping={"a": 1}))) as client:
        reply = await client.request("ping")
        assert reply.ok
        assert reply.result == {"a": 1}
        assert reply.raw == b'{"jsonrpc": "2.0", "id": 1, "result": {"a": 1}}\n'
        assert reply.seconds >= 0
        assert [one.direction for one in client.transcript] == ["sent", "received"]


async def test_a_scripted_server_is_a_byte_stream():
    assert isinstance(Scripted(), ByteStream)


async def test_a_refusal_is_a_reply_with_its_code():
    refusal = {"code": -32601, "message": "no such method", "data": [1]}
    async with Client(Scripted(answering(nope=refusal))) as client:
        reply = await client.request("nope", {"x": 1})
        assert not reply.ok
        assert reply.error == RpcError(code=-32601, message="no such method", data=[1])
        assert str(reply.error) == "no such method (-32601)"


async def test_concurrent_requests_get_their_own_answers_in_any_order():
    held = []

    def react(message):
        held.append(message)
        if len(held) < 5:
            return []
        return [{"jsonrpc": "2.0", "id": one["id"], "result": one["params"]} for one in reversed(held)]

    async with Client(Scripted(react)) as client:
        replies = await asyncio.gather(*(client.request("echo", number) for number in range(5)))
        assert [reply.result for reply in replies] == list(range(5))


async def test_initialize_opens_and_confirms_the_session():
    server = Scripted(answering(initialize={"protocolVersion": "2025-06-18"}))
    async with Client(server) as client:
        reply = await client.initialize(version="2025-06-18", capabilities={"roots": {}})
        assert reply.result["protocolVersion"] == "2025-06-18"
    first, second = (json.loads(one) for one in server.sent)
    assert first["params"]["protocolVersion"] == "2025-06-18"
    assert first["params"]["capabilities"] == {"roots": {}}
    assert first["params"]["clientInfo"]["name"] == "gerrit-mcp-conformance"
    assert second == {"jsonrpc": "2.0", "method": "notifications/initialized"}


async def test_a_server_that_refuses_the_session_is_trouble():
    async with Client(Scripted(answering(initialize={"code": -32022, "message": "unsupported"}))) as client:
        with pytest.raises(Refused, match=r"initialize was refused: unsupported \(-32022\)") as caught:
            await client.initialize()
        assert caught.value.error.code == -32022
        assert len(caught.value.seen) == 1


async def test_tools_of_all_pages_are_listed():
    pages = {None: (["a", "b"], "2"), "2": (["c"], "3"), "3": (["d"], None)}

    def react(message):
        names, cursor = pages[message.get("params", {}).get("cursor")]
        result = {"tools": [{"name": name} for name in names]} | ({"nextCursor": cursor} if cursor else {})
        return [{"jsonrpc": "2.0", "id": message["id"], "result": result}]

    async with Client(Scripted(react)) as client:
        assert [tool["name"] for tool in await client.list_tools()] == ["a", "b", "c", "d"]


async def test_a_list_of_tools_that_never_ends_is_garbled():
    async with Client(Scripted(answering(tools_list={"tools": [], "nextCursor": "again"}))) as client:
        with pytest.raises(Garbled, match="never ends: page 2 leads to 'again'"):
            await client.list_tools()


@pytest.mark.parametrize("result", [{}, {"tools": {}}, {"tools": [{"title": "x"}]}, {"tools": ["x"]}, []])
async def test_a_list_without_named_tools_is_garbled(result):
    async with Client(Scripted(answering(tools_list=result))) as client:
        with pytest.raises(Garbled, match="must answer `tools`"):
            await client.list_tools()


async def test_a_refused_list_is_trouble():
    async with Client(Scripted(answering(tools_list={"code": 1, "message": "no"}))) as client:
        with pytest.raises(Refused, match="tools/list was refused"):
            await client.list_tools()


async def test_a_tools_answer_is_read_and_kept():
    result = {
        "content": [{"type": "text", "text": "one"}, {"type": "image"}, {"type": "text", "text": "two"}],
        "structuredContent": {"a": [1]},
    }
    async with Client(Scripted(answering(tools_call=result))) as client:
        reply = await client.call_tool("t", {"x": 1}, meta={"progressToken": 7})
        assert (reply.is_error, reply.text, reply.structured, reply.has_structured) == (
            False,
            "one\ntwo",
            {"a": [1]},
            True,
        )
        assert len(reply.content) == 3
        sent = json.loads(client.transcript[0].data)["params"]
        assert sent == {"name": "t", "arguments": {"x": 1}, "_meta": {"progressToken": 7}}


@pytest.mark.parametrize(
    ("reply", "is_error", "text"),
    [
        (Reply(id=1, result={"isError": True, "content": [{"type": "text", "text": "bad"}]}), True, "bad"),
        (Reply(id=1, error=RpcError(code=-32602, message="bad argument")), True, "bad argument"),
        (Reply(id=1, result={"content": "no list"}), False, ""),
        (Reply(id=1, result="no object"), False, ""),
        (Reply(id=1, result={"isError": "true", "content": [1]}), False, ""),
    ],
)
def test_whatever_a_tool_answers_can_be_read(reply, is_error, text):
    read = ToolReply.of(reply)
    assert (read.is_error, read.text, read.has_structured) == (is_error, text, False)


def test_a_secret_is_found_however_it_is_escaped():
    raw = json.dumps({"result": {"content": [{"type": "text", "text": 'a"b\\c'}]}}).encode()
    assert 'a"b\\c' in ToolReply.of(Reply(id=1, result={}, raw=raw)).everything
    assert "\\xff" in ToolReply.of(Reply(id=1, result={}, raw=b"\xff")).everything


async def test_no_answer_in_time_is_told_with_what_was_seen():
    server = Scripted()
    server.say(b"a banner\n")
    async with Client(server) as client:
        with pytest.raises(NoAnswer, match=r"no answer to slow within 0\.05 s") as caught:
            await client.request("slow", timeout=0.05)
        assert (caught.value.method, caught.value.seconds, caught.value.seen) == ("slow", 0.05, (b"a banner\n",))


async def test_an_answer_after_its_time_is_kept_apart():
    server = Scripted()
    async with Client(server) as client:
        with pytest.raises(NoAnswer):
            await client.request("slow", timeout=0.01)
        server.say({"jsonrpc": "2.0", "id": 1, "result": {}})
        server.react = answering(ping={})
        await client.request("ping")
        assert client.unmatched == [{"jsonrpc": "2.0", "id": 1, "result": {}}]


async def test_a_server_that_ends_is_told_to_all_who_wait():
    server = Scripted()
    async with Client(server) as client:
        waiting = [asyncio.create_task(client.request("x")) for _ in range(2)]
        await asyncio.sleep(0)
        server.say(b"Traceback\n")
        server.say(b"")
        for one in waiting:
            with pytest.raises(ServerGone, match="ended its output") as caught:
                await one
            assert caught.value.seen == (b"Traceback\n",)
            assert caught.value.__notes__ == ["while waiting for the answer to x"]
        assert client.gone
        with pytest.raises(ServerGone, match="x was not sent: the server ended its output"):
            await client.request("x")


async def test_a_server_that_no_longer_reads_is_gone():
    server = Scripted()
    server.broken = True
    async with Client(server) as client:
        for act in (client.request("x"), client.notify("x"), client.send_raw(b"x")):
            with pytest.raises(ServerGone, match="no longer reads: nobody reads"):
                await act


async def test_a_connection_that_breaks_while_reading_is_told():
    server = Scripted()
    server.say(ConnectionResetError("reset"))
    async with Client(server) as client:
        with pytest.raises(ServerGone, match="the connection broke: reset"):
            await client.request("x")


async def test_closing_tells_whoever_waits():
    client = Client(Scripted())
    waiting = asyncio.create_task(client.request("x"))
    await asyncio.sleep(0)
    await client.close()
    with pytest.raises(ServerGone, match="closed on our side"):
        await waiting
    await client.close()


STRAY = {
    "text": b"print was here\n",
    "empty": b"\n",
    "number": b"7\n",
    "no batch": b"[]\n",
    "no version": b'{"id": 1}\n',
    "old version": b'{"jsonrpc": "1.0", "id": 1, "result": 1}\n',
    "nothing in it": b'{"jsonrpc": "2.0"}\n',
    "no text": b"\xff\n",
    "deep": b"[" * 100_000 + b"\n",
}


@pytest.mark.parametrize("line", STRAY.values(), ids=STRAY.keys())
async def test_a_line_that_is_no_message_is_stray_and_harms_nothing(line):
    server = Scripted(answering(ping={}))
    server.say(line)
    async with Client(server) as client:
        assert (await client.request("ping")).ok
        assert client.stray == [line]


async def test_notifications_are_kept_in_order():
    server = Scripted(answering(ping={}))
    for number in range(3):
        server.say({"jsonrpc": "2.0", "method": "notifications/message", "params": {"n": number}})
    async with Client(server) as client:
        await client.request("ping")
        assert [one["params"]["n"] for one in client.notifications] == [0, 1, 2]


async def test_the_servers_own_requests_are_kept_and_answered():
    server = Scripted(answering(x={}))
    server.say({"jsonrpc": "2.0", "id": "s1", "method": "ping"})
    server.say({"jsonrpc": "2.0", "id": "s2", "method": "sampling/createMessage"})
    async with Client(server) as client:
        await client.request("x")
        assert [one["method"] for one in client.asked] == ["ping", "sampling/createMessage"]
    answers = {message["id"]: message for message in map(json.loads, server.sent) if "method" not in message}
    assert answers["s1"]["result"] == {}
    assert answers["s2"]["error"]["code"] == -32601


async def test_a_batch_is_taken_apart():
    server = Scripted(
        lambda message: [[{"jsonrpc": "2.0", "id": 1, "result": 1}, {"jsonrpc": "2.0", "method": "note"}]]
    )
    async with Client(server) as client:
        assert (await client.request("x")).result == 1
        await asyncio.sleep(0)
        assert [one["method"] for one in client.notifications] == ["note"]


@pytest.mark.parametrize(
    "answer",
    [{}, {"result": 1, "error": {"code": 1, "message": "x"}}, {"error": "x"}, {"error": {"code": "1", "message": "x"}}],
)
async def test_an_answer_that_breaks_json_rpc_is_garbled(answer):
    async with Client(Scripted(lambda message: [{"jsonrpc": "2.0", "id": message["id"], **answer}])) as client:
        with pytest.raises(Garbled, match="must have"):
            await client.request("x")


async def test_an_answer_to_nothing_is_unmatched():
    server = Scripted(answering(ping={}))
    for number in (99, "x", None, True, [1]):
        server.say({"jsonrpc": "2.0", "id": number, "result": {}})
    async with Client(server) as client:
        await client.request("ping")
        assert [one["id"] for one in client.unmatched] == [99, "x", None, True, [1]]


async def test_raw_bytes_and_ids_of_ones_own_can_be_sent():
    server = Scripted(answering(ping={}))
    async with Client(server) as client:
        await client.send_raw(b"{broken\n")
        assert (await client.request("ping", request_id="mine")).id == "mine"
        assert server.sent[0] == client.transcript[0].data == b"{broken\n"


def test_every_trouble_has_one_base():
    assert all(issubclass(one, WireTrouble) for one in (Garbled, NoAnswer, Refused, ServerGone))
