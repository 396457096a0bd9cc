"""What an extension asks of Gerrit by itself, or late for another tool, told apart from what a call of its tools asks.

A thread that `register` starts may ask at any time, also in the middle of somebody's call: by the moment alone nobody
can tell what was asked for whom.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from conformance.profile import plain_host_name
from conformance.rig.answers import READING
from conformance.rig.contacts import GERRIT_NAMES

if TYPE_CHECKING:
    from conformance.rig.trial import Trial
    from mock_gerrit.journal import Entry

Question = tuple[str, str]
"""The method and the path, as Gerrit's documentation writes it, of a request."""


def asked_while_loading(trials: Iterable[Trial]) -> frozenset[Question]:
    """Give what reached Gerrit in trials in which no tool was called."""
    return frozenset((entry.method, entry.gerrit_path) for trial in trials for entry in trial.world.journal)


def is_unbidden(entry: Entry, loading: frozenset[Question], asked: Sequence[Mapping[str, Any]]) -> bool:
    """Tell whether a request during a call is what the extension asks by itself.

    Args:
        entry: the request.
        loading: what the extension was seen to ask while it was loaded.
        asked: the facts `run_curl` of the call; one that tells of a tool speaks for a request of the tool's own.
    """
    if (entry.method, entry.gerrit_path) not in loading:
        return False
    urls = [str(url).partition("?")[0] for about in asked if about["tool"] for url in about["urls"]]
    return not any(url.endswith(entry.gerrit_path) for url in urls)


def written_for_others(entries: Iterable[Entry], asked: Iterable[Mapping[str, Any]], call: int) -> list[Entry]:
    """Give the requests during a call that change something, and that an earlier call had left to be made later.

    Args:
        entries: the requests.
        asked: the facts `run_curl` of what was on its way when the call began, or has begun since.
        call: the number of the call.
    """
    told = list(asked)
    others = [about for about in told if about["call"] not in {0, call}]
    own = [about for about in told if about["call"] == call]
    return [
        entry for entry in entries if entry.method not in READING and _is_for(entry, others) and not _is_for(entry, own)
    ]


def _is_for(entry: Entry, asked: Iterable[Mapping[str, Any]]) -> bool:
    """Tell whether one of these runs of curl is for this host and path."""
    urls = [str(url).partition("?")[0] for about in asked for url in about["urls"]]
    return any(
        url.endswith(entry.gerrit_path) and GERRIT_NAMES.get(plain_host_name(url), entry.host) == entry.host
        for url in urls
    )
