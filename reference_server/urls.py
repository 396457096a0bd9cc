"""The forms in which a person names a Gerrit host, brought to one: the host's base URL."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

from reference_server.config import Configuration, GerritHost
from reference_server.errors import ConfigError

_SCHEME = re.compile(r"^(?P<scheme>[a-z][a-z0-9+.-]*)://", re.IGNORECASE)
_STANDARD_PORT = {"http": ":80", "https": ":443"}
_PREFIXED = frozenset({"http_basic", "git_cookies"})


class Place(NamedTuple):
    """Where a URL points, without scheme, credentials, standard port, query and surrounding slashes."""

    authority: str
    path: str

    @property
    def url(self) -> str:
        """The place as an https URL without trailing slash."""
        return f"https://{self.authority}/{self.path}".rstrip("/")

    def without_login_prefix(self) -> Place | None:
        """The place without a trailing `a` segment; None where there is none."""
        head, _, tail = self.path.rpartition("/")
        return Place(self.authority, head) if tail == "a" else None


def place(url: str) -> Place:
    """Read any form that a person types: with or without scheme, slash, port, user."""
    text = url.strip()
    scheme = "https"
    if found := _SCHEME.match(text):
        scheme = found["scheme"].lower()
        text = text[found.end() :]
    authority, _, path = re.split(r"[?#]", text, maxsplit=1)[0].partition("/")
    authority = authority.rpartition("@")[2].lower().removesuffix(_STANDARD_PORT.get(scheme, ":443"))
    return Place(authority, path.strip("/"))


def places(host: GerritHost) -> tuple[Place, ...]:
    """The places of a configured host, the preferred (external) one first."""
    return tuple(place(url) for url in (host.external_url, host.internal_url) if url)


def base_url(host: GerritHost) -> str:
    """The URL below which the host's REST endpoints lie, `/a` included where requests are authenticated."""
    prefix = "/a" if host.authentication.type in _PREFIXED else ""
    return places(host)[0].url + prefix


def label(host: GerritHost) -> str:
    """How messages speak of a host: its name, if it has one, and its URL."""
    url = places(host)[0].url
    return f"{host.name} ({url})" if host.name else url


@dataclass(frozen=True, kw_only=True)
class Hosts:
    """The configured hosts, found by any form of their URLs."""

    configuration: Configuration

    def find(self, url: str) -> GerritHost | None:
        """The configured host that `url` names, with or without `/a`; None where it names none."""
        wanted = place(url)
        return self._at(wanted) or self._at(wanted.without_login_prefix())

    def normalise(self, url: str) -> str:
        """The base URL of the host that `url` names; an unknown one only becomes https without trailing slash."""
        host = self.find(url)
        return base_url(host) if host else place(url).url

    def require(self, url: str) -> GerritHost:
        """The configured host that `url` names.

        Raises:
            ConfigError: no entry of `gerrit_hosts` fits; the text lists those that there are.
        """
        host = self.find(url)
        if host is None:
            known = ", ".join(label(each) for each in self.configuration.gerrit_hosts) or "none"
            raise ConfigError(f"{place(url).url} is not a configured Gerrit host; `gerrit_hosts` has: {known}")
        return host

    def default(self) -> str:
        """The base URL that `default_gerrit_base_url` names.

        Raises:
            ConfigError: it is not set, or is none of `gerrit_hosts`.
        """
        url = self.configuration.default_gerrit_base_url
        if not url:
            raise ConfigError(
                "no Gerrit host was named: give `gerrit_base_url`, or set `default_gerrit_base_url` or GERRIT_BASE_URL"
            )
        return base_url(self.require(url))

    def _at(self, wanted: Place | None) -> GerritHost | None:
        return next((host for host in self.configuration.gerrit_hosts if wanted in places(host)), None)
