"""Which plugins the configured hosts have: asked lazily, remembered for a while, never guessed."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from reference_server import gerrit
from reference_server.config import load_configuration
from reference_server.errors import GerritError
from reference_server.log import log
from reference_server.sdk import ToolError
from reference_server.urls import base_url


@dataclass(frozen=True, kw_only=True)
class Listing:
    """One reading of a host's plugin list.

    Attributes:
        plugins: enabled plugins by id with their versions (empty where the host tells none).
        problem: why the list could not be read; None where it was.
        number: counts the readings of a registry, whatever the clock says.
        read_at: the registry's clock when the answer was there.
    """

    plugins: dict[str, str] = field(default_factory=dict)
    problem: str | None = None
    number: int
    read_at: float


@dataclass(kw_only=True)
class _Memory:
    listing: Listing | None = None
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


class PluginRegistry:
    """Plugin lists of the configured hosts, one request a host within the time to live.

    A list that cannot be read is not remembered: the next question asks the host again. Questions that arrive while
    a host is being asked wait for that answer, whatever it is.

    Args:
        clock: monotonic seconds; exchangeable, so that a test need not wait for an hour.
    """

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        self.readings = 0
        """How many lists have been read so far, from whatever host."""
        self._memories: dict[str, _Memory] = {}

    def configured_hosts(self) -> list[str]:
        """The base URLs of the configured hosts, in the order of the configuration.

        Raises:
            ConfigError: the configuration cannot be used.
        """
        return list(dict.fromkeys(base_url(host) for host in load_configuration().gerrit_hosts))

    def invalidate(self, url: str | None = None) -> None:
        """Forget the list of one host, or of all."""
        if url is None:
            self._memories.clear()
        else:
            self._memories.pop(gerrit.normalize_url(url), None)

    async def hosts_with_plugin(self, name: str) -> list[str]:
        """The base URLs of all configured hosts with the plugin enabled; those that cannot be read are left out."""
        return [url for url in self.configured_hosts() if await self.host_has_plugin(url, name)]

    async def host_has_plugin(self, url: str, name: str) -> bool:
        """Whether the host has the plugin enabled; False too where its list cannot be read."""
        return name in (await self.listing(url)).plugins

    async def plugin_version(self, url: str, name: str) -> str | None:
        """The version that the host tells of an enabled plugin; None where the plugin is absent."""
        return (await self.listing(url)).plugins.get(name)

    async def listing(self, url: str, *, after: int = 0) -> Listing:
        """The plugin list of a configured host, remembered or read now.

        Args:
            url: any form of the host's URL.
            after: a remembered list whose number is not above this one is read again, however young it is.

        Raises:
            ConfigError: the configuration cannot be used, or does not have the host.
        """
        known = gerrit.hosts()
        base = base_url(known.require(url))
        memory = self._memories.setdefault(base, _Memory())
        before = memory.listing
        if (
            before is not None
            and before.number > after
            and self._fresh(before, known.configuration.plugin_list_ttl_seconds)
        ):
            return before
        async with memory.lock:
            if memory.listing is None or memory.listing is before:
                memory.listing = await self._read(base)
            return memory.listing

    def _fresh(self, listing: Listing, ttl: float) -> bool:
        return listing.problem is None and self.clock() - listing.read_at < ttl

    async def _read(self, base: str) -> Listing:
        plugins, problem = {}, None
        try:
            plugins = _enabled(await gerrit.fetch(base, "/plugins/?all"), base)
        except ToolError as seen:
            problem = str(seen)
            log(f"WARNING: a plugin list could not be read: {problem}")
        self.readings += 1
        return Listing(plugins=plugins, problem=problem, number=self.readings, read_at=self.clock())


def _enabled(body: str, base: str) -> dict[str, str]:
    try:
        document = json.loads(body)
    except ValueError:
        raise GerritError(
            f"{base}/plugins/?all: expected a JSON object of plugins, saw something that is no JSON"
        ) from None
    if not isinstance(document, dict) or not all(isinstance(entry, dict) for entry in document.values()):
        raise GerritError(f"{base}/plugins/?all: expected a JSON object of plugins, saw JSON of another shape")
    return {
        name: str(entry.get("version") or "") for name, entry in document.items() if entry.get("disabled") is not True
    }
