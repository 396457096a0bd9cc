"""Asking a simulated host as a client does, for the tests of plugins."""

from __future__ import annotations

import base64
import json
from typing import Any

from mock_gerrit import gerrit
from mock_gerrit.exchange import XSSI_PREFIX, Request, Response
from mock_gerrit.host import Host
from mock_gerrit.world import World


def a_host(*plugins: str) -> Host:
    """A host with plugins, two people, a project and nothing else."""
    host = World().host("https://review.example.com", plugins=plugins)
    host.account("alice", http_password="alice-pw")
    host.account("bob", http_password="bob-pw")
    host.project("demo")
    return host


def ask(host: Host, target: str, *, user: str = "alice", method: str = "GET", body: Any = None) -> Response:
    """The answer to a request of somebody who signs in with `USER-pw` (`secret` for the administrator)."""
    password = "secret" if user == "admin" else f"{user}-pw"
    credentials = base64.b64encode(f"{user}:{password}".encode()).decode()
    headers = [("Authorization", f"Basic {credentials}")]
    if body is not None:
        headers.append(("Content-Type", "application/json"))
    request = Request(
        method=method,
        target=f"/a{target}",
        headers=tuple(headers),
        body=b"" if body is None else json.dumps(body).encode(),
        authority=host.authority,
    )
    return gerrit.answer(host, request)


def told(response: Response) -> Any:
    """The JSON of a successful answer."""
    text = response.body.decode()
    assert response.status < 300, f"{response.status} {text}"
    return json.loads(text.removeprefix(XSSI_PREFIX))


def refusal(response: Response) -> tuple[int, str]:
    """Status and text of an answer that is no success."""
    return response.status, response.body.decode().strip()
