"""What the fixtures hand to a test: a world or a host together with everything that a client needs to reach it."""

from __future__ import annotations

import ssl
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from typing_extensions import TypedDict

from mock_gerrit.faults import Faults
from mock_gerrit.host import Host
from mock_gerrit.journal import Entry, Journal
from mock_gerrit.serving.gateway import Gateway, Refused
from mock_gerrit.world import World


class UnsimulatedWarning(UserWarning):
    """A client asked for something that Gerrit would answer and this simulator does not."""


class _Access(TypedDict):
    """What both kinds of offer share."""

    ca_file: Path
    ssl_context: ssl.SSLContext
    environment: dict[str, str]


@dataclass(frozen=True, kw_only=True)
class GerritHost:
    """One served host.

    Attributes:
        host: the simulated host; its builders (`account`, `project`, `change`, `add_plugin` …) work while it is served.
        url: its base URL, without a slash at the end.
        ca_file: the certificate (PEM) that a client has to trust.
        ssl_context: the same for Python clients.
        environment: variables by which curl, httpx, requests and the like trust it, and find it.
    """

    host: Host
    url: str
    ca_file: Path
    ssl_context: ssl.SSLContext
    environment: dict[str, str]

    @property
    def name(self) -> str:
        """What the journal calls it."""
        return self.host.name

    @property
    def credentials(self) -> tuple[str, str]:
        """User name and HTTP password of somebody: the first who is no administrator, else the first of all.

        Raises:
            LookupError: nobody can sign in with a password.
        """
        able = [account for account in self.host.accounts.values() if account.username and account.passwords]
        for account in sorted(able, key=lambda one: one.admin):
            return account.username or "", next(iter(account.passwords.values()))
        raise LookupError(f"nobody on host {self.name!r} has a password: add host.account(…, http_password=…)")

    @property
    def requests(self) -> list[Entry]:
        """What this host was asked so far, in order."""
        return self.host.world.journal.of(host=self.name)

    @property
    def faults(self) -> Faults:
        """What goes wrong on purpose, on all hosts of its world."""
        return self.host.world.faults


@dataclass(frozen=True, kw_only=True)
class GerritWorld:
    """Several served hosts, reached by their real names through a proxy.

    Attributes:
        world: the simulated world.
        hosts: its hosts.
        proxy_url: the proxy, for clients that want it named; `environment` has it too.
        ca_file: the certificate (PEM) that a client has to trust.
        ssl_context: the same for Python clients.
        environment: variables that send curl, httpx, requests and the like through the proxy, and make them trust it.
        refused: requests to anything that is no host of the world.
    """

    world: World
    hosts: tuple[GerritHost, ...]
    proxy_url: str
    ca_file: Path
    ssl_context: ssl.SSLContext
    environment: dict[str, str]
    refused: list[Refused]

    @classmethod
    def behind(cls, gateway: Gateway) -> Self:
        """The world that a gateway serves at present."""
        access = _Access(
            ca_file=gateway.authority.pem,
            ssl_context=gateway.authority.client_context,
            environment=gateway.environment(),
        )
        return cls(
            world=gateway.world,
            hosts=tuple(GerritHost(host=host, url=host.url, **access) for host in gateway.world.hosts),
            proxy_url=gateway.proxy_url,
            refused=gateway.refused,
            **access,
        )

    def __getitem__(self, name: str) -> GerritHost:
        """The host of a name; KeyError, naming those there are, for another."""
        wanted = self.world.host_named(name)
        return next(one for one in self.hosts if one.host is wanted)

    def __iter__(self) -> Iterator[GerritHost]:
        """Iterate over the hosts."""
        return iter(self.hosts)

    @property
    def journal(self) -> Journal:
        """What the hosts were asked."""
        return self.world.journal

    @property
    def faults(self) -> Faults:
        """What goes wrong on purpose."""
        return self.world.faults

    def with_plugin(self, plugin: str) -> tuple[GerritHost, ...]:
        """The hosts on which a plugin is installed and switched on."""
        return tuple(one for one in self.hosts if plugin in {found.id for found in one.host.enabled_plugins})


def small_world() -> World:
    """Two hosts to begin with, each with an account, a project and a change; the first has the plugin `task`."""
    world = World()
    for name, plugins in (("review-a", ("task",)), ("review-b", ())):
        furnish(world.host(f"https://{name}.example.com", name=name, plugins=plugins))
    return world


def furnish(host: Host) -> Host:
    """Put the least into a host that makes it usable: `alice` (password `alice-secret`), project `demo`, one change."""
    alice = host.account("alice", http_password="alice-secret", may_view_plugins=True)  # noqa: S106 - a simulated one
    host.project("demo")
    host.change("demo", owner=alice, subject="A first change")
    return host


def warn_of_unsimulated(world: World) -> None:
    """Warn of each thing that was asked for and is not simulated, so that no test passes on an answer we made up."""
    for entry in world.journal:
        if entry.unsimulated is not None:
            warnings.warn(UnsimulatedWarning(f"{entry.method} {entry.target}: {entry.unsimulated}"), stacklevel=2)
