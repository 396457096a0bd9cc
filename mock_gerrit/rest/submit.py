"""Submitting and what goes with it: …/submit, …/submitted_together, …/revert, …/revert_submission."""

from __future__ import annotations

from typing import Any

from mock_gerrit.changes import Change, PatchSet
from mock_gerrit.creating import revert
from mock_gerrit.errors import bad_request, conflict, not_permitted
from mock_gerrit.merging import MergeConflict
from mock_gerrit.operators.states import is_pure_revert
from mock_gerrit.query import Search
from mock_gerrit.rest.branches import refs_with
from mock_gerrit.rest.call import Call
from mock_gerrit.rest.change_info import OPTIONS, ChangeInfo, change_info
from mock_gerrit.rest.options import many
from mock_gerrit.rest.routes import Routes
from mock_gerrit.rest.states import status_word
from mock_gerrit.submitting import submit, together
from mock_gerrit.visibility import may_see

routes = Routes()

_OWN_OPTIONS = frozenset({"NON_VISIBLE_CHANGES", "TOPIC_CLOSURE"})


@routes.post("/changes/{change}/submit", inputs=("notify",), doc="#submit-change")
def submit_change(call: Call, *, change: Change) -> ChangeInfo:
    """Merges the change with all it builds on."""
    if not change.is_open:
        raise conflict(f"change is {status_word(change)}")
    if call.body.text("on_behalf_of") is not None:
        raise not_permitted("submit on behalf of other users")
    submit(call.host, change, call.signed_in())
    return change_info(call, change)


@routes.post("/changes/{change}/revisions/{revision}/submit", doc="#submit-revision")
def submit_revision(call: Call, *, change: Change, revision: PatchSet) -> ChangeInfo:
    """The same; only the current revision can be submitted."""
    if revision is not change.current:
        raise conflict(f"revision {revision.commit} is not current revision")
    return submit_change(call, change=change)


@routes.get("/changes/{change}/submitted_together", options=(many("o"),), doc="#submitted-together")
def submitted_together(call: Call, *, change: Change) -> list[ChangeInfo] | dict[str, Any]:
    """What would be, or was, submitted with the change; empty where that is the change alone."""
    asked = frozenset(call.options.many("o"))
    for word in asked - OPTIONS - _OWN_OPTIONS:
        raise bad_request(f"option not recognized: {word}")
    found = _together(call, change, whole_topic="TOPIC_CLOSURE" in asked)
    visible = [item for item in found if may_see(call.host, call.user, item)]
    hidden = len(found) - len(visible)
    if len(found) == 1:
        visible = []
    options = (asked - _OWN_OPTIONS) | {"CURRENT_REVISION"} | ({"SUBMITTABLE"} if change.is_open else set())
    infos = [change_info(call, item, options) for item in visible]
    return {"changes": infos, "non_visible_changes": hidden} if asked else infos


def _together(call: Call, change: Change, *, whole_topic: bool) -> list[Change]:
    """What goes, or went, with a change, latest first; an open one leads its own ancestors."""
    if not change.is_open:
        return _merged_together(call, change)
    found = together(call.host, change, whole_topic=whole_topic)
    return sorted(found, key=lambda item: (not whole_topic and item is not change, -item.number))


def _merged_together(call: Call, change: Change) -> list[Change]:
    if change.submission_id is None:
        return []
    found = [item for item in call.host.changes.values() if item.submission_id == change.submission_id]
    return sorted(found, key=lambda item: -item.number)


@routes.post("/changes/{change}/revert", default_field="message", inputs=("message", "notify"), doc="#revert-change")
def revert_change(call: Call, *, change: Change) -> ChangeInfo:
    """Makes a change that takes a merged one back."""
    call.check_notify()
    if change.status != "MERGED":
        raise conflict(f"change is {status_word(change)}")
    body = call.body
    topic = body.text("topic") or change.topic
    message = (body.text("message") or "").strip() or None
    try:
        made = revert(
            call.host, change, call.signed_in(), message=message, topic=topic, wip=bool(body.flag("work_in_progress"))
        )  # fmt: skip
    except MergeConflict as clash:
        raise conflict(f"Cannot create revert: merge conflict in {', '.join(clash.paths)}") from None
    return change_info(call, made)


@routes.post(
    "/changes/{change}/revert_submission",
    default_field="message",
    inputs=("message", "notify"),
    doc="#revert-submission",
)
def revert_submission(call: Call, *, change: Change) -> dict[str, list[ChangeInfo]]:
    """Takes back everything that was submitted together with a merged change."""
    call.check_notify()
    if change.status != "MERGED":
        raise conflict(f"change is {status_word(change)}.")
    members = _merged_together(call, change)
    submission = change.submission_id or str(change.number)
    topic = call.body.text("topic") or f"revert-{submission}-{_random_word(call)}"
    tips: dict[tuple[str, str], str] = {}
    made = []
    for item in members:
        place = (item.project, item.branch)
        new = revert(
            call.host, item, call.signed_in(), message=_message_for(call, item), topic=topic,
            wip=bool(call.body.flag("work_in_progress")), base=tips.get(place), submission=submission,
        )  # fmt: skip
        tips[place] = new.current.commit
        made.append(new)
    return {"revert_changes": [change_info(call, item) for item in reversed(made)]}


def _message_for(call: Call, change: Change) -> str | None:
    reason = (call.body.text("message") or "").strip()
    if not reason:
        return None
    subject = call.host.repository(change.project).facts(change.current.commit).subject
    return f'Revert "{subject}"\n\n{reason}'


def _random_word(call: Call) -> str:
    """Ten capital letters, as Gerrit draws them to tell topics apart."""
    digits = call.host.new_hash("topic")[:20]
    return "".join(chr(ord("A") + int(digits[at : at + 2], 16) % 26) for at in range(0, 20, 2))


@routes.get("/changes/{change}/pure_revert", doc="#get-pure-revert")
def pure_revert(call: Call, *, change: Change) -> dict[str, bool]:
    """Whether the change takes back exactly what another did."""
    if change.revert_of is None:
        raise bad_request("revertOf not set")
    return {"is_pure_revert": is_pure_revert(Search(host=call.host, user=call.user), change)}


@routes.get("/changes/{change}/in", doc="#get-included-in")
def included_in(call: Call, *, change: Change) -> dict[str, list[str]]:
    """The branches and tags that have the change."""
    return refs_with(call.host.repository(change.project), change.current.commit)
