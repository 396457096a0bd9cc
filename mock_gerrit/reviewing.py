"""Reviewing: votes, comments, drafts, and what a reply does to reviewers and to the attention set."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from mock_gerrit import updates
from mock_gerrit.changes import Change, Comment, PatchSet, Range, Side, Vote
from mock_gerrit.entities import Account
from mock_gerrit.errors import conflict

if TYPE_CHECKING:
    from mock_gerrit.host import Host

DraftHandling = Literal["KEEP", "PUBLISH", "PUBLISH_ALL_REVISIONS"]
READY_TEXT = "This change is ready for review."


@dataclass(frozen=True, kw_only=True)
class NewComment:
    """A comment somebody writes.

    Attributes:
        unresolved: None leaves a thread as it is, and opens a new one resolved.
    """

    path: str
    message: str
    line: int | None = None
    range: Range | None = None
    side: Side = "REVISION"
    parent: int | None = None
    unresolved: bool | None = None
    in_reply_to: str | None = None
    tag: str | None = None


@dataclass(frozen=True, kw_only=True)
class Review:
    """What a reviewer says in one go.

    Attributes:
        labels: the votes to give.
        ready: True starts the review, False sets the change back to work in progress, None leaves it.
        automatic_attention: whether the reply moves the attention set by Gerrit's own rules.
    """

    message: str = ""
    labels: Mapping[str, int] | None = None
    comments: tuple[NewComment, ...] = ()
    drafts: DraftHandling = "KEEP"
    tag: str | None = None
    ready: bool | None = None
    automatic_attention: bool = True


def accepted_votes(host: Host, change: Change, labels: Mapping[str, int]) -> dict[str, int]:
    """The votes that the change's project knows; others are dropped without a word, as Gerrit does by default."""
    known = host.labels(change.project)
    return {
        name: value
        for name, value in labels.items()
        if name in known and any(value == number for number, _ in known[name].values)
    }


def check_votes(change: Change, voter: Account, labels: Mapping[str, int]) -> None:
    """Refuses votes on an abandoned change, and votes below the one given on a merged change (409)."""
    if not labels or change.is_open:
        return
    if change.status == "ABANDONED":
        raise conflict("change is closed")
    less = [name for name, value in labels.items() if value < _given(change, name, voter)]
    if less:
        raise conflict(f"Cannot reduce vote on labels for closed change: {', '.join(less)}")


def _given(change: Change, label: str, voter: Account) -> int:
    vote = change.votes.get((label, voter.id))
    return vote.value if vote else 0


def apply(host: Host, change: Change, patch_set: PatchSet, author: Account, review: Review) -> bool:
    """Carries a review out; False where there was nothing in it that changes anything."""
    labels = review.labels or {}
    current = patch_set is change.current
    words = _vote(host, change, author, review) if current else _vote_words(labels)
    drafts = _publishable(change, patch_set, author, review.drafts)
    count = len(review.comments) + len(drafts)
    toggled = review.ready is not None and change.wip == review.ready
    started = bool(review.ready)
    if review.ready is not None:
        _set_ready(change, ready=review.ready)
    text = _message(patch_set, words, count, review, started=started)
    if text is None:
        if toggled:
            updates.touch(host, change)
        return toggled
    _come_on_board(host, change, author, voted=bool(labels))
    entry = updates.record(host, change, author, text, tag=review.tag, patch_set=patch_set.number)
    new = [_comment(host, change, patch_set, author, comment, message_id=entry.id) for comment in review.comments]
    new += [replace(draft, updated=entry.date, message_id=entry.id, tag=review.tag) for draft in drafts]
    change.comments += new
    change.drafts = [draft for draft in change.drafts if draft not in drafts]
    if review.automatic_attention and (current or count or review.message):
        _shift_attention(host, change, author, new, negative=any(value < 0 for value in labels.values()))
    if labels and not current and any(labels.values()):
        updates.attend(host, change, author.id, updates.VOTES_NOT_COPIED)
    return True


def _vote(host: Host, change: Change, author: Account, review: Review) -> list[str]:
    """Gives the votes on the current patch set; the words that say which ones are new."""
    words = []
    for name, value in sorted((review.labels or {}).items()):
        if value == _given(change, name, author):
            continue
        words += _vote_words({name: value})
        change.votes[name, author.id] = Vote(
            value=value, granted=host.now(), patch_set=change.current.number, tag=review.tag
        )
    return words


def _vote_words(labels: Mapping[str, int]) -> list[str]:
    return [f"{name}{value:+d}" if value else f"-{name}" for name, value in sorted(labels.items())]


def _publishable(change: Change, patch_set: PatchSet, author: Account, handling: DraftHandling) -> list[Comment]:
    if handling == "KEEP":
        return []
    return [
        draft
        for draft in change.drafts
        if draft.author == author.id and (handling == "PUBLISH_ALL_REVISIONS" or draft.patch_set == patch_set.number)
    ]


def _set_ready(change: Change, *, ready: bool) -> None:
    change.wip = not ready
    change.review_started = change.review_started or ready


def _message(patch_set: PatchSet, words: list[str], count: int, review: Review, *, started: bool) -> str | None:
    parts = []
    if count:
        parts.append(f"({count} comment{'s' if count > 1 else ''})")
    if review.message:
        parts.append(review.message)
    elif started:
        parts.append(READY_TEXT)
    if not words and not parts:
        return None
    votes = f" {' '.join(words)}" if words else ""
    return "\n\n".join([f"Patch Set {patch_set.number}:{votes}", *parts])


def _come_on_board(host: Host, change: Change, author: Account, *, voted: bool) -> None:
    """Who votes becomes a reviewer, who only speaks is kept informed; the owner only counts as one by voting."""
    if author.id == change.owner:
        if voted:
            change.reviewers.setdefault(author.id, "REVIEWER")
        return
    state = change.reviewers.get(author.id)
    if voted and state != "REVIEWER":
        updates.set_reviewer(host, change, author, "REVIEWER", by=author)
    elif state is None:
        updates.set_reviewer(host, change, author, "CC", by=author)


def new_comment_id(host: Host, change: Change) -> str:
    """An id as Gerrit gives to comments: two words of eight hex digits."""
    drawn = host.new_hash("comment", change.number)
    return f"{drawn[:8]}_{drawn[8:16]}"


def _comment(
    host: Host, change: Change, patch_set: PatchSet, author: Account, new: NewComment, *, message_id: str | None = None
) -> Comment:
    return Comment(
        id=new_comment_id(host, change),
        path=new.path,
        patch_set=patch_set.number,
        author=author.id,
        updated=host.now(),
        message=new.message,
        line=new.range.end_line if new.range else new.line,
        range=new.range,
        side=new.side,
        parent=new.parent,
        unresolved=_unresolved(change, new),
        in_reply_to=new.in_reply_to,
        tag=new.tag,
        message_id=message_id,
    )


def _unresolved(change: Change, new: NewComment) -> bool:
    if new.unresolved is not None:
        return new.unresolved
    parent = next((item for item in change.comments if item.id == new.in_reply_to), None)
    return parent.unresolved if parent else False


def _shift_attention(host: Host, change: Change, author: Account, new: Iterable[Comment], *, negative: bool) -> None:
    """Gerrit's rules: who replies is done; the owner, and those whose threads were continued, are next."""
    if updates.is_robot(host, author.id):
        if negative:
            updates.attend(host, change, change.owner, "A robot voted negatively on a label")
        return
    updates.unattend(host, change, author.id, "removed on reply")
    if not change.is_open:
        if any(comment.in_reply_to is None for comment in new) and author.id != change.owner:
            updates.attend(host, change, change.owner, "A new comment thread was created")
        return
    for who in dict.fromkeys((change.owner, change.current.uploader)):
        if who != author.id:
            updates.attend(host, change, who, "Someone else replied on the change")
    for who in _thread_authors(change, new):
        if who != author.id:
            updates.attend(host, change, who, "Someone else replied on a comment you posted")


def _thread_authors(change: Change, new: Iterable[Comment]) -> list[int]:
    by_id = {comment.id: comment for comment in change.comments}
    authors = []
    for comment in new:
        earlier = by_id.get(comment.in_reply_to or "")
        while earlier is not None:
            authors.append(earlier.author)
            earlier = by_id.get(earlier.in_reply_to or "")
    return authors


def add_draft(host: Host, change: Change, patch_set: PatchSet, author: Account, new: NewComment) -> Comment:
    """Keeps a comment for its author alone until it is published."""
    draft = _comment(host, change, patch_set, author, new)
    change.drafts.append(draft)
    return draft
