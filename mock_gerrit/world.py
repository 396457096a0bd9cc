"""The world: some Gerrit hosts, one clock, one journal."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, datetime

from mock_gerrit.addresses import normal_authority
from mock_gerrit.faults import Faults
from mock_gerrit.host import Host
from mock_gerrit.journal import Journal

Clock = Callable[[], datetime]


def system_clock() -> datetime:
    """The present, in UTC."""
    return datetime.now(UTC)


class World:
    """Several hosts that know nothing of each other.

    Attributes:
        hosts: in the order they were added.
        journal: what was asked of them.
        faults: what goes wrong on purpose.
        clock: tells the present to every host; aware, in UTC.
        seed: another seed makes other hashes; the same seed and the same calls make the same ones.
    """

    def __init__(self, *, clock: Clock = system_clock, seed: int = 0) -> None:
        self.clock = clock
        self.seed = seed
        self.hosts: list[Host] = []
        self.journal = Journal()
        self.faults = Faults()

    def host(
        self, url: str, *, internal_url: str | None = None, plugins: Iterable[str] = (), name: str | None = None
    ) -> Host:
        """Adds a host.

        Args:
            url: where its users reach it; it may have a context path (`https://review.example.com/r`).
            internal_url: another address of the same host.
            plugins: ids of plugins to install.
            name: what the journal calls it; else the authority of `url`.

        Raises:
            ValueError: the URL is no http(s) URL, or another host has it, or has the name.
        """
        added = Host(world=self, url=url, internal_url=internal_url, name=name)
        for other in self.hosts:
            if other.name == added.name:
                raise ValueError(f"host name {added.name!r} is taken by {other.url}; give name= another one")
            shared = other.authorities & added.authorities
            if shared:
                raise ValueError(f"{next(iter(shared))!r} is already the authority of host {other.name!r}")
        self.hosts.append(added)
        for plugin in plugins:
            added.add_plugin(plugin)
        return added

    def host_for(self, authority: str) -> Host | None:
        """The host of an authority (`name` or `name:port`, in any case), external or internal, or None."""
        wanted = normal_authority(authority)
        return next((host for host in self.hosts if wanted in host.authorities), None)

    def host_named(self, name: str) -> Host:
        """The host of a name; KeyError, naming those there are, for another."""
        for host in self.hosts:
            if host.name == name:
                return host
        raise KeyError(f"no host {name!r}; there are {', '.join(host.name for host in self.hosts) or 'none'}")

    def copy(self) -> World:
        """An independent world in the same state, with an empty journal; git objects are shared, being unchangeable."""
        twin = World(clock=self.clock, seed=self.seed)
        twin.hosts = [host.copy(twin) for host in self.hosts]
        twin.faults = self.faults.copy()
        return twin
