"""The list of the core tools: what the server offers before any extension is loaded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from reference_server.sdk import ServerCore, read_only
from reference_server.tools import changes, comments, files, lifecycle, queries, reviewers

READING: tuple[Callable[..., Any], ...] = (
    queries.query_changes,
    queries.query_changes_by_date_and_filters,
    queries.get_most_recent_cl,
    changes.get_change_details,
    changes.get_commit_message,
    changes.get_bugs_from_cl,
    changes.changes_submitted_together,
    files.list_change_files,
    files.get_file_diff,
    comments.list_change_comments,
    comments.list_draft_comments,
    reviewers.suggest_reviewers,
)
"""Tools that change nothing on the host."""

WRITING: tuple[Callable[..., Any], ...] = (
    reviewers.add_reviewer,
    lifecycle.create_change,
    lifecycle.set_ready_for_review,
    lifecycle.set_work_in_progress,
    lifecycle.set_topic,
    lifecycle.abandon_change,
    lifecycle.revert_change,
    lifecycle.revert_submission,
    comments.post_review_comment,
    comments.post_draft_comment,
    comments.delete_draft_comment,
    comments.delete_draft_comments,
    comments.publish_drafts,
)
"""Tools that change something on the host."""


def register_core_tools(server: ServerCore) -> None:
    """Register every core tool on `server`."""
    hint = read_only()
    for tool in READING:
        server.add_tool(tool, annotations=hint)
    for tool in WRITING:
        server.add_tool(tool)
