"""One request on its way to an endpoint, and what an endpoint may answer besides plain JSON."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mock_gerrit.errors import GerritError, forbidden
from mock_gerrit.exchange import Request
from mock_gerrit.rest.body import Body
from mock_gerrit.rest.options import Options
from mock_gerrit.visibility import is_owner

if TYPE_CHECKING:
    from mock_gerrit.changes import Change
    from mock_gerrit.entities import Account
    from mock_gerrit.host import Host


class NoContent:
    """The type of `NO_CONTENT`."""


NO_CONTENT = NoContent()
"""What a view returns to answer 204."""


@dataclass(frozen=True, kw_only=True)
class Created:
    """A JSON answer with status 201."""

    value: Any


@dataclass(frozen=True, kw_only=True)
class Refused:
    """A JSON answer that says no.

    Attributes:
        status: the HTTP status.
        value: what it says.
    """

    value: Any
    status: int = 400


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

    def may_change(self, change: Change) -> bool:
        """Whether the caller owns a change or administers the host."""
        return is_owner(self.user, change)

    def require_owner(self, change: Change, permission: str) -> Account:
        """The caller; 403 naming the permission unless they own the change or administer the host."""
        if self.user is None or not self.may_change(change):
            raise GerritError(403, f"{permission} not permitted")
        return self.user

    def check_notify(self) -> None:
        """Refuses a `notify` that is none of Gerrit's words (400); nobody is notified in any case."""
        self.body.choice("notify", ("NONE", "OWNER", "OWNER_REVIEWERS", "ALL"))

    @property
    def is_admin(self) -> bool:
        """Whether an administrator asks."""
        return self.user is not None and self.user.admin

    def require_admin(self, permission: str = "administrate server") -> Account:
        """The caller; 403 naming the permission unless an administrator."""
        if self.user is None or not self.user.admin:
            raise GerritError(403, f"{permission} not permitted")
        return self.user
