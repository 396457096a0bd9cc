"""Tools around the people on a change."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import TypedDict

from reference_server.errors import GerritError
from reference_server.gerrit import change_path, get_base_url, request
from reference_server.tools.parameters import ChangeId, HostUrl, Limit
from reference_server.tools.shapes import Json, Person, person

ReviewerState = Literal["REVIEWER", "CC"]


class Added(TypedDict):
    """Who was added; both lists are empty where the account was there already."""

    reviewers: list[Person]
    ccs: list[Person]


class Suggestion(TypedDict):
    """A person or a group that Gerrit proposes; `members` counts the people behind it."""

    person: Person | None
    group: str | None
    members: int


class Suggestions(TypedDict):
    """Proposals, the best first."""

    suggestions: list[Suggestion]


async def add_reviewer(
    change_id: ChangeId,
    reviewer: Annotated[str, Field(description="An e-mail address, user name, account number, or a group's name.")],
    state: ReviewerState = "REVIEWER",
    gerrit_base_url: HostUrl = None,
) -> Added:
    """Add somebody to a change, as a reviewer or in CC."""
    added = await request(
        "POST",
        get_base_url(gerrit_base_url),
        change_path(change_id, "reviewers"),
        body={"reviewer": reviewer, "state": state},
    )
    if complaint := added.get("error"):
        raise GerritError(f"{reviewer!r} was not added to change {change_id}: {complaint}")
    if added.get("confirm"):
        raise GerritError(f"{reviewer!r} was not added to change {change_id}: Gerrit asks to confirm so large a group")
    return {
        "reviewers": [person(account) for account in added.get("reviewers", [])],
        "ccs": [person(account) for account in added.get("ccs", [])],
    }


async def suggest_reviewers(
    change_id: ChangeId,
    *,
    query: Annotated[str, Field(description="The beginning of a name or an e-mail address; empty for the usual ones.")],
    limit: Limit = None,
    exclude_groups: bool = False,
    reviewer_state: ReviewerState = "REVIEWER",
    gerrit_base_url: HostUrl = None,
) -> Suggestions:
    """Ask Gerrit whom to add to a change."""
    parameters = [("q", query), ("reviewer-state", reviewer_state)]
    parameters += [("n", str(limit))] if limit is not None else []
    parameters += [("exclude-groups", "true")] if exclude_groups else []
    path = change_path(change_id, "suggest_reviewers")
    found = await request("GET", get_base_url(gerrit_base_url), path, query=parameters, expect=list)
    return {"suggestions": [_suggestion(entry) for entry in found]}


def _suggestion(entry: Json) -> Suggestion:
    account, group = entry.get("account"), entry.get("group")
    return {
        "person": person(account) if account else None,
        "group": group.get("name") if group else None,
        "members": entry.get("count", 1),
    }
