"""Making changes: POST /changes/."""

from __future__ import annotations

import re

from mock_gerrit.building import CHANGE_ID
from mock_gerrit.creating import create, draw_change_id
from mock_gerrit.entities import Project
from mock_gerrit.errors import GerritError, bad_request, conflict, not_permitted, unprocessable
from mock_gerrit.repository import Identity, full_branch_name, short_branch_name
from mock_gerrit.rest.body import INVALID
from mock_gerrit.rest.call import Call, Created
from mock_gerrit.rest.change_info import OPTIONS, change_info
from mock_gerrit.rest.messages import cleaned
from mock_gerrit.rest.options import many
from mock_gerrit.rest.resources import find_changes
from mock_gerrit.rest.routes import Routes
from mock_gerrit.visibility import may_read, may_see, may_upload

routes = Routes()

_BAD_CHANGE_ID = re.compile(r"^Change-Id: *(\S*) *$", re.MULTILINE)


@routes.post("/changes/", options=(many("q"),), inputs=("notify",), doc="#create-change")
def create_change(call: Call) -> Created:
    """Makes a change with a commit that changes nothing yet."""
    body = call.body
    options = body.texts("response_format_options") or []
    if not OPTIONS.issuperset(options):
        raise bad_request(INVALID)
    status = body.choice("status", ("NEW", "MERGED", "ABANDONED"))
    _check_required(call)
    if status not in {None, "NEW"}:
        raise bad_request("unsupported change status")
    project = _project(call)
    call.check_notify()
    branch = body.text("branch") or ""
    ref = branch if branch == "HEAD" else full_branch_name(branch)
    base = _base(call, project, ref)
    message = _message(call)
    _check_change_id(call, project, ref, message)
    made = create(
        call.host,
        call.signed_in(),
        project=project.name,
        branch=short_branch_name(ref),
        base=base,
        message=message,
        author=_author(call),
        topic=(body.text("topic") or "").strip() or None,
        wip=bool(body.flag("work_in_progress")),
        private=bool(body.flag("is_private")),
        merged=body.part("patch") is None,
    )
    return Created(value=change_info(call, made, options))


def _check_required(call: Call) -> None:
    for field in ("project", "branch"):
        if not (call.body.text(field) or "").strip():
            raise bad_request(f"{field} must be non-empty")
    if not _message(call).strip():
        raise bad_request("commit message must be non-empty")
    if call.body.text("base_change") and call.body.text("base_commit"):
        raise bad_request("only provide one of base_change or base_commit")
    author = call.body.part("author")
    if author and not (author.text("name") and author.text("email")):
        raise bad_request("Author must specify name and email")


def _message(call: Call) -> str:
    """The commit message, without lines that are comments."""
    message = cleaned(re.sub(r"(?m)^#.*$\n?", "", call.body.text("subject") or ""))
    return message.rstrip("\n") if CHANGE_ID.search(message) else message


def _project(call: Call) -> Project:
    name = (call.body.text("project") or "").removesuffix(".git")
    found = call.host.projects.get(name)
    if found is None or not may_read(call.user, found):
        raise unprocessable(f"Project Not Found: {name}")
    if found.state != "ACTIVE":
        raise conflict(f"project {name} has state {found.state} does not permit write")
    if not may_upload(call.user, found):
        raise not_permitted("create change")
    return found


def _base(call: Call, project: Project, ref: str) -> str | None:
    """The commit to build on."""
    repository = call.host.repository(project.name)
    tip = repository.refs.get(ref)
    if ref == "HEAD" or (ref.startswith("refs/") and not ref.startswith("refs/heads/")):
        raise GerritError(404, f"ref {ref} not found")
    if call.body.flag("new_branch"):
        if tip is not None:
            raise conflict(f"Branch {ref} already exists.")
    elif tip is None:
        raise bad_request(f"Destination branch does not exist {ref}")
    _check_merge(call, project, tip)
    if call.body.text("base_change"):
        return _base_change(call, call.body.text("base_change") or "")
    wanted = call.body.text("base_commit")
    if wanted is None:
        return tip
    if not re.fullmatch(r"[0-9a-f]{40}", wanted):
        raise unprocessable(f"Base {wanted} doesn't represent a valid SHA-1")
    if tip is None or not repository.is_ancestor(wanted, tip):
        raise bad_request(f"Commit {wanted} does not exist on branch {ref}")
    return wanted


def _base_change(call: Call, text: str) -> str:
    found = [item for item in find_changes(call, text) if may_see(call.host, call.user, item)]
    if len(found) != 1:
        raise unprocessable(f"Base change not found: {text}")
    return found[0].current.commit


def _check_merge(call: Call, project: Project, tip: str | None) -> None:
    """Merge commits are made of branches; what is in the branch already is refused."""
    wanted = call.body.part("merge")
    if wanted is None:
        return
    source = wanted.text("source")
    if not source:
        raise bad_request("merge.source must be non-empty")
    repository = call.host.repository(project.name)
    commit = repository.branch(source)
    if commit is None:
        raise bad_request(f"Cannot resolve '{source}' to a commit")
    if tip is not None and repository.is_ancestor(commit, tip):
        raise conflict(f"'{commit}' has already been merged")


def _author(call: Call) -> Identity | None:
    author = call.body.part("author")
    return Identity(name=author.text("name") or "", email=author.text("email") or "") if author else None


def _check_change_id(call: Call, project: Project, ref: str, message: str) -> None:
    given: list[str] = _BAD_CHANGE_ID.findall(message)
    bad = [text for text in given if not CHANGE_ID.search(f"Change-Id: {text}")]
    if bad:
        call.host.draw_number()
        listed = f"* {bad[0]} [INVALID]\n* {draw_change_id(call.host)} [VALID]"
        said = "multiple Change-Id lines in message footer"
        raise conflict(f"{said}:\n  {said}\n\nHint: the following Change-Ids were found:\n{listed}\n".rstrip("\n"))
    for text in given:
        for change in call.host.changes.values():
            same_place = (change.project, full_branch_name(change.branch)) == (project.name, ref)
            if same_place and change.change_id == text:
                raise conflict(f"A change with Change-Id {text} already exists for this branch.")
