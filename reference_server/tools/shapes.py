"""The results that several core tools share, and how they come from Gerrit's JSON.

Every key is always there: mcp 1.x refuses a result in which an optional one is left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from typing_extensions import TypedDict

Json = Mapping[str, Any]
"""A JSON object as Gerrit sent it."""


class Person(TypedDict):
    """An account: Gerrit leaves out whatever the caller may not see."""

    account_id: int | None
    name: str | None
    email: str | None


class ChangeSummary(TypedDict):
    """A change in one line."""

    number: int
    change_id: str
    project: str
    branch: str
    subject: str
    status: str
    owner: Person
    updated: str | None
    topic: str | None
    work_in_progress: bool


class ChangeList(TypedDict):
    """Changes that a query found; `more_changes` tells that the limit cut some off."""

    changes: list[ChangeSummary]
    more_changes: bool


class Done(TypedDict):
    """What a writing tool did to a change."""

    change_id: str
    outcome: str


def person(account: Json | None) -> Person:
    """An account of Gerrit's, or of nobody."""
    account = account or {}
    return {
        "account_id": account.get("_account_id"),
        "name": account.get("name"),
        "email": account.get("email"),
    }


def change_summary(change: Json) -> ChangeSummary:
    """The summary of a `ChangeInfo`."""
    return {
        "number": change["_number"],
        "change_id": change.get("change_id", ""),
        "project": change.get("project", ""),
        "branch": change.get("branch", ""),
        "subject": change.get("subject", ""),
        "status": change.get("status", ""),
        "owner": person(change.get("owner")),
        "updated": change.get("updated"),
        "topic": change.get("topic") or None,
        "work_in_progress": bool(change.get("work_in_progress", False)),
    }


def change_list(changes: Sequence[Json]) -> ChangeList:
    """The result of a query; Gerrit marks the last change when there are more."""
    return {
        "changes": [change_summary(change) for change in changes],
        "more_changes": bool(changes and changes[-1].get("_more_changes")),
    }
