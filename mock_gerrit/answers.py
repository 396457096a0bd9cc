"""The clothes in which an answer goes out: status, headers, prefix, character sets."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Any

from mock_gerrit.errors import GerritError
from mock_gerrit.exchange import JSON_TYPE, TEXT_TYPE, XSSI_PREFIX, Response, reason_phrase
from mock_gerrit.rest.call import Content

_HTML_SAFE = str.maketrans({sign: f"\\u{ord(sign):04x}" for sign in ("<", ">", "&", "=", "'", "\u2028", "\u2029")})
JSON_ONLY = "application/json"
"""The `Accept` of those who take JSON and nothing else."""

_FYI_ENCODING = "X-FYI-Content-Encoding"
_COMMON_HEADERS = (
    ("X-Frame-Options", "SAMEORIGIN"),
    ("Cache-Control", "no-cache, no-store, max-age=0, must-revalidate"),
)


def to_json(value: Any, *, pretty: bool = False) -> bytes:  # noqa: ANN401 - any JSON
    """JSON as Gerrit writes it: behind its prefix, compact, safe inside HTML, and ended by a newline."""
    if pretty:
        written = json.dumps(value, ensure_ascii=False, indent=2)
    else:
        written = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return f"{XSSI_PREFIX}{written.translate(_HTML_SAFE)}\n".encode("utf-8", "surrogatepass")


def json_answer(status: int, value: Any, *, pretty: bool = False) -> Response:  # noqa: ANN401 - any JSON
    """An answer of JSON."""
    return plain_answer(status, (("Content-Type", JSON_TYPE),), to_json(value, pretty=pretty))


def plain_answer(status: int, headers: tuple[tuple[str, str], ...], body: bytes) -> Response:
    """An answer of bytes, with the headers that every answer of Gerrit has."""
    return Response(status=status, reason=reason_phrase(status), headers=(*_COMMON_HEADERS, *headers), body=body)


def content_answer(content: Content, *, as_json: bool = False) -> Response:
    """An answer that a view made itself; what would go out as base64 can go as a JSON text instead."""
    if as_json and (_FYI_ENCODING, "base64") in content.headers:
        text = base64.b64decode(content.data).decode("utf-8", "replace")
        headers = tuple((name, "json" if name == _FYI_ENCODING else value) for name, value in content.headers)
        return plain_answer(content.status, (("Content-Type", JSON_TYPE), *headers), to_json(text))
    types = (("Content-Type", content.content_type),) if content.content_type else ()
    return plain_answer(content.status, (*types, *content.headers), content.data)


def failure(error: GerritError) -> Response:
    """The answer that says what went wrong."""
    if error.container:
        content_type = "text/html;charset=iso-8859-1" if error.text.startswith("<") else "text/plain;charset=iso-8859-1"
        challenge = (("WWW-Authenticate", 'Basic realm="Gerrit Code Review"'),) if error.status == 401 else ()
        return plain_answer(error.status, (*challenge, ("Content-Type", content_type)), error.text.encode())
    return plain_answer(error.status, (("Content-Type", TEXT_TYPE),), f"{error.text}\n".encode())


def marked_unsimulated(response: Response, route: str) -> Response:
    """The same answer, marked as given for want of an endpoint; `route` is the nearest one."""
    return Response(
        status=response.status, reason=response.reason, headers=response.headers, body=response.body, unsimulated=route
    )


def canned_answer_of(given: Any) -> Response:  # noqa: ANN401 - a value, or a mapping with status and json or text
    """The answer that somebody wrote down: a JSON value, or a mapping of `status` and `json` or `text`."""
    if not isinstance(given, Mapping) or not given.keys() <= {"status", "json", "text"}:
        return json_answer(200, given)
    status = int(given.get("status", 200))
    if "text" in given:
        return plain_answer(status, (("Content-Type", TEXT_TYPE),), str(given["text"]).encode())
    return json_answer(status, given.get("json"))
