"""Tools around comments: published ones, drafts, and what turns the latter into the former."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from reference_server.gerrit import change_path, get_base_url, request
from reference_server.tools.parameters import ChangeId, FilePath, HostUrl, Votes
from reference_server.tools.shapes import Json, Person, person

LineNumber = Annotated[int | None, Field(ge=1, description="The line in the new file; the whole file where left out.")]
DraftId = Annotated[str, Field(description="The id that `list_draft_comments` told.")]


class Comment(TypedDict):
    """One comment or draft; the author of a draft is always the caller and not told."""

    id: str
    path: str
    line: int | None
    patch_set: int | None
    message: str
    unresolved: bool
    in_reply_to: str | None
    author: Person
    updated: str | None


class Comments(TypedDict):
    """Comments, by file in Gerrit's order."""

    comments: list[Comment]


class Review(TypedDict):
    """What a review left behind: the votes are those that Gerrit really took."""

    change_id: str
    votes: dict[str, int]


class Deleted(TypedDict):
    """The ids of the drafts that are gone."""

    deleted: list[str]


async def list_change_comments(change_id: ChangeId, gerrit_base_url: HostUrl = None) -> Comments:
    """List the published comments on all patch sets of a change."""
    return _comments(await request("GET", get_base_url(gerrit_base_url), change_path(change_id, "comments")))


async def list_draft_comments(change_id: ChangeId, gerrit_base_url: HostUrl = None) -> Comments:
    """List one's own drafts on the current patch set of a change."""
    return _comments(await request("GET", get_base_url(gerrit_base_url), _drafts_path(change_id)))


async def post_review_comment(
    change_id: ChangeId,
    *,
    file_path: FilePath,
    message: str,
    line_number: LineNumber = None,
    unresolved: bool = True,
    labels: Votes = None,
    gerrit_base_url: HostUrl = None,
) -> Review:
    """Publish a comment on a file of the current patch set, with votes if wanted."""
    comment = _comment_input(message, line_number, unresolved=unresolved)
    return await _review(change_id, gerrit_base_url, {"comments": {file_path: [comment]}, "labels": labels or {}})


async def post_draft_comment(
    change_id: ChangeId,
    *,
    file_path: FilePath,
    message: str,
    line_number: LineNumber = None,
    unresolved: bool = True,
    gerrit_base_url: HostUrl = None,
) -> Comment:
    """Save a draft comment on a file of the current patch set; nobody else sees it until it is published."""
    draft = {"path": file_path, **_comment_input(message, line_number, unresolved=unresolved)}
    saved = await request("PUT", get_base_url(gerrit_base_url), _drafts_path(change_id), body=draft)
    return _comment(file_path, saved)


async def delete_draft_comment(change_id: ChangeId, draft_id: DraftId, gerrit_base_url: HostUrl = None) -> Deleted:
    """Delete one draft of one's own on the current patch set."""
    await request("DELETE", get_base_url(gerrit_base_url), _drafts_path(change_id, draft_id), expect=None)
    return {"deleted": [draft_id]}


async def delete_draft_comments(change_id: ChangeId, gerrit_base_url: HostUrl = None) -> Deleted:
    """Delete all drafts of one's own on the current patch set."""
    drafts = await list_draft_comments(change_id, gerrit_base_url)
    deleted: list[str] = []
    for draft in drafts["comments"]:
        await delete_draft_comment(change_id, draft["id"], gerrit_base_url)
        deleted.append(draft["id"])
    return {"deleted": deleted}


async def publish_drafts(
    change_id: ChangeId, message: str | None = None, labels: Votes = None, gerrit_base_url: HostUrl = None
) -> Review:
    """Publish all drafts of one's own on all patch sets, with a message and votes if wanted."""
    review: dict[str, object] = {"drafts": "PUBLISH_ALL_REVISIONS", "labels": labels or {}}
    if message is not None:
        review["message"] = message
    return await _review(change_id, gerrit_base_url, review)


async def _review(change_id: str, gerrit_base_url: str | None, review: dict[str, object]) -> Review:
    path = change_path(change_id, "revisions", "current", "review")
    result = await request("POST", get_base_url(gerrit_base_url), path, body=review)
    return {"change_id": change_id, "votes": result.get("labels") or {}}


def _drafts_path(change_id: str, *draft: str) -> str:
    return change_path(change_id, "revisions", "current", "drafts", *draft)


def _comment_input(message: str, line: int | None, *, unresolved: bool) -> dict[str, object]:
    place = {} if line is None else {"line": line}
    return {"message": message, "unresolved": unresolved, **place}


def _comments(by_path: dict[str, list[Json]]) -> Comments:
    return {"comments": [_comment(path, comment) for path, some in by_path.items() for comment in some]}


def _comment(path: str, comment: Json) -> Comment:
    return {
        "id": comment["id"],
        "path": comment.get("path", path),
        "line": comment.get("line"),
        "patch_set": comment.get("patch_set"),
        "message": comment.get("message", ""),
        "unresolved": bool(comment.get("unresolved", False)),
        "in_reply_to": comment.get("in_reply_to"),
        "author": person(comment.get("author")),
        "updated": comment.get("updated"),
    }
