"""A change in Gerrit's JSON: the ChangeInfo of its documentation of /changes/."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NotRequired
from urllib.parse import quote

from typing_extensions import TypedDict

from mock_gerrit.changes import Change, Message
from mock_gerrit.diffing import size_of
from mock_gerrit.plugins.contributions import change_entries, change_options
from mock_gerrit.rest import label_info, revision_info
from mock_gerrit.rest.call import Call
from mock_gerrit.rest.formats import AccountInfo, account_info, accounts_in, filled_in, timestamp
from mock_gerrit.rest.requirement_info import plugin_requirements, submit_records, submit_requirements
from mock_gerrit.submittability import is_submittable

OPTIONS = frozenset(
    {
        "LABELS",
        "DETAILED_LABELS",
        "CURRENT_REVISION",
        "ALL_REVISIONS",
        "CURRENT_COMMIT",
        "ALL_COMMITS",
        "CURRENT_FILES",
        "ALL_FILES",
        "DETAILED_ACCOUNTS",
        "MESSAGES",
        "CURRENT_ACTIONS",
        "CHANGE_ACTIONS",
        "REVIEWED",
        "DOWNLOAD_COMMANDS",
        "WEB_LINKS",
        "CHECK",
        "COMMIT_FOOTERS",
        "PUSH_CERTIFICATES",
        "REVIEWER_UPDATES",
        "SUBMITTABLE",
        "TRACKING_IDS",
        "SKIP_MERGEABLE",
        "SKIP_DIFFSTAT",
        "SUBMIT_REQUIREMENTS",
        "CUSTOM_KEYED_VALUES",
        "STAR",
        "PARENTS",
        "DRAFT_COMMENTS",
    }
)
"""The words `o=` takes."""

FROM_NOTES = frozenset(
    {
        "ALL_COMMITS",
        "ALL_REVISIONS",
        "CHANGE_ACTIONS",
        "CHECK",
        "COMMIT_FOOTERS",
        "CURRENT_ACTIONS",
        "CURRENT_COMMIT",
        "MESSAGES",
    }
)
"""Options for which Gerrit reads a change anew, even as a row of a query."""

DETAIL = frozenset({"LABELS", "DETAILED_LABELS", "DETAILED_ACCOUNTS", "MESSAGES", "REVIEWER_UPDATES"})
"""What `/detail` shows without being asked."""

NO_OPTIONS: frozenset[str] = frozenset()


class ChangeInfo(TypedDict):
    """A change; many fields only with the option that asks for them."""

    id: str
    triplet_id: str
    project: str
    branch: str
    change_id: str
    subject: str
    status: str
    _number: int
    topic: NotRequired[str]
    plugins: NotRequired[list[dict[str, Any]]]
    labels: NotRequired[dict[str, Any]]
    messages: NotRequired[list[dict[str, Any]]]
    current_revision: NotRequired[str]
    revisions: NotRequired[dict[str, Any]]
    _more_changes: NotRequired[bool]


def change_info(
    call: Call, change: Change, options: Iterable[str] = NO_OPTIONS, *, from_index: bool = False
) -> ChangeInfo:
    """A change as `o=` options ask for it; plugins add theirs by the switches of the call.

    Args:
        call: who asks.
        change: what to show.
        options: what to show of it.
        from_index: whether this is a row of a query; Gerrit's index does not have everything.
    """
    return _Writer(call, change, frozenset(options), from_index=from_index).write()


class _Writer:
    """Writes one change, in the order in which Gerrit writes its fields."""

    def __init__(self, call: Call, change: Change, options: frozenset[str], *, from_index: bool) -> None:
        self.call = call
        self.host = call.host
        self.change = change
        self.options = options
        self.from_index = from_index
        self.detailed = "DETAILED_ACCOUNTS" in options
        self.labelled = bool({"LABELS", "DETAILED_LABELS"} & options)
        self.info: dict[str, Any] = {}

    def who(self, account: int) -> AccountInfo:
        """An account, in detail where details are asked for."""
        return account_info(self.host, account, detailed=self.detailed)

    def write(self) -> ChangeInfo:
        """Everything."""
        self.identity()
        self.attention()
        self.facts()
        self.numbers()
        if {"CURRENT_ACTIONS", "CHANGE_ACTIONS"} & self.options:
            self.info["actions"] = revision_info.change_actions(self.call, self.change)
        if self.labelled:
            self.people()
        if "REVIEWER_UPDATES" in self.options:
            self.info["reviewer_updates"] = self.reviewer_updates()
        if "MESSAGES" in self.options:
            self.info["messages"] = [
                message_info(self.call, item, detailed=self.detailed, named=False) for item in self.change.messages
            ]
        self.revisions()
        self.plugins()
        if "TRACKING_IDS" in self.options:
            self.info["tracking_ids"] = []
        self.info["requirements"] = plugin_requirements(self.host, self.change)
        self.info["submit_records"] = submit_records(self.host, self.change, self.who)
        if "SUBMIT_REQUIREMENTS" in self.options:
            self.info["submit_requirements"] = submit_requirements(self.host, self.change)
        return self.info  # type: ignore[return-value] # built field by field, in Gerrit's order

    def identity(self) -> None:
        change, info = self.change, self.info
        project = quote(change.project, safe="")
        info["id"] = f"{project}~{change.number}"
        info["triplet_id"] = f"{project}~{quote(change.branch, safe='')}~{change.change_id}"
        info["project"] = change.project
        info["branch"] = change.branch
        if change.topic:
            info["topic"] = change.topic

    def attention(self) -> None:
        change = self.change
        if change.attention or change.attention_removed:
            self.info["attention_set"] = self._attention(change.attention)
            self.info["removed_from_attention_set"] = self._attention(change.attention_removed)
        if "CUSTOM_KEYED_VALUES" in self.options:
            self.info["custom_keyed_values"] = {}

    def _attention(self, entries: dict[int, Any]) -> dict[str, Any]:
        result = {}
        for who, entry in entries.items():
            result[str(who)] = {"account": self.who(who), "last_update": timestamp(entry.since), "reason": entry.reason}
            if entry.by is not None:
                result[str(who)]["reason_account"] = account_info(self.host, entry.by)
        return result

    def facts(self) -> None:
        change, info = self.change, self.info
        info["hashtags"] = sorted(change.hashtags)
        info["change_id"] = change.change_id
        info["subject"] = self.host.repository(change.project).facts(change.current.commit).subject
        info["status"] = change.status
        info["created"] = timestamp(change.created)
        info["updated"] = timestamp(change.updated)
        if self.starred():
            info["starred"] = True
        user = self.call.user
        if "REVIEWED" in self.options and user is not None and user.id in change.reviewed_by:
            info["reviewed"] = True
        if change.is_open:
            info["submit_type"] = self.host.projects[change.project].submit_type
        if "SUBMITTABLE" in self.options:
            info["submittable"] = is_submittable(self.host, change)
        if change.submitted and change.submitter is not None:
            info["submitted"] = timestamp(change.submitted)
            info["submitter"] = self.who(change.submitter)

    def starred(self) -> bool:
        """Whether the caller marked the change; in a query only told where `STAR` is asked for."""
        told = not self.from_index or "STAR" in self.options
        return told and self.call.user is not None and self.change.number in self.call.user.stars

    def numbers(self) -> None:
        change, info = self.change, self.info
        if "SKIP_DIFFSTAT" not in self.options:
            info["insertions"], info["deletions"] = diffstat(self.call, change)
        info["total_comment_count"] = len(change.comments)
        info["unresolved_comment_count"] = change.unresolved_threads
        if change.private:
            info["is_private"] = True
        if change.wip:
            info["work_in_progress"] = True
        info["has_review_started"] = change.review_started
        if change.cherry_pick_of:
            info["cherry_pick_of_change"], info["cherry_pick_of_patch_set"] = change.cherry_pick_of
        if change.revert_of:
            info["revert_of"] = change.revert_of
        if change.submission_id:
            info["submission_id"] = change.submission_id
        info["meta_rev_id"] = change.meta_revision
        info["_number"] = change.number
        info["virtual_id_number"] = change.number
        info["owner"] = self.who(change.owner)

    def people(self) -> None:
        change, info = self.change, self.info
        detailed = "DETAILED_LABELS" in self.options
        info["labels"] = label_info.labels(self.call, change, self.who, detailed=detailed)
        if detailed and self.call.user is not None:
            info["permitted_labels"] = label_info.permitted(self.host, change, self.call.user)
            info["removable_labels"] = label_info.removable(self.call, change, self.who)
        info["removable_reviewers"] = [self.who(id_) for id_ in label_info.removable_reviewers(self.call, change)]
        info["reviewers"] = self.reviewers()
        info["pending_reviewers"] = {}

    def reviewers(self) -> dict[str, list[AccountInfo]]:
        result: dict[str, list[AccountInfo]] = {}
        for state in ("REVIEWER", "CC"):
            ids = sorted(id_ for id_, own in self.change.reviewers.items() if own == state)
            listed = [self.who(id_) for id_ in ids]
            listed += [by_email(address) for address, own in self.change.reviewers_by_email.items() if own == state]
            if listed:
                result[state] = listed
        return result

    def reviewer_updates(self) -> list[dict[str, Any]]:
        if self.from_index and not FROM_NOTES & self.options:
            return []
        return [
            {
                "updated": timestamp(update.updated),
                "updated_by": self.who(update.by),
                "reviewer": self.who(update.reviewer)
                if isinstance(update.reviewer, int)
                else by_email(update.reviewer),
                "state": update.state,
            }
            for update in self.change.reviewer_updates
        ]

    def revisions(self) -> None:
        change, info, options = self.change, self.info, self.options
        info["current_revision_number"] = change.current.number
        every = "ALL_REVISIONS" in options
        if every or "CURRENT_REVISION" in options:
            info["current_revision"] = change.current.commit
        if "CHECK" in options:
            info["problems"] = []
        if not every and "CURRENT_REVISION" not in options:
            return
        chosen = change.patch_sets if every else [change.current]
        info["revisions"] = {
            item.commit: revision_info.revision(self.call, change, item, options, self.who) for item in chosen
        }

    def plugins(self) -> None:
        asked = change_options(self.host, self.call.options.plugin)
        entries = change_entries(self.host, self.change, self.call.user, asked)
        if entries:
            self.info["plugins"] = entries


def by_email(text: str) -> AccountInfo:
    """Somebody without an account: `Name <address>`, or the bare address."""
    name, bracket, rest = text.partition(" <")
    return {"name": name, "email": rest.rstrip(">")} if bracket else {"email": text}


def message_info(call: Call, message: Message, *, detailed: bool, named: bool = True) -> dict[str, Any]:
    """An entry of a change's log; `named` fills in the names of accounts, which Gerrit does only in the log itself."""
    info: dict[str, Any] = {"id": message.id}
    if message.tag:
        info["tag"] = message.tag
    if message.author is not None:
        info["author"] = account_info(call.host, message.author, detailed=detailed)
    if message.real_author is not None:
        info["real_author"] = account_info(call.host, message.real_author, detailed=detailed)
    info["date"] = timestamp(message.date)
    info["message"] = filled_in(call.host, message.text) if named else message.text
    info["accounts_in_message"] = [account_info(call.host, who) for who in accounts_in(message.text)]
    info["_revision_number"] = message.patch_set
    return info


def diffstat(call: Call, change: Change) -> tuple[int, int]:
    """How many lines the current patch set adds and takes away."""
    repository = call.host.repository(change.project)
    parents = repository.facts(change.current.commit).parents
    changes = repository.changes(parents[0] if parents else None, change.current.commit)
    sizes = [size_of(repository, item) for item in changes]
    return sum(size.inserted for size in sizes), sum(size.deleted for size in sizes)
