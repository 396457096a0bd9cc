"""Change edits: prepared on the server, seen by their author only, made a patch set by publishing."""

from __future__ import annotations

import pytest

from mock_gerrit.host import Host
from mock_gerrit.world import World


@pytest.fixture
def host() -> Host:
    host = World().host("https://review.example.com")
    for name in ("alice", "bob"):
        host.account(name, http_password=f"{name}-pw")
    host.project("demo", files={"a.txt": "a\n"})
    host.change("demo", owner="alice", files={"b.txt": "b\n"}, number=1)
    return host
