"""Comments and drafts: …/comments, …/drafts, of a change and of a revision."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from mock_gerrit.changes import COMMIT_MESSAGE, PATCH_SET_LEVEL, Change, Comment, PatchSet, Range
from mock_gerrit.errors import GerritError, bad_request, forbidden
from mock_gerrit.rest.body import Body
from mock_gerrit.rest.call import NO_CONTENT, Call, Created, NoContent
from mock_gerrit.rest.comment_context import context
from mock_gerrit.rest.formats import account_info, timestamp
from mock_gerrit.rest.options import flag, integer
from mock_gerrit.rest.routes import Routes
from mock_gerrit.reviewing import NewComment, add_draft

routes = Routes()

SIDES = ("REVISION", "PARENT")


def comment_info(
    call: Call, change: Change, comment: Comment, *, author: bool = True, patch_set: bool = False, path: bool = False
) -> dict[str, Any]:
    """A comment; what the surroundings say already is left out."""
    info: dict[str, Any] = {}
    if author:
        info["author"] = account_info(call.host, comment.author)
    if comment.tag:
        info["tag"] = comment.tag
    if patch_set and comment.message_id:
        info["change_message_id"] = comment.message_id
    info["unresolved"] = comment.unresolved
    if patch_set and call.options.flag("enable-context"):
        info |= context(call, change, comment, call.options.integer("context-padding") or 0)
    if patch_set:
        info["patch_set"] = comment.patch_set
    info["id"] = comment.id
    if path:
        info["path"] = comment.path
    info |= _place(comment)
    info["updated"] = timestamp(comment.updated)
    if comment.message:
        info["message"] = comment.message
    info["commit_id"] = _commit_of(call, change, comment)
    return info


def _place(comment: Comment) -> dict[str, Any]:
    """Where in its file a comment stands, and which one it answers."""
    stretch = vars(comment.range) if comment.range else None
    side = "PARENT" if comment.side == "PARENT" else None
    place = {
        "side": side,
        "parent": comment.parent,
        "line": comment.line,
        "range": stretch,
        "in_reply_to": comment.in_reply_to,
    }
    return {name: value for name, value in place.items() if value}


def _commit_of(call: Call, change: Change, comment: Comment) -> str:
    patch_set = change.patch_set(comment.patch_set) or change.current
    if comment.side == "PARENT":
        return call.host.repository(change.project).facts(patch_set.commit).parents[0]
    return patch_set.commit


def _order(item: Comment) -> tuple[str, int, bool, int, str, str, str]:
    """Gerrit's order: by file, patch set, side, line, thread, and then by what is said."""
    side = item.side != "PARENT"
    return item.path, item.patch_set, side, item.line or 0, item.in_reply_to or "", item.message, item.id


def _by_path(
    comments: Iterable[Comment], write: Callable[[Comment], dict[str, Any]]
) -> dict[str, list[dict[str, Any]]]:
    ordered = sorted(comments, key=_order)
    result: dict[str, list[dict[str, Any]]] = {}
    for comment in ordered:
        result.setdefault(comment.path, []).append(write(comment))
    return result


LIST_OPTIONS = (flag("enable-context"), integer("context-padding"))


@routes.get("/changes/{change}/comments", options=LIST_OPTIONS, doc="#list-change-comments")
def of_change(call: Call, *, change: Change) -> dict[str, list[dict[str, Any]]]:
    """All published comments by path."""
    return _by_path(change.comments, lambda item: comment_info(call, change, item, patch_set=True))


@routes.get("/changes/{change}/drafts", options=LIST_OPTIONS, doc="#list-change-drafts")
def drafts_of_change(call: Call, *, change: Change) -> dict[str, list[dict[str, Any]]]:
    """One's own drafts by path."""
    call.signed_in()
    return _by_path(_own(call, change), lambda item: comment_info(call, change, item, author=False, patch_set=True))


def _own(call: Call, change: Change) -> list[Comment]:
    if call.user is None:
        raise forbidden("drafts only available to authenticated users")
    return [item for item in change.drafts if item.author == call.user.id]


@routes.get("/changes/{change}/revisions/{revision}/comments/", any_options=True, doc="#list-comments")
def of_revision(call: Call, *, change: Change, revision: PatchSet) -> dict[str, list[dict[str, Any]]]:
    """The published comments of a revision by path."""
    chosen = [item for item in change.comments if item.patch_set == revision.number]
    return _by_path(chosen, lambda item: comment_info(call, change, item))


@routes.get("/changes/{change}/revisions/{revision}/comments/{comment}", doc="#get-comment")
def one(call: Call, *, change: Change, revision: PatchSet, comment: Comment) -> dict[str, Any]:  # noqa: ARG001
    """One published comment."""
    return comment_info(call, change, comment, path=True)


@routes.delete("/changes/{change}/revisions/{revision}/comments/{comment}", doc="#delete-comment")
@routes.post("/changes/{change}/revisions/{revision}/comments/{comment}/delete", doc="#delete-comment")
def redact(call: Call, *, change: Change, revision: PatchSet, comment: Comment) -> dict[str, Any]:  # noqa: ARG001
    """Replaces what a comment says; administrators only."""
    admin = call.require_admin()
    reason = call.body.text("reason")
    said = f"Comment removed by: {admin.label}" + (f"; Reason: {reason}" if reason else "")
    redacted = replace(comment, message=said)
    change.comments[change.comments.index(comment)] = redacted
    return comment_info(call, change, redacted, path=True)


@routes.get("/changes/{change}/revisions/{revision}/drafts/", any_options=True, doc="#list-drafts")
def drafts(call: Call, *, change: Change, revision: PatchSet) -> dict[str, list[dict[str, Any]]]:
    """One's own drafts of a revision by path."""
    chosen = [item for item in _own(call, change) if item.patch_set == revision.number]
    return _by_path(chosen, lambda item: comment_info(call, change, item, author=False))


@routes.put("/changes/{change}/revisions/{revision}/drafts/", inputs=("message",), doc="#create-draft")
def create_draft(call: Call, *, change: Change, revision: PatchSet) -> Created:
    """Keeps a comment until it is published."""
    path = call.body.text("path")
    if not path:
        raise bad_request("path must be non-empty")
    new = draft_of(change, call.body, path)
    made = add_draft(call.host, change, revision, call.signed_in(), new)
    return Created(value=comment_info(call, change, made, author=False, path=True))


def draft_of(change: Change, body: Body, path: str) -> NewComment:
    """The comment that a draft's input describes; 400 where it makes no sense."""
    message = (body.text("message") or "").strip()
    if not message:
        raise bad_request("message must be non-empty")
    line, stretch = body.integer("line"), range_of(body)
    if line is not None and line < 0:
        raise bad_request("line must be >= 0")
    if line and stretch and stretch.end_line != line:
        raise bad_request("range endLine must be on the same line as the comment")
    return new_comment(change, body, path, message)


def range_of(body: Body) -> Range | None:
    """The range of a comment's input."""
    given = body.part("range")
    if given is None:
        return None
    names = ("start_line", "start_character", "end_line", "end_character")
    start_line, start_character, end_line, end_character = (given.integer(name) or 0 for name in names)
    return Range(
        start_line=start_line, start_character=start_character, end_line=end_line, end_character=end_character
    )  # fmt: skip


def new_comment(change: Change, body: Body, path: str, message: str) -> NewComment:
    """A comment as its input describes it; 400 where it answers one that is not there."""
    parent = body.text("in_reply_to")
    if parent and not any(item.id == parent for item in change.comments):
        raise bad_request(f"Invalid inReplyTo, comment {parent} not found")
    side = body.choice("side", SIDES)
    return NewComment(
        path=path,
        message=message,
        line=body.integer("line") or None,
        range=range_of(body),
        side="PARENT" if side == "PARENT" else "REVISION",
        parent=body.integer("parent"),
        unresolved=body.flag("unresolved"),
        in_reply_to=parent,
        tag=body.text("tag"),
    )


@routes.get("/changes/{change}/revisions/{revision}/drafts/{draft}", doc="#get-draft")
def get_draft(call: Call, *, change: Change, revision: PatchSet, draft: Comment) -> dict[str, Any]:  # noqa: ARG001
    """One of one's own drafts."""
    return comment_info(call, change, draft, path=True)


@routes.put("/changes/{change}/revisions/{revision}/drafts/{draft}", doc="#update-draft")
def update_draft(call: Call, *, change: Change, revision: PatchSet, draft: Comment) -> dict[str, Any] | NoContent:  # noqa: ARG001
    """Writes a draft anew; an empty message deletes it."""
    if not (call.body.text("message") or "").strip():
        change.drafts.remove(draft)
        return NO_CONTENT
    path = call.body.text("path")
    if call.body.text("id") not in {None, draft.id}:
        raise bad_request("id must match URL")
    if path is None:
        raise GerritError(500, "Internal server error")
    new = draft_of(change, call.body, path)
    written = replace(
        draft,
        path=new.path,
        message=new.message,
        line=new.range.end_line if new.range else new.line,
        range=new.range,
        side=new.side,
        unresolved=draft.unresolved if new.unresolved is None else new.unresolved,
        in_reply_to=new.in_reply_to or draft.in_reply_to,
        updated=call.host.now(),
    )
    change.drafts[change.drafts.index(draft)] = written
    return comment_info(call, change, written, author=False, path=True)


@routes.delete("/changes/{change}/revisions/{revision}/drafts/{draft}", doc="#delete-draft")
def delete_draft(_: Call, *, change: Change, revision: PatchSet, draft: Comment) -> Any:  # noqa: ANN401, ARG001
    """Throws a draft away."""
    change.drafts.remove(draft)
    return NO_CONTENT


NO_FILE = frozenset({COMMIT_MESSAGE, PATCH_SET_LEVEL, "/MERGE_LIST"})
"""Paths that stand for no file; anybody may comment on them."""
