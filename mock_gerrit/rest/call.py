"""One request on its way to an endpoint, and what an endpoint may answer besides plain JSON."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mock_gerrit.errors import GerritError, forbidden
from mock_gerrit.exchange import Request
from mock_gerrit.rest.body import Body
from mock_gerrit.rest.options import Options

if TYPE_CHECKING:
    from mock_gerrit.entities import Account
    from mock_gerrit.host import Host

NO_CONTENT: Any = object()
"""What a view returns to answer 204."""


@dataclass(frozen=True, kw_only=True)
class Created:
    """A JSON answer with status 201."""

    value: Any


@dataclass(frozen=True, kw_only=True)
class Content:
    """An answer that is no JSON.

    Attributes:
        status: the HTTP status.
        data: the bytes to send.
        content_type: the media type sent.
        headers: further headers.
    """

    data: bytes
    content_type: str = "text/plain;charset=utf-8"
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()


@dataclass(kw_only=True)
class Call:
    """What a view gets to see of a request.

    Attributes:
        host: the host that was asked; views change it.
        user: who asks; None for anonymous.
        options: the query string, sorted.
        body: the input.
        request: the request itself.
        path: the path after the context path and `/a`, still percent-encoded.
    """

    host: Host
    user: Account | None
    request: Request
    path: str
    options: Options = field(default_factory=Options)
    body: Body = field(default_factory=Body)

    def signed_in(self) -> Account:
        """The caller; 403 for an anonymous one."""
        if self.user is None:
            raise forbidden("Authentication required")
        return self.user

    @property
    def is_admin(self) -> bool:
        """Whether an administrator asks."""
        return self.user is not None and self.user.admin

    def require_admin(self, permission: str = "administrate server") -> Account:
        """The caller; 403 naming the permission unless an administrator."""
        if self.user is None or not self.user.admin:
            raise GerritError(403, f"{permission} not permitted")
        return self.user
