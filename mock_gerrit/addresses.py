"""Addresses of hosts: URLs and authorities in one form each."""

from __future__ import annotations

from urllib.parse import urlsplit

_DEFAULT_PORTS = {"http": ":80", "https": ":443"}


def checked_url(url: str) -> str:
    """The URL of a host without a slash at the end.

    Raises:
        ValueError: it is not http or https, has no host name, or has a user, a query or a fragment.
    """
    parts = urlsplit(url)
    if parts.scheme not in _DEFAULT_PORTS or not parts.hostname:
        raise ValueError(f"expected the URL of a host (https://review.example.com), got {url!r}")
    if parts.query or parts.fragment or parts.username:
        raise ValueError(f"the URL of a host has neither user, query nor fragment: {url!r}")
    return url.rstrip("/")


def authority_of(url: str) -> str:
    """Host name and port of a URL, in lower case, without the port its scheme has anyway."""
    parts = urlsplit(url)
    return parts.netloc.lower().removesuffix(_DEFAULT_PORTS[parts.scheme])


def normal_authority(authority: str) -> str:
    """An authority in lower case, without a user and without the port of http or https."""
    name = authority.rpartition("@")[2].lower()
    return name.removesuffix(":443").removesuffix(":80")
