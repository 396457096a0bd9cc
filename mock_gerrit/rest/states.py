"""A change's topic, hashtags and states: work in progress, private, abandoned, deleted."""

from __future__ import annotations

from mock_gerrit import updates
from mock_gerrit.changes import Change
from mock_gerrit.errors import GerritError, bad_request, conflict, forbidden, method_not_allowed, not_permitted
from mock_gerrit.rest.call import NO_CONTENT, Call, Created, NoContent
from mock_gerrit.rest.change_info import ChangeInfo, change_info
from mock_gerrit.rest.routes import Routes

routes = Routes()

TOPIC_LIMIT = 2048


def status_word(change: Change) -> str:
    """How a sentence names the change's status: `new`, `merged`, `abandoned`."""
    return change.status.lower()


@routes.get("/changes/{change}/topic", doc="#get-topic")
def get_topic(_: Call, *, change: Change) -> str:
    """The topic; empty where there is none."""
    return change.topic or ""


@routes.put("/changes/{change}/topic", default_field="topic", doc="#set-topic")
def put_topic(call: Call, *, change: Change) -> str | NoContent:
    """Sets the topic; an empty one takes it away."""
    topic = (call.body.text("topic") or "").strip()
    _require_topic_right(call, change)
    if len(topic) > TOPIC_LIMIT:
        raise bad_request(f"topic length exceeds the limit ({TOPIC_LIMIT})")
    if '"' in topic:
        raise bad_request("topic can't contain quotation marks.")
    _set_topic(call, change, topic)
    return topic or NO_CONTENT


@routes.delete("/changes/{change}/topic", doc="#delete-topic")
def delete_topic(call: Call, *, change: Change) -> NoContent:
    """Takes the topic away."""
    _require_topic_right(call, change)
    _set_topic(call, change, "")
    return NO_CONTENT


def _require_topic_right(call: Call, change: Change) -> None:
    if not call.may_change(change) or (not change.is_open and not call.is_admin):
        raise not_permitted("edit topic name")


def _set_topic(call: Call, change: Change, topic: str) -> None:
    old = change.topic or ""
    if old == topic:
        return
    before = old.replace("\n", " ")
    change.topic = topic or None
    if not topic:
        text = f"Topic {before} removed"
    else:
        text = f"Topic changed from {before} to {topic}" if old else f"Topic set to {topic}"
    updates.record(call.host, change, call.signed_in(), text, tag=updates.AUTO + "setTopic")


@routes.get("/changes/{change}/hashtags", doc="#get-hashtags")
def get_hashtags(_: Call, *, change: Change) -> list[str]:
    """The hashtags in order."""
    return sorted(change.hashtags)


@routes.post("/changes/{change}/hashtags", doc="#set-hashtags")
def post_hashtags(call: Call, *, change: Change) -> list[str]:
    """Adds and removes hashtags."""
    added, removed = (_tags(call.body.texts(name)) for name in ("add", "remove"))
    if not call.may_change(change):
        raise not_permitted("edit hashtags")
    if not call.body.given:
        return []
    new = sorted(added - change.hashtags)
    gone = sorted(removed & change.hashtags)
    change.hashtags = (change.hashtags | added) - removed
    lines = [_tag_line(word, tags) for word, tags in (("added", new), ("removed", gone)) if tags]
    if lines:
        updates.record(call.host, change, call.signed_in(), "\n".join(lines), tag=updates.AUTO + "setHashtag")
    return sorted(change.hashtags)


def _tags(given: list[str] | None) -> set[str]:
    tags = {tag.strip().lstrip("#").strip() for tag in given or []}
    if any("," in tag for tag in tags):
        raise bad_request("hashtags may not contain commas")
    return tags - {""}


def _tag_line(word: str, tags: list[str]) -> str:
    return f"Hashtag{'s' if len(tags) > 1 else ''} {word}: {', '.join(tags)}"


def _with_message(call: Call, text: str) -> str:
    message = (call.body.text("message") or "").strip()
    return f"{text}\n\n{message}" if message else text


@routes.post("/changes/{change}/wip", inputs=("message", "notify"), doc="#set-work-in-pogress")
def wip(call: Call, *, change: Change) -> str:
    """Sets the change to work in progress."""
    _toggle(call, change, wip=True)
    return ""


@routes.post("/changes/{change}/ready", inputs=("message", "notify"), doc="#set-ready-for-review")
def ready(call: Call, *, change: Change) -> str:
    """Sets the change ready for review."""
    _toggle(call, change, wip=False)
    return ""


def _toggle(call: Call, change: Change, *, wip: bool) -> None:
    user = call.require_owner(change, "toggle work in progress state")
    if not change.is_open:
        raise conflict(f"change is {status_word(change)}")
    if change.wip == wip:
        raise conflict("change is already work in progress" if wip else "change is not work in progress")
    change.wip = wip
    change.review_started = change.review_started or not wip
    if wip:
        updates.clear_attention(call.host, change, "Change was marked work in progress")
        updates.record(
            call.host, change, user, _with_message(call, "Set Work In Progress"), tag=updates.AUTO + "setWorkInProgress"
        )
        return
    for who, state in change.reviewers.items():
        if state == "REVIEWER":
            updates.attend(call.host, change, who, "Change was marked ready for review")
    updates.record(
        call.host, change, user, _with_message(call, "Set Ready For Review"), tag=updates.AUTO + "setReadyForReview"
    )


@routes.post("/changes/{change}/private", inputs=("message",), doc="#mark-private")
def mark_private(call: Call, *, change: Change) -> str | Created:
    """Hides the change from all but its owner and reviewers; 201 where that is new."""
    if not call.may_change(change) or (change.status == "MERGED" and not call.is_admin):
        raise forbidden("not allowed to mark private")
    if change.private:
        return ""
    if change.status == "MERGED":
        raise bad_request("cannot set a non-open change to private")
    change.private = True
    updates.record(
        call.host, change, call.signed_in(), _with_message(call, "Set private"), tag=updates.AUTO + "setPrivate"
    )
    return Created(value="")


@routes.delete("/changes/{change}/private", doc="#unmark-private")
def unmark_private(call: Call, *, change: Change) -> NoContent:
    """Shows the change to everybody again."""
    if not call.may_change(change):
        raise forbidden("not allowed to unmark private")
    if not change.private:
        raise conflict("change is not private")
    change.private = False
    updates.record(
        call.host, change, call.signed_in(), _with_message(call, "Unset private"), tag=updates.AUTO + "unsetPrivate"
    )
    return NO_CONTENT


@routes.post("/changes/{change}/private.delete", doc="#unmark-private")
def unmark_private_by_post(call: Call, *, change: Change) -> NoContent:
    """The same for clients that cannot send a body with DELETE."""
    return unmark_private(call, change=change)


@routes.post("/changes/{change}/abandon", default_field="message", inputs=("message", "notify"), doc="#abandon-change")
def abandon(call: Call, *, change: Change) -> ChangeInfo:
    """Gives the change up."""
    call.check_notify()
    user = call.require_owner(change, "abandon")
    if not change.is_open:
        raise conflict(f"change is {status_word(change)}")
    updates.abandon(call.host, change, user, (call.body.text("message") or "").strip())
    return change_info(call, change)


@routes.post("/changes/{change}/restore", default_field="message", inputs=("message",), doc="#restore-change")
def restore(call: Call, *, change: Change) -> ChangeInfo:
    """Takes an abandoned change up again."""
    user = call.require_owner(change, "restore")
    if change.status != "ABANDONED":
        raise conflict(f"change is {status_word(change)}")
    updates.restore(call.host, change, user, (call.body.text("message") or "").strip())
    return change_info(call, change)


@routes.delete("/changes/{change}", doc="#delete-change")
def delete(call: Call, *, change: Change) -> NoContent:
    """Forgets a change that is not merged; administrators only."""
    if change.status == "MERGED" and call.may_change(change):
        raise method_not_allowed("delete not permitted")
    if not call.is_admin:
        raise not_permitted("delete")
    del call.host.changes[change.number]
    return NO_CONTENT


@routes.post("/changes/{change}/index", doc="#index-change")
def index(call: Call, *, change: Change) -> NoContent:  # noqa: ARG001 - everything is always indexed
    """Writes the index anew, which changes nothing here."""
    if not call.is_admin:
        raise GerritError(403, "maintain server not permitted")
    return NO_CONTENT


@routes.post("/changes/{change}/check", doc="#fix-change")
@routes.get("/changes/{change}/check", doc="#check-change")
def check(call: Call, *, change: Change) -> ChangeInfo:
    """Looks for inconsistencies, of which there are none."""
    return change_info(call, change, {"CHECK"})
