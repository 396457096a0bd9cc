"""The core tools of the reference server, called with good and bad input: what they say of one host and of another."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime
from typing import Any

from reference_server.errors import GerritError
from reference_server.tools import changes, comments, files, lifecycle, queries, reviewers
from reference_server.tools.catalogue import READING, WRITING

Call = tuple[Callable[..., Awaitable[Any]], dict[str, Any]]
CORE = frozenset(tool.__name__ for tool in (*READING, *WRITING))


class Visit:
    """One visit to the configured host; does the same at each, with the numbers and ids that this host gives.

    Args:
        arrive: called with the number of each call before it is made.

    Attributes:
        told: what each call gave back, or the words in which it was refused, in order.
        moments: when each call was made.
    """

    def __init__(self, arrive: Callable[[int], None] = lambda _: None) -> None:
        self.told: list[tuple[str, Any]] = []
        self.moments: list[datetime] = []
        self._arrive = arrive

    @property
    def called(self) -> set[str]:
        """The tools that were called."""
        return {name.partition("(")[0] for name, _ in self.told}

    async def call(self, tool: Callable[..., Awaitable[Any]], **arguments: Any) -> Any:
        """What a tool gives back; its refusal is noted and hands nothing back."""
        self._arrive(len(self.moments))
        self.moments.append(datetime.now(UTC))
        name = f"{tool.__name__}({arguments})"
        try:
            result = await tool(**arguments)
        except GerritError as refusal:
            self.told.append((name, f"refused: {refusal}"))
            return None
        self.told.append((name, result))
        return result

    async def everything(self) -> None:
        """All tools, in an order in which each finds something to do."""
        await self._make()
        async for tool, arguments in self._on_a_change():
            await self.call(tool, **arguments)
        await self._search()
        await self._refused()

    async def _make(self) -> None:
        wanted = {"project": "demo", "branch": "master", "subject": "By a tool\n\nBug: 7, b/8", "topic": "tools"}
        made = await self.call(lifecycle.create_change, **wanted, work_in_progress=True)
        self.change = str(made["number"])
        await self.call(lifecycle.create_change, **{**wanted, "branch": "nosuch"})

    async def _on_a_change(self) -> AsyncIterator[Call]:
        mine, other = {"change_id": self.change}, {"change_id": "2"}
        yield lifecycle.set_ready_for_review, mine
        yield lifecycle.set_work_in_progress, {**mine, "message": "Wait"}
        yield lifecycle.set_topic, {**mine, "topic": "another"}
        yield reviewers.add_reviewer, {**mine, "reviewer": "bo"}
        yield reviewers.add_reviewer, {**mine, "reviewer": "cy@example.org", "state": "CC"}
        yield reviewers.suggest_reviewers, {**mine, "query": "d"}
        for one in (mine, other):
            yield changes.get_change_details, {**one, "options": ["CURRENT_REVISION"]}
            yield changes.get_commit_message, one
            yield changes.get_bugs_from_cl, one
            yield changes.changes_submitted_together, one
            yield files.list_change_files, one
            yield comments.list_change_comments, one
        for path in ("a.txt", "/COMMIT_MSG", "nosuch"):
            yield files.get_file_diff, {**other, "file_path": path}
        draft = {**other, "file_path": "a.txt", "message": "From a tool"}
        made = await self.call(comments.post_draft_comment, **draft, line_number=3)
        yield comments.list_draft_comments, other
        yield comments.delete_draft_comment, {**other, "draft_id": made["id"]}
        yield comments.post_draft_comment, draft
        yield comments.delete_draft_comments, other
        yield comments.post_draft_comment, draft
        yield comments.publish_drafts, {**other, "message": "All of it", "labels": {"Code-Review": 1}}
        yield comments.post_review_comment, {**draft, "line_number": 1, "labels": {"Code-Review": -1}}
        yield comments.list_change_comments, other
        yield lifecycle.abandon_change, {**mine, "message": "No more"}
        yield lifecycle.revert_change, {"change_id": "1", "message": "Back\n\nBecause"}
        yield lifecycle.revert_submission, {"change_id": "1"}

    async def _search(self) -> None:
        days = {"start_date": "2020-01-01", "end_date": "2099-12-31"}
        await self.call(queries.query_changes, query="owner:cy status:open", limit=1)
        await self.call(queries.query_changes, query="topic:better", options=["LABELS", "CURRENT_REVISION"])
        await self.call(queries.query_changes_by_date_and_filters, **days, project="demo", message_substring="improve")
        await self.call(queries.query_changes_by_date_and_filters, **days, status="merged")
        await self.call(queries.get_most_recent_cl, user="cy")
        await self.call(queries.get_most_recent_cl, user="nobody")

    async def _refused(self) -> None:
        for tool in (
            changes.get_change_details,
            changes.get_commit_message,
            changes.get_bugs_from_cl,
            files.list_change_files,
            changes.changes_submitted_together,
            comments.list_change_comments,
            comments.list_draft_comments,
            comments.delete_draft_comments,
            comments.publish_drafts,
            lifecycle.set_ready_for_review,
            lifecycle.set_work_in_progress,
            lifecycle.abandon_change,
            lifecycle.revert_change,
            lifecycle.revert_submission,
        ):
            await self.call(tool, change_id="999999")
        await self.call(lifecycle.abandon_change, change_id="3")
        await self.call(lifecycle.set_topic, change_id="3", topic="mine")
        await self.call(lifecycle.revert_change, change_id="2")
        await self.call(queries.query_changes, query="nosuch:operator")
        await self.call(queries.query_changes, query='"unclosed')
        await self.call(reviewers.add_reviewer, change_id="2", reviewer="nobody")
        await self.call(comments.delete_draft_comment, change_id="2", draft_id="nosuch")
        await self.call(changes.get_change_details, change_id="2", options=["NO_SUCH"])
        await self.call(files.get_file_diff, change_id="5", file_path="p.txt")


def without_ids(text: str) -> str:
    """A text without the ids of drafts, which each host draws for itself."""
    return re.sub(r"\b[0-9a-f]{8}_[0-9a-f]{8}\b", "<id>", text)
