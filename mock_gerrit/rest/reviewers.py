"""Reviewers, CCs and their votes: …/reviewers/, …/suggest_reviewers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from mock_gerrit import updates
from mock_gerrit.changes import Change, ReviewerState, Vote
from mock_gerrit.entities import SERVICE_USERS, Account, Group
from mock_gerrit.errors import GerritError, not_found, not_permitted
from mock_gerrit.people import accounts_matching, find_one
from mock_gerrit.rest.body import Body
from mock_gerrit.rest.call import NO_CONTENT, Call, NoContent, Refused
from mock_gerrit.rest.formats import AccountInfo, account_info, account_template, vote_name
from mock_gerrit.rest.options import flag, integer, text
from mock_gerrit.rest.routes import Routes

routes = Routes()

STATES = ("REVIEWER", "CC", "REMOVED")
SUGGESTIONS = 10


def reviewer_info(call: Call, change: Change, who: int) -> dict[str, Any]:
    """A reviewer with what they voted on each label."""
    approvals = {}
    for name in sorted(call.host.labels(change.project)):
        vote = change.votes.get((name, who))
        approvals[name] = vote_name(vote.value if vote else 0)
    return {"approvals": approvals, **account_info(call.host, who)}


@routes.get("/changes/{change}/reviewers/", doc="#list-reviewers")
def list_reviewers(call: Call, *, change: Change) -> list[dict[str, Any]]:
    """Reviewers and CCs, the latest first."""
    return [reviewer_info(call, change, who) for who in reversed(change.reviewers)]


@routes.post("/changes/{change}/reviewers/", default_field="reviewer", inputs=("notify",), doc="#add-reviewer")
def add(call: Call, *, change: Change) -> dict[str, Any] | Refused:
    """Adds somebody as reviewer or CC, or removes them."""
    result = add_reviewer(call, change, call.body)
    return Refused(value=result) if "error" in result else result


def add_reviewer(call: Call, change: Change, body: Body) -> dict[str, Any]:
    """Does what one entry of reviewers asks for; with the key `error` where it cannot be done."""
    name, state = body.text("reviewer"), body.choice("state", STATES) or "REVIEWER"
    result: dict[str, Any] = {} if name is None else {"input": name}
    if not name:
        return {**result, "error": "reviewer user identifier is required"}
    group = _addable_group(call, name)
    if isinstance(group, str):
        return {**result, "error": group}
    if group is not None:
        return {**result, "reviewers": _added_members(call, change, group)}
    try:
        account = find_one(call.host, call.user, name)
    except GerritError as error:
        return {**result, "error": f"{error.text}\n{name} does not identify a registered user or group"}
    if state == "REMOVED":
        return {**result, "removed": _removed(call, change, account)}
    key = "ccs" if state == "CC" else "reviewers"
    wanted: ReviewerState = "CC" if state == "CC" else "REVIEWER"
    new = account.id != change.owner and updates.set_reviewer(call.host, change, account, wanted, by=call.signed_in())
    return {**result, key: [reviewer_info(call, change, account.id)] if new else []}


def _addable_group(call: Call, name: str) -> Group | str | None:
    """The group of a name whose members can be added; why they cannot; None where the caller sees no such group."""
    if name in {"Registered Users", "Anonymous Users", "Project Owners", "Change Owner"}:
        return f"The group {name} cannot be added as reviewer."
    group = call.host.group_named(name)
    user = call.user
    seen = group and user and (group.name == SERVICE_USERS or user.admin or user.id in group.members)
    return group if seen else None


def _added_members(call: Call, change: Change, group: Group) -> list[dict[str, Any]]:
    added = []
    for who in sorted(group.members - {change.owner}):
        account = call.host.accounts[who]
        if account.active and updates.set_reviewer(call.host, change, account, "REVIEWER", by=call.signed_in()):
            added.append(reviewer_info(call, change, who))
    return added


def _removed(call: Call, change: Change, account: Account) -> dict[str, Any]:
    info = reviewer_info(call, change, account.id)
    remove_reviewer(call, change, account)
    return info


def remove_reviewer(call: Call, change: Change, account: Account) -> None:
    """Takes somebody off the change with all their votes.

    Raises:
        GerritError: 403 for others than oneself, administrators, and, where the votes do not object, the owner.
    """
    user = call.signed_in()
    objects = any(vote.value < 0 for (_, who), vote in change.votes.items() if who == account.id)
    if user.id != account.id and not user.admin and (objects or not call.may_change(change)):
        raise not_permitted("remove reviewer")
    kind = "cc" if change.reviewers.get(account.id) == "CC" else "reviewer"
    votes = [key for key in change.votes if key[1] == account.id]
    told = [
        f"* {name}{change.votes[name, who].value:+d} by {account_template(who)}"
        for name, who in votes
        if change.votes[name, who].value
    ]
    for key in votes:
        del change.votes[key]
    updates.set_reviewer(call.host, change, account, "REMOVED", by=user)
    text = f"Removed {kind} {account_template(account.id)}"
    text += " with the following votes:\n\n" + "\n".join(told) + "\n" if told else "."
    updates.record(call.host, change, user, text, tag=updates.AUTO + "deleteReviewer")


def reviewer_named(call: Call, change: Change, name: str) -> Account:
    """Somebody who is on the change; 404 for anybody else."""
    found = accounts_matching(call.host, call.user, name)
    voters = {who for (_, who), vote in change.votes.items() if vote.value}
    if len(found) != 1 or found[0].id not in {*change.reviewers, *voters}:
        raise not_found(name)
    return found[0]


@routes.get("/changes/{change}/reviewers/{reviewer}", doc="#get-reviewer")
def get(call: Call, *, change: Change, reviewer: Account) -> list[dict[str, Any]]:
    """One reviewer, in a list."""
    return [reviewer_info(call, change, reviewer.id)]


@routes.delete("/changes/{change}/reviewers/{reviewer}", doc="#delete-reviewer")
@routes.post("/changes/{change}/reviewers/{reviewer}/delete", doc="#delete-reviewer")
def delete(call: Call, *, change: Change, reviewer: Account) -> NoContent:
    """Takes a reviewer off the change."""
    call.check_notify()
    remove_reviewer(call, change, reviewer)
    return NO_CONTENT


@routes.get("/changes/{change}/reviewers/{reviewer}/votes/", doc="#list-votes")
def votes(_: Call, *, change: Change, reviewer: Account) -> dict[str, int]:
    """What a reviewer voted, by label."""
    return {name: vote.value for (name, who), vote in sorted(change.votes.items()) if who == reviewer.id}


@routes.delete("/changes/{change}/reviewers/{reviewer}/votes/{vote}", doc="#delete-vote")
@routes.post("/changes/{change}/reviewers/{reviewer}/votes/{vote}/delete", doc="#delete-vote")
def delete_vote(call: Call, *, change: Change, reviewer: Account, vote: str) -> NoContent:
    """Takes a vote back, one's own or, for owner and administrators, another's."""
    given = change.votes.get((vote, reviewer.id))
    if given is None or not given.value:
        raise GerritError(404, "Not Found")
    user = call.signed_in()
    if user.id != reviewer.id and not call.may_change(change):
        raise not_permitted("delete vote")
    change.votes[vote, reviewer.id] = Vote(value=0, granted=call.host.now(), patch_set=given.patch_set)
    said = f"Removed {vote}{given.value:+d} by {account_template(reviewer.id)}\n"
    updates.record(call.host, change, user, said, tag=updates.AUTO + "deleteVote")
    if user.id != reviewer.id:
        updates.attend(call.host, change, reviewer.id, "Their vote was deleted")
    return NO_CONTENT


SUGGEST_OPTIONS = (
    text("query", "q"), integer("limit", "n"), flag("exclude-groups", "e"),
    text("reviewer-state", choices=("REVIEWER", "CC")),
)  # fmt: skip


@routes.get("/changes/{change}/suggest_reviewers", options=SUGGEST_OPTIONS, doc="#suggest-reviewers")
def suggest(call: Call, *, change: Change) -> list[dict[str, Any]]:
    """People who might review, by the beginning of their names; without a query those seen on other changes."""
    call.signed_in()
    query = (call.options.text("query") or "").strip()
    limit = call.options.integer("limit") or SUGGESTIONS
    found = accounts_matching(call.host, call.user, query) if query else _usual_reviewers(call, change)
    known = {change.owner} | {who for who, state in change.reviewers.items() if state == "REVIEWER"}
    people = [account for account in found if account.active and account.id not in known]
    return [{"account": _suggested(call, account), "count": 1} for account in people[:limit]]


def _suggested(call: Call, account: Account) -> AccountInfo:
    """An account; one that the caller may see all of comes with its further addresses."""
    info = account_info(call.host, account.id)
    return (
        {**info, "secondary_emails": list(account.secondary_emails)} if call.is_admin or account is call.user else info
    )


def _usual_reviewers(call: Call, change: Change) -> list[Account]:
    """Those who reviewed the caller's changes, or else the project's: the busiest first, then the latest to come."""
    every = call.host.changes.values()
    own = _counted(other for other in every if call.user and other.owner == call.user.id)
    counts = own or _counted(other for other in every if other.project == change.project)
    return [call.host.accounts[who] for who in sorted(counts, key=lambda who: (-counts[who], -who))]


def _counted(changes: Iterable[Change]) -> Counter[int]:
    return Counter(who for change in changes for who in change.reviewers)
