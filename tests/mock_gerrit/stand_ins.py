"""What the recordings did to their server outside the endpoints that are simulated, done to a simulated host.

The recordings made their accounts, projects and branches through REST, and their changes by `git push`. Where an
endpoint for that is not simulated the replay does the same with the builders of the host, so that what follows finds
the world it was recorded in.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from urllib.parse import unquote

from mock_gerrit import editing
from mock_gerrit.changes import Change
from mock_gerrit.entities import Account, Label, SubmitRequirement
from mock_gerrit.host import Host
from mock_gerrit.repository import full_branch_name
from tests.mock_gerrit.recorded_pushes import EMPTY, LINES, PushedCommit, commit_of
from tests.mock_gerrit.recordings import Recorded, scenario

StandIn = Callable[[Host, Recorded, "re.Match[str]"], None]
UNRECORDED_EDITS: dict[int, dict[str, str]] = {
    31: {"to-submit.txt": "to-submit\n"},
    47: {"a.txt": LINES, "b.txt": "b\n"},
    48: {"a.txt": LINES},
    56: {"a.txt": "a\n"},
    79: {"a.txt": "a\n"},
}
"""Files that the recorder put into the edit of a change without recording the request."""


def push(host: Host, step: Recorded) -> None:
    """What a recorded `git push` did to the host: new changes and patch sets, or nothing where it was refused."""
    pushed = step.push or {}
    if pushed["exit"] or not pushed["ref"].startswith("refs/for/"):
        return
    upload = Upload(
        host=host,
        user=step.user,
        project=pushed["project"],
        branch=pushed["ref"].removeprefix("refs/for/"),
        options=tuple(option.partition("=")[::2] for option in pushed["options"]),
    )
    parent: Change | None = None
    for line in reversed(pushed["commits"]):
        recorded, _, subject = line.partition(" ")
        if not recorded.startswith(EMPTY):
            parent = upload.commit(commit_of(recorded), subject, parent)


def restored_file(step: Recorded) -> dict[str, str] | None:
    """The configuration that a push brought back: the recorder told the text only the first time."""
    if step.push and step.push["commits"][0].endswith(" Define tasks again"):
        return next(other.file for other in scenario("30-task").steps if other.file)
    return None


@dataclass(frozen=True, kw_only=True)
class Upload:
    """A push for review: who pushes where, with which options (name and value)."""

    host: Host
    user: str
    project: str
    branch: str
    options: tuple[tuple[str, str], ...]

    def commit(self, pushed: PushedCommit, subject: str, parent: Change | None) -> Change:
        """The change that a commit of the push belongs to, once it is uploaded."""
        known = self._change_of(pushed)
        if known is None:
            return self._open(pushed, subject, parent)
        if known.is_open and self._is_new(pushed, subject, known):
            note = next((note.replace("_", " ") for note in self._values("m")), None)
            self.host.patch_set(known, files=pushed.files, message=pushed.message(subject), note=note)
        return known

    def _change_of(self, pushed: PushedCommit) -> Change | None:
        wanted = (self.project, self.branch, pushed.change_id)
        every = self.host.changes.values()
        return next((item for item in every if (item.project, item.branch, item.change_id) == wanted), None)

    def _is_new(self, pushed: PushedCommit, subject: str, known: Change) -> bool:
        """Whether the commit is another one than the current patch set."""
        repository = self.host.repository(self.project)
        files = repository.files(known.current.commit)
        current = {path: repository.content(files[path]) for path in pushed.files if path in files}
        message = repository.facts(known.current.commit).message
        return (message, current) != (pushed.message(subject), pushed.files)

    def _values(self, *names: str) -> list[str]:
        return [value for name, value in self.options if name in names]

    def _open(self, pushed: PushedCommit, subject: str, parent: Change | None) -> Change:
        votes = [re.fullmatch(r"(.+?)([+-]\d+)", vote) for vote in self._values("label")]
        change = self.host.change(
            self.project,
            owner=self.user,
            branch=self.branch,
            message=pushed.message(subject),
            files=pushed.files,
            parent=parent if parent and parent.is_open else None,
            topic=next(iter(self._values("topic")), None),
            hashtags=self._values("hashtag", "t"),
            reviewers=self._values("r"),
            cc=self._values("cc"),
            votes={vote[1]: {self.user: int(vote[2])} for vote in votes if vote},
            wip=("wip", "") in self.options,
            private=("private", "") in self.options,
            change_id=pushed.change_id,
        )
        if votes:
            _tell_of_votes(change, " ".join(self._values("label")))
        return change


def _tell_of_votes(change: Change, votes: str) -> None:
    """Votes that come with a push are part of the push, in the log and by their tag."""
    uploaded = change.messages[0]
    change.messages[:] = [replace(uploaded, text=f"{uploaded.text.removesuffix('.')}: {votes}.")]
    change.votes.update({key: replace(vote, tag=uploaded.tag) for key, vote in change.votes.items()})


def stand_in(host: Host, step: Recorded) -> bool:
    """Does to the host what an exchange did that is not simulated; False where nothing here knows how."""
    path = re.sub(r"^/a(?=/)", "", step.target.partition("?")[0])
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
        made = host.change(
            answer["project"],
            owner=step.user,
            branch=answer["branch"],
            subject=answer["subject"],
            files={},
            topic=answer.get("topic"),
            number=answer["_number"],
        )
        if "cherry_pick_of_change" in answer:
            made.cherry_pick_of = (answer["cherry_pick_of_change"], answer["cherry_pick_of_patch_set"])
    return True


def _who(host: Host, step: Recorded, written: str) -> Account:
    name = unquote(written)
    if name != "self":
        return host.account_of(int(name) if name.isdigit() else name)
    cookie = step.request_headers.get("Cookie")
    signed_in = next((account for account in host.accounts.values() if cookie in account.cookies), None)
    return signed_in or host.account_of(step.user)


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


def unrecorded_edit(host: Host, step: Recorded) -> None:
    """Makes the edit that a step publishes, where the recorder did not tell what was put into it."""
    found = re.fullmatch(r"/a/changes/(\d+)/edit:publish", step.target)
    change = host.changes.get(int(found[1])) if found else None
    owner = host.accounts[change.owner] if change else None
    if change and owner and not change.edits and len(change.patch_sets) == 1:
        for path, text in UNRECORDED_EDITS.get(change.number, {}).items():
            editing.with_file(host, change, owner, path=path, content=text.encode())


def _set_token(host: Host, step: Recorded, found: re.Match[str]) -> None:
    passwords = _who(host, step, found[1]).passwords
    if step.method == "DELETE":
        passwords.pop(unquote(found[2]), None)
    else:
        passwords[unquote(found[2])] = step.response["json"]["token"]


def _set_password(host: Host, step: Recorded, found: re.Match[str]) -> None:
    name = base64.b64decode(step.request_headers["Authorization"].partition(" ")[2]).decode().partition(":")[0]
    host.account_of(name).passwords["password.http"] = step.response["json"]


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
    (r"(?:PUT|DELETE) /accounts/([^/]+)/tokens/([^/]+)", _set_token),
    (r"PUT /accounts/[^/]+/password\.http", _set_password),
    (r"(?:PUT|POST|DELETE) .*/(?:tags/.*|gc|check|index|reviewed)", _nothing),
)
