"""Whom curl is told to ask: the places of the URLs among its arguments, those that are values of options left out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from urllib.parse import urlsplit

_URL = re.compile(r"^(?:--url=)?(https?://[^/?#]*)", re.IGNORECASE)
_NAME = re.compile(r"[a-z0-9_.-]+", re.IGNORECASE)
_VALUED = frozenset("AbcCdDeEFHKmoPQrtTuUwxXyYz")
"""Letters of options that take a value."""
_PLAIN = frozenset({
    "--anyauth", "--basic", "--compressed", "--compressed-ssh", "--create-dirs", "--digest", "--disable", "--fail",
    "--fail-early", "--fail-with-body", "--get", "--globoff", "--head", "--http0.9", "--http1.0", "--http1.1",
    "--http2", "--http2-prior-knowledge", "--http3", "--include", "--insecure", "--ipv4", "--ipv6",
    "--junk-session-cookies", "--list-only", "--location", "--location-trusted", "--negotiate", "--netrc",
    "--netrc-optional", "--next", "--ntlm", "--parallel", "--parallel-immediate", "--path-as-is", "--post301",
    "--post302", "--post303", "--progress-bar", "--raw", "--remote-header-name", "--remote-name",
    "--remote-name-all", "--remote-time", "--retry-all-errors", "--retry-connrefused", "--show-error",
    "--show-headers", "--silent", "--ssl", "--ssl-no-revoke", "--ssl-reqd", "--styled-output", "--tcp-fastopen",
    "--tcp-nodelay", "--tlsv1", "--tlsv1.0", "--tlsv1.1", "--tlsv1.2", "--tlsv1.3", "--tr-encoding", "--url",
    "--verbose",
})  # fmt: skip
"""Long options behind which the next word is no value of theirs; of others it is taken for one."""


def places_asked(words: Sequence[str]) -> list[str]:
    """Give `scheme://name[:port]` of each URL that curl is to ask by its arguments, each once, in order."""
    return list(dict.fromkeys(_places(words)))


def _places(words: Sequence[str]) -> Iterator[str]:
    is_value = False
    for word in words:
        if is_value:
            is_value = False
            continue
        if found := _URL.match(word):
            scheme, _, authority = found[1].partition("//")
            yield f"{scheme.lower()}//{authority.rpartition('@')[2].lower()}"
        is_value = _takes_the_next(word)


def _takes_the_next(word: str) -> bool:
    """Tell whether a word is an option whose value is the next word."""
    if word.startswith("--"):
        return word not in _PLAIN and not word.startswith("--no-") and "=" not in word
    letters = word[1:] if word.startswith("-") else ""
    first = next((at for at, letter in enumerate(letters) if letter in _VALUED), None)
    return first is not None and first == len(letters) - 1


def authority(url: str) -> str:
    """Give name and port of a URL, without a standard port; empty where it is no plain name, such as a pattern."""
    try:
        parts = urlsplit(url)
        name, port = (parts.hostname or "").rstrip("."), parts.port
    except ValueError:
        return ""
    if not _NAME.fullmatch(name):
        return ""
    return name if port in {None, 80, 443} else f"{name}:{port}"
