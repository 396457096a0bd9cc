"""One HTTP exchange as the simulated Gerrit sees it: a request comes in, a response goes out."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from http import HTTPStatus

XSSI_PREFIX = ")]}'\n"
"""The line Gerrit puts before every JSON body, so that no browser runs it as a script."""

JSON_TYPE = "application/json;charset=utf-8"
TEXT_TYPE = "text/plain;charset=utf-8"

_REASONS = {500: "Server Error", 422: "Unprocessable Entity"}


def reason_phrase(status: int) -> str:
    """The words Gerrit's container puts behind a status code."""
    return _REASONS.get(status) or HTTPStatus(status).phrase


@dataclass(frozen=True, kw_only=True)
class Request:
    """What a client asked.

    Attributes:
        method: the HTTP method in capitals.
        target: path and query exactly as sent (origin form), still percent-encoded.
        headers: name and value pairs in the order sent; names in any case.
        body: the body, already unpacked from any transfer or content encoding.
        scheme: `http` or `https`.
        authority: host name and, where not the default, port.
    """

    method: str
    target: str
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    scheme: str = "https"
    authority: str = ""

    @cached_property
    def _folded(self) -> dict[str, str]:
        return {name.lower(): value for name, value in reversed(self.headers)}

    def header(self, name: str) -> str | None:
        """The first value sent for a header, or None; `name` in lower case."""
        return self._folded.get(name)

    @property
    def path(self) -> str:
        """The target without its query, still percent-encoded."""
        return self.target.partition("#")[0].partition("?")[0]

    @property
    def query_string(self) -> str:
        """What follows the first `?` of the target; empty without one."""
        return self.target.partition("#")[0].partition("?")[2]


@dataclass(frozen=True, kw_only=True)
class Response:
    """What Gerrit answered.

    Attributes:
        status: the HTTP status.
        reason: its phrase, as Gerrit's container words it.
        headers: name and value pairs; `Content-Length` is left to whoever sends the response.
        body: the bytes to send; empty for HEAD.
        unsimulated: the nearest route that is simulated, where the request asked for something that no endpoint
            here answers; None wherever the answer is one a real Gerrit would give.
        user: the user name the request was authenticated as; None for an anonymous one.
    """

    status: int
    reason: str
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = field(default=b"", repr=False)
    unsimulated: str | None = None
    user: str | None = None
