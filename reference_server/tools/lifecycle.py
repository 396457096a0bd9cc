"""Tools that make changes and move them through their life."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from reference_server.gerrit import change_path, get_base_url, request
from reference_server.tools.parameters import ChangeId, HostUrl
from reference_server.tools.shapes import ChangeList, ChangeSummary, Done, change_list, change_summary

Message = Annotated[str | None, Field(description="What to write on the change; Gerrit's own words where left out.")]


async def create_change(
    *,
    project: str,
    subject: Annotated[str, Field(description="The commit message; its first line is the subject.")],
    branch: str,
    topic: str | None = None,
    work_in_progress: bool = False,
    gerrit_base_url: HostUrl = None,
) -> ChangeSummary:
    """Create an empty change on a branch."""
    wanted = {"project": project, "subject": subject, "branch": branch, "work_in_progress": work_in_progress}
    if topic:
        wanted["topic"] = topic
    return change_summary(await request("POST", get_base_url(gerrit_base_url), "/changes/", body=wanted))


async def set_ready_for_review(change_id: ChangeId, gerrit_base_url: HostUrl = None) -> Done:
    """Tell that a change is ready for review."""
    await request("POST", get_base_url(gerrit_base_url), change_path(change_id, "ready"), body={}, expect=None)
    return {"change_id": change_id, "outcome": "ready for review"}


async def set_work_in_progress(change_id: ChangeId, message: Message = None, gerrit_base_url: HostUrl = None) -> Done:
    """Tell that a change is work in progress, and not to be reviewed yet."""
    await request(
        "POST", get_base_url(gerrit_base_url), change_path(change_id, "wip"), body=_with(message), expect=None
    )
    return {"change_id": change_id, "outcome": "work in progress"}


async def set_topic(
    change_id: ChangeId,
    topic: Annotated[str, Field(description="The new topic; an empty one removes it.")],
    gerrit_base_url: HostUrl = None,
) -> Done:
    """Set or remove the topic of a change."""
    base_url, path = get_base_url(gerrit_base_url), change_path(change_id, "topic")
    if not topic:
        await request("DELETE", base_url, path, expect=None)
        return {"change_id": change_id, "outcome": "topic removed"}
    await request("PUT", base_url, path, body={"topic": topic}, expect=None)
    return {"change_id": change_id, "outcome": f"topic set to {topic!r}"}


async def abandon_change(
    change_id: ChangeId, message: Message = None, gerrit_base_url: HostUrl = None
) -> ChangeSummary:
    """Abandon a change."""
    path = change_path(change_id, "abandon")
    return change_summary(await request("POST", get_base_url(gerrit_base_url), path, body=_with(message)))


async def revert_change(change_id: ChangeId, message: Message = None, gerrit_base_url: HostUrl = None) -> ChangeSummary:
    """Create a change that takes back a merged one."""
    path = change_path(change_id, "revert")
    return change_summary(await request("POST", get_base_url(gerrit_base_url), path, body=_with(message)))


async def revert_submission(
    change_id: ChangeId, message: Message = None, gerrit_base_url: HostUrl = None
) -> ChangeList:
    """Create changes that take back everything that was submitted together with a merged change."""
    path = change_path(change_id, "revert_submission")
    reverted = await request("POST", get_base_url(gerrit_base_url), path, body=_with(message))
    return change_list(reverted.get("revert_changes", []))


def _with(message: str | None) -> dict[str, str]:
    return {} if message is None else {"message": message}
