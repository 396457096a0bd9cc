"""The pytest fixtures of the simulated Gerrit: `gerrit_host` is one host, `gerrit_world` several by their real names.

Both are fresh for each test, work in synchronous and asynchronous tests alike, and are served by session-wide servers
in threads of their own. To choose what they hold, override one of the option fixtures in a `conftest.py` or a test
module: `gerrit_host_plugins`, `gerrit_world_file`, `gerrit_world_template`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from mock_gerrit.offered import GerritHost, GerritWorld
    from mock_gerrit.serving.authority import CertificateAuthority
    from mock_gerrit.serving.gateway import Gateway
    from mock_gerrit.serving.loopback import Loopback
    from mock_gerrit.world import World

# ruff: noqa: PLC0415 - every pytest run loads this module; what it needs is imported when a fixture is used


@pytest.fixture
def gerrit_host_plugins() -> tuple[str, ...]:
    """Option: ids of the plugins that `gerrit_host` has."""
    return ()


@pytest.fixture(scope="session")
def gerrit_world_file() -> Path | None:
    """Option: the world file that `gerrit_world` is built from; without one it is a small world of two hosts."""
    return None


@pytest.fixture(scope="session")
def gerrit_world_template(gerrit_world_file: Path | None) -> World:
    """Option: the world of which each test gets a copy; overriding it is the way to build one by code."""
    if gerrit_world_file is None:
        from mock_gerrit.offered import small_world

        return small_world()
    from mock_gerrit.worldfile import load_world

    return load_world(gerrit_world_file)


@pytest.fixture(scope="session")
def gerrit_authority(tmp_path_factory: pytest.TempPathFactory) -> CertificateAuthority:
    """The certificate authority of the whole session."""
    from mock_gerrit.serving.authority import CertificateAuthority

    return CertificateAuthority(tmp_path_factory.mktemp("mock-gerrit"))


@pytest.fixture(scope="session")
def gerrit_gateway(gerrit_authority: CertificateAuthority) -> Iterator[Gateway]:
    """The proxy of the whole session; `gerrit_world` puts each test's world behind it."""
    from mock_gerrit.serving.background import in_thread
    from mock_gerrit.serving.gateway import Gateway
    from mock_gerrit.world import World

    with in_thread(Gateway(World(), authority=gerrit_authority)) as gateway:
        yield gateway


@pytest.fixture(scope="session")
def gerrit_loopback(gerrit_authority: CertificateAuthority) -> Iterator[Loopback]:
    """The port of the whole session on which each test's `gerrit_host` answers."""
    from mock_gerrit.serving.background import in_thread
    from mock_gerrit.serving.loopback import Loopback
    from mock_gerrit.world import World

    world = World()
    host = world.host("https://127.0.0.1", name="gerrit")
    with in_thread(Loopback(world, host, authority=gerrit_authority)) as loopback:
        yield loopback


@pytest.fixture
def gerrit_host(gerrit_loopback: Loopback, gerrit_host_plugins: tuple[str, ...]) -> Iterator[GerritHost]:
    """One Gerrit host on 127.0.0.1 with TLS: an account, a project and a change, and the plugins asked for."""
    from mock_gerrit.offered import GerritHost, furnish, warn_of_unsimulated
    from mock_gerrit.world import World

    world = World()
    host = furnish(world.host(gerrit_loopback.url, name="gerrit", plugins=gerrit_host_plugins))
    gerrit_loopback.world = world
    yield GerritHost(
        host=host,
        url=gerrit_loopback.url,
        ca_file=gerrit_loopback.authority.pem,
        ssl_context=gerrit_loopback.authority.client_context,
        environment=gerrit_loopback.environment(),
    )
    warn_of_unsimulated(world)


@pytest.fixture
def gerrit_world(gerrit_gateway: Gateway, gerrit_world_template: World) -> Iterator[GerritWorld]:
    """Several Gerrit hosts under their real names, reached through a proxy; a fresh copy of the template."""
    from mock_gerrit.offered import GerritWorld, warn_of_unsimulated

    gerrit_gateway.use(gerrit_world_template.copy())
    yield GerritWorld.behind(gerrit_gateway)
    warn_of_unsimulated(gerrit_gateway.world)
