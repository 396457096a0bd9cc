"""Change edits, as https://gerrit-review.googlesource.com/Documentation/rest-api-changes.html#edit-endpoints has it."""

from __future__ import annotations

import base64
import binascii
from typing import Any

from mock_gerrit import editing
from mock_gerrit.changes import Change, Edit
from mock_gerrit.entities import Account
from mock_gerrit.errors import GerritError, bad_request, conflict
from mock_gerrit.rest.call import NO_CONTENT, Call, Content, NoContent
from mock_gerrit.rest.contents import as_base64, media_type
from mock_gerrit.rest.messages import check_change_id, cleaned
from mock_gerrit.rest.options import flag, text
from mock_gerrit.rest.revision_info import files_with_message, parent_of, person
from mock_gerrit.rest.routes import Routes
from mock_gerrit.rest.states import status_word

routes = Routes()

GET_OPTIONS = (flag("list"), text("base"), flag("download-commands"))


def _editor(call: Call, change: Change) -> Account:
    """The caller, who may edit; 409 where nothing can be added to the change any more."""
    user = call.signed_in()
    if not change.is_open:
        raise conflict(f"change {change.number} is {status_word(change)}")
    return user


def _own(call: Call, change: Change) -> Edit | None:
    return change.edits.get(call.user.id) if call.user else None


@routes.get("/changes/{change}/edit/", options=GET_OPTIONS, doc="#get-edit-detail")
def get_edit(call: Call, *, change: Change) -> dict[str, Any] | NoContent:
    """One's own edit; nothing where there is none."""
    user = call.signed_in()
    edit = _own(call, change)
    if edit is None:
        return NO_CONTENT
    repository = call.host.repository(change.project)
    facts = repository.facts(edit.commit)
    based_on = change.patch_set(edit.base)
    info: dict[str, Any] = {
        "commit": {
            "commit": facts.sha,
            "parents": [{"commit": parent} for parent in facts.parents],
            "author": person(facts.author, facts.authored, facts.author_zone),
            "committer": person(facts.committer, facts.committed, facts.committer_zone),
            "subject": facts.subject,
            "message": facts.message,
        },
        "base_patch_set_number": edit.base,
        "base_revision": based_on.commit if based_on else edit.commit,
        "ref": f"refs/users/{user.id % 100:02}/{user.id}/edit-{change.number}/{edit.base}",
    }
    if call.options.flag("list"):
        info["files"] = files_with_message(repository, parent_of(repository, edit.commit), edit.commit, between=False)
    return info


@routes.post("/changes/{change}/edit/", doc="#post-edit")
def post_edit(call: Call, *, change: Change) -> NoContent:
    """Begins an edit, or renames or restores a file in one."""
    user = _editor(call, change)
    old, new, restore = (call.body.text(name) for name in ("old_path", "new_path", "restore_path"))
    if restore:
        editing.restored(call.host, change, user, restore)
    elif old and new:
        editing.renamed(call.host, change, user, old, new)
    else:
        editing.begin(change, user)
    return NO_CONTENT


@routes.delete("/changes/{change}/edit/", doc="#delete-edit")
def delete_edit(call: Call, *, change: Change) -> NoContent:
    """Gives one's own edit up."""
    if change.edits.pop(call.signed_in().id, None) is None:
        raise GerritError(404, "Not Found")
    return NO_CONTENT


@routes.put("/changes/{change}/edit/{file}", raw=True, doc="#put-edit-file")
def put_file(call: Call, *, change: Change, file: str) -> NoContent:
    """Puts a file into the edit: the body itself, or a data URL in `binary_content`."""
    user = _editor(call, change)
    told = call.body.text("binary_content")
    content = call.body.raw if told is None else _from_data_url(told)
    mode = editing.file_mode(call.body.integer("file_mode"))
    editing.with_file(call.host, change, user, path=file, content=content, mode=mode)
    return NO_CONTENT


def _from_data_url(told: str) -> bytes:
    kind, _, data = told.partition(";base64,")
    if not kind.startswith("data:"):
        raise bad_request("File must be encoded as base64 data uri")
    try:
        return base64.b64decode(data, validate=True)
    except binascii.Error:
        raise bad_request("File must be encoded as base64 data uri") from None


@routes.delete("/changes/{change}/edit/{file}", doc="#delete-edit-file")
def delete_file(call: Call, *, change: Change, file: str) -> NoContent:
    """Deletes a file in the edit."""
    editing.without_file(call.host, change, _editor(call, change), file)
    return NO_CONTENT


@routes.get("/changes/{change}/edit/{file}", options=(flag("base"),), doc="#get-edit-file")
def get_file(call: Call, *, change: Change, file: str) -> Content | NoContent:
    """A file as the edit, or with `base` its base, has it; nothing where it has none."""
    edit = _own(call, change)
    based_on = change.patch_set(edit.base) if edit else None
    if edit is None or based_on is None:
        return NO_CONTENT
    repository = call.host.repository(change.project)
    entry = repository.files(based_on.commit if call.options.flag("base") else edit.commit).get(file)
    if entry is None:
        return NO_CONTENT
    content = repository.content(entry)
    return as_base64(content, media_type(file, content))


@routes.get("/changes/{change}/edit/{file}/meta", doc="#get-edit-meta-data")
def get_meta(call: Call, *, change: Change, file: str) -> dict[str, Any]:  # noqa: ARG001 - there are no links to tell
    """Links of a file to other web pages: none here."""
    return {}


@routes.get("/changes/{change}/edit:message", options=(flag("base"),), doc="#get-edit-message")
def get_message(call: Call, *, change: Change) -> Content | NoContent:
    """The commit message of the edit."""
    edit = _own(call, change)
    if edit is None:
        return NO_CONTENT
    message = call.host.repository(change.project).facts(edit.commit).message
    return as_base64(message.encode(), "text/x-gerrit-commit-message; charset=UTF-8")


@routes.put("/changes/{change}/edit:message", default_field="message", doc="#put-change-edit-message")
def put_message(call: Call, *, change: Change) -> NoContent:
    """Gives the edit another commit message."""
    user = _editor(call, change)
    message = call.body.text("message") or ""
    if not message.strip():
        raise bad_request("commit message must be provided")
    check_change_id(change, cleaned(message))
    editing.reworded(call.host, change, user, cleaned(message))
    return NO_CONTENT


@routes.post("/changes/{change}/edit:publish", doc="#publish-edit")
def publish(call: Call, *, change: Change) -> NoContent:
    """Makes the edit a patch set."""
    user = call.signed_in()
    call.check_notify()
    editing.publish(call.host, change, user)
    return NO_CONTENT
