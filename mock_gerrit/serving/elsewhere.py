"""Hosts that are not of a world: what is asked of them is kept and answered here, and nothing is let out."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from mock_gerrit.exchange import TEXT_TYPE, Request, Response, reason_phrase
from mock_gerrit.journal import Headers
from mock_gerrit.plugins.canned import fits
from mock_gerrit.serving.asgi import BodyTooLargeError, Receive, Scope, Send, plain, read_request, send_response

Answers = Mapping[str, Mapping[str, Any]]
"""For each host name what it answers, as `{"GET /path": {"status": 200, "json": {}}}`; see `plugins.canned`."""

AnsweredBy = Literal["refusal", "default", "answer"]

_MOST_NAMES = 64
_MOST_REQUESTS = 1000
_LONGEST_BODY = 1024 * 1024


@dataclass(frozen=True, kw_only=True)
class StrangeRequest:
    """One request to a host that is not of the world.

    Attributes:
        authority: the host's name, and the port where it is not the usual one.
        scheme: `http` or `https`.
        method: in capitals.
        target: path and query exactly as sent.
        headers: the request's headers as sent.
        body: the request's body, its first million bytes at most.
        status: the HTTP status of what it was answered.
        answered_by: what was answered: `refusal` to a host that nobody named, `default` to one that was named, without
            an answer for this request, `answer` where there was one.
        at: when it was complete, in seconds of `time.monotonic()`.
    """

    authority: str
    scheme: str
    method: str
    target: str
    headers: Headers
    body: bytes = field(repr=False)
    status: int
    answered_by: AnsweredBy
    at: float

    @property
    def url(self) -> str:
        """The whole URL that was asked."""
        return f"{self.scheme}://{self.authority}{self.target}"


class Elsewhere:
    """Stands for every host that a world does not have.

    A host that is named in `answers` answers as told there, and `{}` to whatever is not told. Any other host answers
    403, with a text that says why.

    Args:
        answers: the hosts that are named, each with its answers.

    Attributes:
        requests: what was asked so far, in order.
    """

    def __init__(self, answers: Answers | None = None) -> None:
        self._answers = {name.lower(): told for name, told in (answers or {}).items()}
        self._names: set[str] = set()
        self.requests: list[StrangeRequest] = []

    def names(self, name: str) -> bool:
        """Whether the host of that name is one that may be asked."""
        return name.lower() in self._answers

    def admits(self, name: str) -> bool:
        """Whether to listen to what a client has to say to the host: besides those named to so many and no more."""
        if len(self._names) < _MOST_NAMES:
            self._names.add(name)
        return self.names(name) or name in self._names

    async def serve(self, name: str, scope: Scope, receive: Receive, send: Send) -> None:
        """Keep one request to the host `name`, and answer it."""
        try:
            request = await read_request(scope, receive)
        except BodyTooLargeError as refused:
            await send_response(send, plain(413, str(refused), ("Connection", "close")))
            return
        if request is None:
            return
        answered_by, response = self._response(name, request)
        if len(self.requests) < _MOST_REQUESTS:
            self.requests.append(_kept(request, status=response.status, answered_by=answered_by))
        await send_response(send, response, head=request.method == "HEAD")

    def _response(self, name: str, request: Request) -> tuple[AnsweredBy, Response]:
        told = self._answers.get(name.lower())
        if told is None:
            text = f"mock-gerrit: {name} is not a host of this world, and nothing is let out to any other."
            return "refusal", plain(403, text)
        method = "GET" if request.method == "HEAD" else request.method
        for key, answer in told.items():
            if fits(key, f"{method} {request.path}", request.query_string):
                return "answer", _told(answer)
        return "default", _told({})


def _kept(request: Request, *, status: int, answered_by: AnsweredBy) -> StrangeRequest:
    return StrangeRequest(
        authority=request.authority, scheme=request.scheme, method=request.method, target=request.target,
        headers=Headers(request.headers), body=request.body[:_LONGEST_BODY], status=status, answered_by=answered_by,
        at=time.monotonic(),
    )  # fmt: skip


def _told(answer: Mapping[str, Any]) -> Response:
    """Make a response of an answer, which is JSON unless it says otherwise; there is no prefix but Gerrit's own."""
    status = int(answer.get("status", 200))
    is_text = "text" in answer
    body = str(answer["text"]) if is_text else json.dumps(answer.get("json", {}))
    return Response(
        status=status,
        reason=reason_phrase(status),
        headers=(("Content-Type", TEXT_TYPE if is_text else "application/json"),),
        body=body.encode(),
    )
