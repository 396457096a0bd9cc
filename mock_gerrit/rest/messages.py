"""The commit message and the log of a change."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from mock_gerrit import updates
from mock_gerrit.building import CHANGE_ID, identity_of
from mock_gerrit.changes import Change, Message
from mock_gerrit.errors import bad_request, conflict
from mock_gerrit.rest.call import Call, Created
from mock_gerrit.rest.change_info import message_info
from mock_gerrit.rest.formats import account_template
from mock_gerrit.rest.routes import Routes
from mock_gerrit.rest.states import status_word

routes = Routes()

_FOOTER = re.compile(r"^([A-Za-z0-9-]+): *(.*)$")


@routes.get("/changes/{change}/message", doc="#get-message")
def get_message(call: Call, *, change: Change) -> dict[str, Any]:
    """Subject, message and footers of the current commit."""
    facts = call.host.repository(change.project).facts(change.current.commit)
    return {"subject": facts.subject, "full_message": facts.message, "footers": footers(facts.message)}


def footers(message: str) -> dict[str, str]:
    """The footers of a commit message by name, the last of each."""
    last = message.rstrip("\n").rpartition("\n\n")[2]
    found = [_FOOTER.match(line) for line in last.split("\n")]
    return {match[1]: match[2] for match in found if match}


@routes.put("/changes/{change}/message", default_field="message", doc="#set-message")
def put_message(call: Call, *, change: Change) -> str:
    """Uploads a patch set that differs in the commit message only."""
    call.check_notify()
    message = _given_message(call)
    if not change.is_open:
        raise conflict(f"Cannot create new patch set of change {change.number} because it is {status_word(change)}")
    check_change_id(change, message)
    repository = call.host.repository(change.project)
    facts = repository.facts(change.current.commit)
    if facts.message == message:
        raise conflict("new and existing commit message are the same")
    user = call.signed_in()
    commit = repository.add_commit(
        repository.files(facts.sha),
        parents=facts.parents,
        message=message,
        author=facts.author,
        committer=identity_of(user),
        when=call.host.now(),
        authored=facts.authored,
    )
    text = f"Patch Set {change.current.number + 1}: Commit message was updated."
    updates.add_patch_set(call.host, change, commit, user, text=text, description="Edit commit message")
    return "ok"


def _given_message(call: Call) -> str:
    given = call.body.text("message") or ""
    if not given.strip():
        raise bad_request("Commit message cannot be null or empty")
    if "\0" in given:
        raise bad_request("Commit message cannot have NUL character")
    return cleaned(given)


def cleaned(message: str) -> str:
    """A message without blanks at line ends and without runs of empty lines, ended by one newline."""
    lines = "\n".join(line.rstrip() for line in message.replace("\r\n", "\n").split("\n"))
    return re.sub(r"\n{3,}", "\n\n", lines).strip() + "\n"


def check_change_id(change: Change, message: str) -> None:
    """Refuses a message without the Change-Id of the change (409)."""
    found: list[str] = CHANGE_ID.findall(message)
    if not found and not re.search(r"^Change-Id: *I", message, re.MULTILINE):
        raise conflict("missing Change-Id footer")
    if not found or found[-1] != change.change_id:
        raise conflict("wrong Change-Id footer")


@routes.get("/changes/{change}/messages/", doc="#list-change-messages")
def list_messages(call: Call, *, change: Change) -> list[dict[str, Any]]:
    """The log of the change."""
    return [message_info(call, item, detailed=True) for item in change.messages]


@routes.get("/changes/{change}/messages/{message}", doc="#get-change-message")
def one(call: Call, *, change: Change, message: Message) -> dict[str, Any]:  # noqa: ARG001 - found in the change
    """One entry of the log."""
    return message_info(call, message, detailed=True)


@routes.delete("/changes/{change}/messages/{message}", doc="#delete-change-message")
@routes.post("/changes/{change}/messages/{message}/delete", doc="#delete-change-message")
def redact(call: Call, *, change: Change, message: Message) -> Created:
    """Replaces what an entry of the log says; administrators only."""
    admin = call.require_admin()
    reason = call.body.text("reason")
    said = f"Change message removed by: {account_template(admin.id)}" + (f"\nReason: {reason}" if reason else "")
    redacted = replace(message, text=said)
    change.messages[change.messages.index(message)] = redacted
    return Created(value=message_info(call, redacted, detailed=True))
