"""The attention set of a change."""

from __future__ import annotations

from typing import Any

from mock_gerrit import updates
from mock_gerrit.changes import Change
from mock_gerrit.entities import Account
from mock_gerrit.errors import GerritError, bad_request
from mock_gerrit.people import accounts_matching
from mock_gerrit.rest.call import NO_CONTENT, Call, NoContent
from mock_gerrit.rest.formats import AccountInfo, account_info, timestamp
from mock_gerrit.rest.routes import Routes

routes = Routes()


@routes.get("/changes/{change}/attention/", doc="#get-attention-set")
def list_attention(call: Call, *, change: Change) -> list[dict[str, Any]]:
    """Who is to act next, and why."""
    return [
        {"account": account_info(call.host, who), "last_update": timestamp(entry.since), "reason": entry.reason}
        for who, entry in reversed(change.attention.items())
    ]


def one_account(call: Call, text: str) -> Account | None:
    """The one active account a text means; None for none or several."""
    found = accounts_matching(call.host, call.user, text)
    return found[0] if len(found) == 1 else None


@routes.post("/changes/{change}/attention/", default_field="reason", inputs=("notify",), doc="#add-to-attention-set")
def add(call: Call, *, change: Change) -> AccountInfo:
    """Asks somebody who is on the change to act."""
    user, reason = call.body.text("user"), call.body.text("reason")
    for name, value in (("user", user), ("reason", reason)):
        if not value:
            raise bad_request(f"missing field: {name}")
    return account_info(call.host, attend(call, change, user or "", reason or "").id)


def attend(call: Call, change: Change, user: str, reason: str) -> Account:
    """Puts somebody into the attention set; 400 for robots and for people who are not on the change."""
    account = one_account(call, user)
    on_change = {change.owner, change.current.uploader, *change.reviewers}
    if account is None or account.id not in on_change:
        raise bad_request(
            f"{user} doesn't exist or is not active on the change as an owner, uploader, reviewer, or cc so they can't "
            "be added to the attention set"
        )
    if updates.is_robot(call.host, account.id):
        raise bad_request(f"{user} is a robot, and robots can't be added to the attention set.")
    updates.touch(call.host, change)
    updates.attend(call.host, change, account.id, reason)
    return account


@routes.delete("/changes/{change}/attention/{attention}", doc="#remove-from-attention-set")
@routes.post("/changes/{change}/attention/{attention}/delete", doc="#remove-from-attention-set")
def remove(call: Call, *, change: Change, attention: str) -> NoContent:
    """Releases somebody from acting."""
    account = one_account(call, attention)
    if account is None:
        raise GerritError(404, f"Not found: {attention}")
    if not call.body.given:
        raise bad_request("input may not be null")
    reason = call.body.text("reason")
    if not reason:
        raise bad_request("missing field: reason")
    updates.touch(call.host, change)
    updates.unattend(call.host, change, account.id, reason)
    return NO_CONTENT
