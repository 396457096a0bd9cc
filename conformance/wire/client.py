"""An MCP client that keeps every byte: requests by id, any number at once, and whatever else the server says.

It needs asyncio and a `ByteStream`, no SDK: an SDK forgives, hides or rewrites what has to be judged here.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal, Self

from conformance.wire.errors import Garbled, NoAnswer, Refused, ServerGone, WireTrouble
from conformance.wire.reply import Reply, RpcError, ToolReply
from conformance.wire.stream import ByteStream

__all__ = ["Client", "Garbled", "Message", "NoAnswer", "Refused", "ServerGone", "WireTrouble"]

LATEST_STATEFUL_VERSION = "2025-11-25"
STATELESS_VERSION = "2026-07-28"
"""The first version without `initialize`: each request tells version, client and capabilities by itself."""
CLIENT_INFO = {"name": "gerrit-mcp-conformance", "version": "1"}
SECONDS = 10.0
METHOD_NOT_FOUND = -32601
MOST_PAGES = 100
SEEN_FOR_EVIDENCE = 5
TURNS = 3
"""Turns of the event loop in which what has arrived is read, taken apart and handed to who waits for it."""


@dataclass(frozen=True, kw_only=True)
class Message:
    """One message of the transcript, exactly as it was sent or came."""

    direction: Literal["sent", "received"]
    data: bytes
    at: float
    """On the monotonic clock."""


class Client:
    """One session with a server, over a stream of its own.

    It reads by a task of its own from the first use until `close`; requests may overlap. Use it in one event loop.
    """

    def __init__(self, stream: ByteStream, *, answer_pings: bool = True) -> None:
        """Take over `stream`; nothing is sent yet."""
        self.transcript: list[Message] = []
        """All that was sent and came, in order."""
        self.stray: list[bytes] = []
        """What came and is no JSON-RPC message."""
        self.notifications: list[Mapping[str, Any]] = []
        """The server's notifications, in order."""
        self.asked: list[Mapping[str, Any]] = []
        """Requests that the server sent to us."""
        self.unmatched: list[Mapping[str, Any]] = []
        """Answers to nothing that is still waited for: an unknown id, a second answer, or one after its time."""
        self.meta: Mapping[str, Any] = {}
        """What each request carries under `_meta`; nothing in a session that was opened by `initialize`."""
        self._stream = stream
        self._answer_pings = answer_pings
        self._ids = itertools.count(1)
        self._waiting: dict[int | str, asyncio.Future[Reply]] = {}
        self._sent_at: dict[int | str, float] = {}
        self._reading: asyncio.Task[None] | None = None
        self._gone: str = ""

    async def __aenter__(self) -> Self:
        """Begin to read."""
        self._start()
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close the session."""
        await self.close()

    @property
    def gone(self) -> bool:
        """Whether the server has ended the session."""
        return bool(self._gone)

    async def close(self) -> None:
        """Tell the server that nothing more will come, and stop reading; whoever still waits gets ServerGone."""
        self._end("the session was closed on our side")
        if self._reading is not None:
            self._reading.cancel()
            with suppress(asyncio.CancelledError):
                await self._reading
        await self._stream.close()

    # --- sending ------------------------------------------------------------------------------------------------------

    async def request(
        self,
        method: str,
        params: Any = None,  # noqa: ANN401 - also what no server should accept
        *,
        timeout: float = SECONDS,  # noqa: ASYNC109 - the time belongs to the request, and its error is typed
        request_id: int | str | None = None,
    ) -> Reply:
        """Send one request and wait for its answer.

        Args:
            method: any method name.
            params: left out of the message where it is None.
            timeout: seconds until NoAnswer is raised; the answer, should it still come, goes to `unmatched`.
            request_id: an id of one's own; by default a fresh number.

        Raises:
            NoAnswer: the time was over.
            ServerGone: the server ended before it answered.
            Garbled: the answer is neither a result nor an error.
        """
        if self.meta:
            told = params if isinstance(params, dict) else {}
            params = {**told, "_meta": {**self.meta, **(told.get("_meta") or {})}}
        number = next(self._ids) if request_id is None else request_id
        message: dict[str, Any] = {"jsonrpc": "2.0", "id": number, "method": method}
        if params is not None:
            message["params"] = params
        return await self._exchange(number, json.dumps(message).encode(), method=method, timeout=timeout)

    async def _exchange(self, number: int | str, message: bytes, *, method: str, timeout: float) -> Reply:  # noqa: ASYNC109 - see request
        self._start()
        if self._gone:
            raise ServerGone(f"{method} was not sent: {self._gone}", seen=self._seen())
        answer: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        self._waiting[number] = answer
        self._sent_at[number] = time.monotonic()
        try:
            async with asyncio.timeout(timeout) as limit:
                await self._send(message)
            # Not inside the limit: where this process stood still, an answer may have come that nobody has read yet.
            await asyncio.wait([answer], timeout=_left(limit))
            for _ in range(TURNS):
                await asyncio.sleep(0)
            if not answer.done():
                raise NoAnswer(method, timeout, seen=self._seen())
            return answer.result()
        except TimeoutError:
            raise NoAnswer(method, timeout, seen=self._seen()) from None
        except WireTrouble as problem:
            problem.add_note(f"while waiting for the answer to {method}")
            raise
        finally:
            self._waiting.pop(number, None)
            self._sent_at.pop(number, None)

    async def notify(self, method: str, params: Any = None) -> None:  # noqa: ANN401 - also what no server should accept
        """Send one notification."""
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": method}
        if params is not None:
            message["params"] = params
        self._start()
        await self._send(json.dumps(message).encode())

    async def send_raw(self, data: bytes) -> None:
        """Send bytes as they are; a line end is the caller's affair. What comes of it lands in the lists above."""
        self._start()
        self._note("sent", data)
        try:
            await self._stream.write(data)
        except ConnectionError as problem:
            raise self._broken(problem) from problem

    async def _send(self, message: bytes) -> None:
        self._note("sent", message)
        try:
            await self._stream.send(message)
        except ConnectionError as problem:
            raise self._broken(problem) from problem

    def _broken(self, problem: ConnectionError) -> ServerGone:
        return ServerGone(self._gone or f"the server no longer reads: {problem}", seen=self._seen())

    # --- the protocol -------------------------------------------------------------------------------------------------

    async def initialize(
        self,
        *,
        version: str = LATEST_STATEFUL_VERSION,
        capabilities: Mapping[str, Any] | None = None,
        timeout: float = SECONDS,  # noqa: ASYNC109 - see request
    ) -> Reply:
        """Open the session with this protocol version, and confirm it; raises Refused where the server says no."""
        params = {"protocolVersion": version, "capabilities": dict(capabilities or {}), "clientInfo": CLIENT_INFO}
        reply = await self.request("initialize", params, timeout=timeout)
        if reply.error is not None:
            raise Refused("initialize", reply.error, seen=(reply.raw,))
        await self.notify("notifications/initialized")
        return reply

    async def discover(self, *, timeout: float = SECONDS) -> Reply:  # noqa: ASYNC109 - see request
        """Speak without a session from now on, and ask what the server offers so; raises Refused where it says no."""
        prefix = "io.modelcontextprotocol"
        self.meta = {
            f"{prefix}/protocolVersion": STATELESS_VERSION, f"{prefix}/clientInfo": CLIENT_INFO,
            f"{prefix}/clientCapabilities": {},
        }  # fmt: skip
        reply = await self.request("server/discover", {}, timeout=timeout)
        if reply.error is not None:
            raise Refused("server/discover", reply.error, seen=(reply.raw,))
        return reply

    async def list_tools(self, *, timeout: float = SECONDS) -> list[dict[str, Any]]:  # noqa: ASYNC109 - see request
        """Give the tools of all pages, in order and as they came; `timeout` holds for each page."""
        tools: list[dict[str, Any]] = []
        cursors: list[object] = []
        while True:
            params = {"cursor": cursors[-1]} if cursors else {}
            reply = await self.request("tools/list", params, timeout=timeout)
            if reply.error is not None:
                raise Refused("tools/list", reply.error, seen=(reply.raw,))
            page, cursor = _page(reply)
            tools += page
            if cursor is None:
                return tools
            if cursor in cursors or len(cursors) >= MOST_PAGES:
                raise Garbled(f"tools/list never ends: page {len(cursors) + 1} leads to {cursor!r}", seen=(reply.raw,))
            cursors.append(cursor)

    async def call_tool(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        timeout: float = SECONDS,  # noqa: ASYNC109 - see request
        meta: Mapping[str, Any] | None = None,
    ) -> ToolReply:
        """Call one tool; an error of the tool is a ToolReply with `is_error`, not an exception."""
        params: dict[str, Any] = {"name": name, "arguments": dict(arguments or {})}
        if meta is not None:
            params["_meta"] = dict(meta)
        return ToolReply.of(await self.request("tools/call", params, timeout=timeout))

    # --- reading ------------------------------------------------------------------------------------------------------

    def _start(self) -> None:
        if self._reading is None:
            self._reading = asyncio.get_running_loop().create_task(self._read(), name="wire client")

    async def _read(self) -> None:
        try:
            while data := await self._stream.receive():
                self._note("received", data)
                await self._take(data)
            self._end("the server ended its output")
        except ConnectionError as problem:
            self._end(f"the connection broke: {problem}")
        finally:
            self._end("the reading of the stream was stopped")  # whatever the reason, nobody must wait in vain

    async def _take(self, data: bytes) -> None:
        """Put one raw message where it belongs; a batch is taken apart."""
        try:
            parsed = json.loads(data)
        except (ValueError, RecursionError):
            self.stray.append(data)
            return
        for one in parsed if isinstance(parsed, list) and parsed else [parsed]:
            if not isinstance(one, dict) or one.get("jsonrpc") != "2.0":
                self.stray.append(data)
            elif "method" in one:
                await self._called(one)
            elif "id" in one:
                self._answered(one, data)
            else:
                self.stray.append(data)

    async def _called(self, message: dict[str, Any]) -> None:
        if "id" not in message:
            self.notifications.append(message)
            return
        self.asked.append(message)
        answer: dict[str, Any] = {"jsonrpc": "2.0", "id": message["id"]}
        if message["method"] == "ping" and self._answer_pings:
            answer["result"] = {}
        else:
            answer["error"] = {"code": METHOD_NOT_FOUND, "message": "this client offers no such method"}
        with suppress(WireTrouble):
            await self._send(json.dumps(answer).encode())

    def _answered(self, message: dict[str, Any], raw: bytes) -> None:
        number = message["id"]
        waiting = self._waiting.get(number) if isinstance(number, int | str) and not isinstance(number, bool) else None
        if waiting is None or waiting.done():
            self.unmatched.append(message)
            return
        try:
            reply = _reply(message, raw, seconds=time.monotonic() - self._sent_at[number])
        except Garbled as problem:
            waiting.set_exception(problem)
        else:
            waiting.set_result(reply)

    def _end(self, why: str) -> None:
        self._gone = self._gone or why
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_exception(ServerGone(why, seen=self._seen()))

    def _note(self, direction: Literal["sent", "received"], data: bytes) -> None:
        self.transcript.append(Message(direction=direction, data=data, at=time.monotonic()))

    def _seen(self) -> tuple[bytes, ...]:
        came = (one.data for one in self.transcript[-4 * SEEN_FOR_EVIDENCE :] if one.direction == "received")
        return tuple(came)[-SEEN_FOR_EVIDENCE:]


def _left(limit: asyncio.Timeout) -> float:
    """Give the seconds that are left of a time limit."""
    return max(0.0, (limit.when() or 0.0) - asyncio.get_running_loop().time())


def _page(reply: Reply) -> tuple[list[dict[str, Any]], Any]:
    """Read one page of `tools/list`: its entries, each with a name, and the cursor of the next page or None."""
    result = reply.result if isinstance(reply.result, dict) else {}
    tools = result.get("tools")
    if not isinstance(tools, list) or not all(
        isinstance(one, dict) and isinstance(one.get("name"), str) for one in tools
    ):
        raise Garbled("tools/list must answer `tools`, a list of objects that each have a name", seen=(reply.raw,))
    return tools, result.get("nextCursor")


def _reply(message: Mapping[str, Any], raw: bytes, *, seconds: float) -> Reply:
    """Read an answer; raises Garbled unless it has exactly one of a result and a well-formed error."""
    if ("result" in message) == ("error" in message):
        raise Garbled("an answer must have exactly one of result and error", seen=(raw,))
    if "result" in message:
        return Reply(id=message["id"], result=message["result"], raw=raw, seconds=seconds)
    error = message["error"]
    if (
        not isinstance(error, dict)
        or not isinstance(error.get("code"), int)
        or not isinstance(error.get("message"), str)
    ):
        raise Garbled("an error must have a number as code and a text as message", seen=(raw,))
    made = RpcError(code=error["code"], message=error["message"], data=error.get("data"))
    return Reply(id=message["id"], error=made, raw=raw, seconds=seconds)
