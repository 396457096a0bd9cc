"""Who asks: HTTP Basic below `/a/`, cookies anywhere."""

from __future__ import annotations

import base64
import binascii
import hmac
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mock_gerrit.entities import Account
from mock_gerrit.errors import GerritError
from mock_gerrit.exchange import Request

if TYPE_CHECKING:
    from mock_gerrit.host import Host


@dataclass(frozen=True, kw_only=True)
class Caller:
    """Who asks.

    Attributes:
        account: None for anonymous.
        may_write: False for somebody known by a cookie alone, outside `/a/`, without the token against forgery.
    """

    account: Account | None = None
    may_write: bool = True


def authenticate(host: Host, request: Request, *, required: bool) -> Caller:
    """Finds out who asks.

    Args:
        host: whose accounts count.
        request: the request.
        required: True below `/a/`: nobody gets through unknown. Elsewhere Basic is not looked at.

    Raises:
        GerritError: 401 for wrong or missing credentials below `/a/`; 500 for Basic that is no base64, as in Gerrit.
    """
    by_cookie = _by_cookie(host, request.header("cookie"))
    if not required:
        token = request.header("x-gerrit-auth")
        genuine = by_cookie is not None and token is not None and hmac.compare_digest(token, xsrf_token(by_cookie))
        return Caller(account=by_cookie, may_write=by_cookie is None or genuine)
    account = _by_password(host, request.header("authorization")) or by_cookie
    if account is None:
        raise GerritError(401, "Unauthorized", container=True)
    return Caller(account=account)


def xsrf_token(account: Account) -> str:
    """What a browser sends as `X-Gerrit-Auth` beside its cookie."""
    return f"xsrf-{account.id}"


def _by_cookie(host: Host, header: str | None) -> Account | None:
    if not header:
        return None
    pairs = {pair.strip() for pair in header.split(";")}
    return next((account for account in host.accounts.values() if account.active and account.cookies & pairs), None)


def _by_password(host: Host, header: str | None) -> Account | None:
    if not header or not header.startswith("Basic "):
        return None
    try:
        decoded = base64.b64decode(header[len("Basic ") :], validate=True).decode("utf-8", "replace")
    except (binascii.Error, ValueError):
        raise GerritError(500, "Server Error", container=True) from None
    username, _, password = decoded.partition(":")
    for account in host.accounts.values():
        if account.username == username and account.active and password:
            same = [hmac.compare_digest(password.encode(), known.encode()) for known in account.passwords.values()]
            return account if any(same) else None
    return None
