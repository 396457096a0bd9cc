"""What the recordings did to their server outside the endpoints that are simulated, done to a simulated host.

The recordings made their accounts, projects and branches through REST, and their changes by `git push`. Where an
endpoint for that is not simulated the replay does the same with the builders of the host, so that what follows finds
the world it was recorded in.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from urllib.parse import unquote

from mock_gerrit.changes import Change
from mock_gerrit.entities import Account, Label, SubmitRequirement
from mock_gerrit.host import Host
from mock_gerrit.repository import full_branch_name
from tests.mock_gerrit.recorded_pushes import LINES, PushedCommit, commit_of
from tests.mock_gerrit.recordings import Recorded

StandIn = Callable[[Host, Recorded, "re.Match[str]"], None]
UNRECORDED_EDITS: dict[int, dict[str, str]] = {
    31: {"to-submit.txt": "to-submit\n"},
    47: {"a.txt": LINES, "b.txt": "b\n"},
    48: {"a.txt": LINES},
    79: {"a.txt": "a\n"},
}
"""Files that the recorder put into the edit of a change without recording the request."""


def push(host: Host, step: Recorded) -> None:
    """What a recorded `git push` did to the host: new changes and patch sets, or nothing where it was refused."""
    pushed = step.push or {}
    if pushed["exit"] or not pushed["ref"].startswith("refs/for/"):
        return
    options = [tuple(option.partition("=")[::2]) for option in pushed["options"]]
    branch = pushed["ref"].removeprefix("refs/for/")
    parent: Change | None = None
    for line in reversed(pushed["commits"]):
        recorded, _, subject = line.partition(" ")
        if _is_base(recorded):
            continue
        commit = commit_of(recorded)
        parent = _upload(host, step, commit, commit.message(subject), branch, options, parent)


def _is_base(recorded: str) -> bool:
    """Whether the commit was there before anything was pushed for review."""
    return recorded.startswith("1bb6c74")


def _upload(
    host: Host,
    step: Recorded,
    commit: PushedCommit,
    message: str,
    branch: str,
    options: list[tuple[str, ...]],
    parent: Change | None,
) -> Change:
    project = (step.push or {})["project"]
    known = _change_at(host, project, branch, commit.change_id)
    if known is None:
        return _new_change(host, step, commit, message, branch, options, parent)
    if known.is_open and host.repository(project).facts(known.current.commit).message != message or _differs(
        host, known, commit
    ):
        note = next((option[1].replace("_", " ") for option in options if option[0] == "m"), None)
        host.patch_set(known, files=commit.files, message=message, note=note)
    return known


def _differs(host: Host, change: Change, commit: PushedCommit) -> bool:
    repository = host.repository(change.project)
    files = repository.files(change.current.commit)
    return any(
        path not in files or repository.content(files[path]) != content
        for path, content in commit.files.items()
        if content is not None
    )


def _change_at(host: Host, project: str, branch: str, change_id: str) -> Change | None:
    wanted = (project, branch, change_id)
    return next((item for item in host.changes.values() if (item.project, item.branch, item.change_id) == wanted), None)


def _new_change(
    host: Host,
    step: Recorded,
    commit: PushedCommit,
    message: str,
    branch: str,
    options: list[tuple[str, ...]],
    parent: Change | None,
) -> Change:
    def values(*names: str) -> list[str]:
        return [option[1] for option in options if option[0] in names]

    votes = [re.fullmatch(r"(.+?)([+-]\d+)", vote) for vote in values("label")]
    return host.change(
        (step.push or {})["project"],
        owner=step.user,
        branch=branch,
        message=message,
        files=commit.files,
        parent=parent if parent and parent.is_open else None,
        topic=next(iter(values("topic", "t")), None),
        hashtags=values("hashtag"),
        reviewers=values("r"),
        cc=values("cc"),
        votes={vote[1]: {step.user: int(vote[2])} for vote in votes if vote},
        wip=("wip", "") in options,
        private=("private", "") in options,
        change_id=commit.change_id,
    )


def stand_in(host: Host, step: Recorded) -> bool:
    """Does to the host what an exchange did that is not simulated; False where nothing here knows how."""
    path = step.target.partition("?")[0].removeprefix("/a")
    for pattern, effect in _EFFECTS:
        found = re.fullmatch(pattern, f"{step.method} {path}")
        if found:
            effect(host, step, found)
            return True
    return _missing_change(host, step)


def _missing_change(host: Host, step: Recorded) -> bool:
    """Keeps numbers in step: whatever made a change there makes an empty one of the same number here."""
    answer = step.response.get("json")
    if not isinstance(answer, dict) or not isinstance(answer.get("_number"), int) or "subject" not in answer:
        return False
    if answer["_number"] not in host.changes:
        refs = host.repository(answer["project"]).refs
        refs.setdefault(full_branch_name(answer["branch"]), refs["refs/heads/master"])
        host.change(
            answer["project"],
            owner=step.user,
            branch=answer["branch"],
            subject=answer["subject"],
            topic=answer.get("topic"),
            number=answer["_number"],
        )
    return True


def _who(host: Host, step: Recorded, written: str) -> Account:
    name = unquote(written)
    return host.account_of(step.user if name == "self" else int(name) if name.isdigit() else name)


def _make_account(host: Host, step: Recorded, found: re.Match[str]) -> None:
    body = step.request_json
    made = host.account(
        unquote(found[1]), name=body.get("name"), email=body.get("email"), http_password=body.get("http_password")
    )
    if "email" not in body:
        made.email = None


def _set_account(host: Host, step: Recorded, found: re.Match[str]) -> None:
    account, body = _who(host, step, found[1]), step.request_json
    match found[2]:
        case "name":
            account.name = body["name"]
        case "status":
            account.status = body["status"] or None
        case "displayname":
            account.display_name = body["display_name"]
        case "active":
            account.active = step.method == "PUT"


def _join_group(host: Host, step: Recorded, found: re.Match[str]) -> None:
    group = host.group_named(unquote(found[1]))
    assert group is not None, f"the recordings use a group that the host lacks: {found[1]}"
    group.members.add(host.account_of(unquote(found[2])).id)


def _make_project(host: Host, step: Recorded, found: re.Match[str]) -> None:
    body = step.request_json
    made = host.project(
        unquote(found[1]),
        parent=body.get("parent", "All-Projects"),
        branches=body.get("branches", ("master",)),
        description=body.get("description"),
    )
    made.permissions_only = body.get("permissions_only", False)
    made.submit_type = body.get("submit_type", made.submit_type)
    if not body.get("create_empty_commit"):
        host.repository(made.name).refs.clear()


def _describe_project(host: Host, step: Recorded, found: re.Match[str]) -> None:
    host.projects[unquote(found[1])].description = step.request_json.get("description")


def _configure_project(host: Host, step: Recorded, found: re.Match[str]) -> None:
    project = host.projects[unquote(found[1])]
    project.state = step.request_json.get("state", project.state)


def _hide_project(host: Host, step: Recorded, found: re.Match[str]) -> None:
    if unquote(found[1]) == "vault":
        host.projects["vault"].readers = frozenset()


def _make_branch(host: Host, step: Recorded, found: re.Match[str]) -> None:
    refs = host.repository(unquote(found[1])).refs
    refs[full_branch_name(unquote(found[2]))] = refs["refs/heads/master"]


def _drop_branch(host: Host, step: Recorded, found: re.Match[str]) -> None:
    host.repository(unquote(found[1])).refs.pop(full_branch_name(unquote(found[2])))


def _make_label(host: Host, step: Recorded, found: re.Match[str]) -> None:
    labels, name, body = host.projects[unquote(found[1])].labels, unquote(found[2]), step.request_json
    known = labels.get(name) or Label(name=name, values=())
    values = body.get("values")
    labels[name] = replace(
        known,
        values=tuple(sorted((int(vote), meaning) for vote, meaning in values.items())) if values else known.values,
        description=body.get("description", known.description),
    )


def _make_requirement(host: Host, step: Recorded, found: re.Match[str]) -> None:
    project, body = host.projects[unquote(found[1])], step.request_json
    made = SubmitRequirement(
        name=body["name"],
        description=body.get("description"),
        submittable_if=body["submittability_expression"],
        applicable_if=body.get("applicability_expression"),
        override_if=body.get("override_expression"),
    )
    project.requirements = (*project.requirements, made)


def _star(host: Host, step: Recorded, found: re.Match[str]) -> None:
    stars = _who(host, step, found[1]).stars
    (stars.add if step.method == "PUT" else stars.discard)(int(found[2]))


def _sign_in(host: Host, step: Recorded, found: re.Match[str]) -> None:
    cookie = (step.response_header("Set-Cookie") or "").partition(";")[0]
    asked = re.search(r"account_id=(\d+)", step.target)
    if asked:
        host.account_of(int(asked[1])).cookies.add(cookie)


def _sign_out(host: Host, step: Recorded, found: re.Match[str]) -> None:
    for account in host.accounts.values():
        account.cookies.clear()


def _switch_plugin(host: Host, step: Recorded, found: re.Match[str]) -> None:
    if found[1] in host.plugins:
        host.plugins[found[1]].disabled = found[2] != "gerrit~enable"


def _install_script(host: Host, step: Recorded, found: re.Match[str]) -> None:
    host.add_plugin(found[1], version="", content=step.request_body)


def _edit_file(host: Host, step: Recorded, found: re.Match[str]) -> None:
    edits = host.__dict__.setdefault("_edits_of_the_replay", {})
    edits.setdefault(int(found[1]), {})[unquote(found[2])] = step.request_body


def _publish_edit(host: Host, step: Recorded, found: re.Match[str]) -> None:
    number = int(found[1])
    edits: dict[int, Any] = host.__dict__.setdefault("_edits_of_the_replay", {})
    files = edits.pop(number, None) or UNRECORDED_EDITS.pop(number, {})
    host.patch_set(host.changes[number], files=files)


def _nothing(host: Host, step: Recorded, found: re.Match[str]) -> None:
    """Nothing that a later step could see."""


_EFFECTS: tuple[tuple[str, StandIn], ...] = (
    (r"PUT /accounts/([^/]+)", _make_account),
    (r"(?:PUT|DELETE) /accounts/([^/]+)/(name|status|displayname|active)", _set_account),
    (r"PUT /groups/([^/]+)/members/([^/]+)", _join_group),
    (r"PUT /projects/([^/]+)", _make_project),
    (r"(?:PUT|DELETE) /projects/([^/]+)/description", _describe_project),
    (r"PUT /projects/([^/]+)/config", _configure_project),
    (r"POST /projects/([^/]+)/access", _hide_project),
    (r"PUT /projects/([^/]+)/branches/([^/]+)", _make_branch),
    (r"DELETE /projects/([^/]+)/branches/([^/]+)", _drop_branch),
    (r"PUT /projects/([^/]+)/labels/([^/]+)", _make_label),
    (r"PUT /projects/([^/]+)/submit_requirements/([^/]+)", _make_requirement),
    (r"(?:PUT|DELETE) /accounts/([^/]+)/starred\.changes/(\d+)", _star),
    (r"GET /login/", _sign_in),
    (r"GET /logout", _sign_out),
    (r"POST /plugins/([^/]+)/(gerrit~(?:enable|disable))", _switch_plugin),
    (r"DELETE /plugins/([^/]+)()", _switch_plugin),
    (r"PUT /plugins/(.+)\.js", _install_script),
    (r"PUT /changes/(\d+)/edit/([^/]+)", _edit_file),
    (r"POST /changes/(\d+)/edit:publish", _publish_edit),
    (r"(?:PUT|POST|DELETE) .*/(?:tokens/.*|password\.http|tags/.*|gc|check|index|reviewed)", _nothing),
)
