"""A world of two hosts, a certificate authority, and the proxy in front of them."""

from __future__ import annotations

import pytest

from mock_gerrit.serving.authority import CertificateAuthority
from mock_gerrit.serving.gateway import Gateway
from mock_gerrit.world import World


@pytest.fixture(scope="session")
def authority(tmp_path_factory):
    return CertificateAuthority(tmp_path_factory.mktemp("authority"))


@pytest.fixture
def world():
    world = World()
    for url, internal in (
        ("https://review-a.example.com", None),
        ("https://review-b.example.com/r", "http://gerrit.inside.example.com/r"),
    ):
        host = world.host(url, internal_url=internal, name=url.split("/")[2].partition(".")[0])
        host.account("alice", http_password="alice-secret", cookie="session=of-alice", may_view_plugins=True)
        host.project("demo")
        host.change("demo", owner="alice", subject=f"A change on {host.name}", files={"src/a.py": "x = 1\n"})
    return world


@pytest.fixture
async def gateway(world, authority):
    async with Gateway(world, authority=authority) as gateway:
        yield gateway
