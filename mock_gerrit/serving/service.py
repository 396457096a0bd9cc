"""From a request to what becomes of it: Gerrit's answer or a fault, and an entry in the journal."""

from __future__ import annotations

import base64
import binascii
import logging
import time
from dataclasses import dataclass, replace
from typing import Literal
from urllib.parse import parse_qsl

from mock_gerrit.exchange import TEXT_TYPE, Request, Response, reason_phrase
from mock_gerrit.faults import SPOILING, UNANSWERED, Fault, invent, spoil
from mock_gerrit.gerrit import answer
from mock_gerrit.host import Host
from mock_gerrit.journal import gerrit_path

logger = logging.getLogger("mock_gerrit")


@dataclass(frozen=True, kw_only=True)
class Served:
    """What a server has to do about a request that it handed in.

    Attributes:
        ending: send `response`, stay silent until the client goes away, or reset the connection.
        response: the answer; of no meaning for the other endings.
        delay: seconds to wait first.
    """

    ending: Literal["answer", "silence", "reset"]
    response: Response
    delay: float = 0.0


_NO_ANSWER = Response(status=0, reason="")


def serve(host: Host, request: Request) -> Served:
    """Let a host answer, play the fault that strikes, and write the journal before anything is sent."""
    started = time.monotonic()
    path = gerrit_path(request.path, host.context_path)
    fault = host.world.faults.strike(host=host.name, method=request.method, path=path)
    response = _response(host, request, path=path, fault=fault)
    delay = fault.delay if fault else 0.0
    host.world.journal.record(
        host=host.name,
        authority=request.authority,
        scheme=request.scheme,
        method=request.method,
        target=request.target,
        path=request.path,
        query=tuple(parse_qsl(request.query_string, keep_blank_values=True, errors="surrogateescape")),
        headers=request.headers,
        body=request.body,
        user=response.user if fault is None or fault.kind in SPOILING else _claimed_user(request),
        status=response.status,
        response_body=response.body,
        unsimulated=response.unsimulated,
        fault=fault.kind if fault else None,
        started=started,
        finished=time.monotonic() + delay,
        context_path=host.context_path,
    )
    return Served(ending=_ending(fault), response=response, delay=delay)


def _ending(fault: Fault | None) -> Literal["answer", "silence", "reset"]:
    if fault is None or fault.kind not in UNANSWERED:
        return "answer"
    return "reset" if fault.kind == "reset" else "silence"


def _response(host: Host, request: Request, *, path: str, fault: Fault | None) -> Response:
    if fault is None:
        return _answer(host, request)
    if fault.kind in SPOILING:
        return spoil(fault, _answer(host, request))
    if fault.applied:
        _answer(host, request)
    if fault.kind in UNANSWERED:
        return _NO_ANSWER
    invented = invent(fault, base=host.url, path=path)
    return replace(invented, body=b"") if request.method == "HEAD" else invented


def _answer(host: Host, request: Request) -> Response:
    """Ask the simulated Gerrit; a defect in it must not look like an answer of a real one."""
    try:
        return answer(host, request)
    except Exception as defect:
        logger.exception("%s %s: the simulated Gerrit broke", request.method, request.target)
        text = f"the simulated Gerrit broke: {type(defect).__name__}: {defect}"
        return Response(
            status=500,
            reason=reason_phrase(500),
            headers=(("Content-Type", TEXT_TYPE),),
            body=f"{text}\n".encode(),
            unsimulated=text,
        )


def _claimed_user(request: Request) -> str | None:
    kind, _, value = (request.header("authorization") or "").partition(" ")
    if kind.lower() != "basic":
        return None
    try:
        return base64.b64decode(value).decode("utf-8", "replace").partition(":")[0] or None
    except binascii.Error:
        return None
