"""/projects/, as https://gerrit-review.googlesource.com/Documentation/rest-api-projects.html has it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

from mock_gerrit.entities import Label, Project
from mock_gerrit.errors import bad_request, conflict, not_permitted, unprocessable
from mock_gerrit.repository import full_branch_name
from mock_gerrit.rest import matching
from mock_gerrit.rest.call import NO_CONTENT, Call, Content, Created, NoContent
from mock_gerrit.rest.formats import vote_name
from mock_gerrit.rest.matching import name_test
from mock_gerrit.rest.options import flag, integer, many, text
from mock_gerrit.rest.routes import Routes
from mock_gerrit.visibility import may_read

routes = Routes()

STATES = ("ACTIVE", "READ_ONLY", "HIDDEN")
LIST_OPTIONS = (
    flag("description", "d"),
    flag("tree", "t"),
    *matching.OPTIONS,
    integer("limit", "n"),
    integer("start", "S"),
    many("branch", "b"),
    text("type", choices=("CODE", "PERMISSIONS", "ALL")),
    text("state", "s", choices=STATES),
    flag("all"),
    text("query"),
    text("format", choices=("TEXT", "JSON", "JSON_COMPACT")),
    text("has-acl-for"),
)


def project_info(call: Call, project: Project, *, labels: bool = True) -> dict[str, Any]:
    """A project with its labels."""
    info: dict[str, Any] = {"id": quote(project.name, safe=""), "name": project.name}
    if project.parent:
        info["parent"] = project.parent
    if project.description:
        info["description"] = project.description
    info["state"] = project.state
    if labels:
        info["labels"] = {label.name: _label_info(label) for label in call.host.labels(project.name).values()}
    return info


def _label_info(label: Label) -> dict[str, Any]:
    return {"values": {vote_name(value): meaning for value, meaning in label.values}, "default_value": label.default}


@routes.get("/projects/", options=LIST_OPTIONS, doc="#list-projects")
def list_projects(call: Call) -> Any:  # noqa: ANN401 - by name, or a list for `query`, or plain text
    """The projects the caller may read, by name."""
    options = call.options
    if options.flag("all") and options.text("state"):
        raise bad_request("'all' and 'state' may not be used together")
    if options.text("query") is not None:
        return _queried(call, options.text("query") or "")
    fits = name_test(options)
    found = [item for name, item in sorted(call.host.projects.items()) if fits(name) and _wanted(call, item)]
    page, more = _page(found, options.integer("start") or 0, options.integer("limit") or 0)
    if options.text("format") == "TEXT":
        return Content(
            data="".join(f"{item.name}\n" for item in page).encode(), content_type="text/plain;charset=utf-8"
        )
    result = {item.name: _listed(call, item) for item in page}
    if more:
        result[page[-1].name]["_more_projects"] = True
    return result


def _page(found: list[Project], start: int, limit: int) -> tuple[list[Project], bool]:
    page = found[start : start + limit] if limit > 0 else found[start:]
    return page, bool(page) and limit > 0 and len(found) > start + limit


def _wanted(call: Call, project: Project) -> bool:
    options = call.options
    if not may_read(call.user, project):
        return False
    state = options.text("state")
    if state is None and not options.flag("all") and project.state == "HIDDEN":
        return False
    if state is not None and project.state != state:
        return False
    kind = options.text("type") or "ALL"
    if kind != "ALL" and project.permissions_only != (kind == "PERMISSIONS"):
        return False
    if options.text("has-acl-for") is not None:
        return project.parent is None or project.name == "All-Users"
    branches = options.many("branch")
    return not branches or any(call.host.repository(project.name).branch(name) for name in branches)


def _listed(call: Call, project: Project) -> dict[str, Any]:
    info: dict[str, Any] = {"id": quote(project.name, safe="")}
    if call.options.flag("tree") and project.parent:
        info["parent"] = project.parent
    if call.options.flag("description") and project.description:
        info["description"] = project.description
    info["state"] = project.state
    repository = call.host.repository(project.name)
    tips = {name: repository.branch(name) for name in call.options.many("branch")}
    if tips:
        info["branches"] = {name: tip for name, tip in tips.items() if tip}
    return info


def _queried(call: Call, query: str) -> list[dict[str, Any]]:
    tests = [_operator(term) for term in query.split()]
    found = [
        item
        for _, item in sorted(call.host.projects.items())
        if may_read(call.user, item) and item.state != "HIDDEN" and all(test(item) for test in tests)
    ]
    page, more = _page(found, call.options.integer("start") or 0, call.options.integer("limit") or 0)
    infos = [project_info(call, item, labels=False) for item in page]
    if more:
        infos[-1]["_more_projects"] = True
    return infos


def _operator(term: str) -> Callable[[Project], bool]:
    name, colon, value = term.partition(":")
    low = value.lower()
    operators: dict[str, Callable[[Project], bool]] = {
        "name": lambda item: item.name == value,
        "inname": lambda item: low in re.split(r"[^\w]+", item.name.lower()),
        "prefix": lambda item: item.name.startswith(value),
        "parent": lambda item: item.parent == value,
        "description": lambda item: low in re.split(r"[^\w]+", (item.description or "").lower()),
        "state": lambda item: item.state.lower() == low,
    }
    if not colon:
        return lambda item: term.lower() in f"{item.name} {item.description or ''}".lower()
    if name not in operators:
        raise bad_request(f"Unsupported operator {term}")
    return operators[name]


@routes.get("/projects/{project}", doc="#get-project")
def get(call: Call, *, project: Project) -> dict[str, Any]:
    """One project."""
    return project_info(call, project)


@routes.put("/projects/{project}", creates=True, doc="#create-project")
def create(call: Call, *, project: str) -> Created:
    """Makes a project; administrators only."""
    call.require_admin("create project")
    body = call.body
    if body.text("name") not in {None, project}:
        raise bad_request("name must match URL")
    if any(part in {"", ".", ".."} for part in project.split("/")):
        raise bad_request(f"invalid project name: {project}")
    parent = body.text("parent") or "All-Projects"
    if parent not in call.host.projects:
        raise unprocessable(f"Project Not Found: {parent}")
    made = call.host.project(
        project, parent=parent, branches=body.texts("branches") or ("master",), description=body.text("description")
    )
    made.permissions_only = bool(body.flag("permissions_only"))
    made.submit_type = body.text("submit_type") or made.submit_type  # type: ignore[assignment] # one of Gerrit's words
    if not body.flag("create_empty_commit") or made.permissions_only:
        refs = call.host.repository(project).refs
        for ref in [ref for ref in refs if ref.startswith("refs/heads/")]:
            del refs[ref]
    return Created(value=project_info(call, made))


@routes.put("/projects/{project}", doc="#create-project")
def create_again(call: Call, *, project: Project) -> Created:
    """Refused: there is such a project."""
    call.require_admin("create project")
    raise conflict(f'Project "{project.name}" already exists')


@routes.get("/projects/{project}/description", doc="#get-project-description")
def get_description(_: Call, *, project: Project) -> str:
    """The description."""
    return project.description or ""


@routes.put("/projects/{project}/description", default_field="description", doc="#set-project-description")
def put_description(call: Call, *, project: Project) -> str | NoContent:
    """Sets the description."""
    _require_owner(call)
    project.description = call.body.text("description") or None
    return project.description or NO_CONTENT


@routes.delete("/projects/{project}/description", doc="#delete-project-description")
def delete_description(call: Call, *, project: Project) -> NoContent:
    """Takes the description away."""
    _require_owner(call)
    project.description = None
    return NO_CONTENT


def _require_owner(call: Call) -> None:
    if not call.is_admin:
        raise not_permitted("write refs/meta/config")


@routes.get("/projects/{project}/parent", doc="#get-project-parent")
def get_parent(_: Call, *, project: Project) -> str:
    """The project it inherits from."""
    return project.parent or ""


@routes.get("/projects/{project}/HEAD", doc="#get-head")
def get_head(_: Call, *, project: Project) -> str:
    """The full name of the default branch."""
    return full_branch_name(project.head)


@routes.get("/projects/{project}/children/", options=(flag("recursive"), integer("limit")), doc="#list-child-projects")
def children(call: Call, *, project: Project) -> list[dict[str, Any]]:
    """The projects that inherit from it."""
    found = [item for _, item in sorted(call.host.projects.items()) if item.parent == project.name]
    return [project_info(call, item, labels=False) for item in found if may_read(call.user, item)]
