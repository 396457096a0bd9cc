"""Tools that read one change."""

from __future__ import annotations

import re

from typing_extensions import TypedDict

from reference_server.gerrit import change_path, get_base_url, request
from reference_server.tools.parameters import ChangeId, HostUrl, Options
from reference_server.tools.shapes import ChangeSummary, Json, Person, change_summary, person

_BUG_LINE = re.compile(r"^(?:bugs?|fixes|closes|issue)\s*[:=]\s*(?P<bugs>.+)$", re.IGNORECASE | re.MULTILINE)
_BUG = re.compile(r"(?:b/|#)?(\d+)")


class Label(TypedDict):
    """Where a label stands, and the votes by account; accounts without a vote are left out."""

    name: str
    approved: bool
    rejected: bool
    votes: dict[str, int]


class ChangeDetails(TypedDict):
    """A change with the people and votes around it."""

    change: ChangeSummary
    reviewers: list[Person]
    ccs: list[Person]
    labels: list[Label]
    messages: list[str]


class CommitMessage(TypedDict):
    """A commit message, and the footers that Gerrit sees in it."""

    subject: str
    full_message: str
    footers: dict[str, str]


class Bugs(TypedDict):
    """The numbers of the bugs that a commit message mentions, in their order."""

    bugs: list[str]


class SubmittedTogether(TypedDict):
    """What would be submitted with a change; empty where it goes alone."""

    changes: list[ChangeSummary]
    non_visible_changes: int


async def get_change_details(
    change_id: ChangeId, gerrit_base_url: HostUrl = None, options: Options = None
) -> ChangeDetails:
    """Read a change with its reviewers, votes and messages."""
    parameters = [("o", option) for option in options or []]
    change = await request("GET", get_base_url(gerrit_base_url), change_path(change_id, "detail"), query=parameters)
    reviewers = change.get("reviewers", {})
    return {
        "change": change_summary(change),
        "reviewers": [person(account) for account in reviewers.get("REVIEWER", [])],
        "ccs": [person(account) for account in reviewers.get("CC", [])],
        "labels": [_label(name, label) for name, label in change.get("labels", {}).items()],
        "messages": [message.get("message", "") for message in change.get("messages", [])],
    }


async def get_commit_message(change_id: ChangeId, gerrit_base_url: HostUrl = None) -> CommitMessage:
    """Read the commit message of a change's current patch set."""
    message = await request("GET", get_base_url(gerrit_base_url), change_path(change_id, "message"))
    full = message.get("full_message", "")
    return {
        "subject": message.get("subject") or full.partition("\n")[0],
        "full_message": full,
        "footers": message.get("footers", {}),
    }


async def get_bugs_from_cl(change_id: ChangeId, gerrit_base_url: HostUrl = None) -> Bugs:
    """Find the bugs that the commit message of a change names, such as `Bug: 123` or `Fixes: b/456`."""
    path = change_path(change_id, "revisions", "current", "commit")
    commit = await request("GET", get_base_url(gerrit_base_url), path)
    mentions = [line["bugs"] for line in _BUG_LINE.finditer(commit.get("message", ""))]
    return {"bugs": list(dict.fromkeys(number for mention in mentions for number in _BUG.findall(mention)))}


async def changes_submitted_together(
    change_id: ChangeId, gerrit_base_url: HostUrl = None, options: Options = None
) -> SubmittedTogether:
    """List the changes that would be submitted together with a change."""
    parameters = [("o", option) for option in ("NON_VISIBLE_CHANGES", *(options or []))]
    together = await request(
        "GET", get_base_url(gerrit_base_url), change_path(change_id, "submitted_together"), query=parameters
    )
    return {
        "changes": [change_summary(change) for change in together.get("changes", [])],
        "non_visible_changes": together.get("non_visible_changes", 0),
    }


def _label(name: str, label: Json) -> Label:
    voters = [vote for vote in label.get("all", []) if vote.get("value")]
    return {
        "name": name,
        "approved": "approved" in label,
        "rejected": "rejected" in label,
        "votes": {str(voter.get("email") or voter.get("_account_id")): voter["value"] for voter in voters},
    }
