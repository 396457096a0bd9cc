"""The REST endpoints of code-owners about its configuration."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Any

from mock_gerrit.changes import Change, PatchSet
from mock_gerrit.entities import Project
from mock_gerrit.errors import GerritError, bad_request, forbidden
from mock_gerrit.plugins.code_owners.owners import branch_name, owners_files
from mock_gerrit.plugins.code_owners.settings import FALLBACKS, FILE, Settings, change_settings, label_of
from mock_gerrit.rest.call import Call, Created
from mock_gerrit.rest.options import flag, text
from mock_gerrit.rest.routes import Routes

routes = Routes()

BACKEND = "find-owners"
WRITE = "write refs/meta/config not permitted"
MAY_NOT_CHECK = (
    "cannot check code owner config files, must be project owner or have the Check Code Owner Config Files global "
    "capability"
)


def _general(settings: Settings) -> dict[str, Any]:
    return {"merge_commit_strategy": "ALL_CHANGED_FILES", "fallback_code_owners": settings.fallback}


def _approval(settings: Settings) -> dict[str, Any]:
    return {"label": settings.label, "value": settings.value}


@routes.get("/projects/{project}/code-owners~code_owners.project_config", doc="#get-code-owner-project-config")
def project_config(call: Call, *, project: Project) -> dict[str, Any]:
    """What holds for a project; nothing but that where it is disabled."""
    settings = Settings.of(call.host, project.name)
    if settings.disabled:
        return {"status": {"disabled": True}}
    return {
        "general": _general(settings),
        "status": {},
        "backend": {"id": BACKEND},
        "required_approval": _approval(settings),
    }


@routes.put("/projects/{project}/code-owners~code_owners.project_config", doc="#update-code-owner-project-config")
def change_project_config(call: Call, *, project: Project) -> Created:
    """Changes what holds for a project; fields that are left out stay."""
    body = call.body
    disabled = body.flag("disabled")
    fallback = body.choice("fallback_code_owners", FALLBACKS)
    approval = body.text("required_approval")
    if not call.is_admin:
        raise forbidden(WRITE)
    if approval is not None and label_of(approval) not in call.host.labels(project.name):
        raise bad_request(
            f"invalid config:\n* Required approval '{approval}' that is configured in {FILE} (parameter "
            f"codeOwners.requiredApproval) is invalid: Label {label_of(approval)} doesn't exist for project "
            f"{project.name}."
        )
    given = {
        "disabled": None if disabled is None else str(disabled).lower(),
        "fallbackCodeOwners": fallback,
        "requiredApproval": approval,
    }
    change_settings(call.host, project.name, {key: value for key, value in given.items() if value is not None})
    return Created(value=project_config(call, project=project))


@routes.get(
    "/projects/{project}/branches/{branch}/code-owners~code_owners.branch_config", doc="#get-code-owner-branch-config"
)
def branch_config(call: Call, *, project: Project, branch: str) -> dict[str, Any]:  # noqa: ARG001 - part of the path
    """What holds for a branch."""
    settings = Settings.of(call.host, project.name)
    if settings.disabled:
        return {"disabled": True}
    return {"general": _general(settings), "backend_id": BACKEND, "required_approval": _approval(settings)}


@routes.get(
    "/projects/{project}/branches/{branch}/code-owners~code_owners.config_files",
    options=(text("path"), text("email"), flag("include-non-parsable-files")),
    doc="#list-code-owner-config-files",
)
def config_files(call: Call, *, project: Project, branch: str) -> list[str]:
    """The `OWNERS` files of a branch, of those that match a pattern or name an address."""
    pattern, email = call.options.text("path"), call.options.text("email")
    return [
        file.path
        for file in owners_files(call.host, project.name, branch_name(project, branch))
        if (pattern is None or fnmatchcase(file.path, pattern)) and (email is None or email in file.every_email)
    ]


@routes.post("/projects/{project}/code-owners~code_owners.check_config", doc="#check-code-owner-config-files")
def check_config(call: Call, *, project: Project) -> dict[str, Any]:
    """The faults of the `OWNERS` files by branch; an `OWNERS` file that is read so leniently has none."""
    if not call.is_admin:
        raise forbidden(MAY_NOT_CHECK)
    refs = call.host.repository(project.name).refs
    branches = sorted(ref for ref in refs if ref.startswith("refs/heads/"))
    return {ref: {} for ref in ("refs/meta/config", *branches)}


@routes.post(
    "/changes/{change}/revisions/{revision}/code-owners~code_owners.check_config",
    doc="#check-code-owner-config-files-in-revision",
)
def check_config_in_change(_: Call, *, change: Change, revision: PatchSet) -> dict[str, Any]:  # noqa: ARG001 - in the path
    """The faults of the `OWNERS` files that a patch set touches; likewise none."""
    return {}


@routes.get(
    "/projects/{project}/branches/{branch}/code-owners~code_owners.config/{folder}", doc="#get-code-owner-config"
)
def folder_config(call: Call, *, project: Project, branch: str, folder: str) -> None:  # noqa: ARG001 - of the path
    """Refused: an experiment that Gerrit keeps switched off."""
    raise GerritError(405, "experimental code owners REST endpoints are disabled")
