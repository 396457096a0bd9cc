"""The lines around a comment, for those who ask with `enable-context`."""

from __future__ import annotations

from typing import Any

from mock_gerrit.changes import COMMIT_MESSAGE, Change, Comment
from mock_gerrit.rest.call import Call
from mock_gerrit.rest.contents import media_type
from mock_gerrit.rest.revision_info import magic_text, parent_of


def context(call: Call, change: Change, comment: Comment, padding: int) -> dict[str, Any]:
    """The lines a comment is about with `padding` lines before and after; none for a comment on a whole file."""
    text = _text(call, change, comment)
    if comment.line is None or not text:
        return {"context_lines": [], "source_content_type": ""}
    lines = text.decode("utf-8", "replace").split("\n")
    first = (comment.range.start_line if comment.range else comment.line) - padding
    last = max(comment.range.start_line, comment.range.end_line) if comment.range else comment.line
    last += padding
    shown = range(max(first, 1), min(last, len(lines) - 1) + 1)
    return {
        "context_lines": [{"line_number": number, "context_line": lines[number - 1]} for number in shown],
        "source_content_type": media_type(comment.path, text),
    }


def _text(call: Call, change: Change, comment: Comment) -> bytes:
    """The file a comment stands in; empty where there is none."""
    repository = call.host.repository(change.project)
    commit = (change.patch_set(comment.patch_set) or change.current).commit
    if comment.path == COMMIT_MESSAGE:
        return magic_text(repository, repository.facts(commit)).encode()
    source = parent_of(repository, commit) if comment.side == "PARENT" else commit
    entry = repository.files(source).get(comment.path)
    return repository.content(entry) if entry else b""
