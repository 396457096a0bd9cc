"""What a host knows about one change: patch sets, votes, messages, comments, reviewers, the attention set."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal

ChangeStatus = Literal["NEW", "MERGED", "ABANDONED"]
ReviewerState = Literal["REVIEWER", "CC", "REMOVED"]
Side = Literal["REVISION", "PARENT"]
Kind = Literal["REWORK", "TRIVIAL_REBASE", "NO_CODE_CHANGE", "NO_CHANGE", "MERGE_FIRST_PARENT_UPDATE"]

COMMIT_MESSAGE = "/COMMIT_MSG"
MERGE_LIST = "/MERGE_LIST"
PATCH_SET_LEVEL = "/PATCHSET_LEVEL"


@dataclass(frozen=True, kw_only=True)
class ServerMerge:
    """A commit that the server made.

    Attributes:
        base, ours, theirs: the commits it was merged from; None where nothing was merged.
        contains_conflicts: whether conflict markers were left in files.
    """

    base: str | None = None
    ours: str | None = None
    theirs: str | None = None
    contains_conflicts: bool = False


@dataclass(frozen=True, kw_only=True)
class PatchSet:
    """One version of a change.

    Attributes:
        number: counted from 1.
        commit: the commit's hash, 40 hex digits.
        kind: how it differs from the version before.
        uploader: the account id of who sent it.
        description: a line the uploader may add.
        merge: how the server made the commit; None for a commit that was pushed.
    """

    number: int
    commit: str
    uploader: int
    created: datetime
    kind: Kind = "REWORK"
    description: str | None = None
    merge: ServerMerge | None = None


@dataclass(frozen=True, kw_only=True)
class Vote:
    """A vote somebody gave; a value of 0 stands for a reviewer who took a vote back."""

    value: int
    granted: datetime
    patch_set: int
    tag: str | None = None


@dataclass(frozen=True, kw_only=True)
class Message:
    """An entry of the change's log.

    Attributes:
        id: 40 hex digits; the state of the change (`meta_rev_id`) that the message came with.
        author: the account id; None for Gerrit itself.
        real_author: who really sent it, where it was sent on behalf of the author.
    """

    id: str
    author: int | None
    date: datetime
    text: str
    patch_set: int
    tag: str | None = None
    real_author: int | None = None


@dataclass(frozen=True, kw_only=True)
class Range:
    """A stretch of a file: lines from 1, characters from 0, the end exclusive."""

    start_line: int
    start_character: int
    end_line: int
    end_character: int


@dataclass(frozen=True, kw_only=True)
class Comment:
    """A comment, published or still its author's draft.

    Attributes:
        line: the line it stands at; None for a comment on the whole file.
        message_id: the message that published it; None for a draft.
    """

    id: str
    path: str
    patch_set: int
    author: int
    updated: datetime
    message: str
    line: int | None = None
    range: Range | None = None
    side: Side = "REVISION"
    parent: int | None = None
    unresolved: bool = False
    in_reply_to: str | None = None
    tag: str | None = None
    message_id: str | None = None


@dataclass(frozen=True, kw_only=True)
class ReviewerUpdate:
    """Somebody was added, moved or removed as a reviewer; `reviewer` is an account id or an e-mail address."""

    updated: datetime
    by: int
    reviewer: int | str
    state: ReviewerState


@dataclass(frozen=True, kw_only=True)
class Attention:
    """Why an account is in the attention set, or was last taken out of it.

    Attributes:
        gives_way: whether a later reason takes the place of this one; most stay.
    """

    since: datetime
    reason: str
    by: int | None = None
    gives_way: bool = False


@dataclass(frozen=True, kw_only=True)
class Edit:
    """A commit that somebody prepares on the server, still to be published.

    Attributes:
        commit: the commit as it stands.
        base: the number of the patch set it was begun on.
    """

    commit: str
    base: int


@dataclass(kw_only=True)
class Change:
    """A change under review. Accounts are referred to by id, so a copy of a host shares nothing that changes.

    Attributes:
        number: unique on its host.
        change_id: `I` and 40 hex digits.
        branch: short name of the destination.
        reviewers: state by account id, in the order they were added; absent once removed.
        reviewers_by_email: the same for addresses without an account.
        votes: by label name and account id.
        edits: what is being prepared, by account id.
        meta_revision: the state of everything but the code; another after each update.
        revert_of, cherry_pick_of: the number (and patch set) of the change this one came from.
        submission_id: shared by all changes that were submitted together.
    """

    number: int
    project: str
    branch: str
    change_id: str
    owner: int
    created: datetime
    updated: datetime
    status: ChangeStatus = "NEW"
    topic: str | None = None
    hashtags: set[str] = field(default_factory=set)
    patch_sets: list[PatchSet] = field(default_factory=list)
    votes: dict[tuple[str, int], Vote] = field(default_factory=dict)
    messages: list[Message] = field(default_factory=list)
    comments: list[Comment] = field(default_factory=list)
    drafts: list[Comment] = field(default_factory=list)
    reviewers: dict[int, ReviewerState] = field(default_factory=dict)
    reviewers_by_email: dict[str, ReviewerState] = field(default_factory=dict)
    reviewer_updates: list[ReviewerUpdate] = field(default_factory=list)
    attention: dict[int, Attention] = field(default_factory=dict)
    attention_removed: dict[int, Attention] = field(default_factory=dict)
    reviewed_files: dict[tuple[int, int], set[str]] = field(default_factory=dict)
    edits: dict[int, Edit] = field(default_factory=dict)
    wip: bool = False
    review_started: bool = True
    private: bool = False
    revert_of: int | None = None
    cherry_pick_of: tuple[int, int] | None = None
    submitted: datetime | None = None
    submitter: int | None = None
    submission_id: str | None = None
    meta_revision: str = ""

    @property
    def current(self) -> PatchSet:
        """The latest patch set."""
        return self.patch_sets[-1]

    @property
    def is_open(self) -> bool:
        """Whether the change is still under review."""
        return self.status == "NEW"

    @property
    def unresolved_threads(self) -> int:
        """How many comment threads end in an unresolved comment."""
        last: dict[str, Comment] = {}
        thread_of: dict[str, str] = {}
        for comment in self.comments:
            thread = thread_of.get(comment.in_reply_to or "", comment.id)
            thread_of[comment.id] = thread
            last[thread] = comment
        return sum(comment.unresolved for comment in last.values())

    @property
    def reviewed_by(self) -> set[int]:
        """Who spoke on the change since its owner last did."""
        spoken: set[int] = set()
        for message in reversed(self.messages):
            if message.author == self.owner:
                break
            if message.author is not None:
                spoken.add(message.author)
        return spoken

    def patch_set(self, number: int) -> PatchSet | None:
        """The patch set of a number, or None."""
        return next((item for item in self.patch_sets if item.number == number), None)

    def copy(self) -> Change:
        """A change that can go on without the original seeing it."""
        return replace(
            self,
            hashtags=set(self.hashtags),
            patch_sets=list(self.patch_sets),
            votes=dict(self.votes),
            messages=list(self.messages),
            comments=list(self.comments),
            drafts=list(self.drafts),
            reviewers=dict(self.reviewers),
            reviewers_by_email=dict(self.reviewers_by_email),
            reviewer_updates=list(self.reviewer_updates),
            attention=dict(self.attention),
            attention_removed=dict(self.attention_removed),
            edits=dict(self.edits),
            reviewed_files={key: set(paths) for key, paths in self.reviewed_files.items()},
        )
