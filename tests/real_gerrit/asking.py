"""What is asked, and the real server that is asked it; its answers come in the form of the recordings."""

from __future__ import annotations

import base64
import gzip
import http.client
import json
import ssl
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from mock_gerrit.exchange import XSSI_PREFIX
from tests.mock_gerrit.recordings import Recorded

ANONYMOUS = "anonymous"
PASSWORDS = {"admin": "secret"}
"""The passwords that are not `NAME-pw`."""


@dataclass(frozen=True, kw_only=True)
class Ask:
    """One request: who asks (`anonymous` goes without `/a/`), how, for what."""

    user: str
    method: str
    target: str
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """How the table of differences calls it."""
        sent = self.body.decode(errors="backslashreplace")
        return " ".join(filter(None, (self.user, self.method, self.target, sent[:200])))


Scenario = Callable[[], Generator[Ask, Recorded, None]]
"""Yields what to ask and is sent the real server's answers."""


def ask(line: str, body: object = None, **headers: str) -> Ask:
    """A request as in `ada POST /changes/1/topic`; a body of JSON, or of text or bytes to send as they are.

    `Content_Type="text/plain"` and the like become headers.
    """
    user, method, target = line.split(" ", 2)
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    if body is None:
        raw = b""
    elif isinstance(body, str | bytes):
        raw = body.encode() if isinstance(body, str) else body
    else:
        raw = json.dumps(body).encode()
        sent.setdefault("Content-Type", "application/json")
    if user != ANONYMOUS:
        target = f"/a{target}"
        secret = f"{user}:{PASSWORDS.get(user, f'{user}-pw')}"
        sent.setdefault("Authorization", f"Basic {base64.b64encode(secret.encode()).decode()}")
    return Ask(user=user, method=method, target=target, body=raw, headers=sent)


class RealServer:
    """A connection to a real Gerrit, made anew for other credentials.

    Its container remembers headers for as long as a connection lasts, whatever their case: after one `basic x` it takes
    every `Basic x` for that.

    Args:
        url: where it answers, with TLS.
        trusted: the certificate to trust.
    """

    def __init__(self, url: str, *, trusted: str) -> None:
        self.url = url.rstrip("/")
        context = ssl.create_default_context(cafile=trusted)
        self._connection = http.client.HTTPSConnection(urlsplit(url).netloc, context=context, timeout=60)
        self._spoken: str | None = None

    def permit(self, permissions: dict[str, Any]) -> None:
        """Let everybody who is signed in do this to all branches, as in the recordings and in the simulation."""
        told = {"add": {"refs/heads/*": {"permissions": permissions}}}
        answer = self.answer("set up", 0, ask("admin POST /projects/All-Projects/access", told))
        assert answer.status == 200, answer.response_body

    def close(self) -> None:
        """Hang up."""
        self._connection.close()

    def answer(self, scenario: str, index: int, asked: Ask) -> Recorded:
        """Ask, and note the answer as step `index` of a scenario."""
        if asked.headers.get("Authorization") != self._spoken:
            self._connection.close()
        self._spoken = asked.headers.get("Authorization")
        self._connection.request(asked.method, asked.target, body=asked.body or None, headers=asked.headers)
        reply = self._connection.getresponse()
        return Recorded(
            scenario=scenario,
            index=index,
            step=asked.name,
            user=asked.user,
            request={"method": asked.method, "target": asked.target, "headers": asked.headers, **_told(asked.body)},
            response=_response(reply, reply.read()),
            push=None,
            file=None,
        )


def _told(body: bytes) -> dict[str, str]:
    return {"body": base64.b64encode(body).decode(), "body_encoding": "base64"}


def _response(reply: http.client.HTTPResponse, body: bytes) -> dict[str, Any]:
    headers = dict(reply.getheaders())
    if headers.get("Content-Encoding") == "gzip" and body:
        body = gzip.decompress(body)
    response: dict[str, Any] = {"status": reply.status, "headers": headers, **_told(body)}
    text = body.decode(errors="replace")
    if text.startswith(XSSI_PREFIX):
        response["json"] = json.loads(text.removeprefix(XSSI_PREFIX))
    return response
