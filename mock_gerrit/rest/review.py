"""Reviewing: POST …/revisions/REV/review."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from mock_gerrit import updates
from mock_gerrit.changes import PATCH_SET_LEVEL, Attention, Change, PatchSet
from mock_gerrit.errors import GerritError, bad_request, not_permitted, unprocessable
from mock_gerrit.people import find_one
from mock_gerrit.plugins.contributions import simulators
from mock_gerrit.rest.attention import attend, one_account
from mock_gerrit.rest.body import INVALID, Body, as_integer, bodies
from mock_gerrit.rest.call import Call, Refused
from mock_gerrit.rest.change_info import DETAIL, change_info
from mock_gerrit.rest.comments import NO_FILE, new_comment, range_of
from mock_gerrit.rest.reviewers import STATES, add_reviewer
from mock_gerrit.rest.routes import Routes
from mock_gerrit.reviewing import NewComment, Review, accepted_votes, apply, check_votes

routes = Routes()

COMMENT_LIMIT = 16_384
DRAFTS = ("KEEP", "PUBLISH", "PUBLISH_ALL_REVISIONS")


@routes.get("/changes/{change}/revisions/{revision}/review", doc="#get-review")
def get_review(call: Call, *, change: Change, revision: PatchSet) -> Any:  # noqa: ANN401, ARG001 - a ChangeInfo
    """The change in detail; plugins that would add to it break here, as the real ones do."""
    info = change_info(call, change, (DETAIL - {"REVIEWER_UPDATES", "MESSAGES"}) | {"CURRENT_REVISION"})
    broken = [simulator.id for simulator in simulators(call.host) if simulator.change_attributes]
    if broken:
        info["plugins"] = [
            {"name": id_, "message": f"Something went wrong in plugin: {id_}"} for id_ in reversed(broken)
        ]
    return info


@routes.post("/changes/{change}/revisions/{revision}/review", default_field="message", doc="#set-review")
def post_review(call: Call, *, change: Change, revision: PatchSet) -> Any:  # noqa: ANN401 - a ReviewResult
    """Votes, comments, publishes drafts, adds reviewers and changes states, all at once."""
    call.check_notify()
    labels = _labels(call, change)
    review = _review(call, change, revision, labels)
    if isinstance(review, Refused):
        return review
    entries = call.body.objects("reviewers") or []
    _refuse_foreign_removals(call, change, entries)
    _refuse_on_behalf(call, labels)
    check_votes(change, call.signed_in(), labels or {})
    result: dict[str, Any] = {}
    if entries:
        entries.sort(key=lambda entry: entry.text("state") != "CC")
        added = {entry.text("reviewer") or "": add_reviewer(call, change, entry) for entry in entries}
        if any("error" in item for item in added.values()):
            bad = {name: item for name, item in added.items() if "error" in item}
            return Refused(value={"reviewers": bad, "error": "error adding reviewer"})
        result["reviewers"] = added
    if labels is not None:
        result = {"labels": labels, **result}
    before, was_in_progress = dict(change.attention), change.wip
    apply(call.host, change, revision, call.signed_in(), review)
    _attention(call, change, before)
    if review.ready and was_in_progress:
        result["ready"] = True
    options = call.body.texts("response_format_options") or []
    return {**result, "change_info": change_info(call, change, options)}


def _labels(call: Call, change: Change) -> dict[str, int] | None:
    given = call.body.object("labels")
    if given is None:
        return None
    return accepted_votes(call.host, change, {name: as_integer(value) or 0 for name, value in given.items()})


def _review(call: Call, change: Change, revision: PatchSet, labels: dict[str, int] | None) -> Review | Refused:
    body = call.body
    ready, wip = body.flag("ready"), body.flag("work_in_progress")
    if ready and wip:
        return Refused(value={"error": "work_in_progress and ready are mutually exclusive"})
    if ((ready and change.wip) or (wip and not change.wip)) and not call.may_change(change):
        raise not_permitted("toggle work in progress state")
    message = (body.text("message") or "").strip()
    if len(message) > COMMENT_LIMIT:
        too_long = f"Comment size exceeds limit ({len(message)} > {COMMENT_LIMIT})"
        raise bad_request(f"One or more comments were rejected in validation: {too_long}")
    handling = body.choice("drafts", DRAFTS)
    automatic = not body.flag("ignore_automatic_attention_set_rules")
    return Review(
        message=message,
        labels=labels,
        comments=_comments(call, change, revision),
        drafts=handling or "KEEP",  # type: ignore[arg-type] # one of DRAFTS
        tag=body.text("tag"),
        ready=True if ready else False if wip else None,
        automatic_attention=automatic,
    )


def _comments(call: Call, change: Change, revision: PatchSet) -> tuple[NewComment, ...]:
    given = call.body.object("comments") or {}
    existing = {(item.path, item.line, item.message) for item in change.comments if item.patch_set == revision.number}
    found = []
    for path, entries in given.items():
        for entry in bodies(entries):
            comment = _comment(call, change, revision, path, entry)
            repeated = comment is not None and (path, comment.line, comment.message) in existing
            if comment and not (repeated and call.body.flag("omit_duplicate_comments")):
                found.append(comment)
    return tuple(found)


def _comment(call: Call, change: Change, revision: PatchSet, path: str, entry: Body) -> NewComment | None:
    """One comment; None for one that says nothing."""
    repository = call.host.repository(change.project)
    parents = repository.facts(revision.commit).parents
    if path not in NO_FILE:
        touched = {item.path for item in repository.changes(parents[0] if parents else None, revision.commit)}
        if path not in touched and path not in repository.files(revision.commit):
            raise bad_request(f"file {path} not found in revision {change.number},{revision.number}")
    line = entry.integer("line")
    if line is not None and line < 0:
        raise bad_request(f"negative line number {line} not allowed on {path}")
    if path == PATCH_SET_LEVEL and any(entry.fields.get(name) is not None for name in ("side", "range", "line")):
        raise bad_request("Patchset-level comments can't have side, range, or line")
    _check_range(entry, path)
    message = (entry.text("message") or "").strip()
    return new_comment(change, entry, path, message) if message else None


def _check_range(entry: Body, path: str) -> None:
    """Refuses a range that ends before it begins; a draft may have one."""
    given = range_of(entry)
    if given is None:
        return
    start, end = (given.start_line, given.start_character), (given.end_line, given.end_character)
    if start[0] < 1 or min(start[1], end[1]) < 0 or end < start:
        told = f"{start[0]}:{start[1]} - {end[0]}:{end[1]}"
        raise bad_request(f"Range ({told}) is not valid for the comment on {path}")


def _refuse_foreign_removals(call: Call, change: Change, entries: list[Body]) -> None:
    for entry in entries:
        if entry.choice("state", STATES) == "REMOVED" and not call.may_change(change):
            account = one_account(call, entry.text("reviewer") or "")
            if account is None or account is not call.user:
                raise not_permitted("remove reviewer")


def _refuse_on_behalf(call: Call, labels: dict[str, int] | None) -> None:
    """Nobody may vote for another here: no project grants `labelAs`."""
    other = call.body.text("on_behalf_of")
    if other is None:
        return
    if not labels:
        raise GerritError(403, 'label required to post review on behalf of "' + other + '"')
    try:
        find_one(call.host, call.user, other)
    except GerritError as error:
        raise unprocessable(error.text) from None
    raise GerritError(403, f'not permitted to modify label "{next(iter(labels))}" on behalf of "{other}"')


def _attention(call: Call, change: Change, before: Mapping[int, Attention]) -> None:
    """What the reply itself asks to do with the attention set; a reason that it gave anyway stays."""
    for entry in call.body.objects("remove_from_attention_set") or []:
        account = one_account(call, entry.text("user") or "")
        if account:
            updates.unattend(call.host, change, account.id, entry.text("reason") or "")
    for entry in call.body.objects("add_to_attention_set") or []:
        user, reason = entry.text("user"), entry.text("reason")
        if not user or not reason:
            raise bad_request(INVALID)
        account = attend(call, change, user, reason)
        if change.attention[account.id] == before.get(account.id):
            change.attention[account.id] = replace(change.attention[account.id], reason=reason, gives_way=True)
