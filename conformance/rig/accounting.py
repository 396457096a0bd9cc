"""Which requests to Gerrit `run_curl` accounts for, and which somebody must have made by other means."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from conformance.profile import plain_host_name
from conformance.rig.contacts import GERRIT_NAMES
from conformance.rig.trial import asks_for_plugins

if TYPE_CHECKING:
    from conformance.rig.trial import Trial
    from mock_gerrit.journal import Entry

_REPEATING = frozenset({0, 401, 429})
"""Statuses after which one run of curl may ask once more: no answer, a challenge, too many requests."""


@dataclass
class _Account:
    """Requests that something explains: one call of `run_curl`, or one request of the host's own."""

    hosts: frozenset[str] | None
    """The configured hosts that it can have reached; None where nobody can tell."""
    urls: frozenset[str]
    begins: float
    ends: float
    left: float
    lists_only: bool = False

    def explains(self, entry: Entry, *, exactly: bool) -> bool:
        if self.left < 1 or not self.begins <= entry.started <= self.ends:
            return False
        if self.lists_only:
            return asks_for_plugins(entry)
        if exactly:
            return _comparable(entry.url) in self.urls
        return self.hosts is None or entry.host in self.hosts


def unexplained(entries: Sequence[Entry], trial: Trial) -> list[Entry]:
    """Give those of some requests to Gerrit in a trial that neither `run_curl` nor the host itself made.

    A call of `run_curl` explains as many requests as it was given URLs, to the hosts of those and of its base URL, from
    its beginning to its end; any number where its arguments can make curl ask more often, and one more after a
    redirect, a challenge or no answer.
    """
    accounts = sorted(_accounts(trial), key=lambda one: one.ends)
    for exactly in (True, False):
        entries = [entry for entry in entries if not _explained(entry, accounts, exactly=exactly)]
    return list(entries)


def _explained(entry: Entry, accounts: list[_Account], *, exactly: bool) -> bool:
    account = next((one for one in accounts if one.explains(entry, exactly=exactly)), None)
    if account is None:
        return False
    account.left -= 1
    if 300 <= entry.status < 400:
        account.hosts = None  # it points to wherever it likes
    if entry.status in _REPEATING or entry.status >= 500 or account.hosts is None:
        account.left += 1
    return True


def _accounts(trial: Trial) -> Iterator[_Account]:
    ends = {int(about["number"]): float(about["at"]) for about in trial.told("run_curl_over")}
    for about in trial.told("run_curl"):
        urls = [*about["urls"]]
        yield _Account(
            hosts=None if about["several"] else _hosts_of([*urls, *about["base_urls"]]),
            urls=frozenset(map(_comparable, urls)),
            begins=float(about["at"]),
            ends=ends.get(int(about["number"]), float("inf")),
            left=float("inf") if about["several"] else len(urls),
        )
    for about in trial.told("host_asked"):
        urls = [*about["urls"]]
        yield _Account(
            hosts=_hosts_of(urls), urls=frozenset(map(_comparable, urls)), begins=float(about["at"]),
            ends=float("inf"), left=len(urls) or float("inf"), lists_only=not urls,
        )  # fmt: skip
    for about in trial.told("too_much"):
        if about["of"] in {"run_curl", "run_curl_over", "host_asked"}:
            yield _Account(
                hosts=None, urls=frozenset(), begins=float(about["at"]), ends=float("inf"), left=float("inf")
            )


def _hosts_of(urls: Sequence[str]) -> frozenset[str]:
    """Give the names of the configured hosts in some URLs."""
    return frozenset(GERRIT_NAMES[name] for url in urls if (name := plain_host_name(url)) in GERRIT_NAMES)


def _comparable(url: str) -> str:
    """Write a URL as the proxy sees it: the name in small letters, no user, no fragment; no URL as it is."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return url
    return f"{parts.scheme.lower()}://{(parts.netloc.rpartition('@')[2]).lower()}{parts.path or '/'}?{parts.query}"
