"""Branches and commits of a project."""

from __future__ import annotations

import re
from typing import Any

from mock_gerrit.entities import Project
from mock_gerrit.errors import GerritError, bad_request, conflict, forbidden, not_found, not_permitted, unprocessable
from mock_gerrit.merging import MergeConflict, merge_files
from mock_gerrit.repository import Repository, full_branch_name, short_branch_name
from mock_gerrit.rest.call import NO_CONTENT, Call, Content, Created, NoContent
from mock_gerrit.rest.contents import as_base64, media_type
from mock_gerrit.rest.matching import name_test
from mock_gerrit.rest.options import integer, text
from mock_gerrit.rest.revision_info import commit_info
from mock_gerrit.rest.routes import Routes

routes = Routes()

CONFIG = "refs/meta/config"
LIST_OPTIONS = (integer("limit", "n"), integer("start", "S", "s"), text("match", "m"), text("regex", "r"))
_BAD_NAME = re.compile(r"[\x00-\x20~^:?*\[\\]|\.\.|@\{|/$|\.lock$|//")


def branch_info(call: Call, project: Project, ref: str, *, in_list: bool = False) -> dict[str, Any]:
    """A branch; HEAD names another, the others a commit."""
    if ref == "HEAD":
        return {"ref": ref, "revision": project.head}
    info: dict[str, Any] = {"ref": ref, "revision": call.host.repository(project.name).refs[ref]}
    is_head = in_list and ref == full_branch_name(project.head)
    if call.is_admin and ref != CONFIG and not is_head:
        info["can_delete"] = True
    return info


@routes.get("/projects/{project}/branches/", options=LIST_OPTIONS, doc="#list-branches")
def list_branches(call: Call, *, project: Project) -> list[dict[str, Any]]:
    """HEAD, the configuration (for administrators) and the branches."""
    refs = call.host.repository(project.name).refs
    names = ["HEAD"] + ([CONFIG] if call.is_admin and CONFIG in refs else [])
    names += sorted(ref for ref in refs if ref.startswith("refs/heads/"))
    fits = name_test(call.options)
    found = [
        ref
        for ref in names
        if fits(ref) or fits(short_branch_name(ref)) or (ref == "HEAD" and _fits_head(call, project))
    ]
    start, limit = call.options.integer("start") or 0, call.options.integer("limit") or 0
    page = found[start : start + limit] if limit > 0 else found[start:]
    return [branch_info(call, project, ref, in_list=True) for ref in page]


def _fits_head(call: Call, project: Project) -> bool:
    return name_test(call.options)(project.head)


@routes.get("/projects/{project}/branches/{branch}", doc="#get-branch")
def get(call: Call, *, project: Project, branch: str) -> dict[str, Any]:
    """One branch."""
    return branch_info(call, project, branch)


@routes.put("/projects/{project}/branches/{branch}", creates=True, doc="#create-branch")
def create(call: Call, *, project: Project, branch: str) -> Created:
    """Makes a branch; administrators only."""
    ref = full_branch_name(branch)
    if _BAD_NAME.search(ref):
        raise bad_request(f'invalid branch name "{ref}"')
    if not call.is_admin:
        raise forbidden(f"not permitted: create on {ref}")
    repository = call.host.repository(project.name)
    repository.refs[ref] = _commit(repository, call.body.text("revision") or project.head)
    return Created(value=branch_info(call, project, ref))


def _commit(repository: Repository, revision: str) -> str:
    tip = repository.branch(revision)
    if tip:
        return tip
    try:
        return repository.facts(revision).sha
    except (KeyError, ValueError):
        raise unprocessable(f'base revision "{revision}" not found') from None


@routes.put("/projects/{project}/branches/{branch}", doc="#create-branch")
def create_again(_: Call, *, project: Project, branch: str) -> Created:  # noqa: ARG001 - it is there
    """Refused: there is such a branch."""
    raise conflict(f'Branch "{branch}" already exists')


@routes.delete("/projects/{project}/branches/{branch}", doc="#delete-branch")
@routes.post("/projects/{project}/branches/{branch}/delete", doc="#delete-branch")
def delete(call: Call, *, project: Project, branch: str) -> NoContent:
    """Deletes a branch; administrators only."""
    if not call.is_admin:
        raise not_permitted("delete")
    if branch in {"HEAD", full_branch_name(project.head), CONFIG}:
        raise conflict(f"not allowed to delete branch {branch}")
    del call.host.repository(project.name).refs[branch]
    return NO_CONTENT


MERGEABLE_OPTIONS = (text("source"), text("source-branch"), text("strategy"))


@routes.get("/projects/{project}/branches/{branch}/mergeable", options=MERGEABLE_OPTIONS, doc="#get-mergeable-info")
def mergeable(call: Call, *, project: Project, branch: str) -> dict[str, Any]:
    """Whether a source could be merged into the branch."""
    repository = call.host.repository(project.name)
    tip = repository.refs[full_branch_name(project.head) if branch == "HEAD" else branch]
    source = repository.branch(call.options.text("source") or "")
    if source is None:
        raise bad_request(f"Cannot resolve '{call.options.text('source')}' to a commit")
    merged = repository.is_ancestor(source, tip)
    return {
        "submit_type": project.submit_type,
        "strategy": "recursive",
        "mergeable": merged or _fits(repository, tip, source),
        "commit_merged": merged,
        "content_merged": merged,
    }


def _fits(repository: Repository, tip: str, source: str) -> bool:
    try:
        merge_files(repository, repository.merge_base(tip, source), tip, source)
    except MergeConflict:
        return False
    return True


@routes.get("/projects/{project}/branches/{branch}/files/{file}/content", doc="#get-content")
def content(call: Call, *, project: Project, branch: str, file: str) -> Content:
    """A file at the tip of a branch, as base64."""
    repository = call.host.repository(project.name)
    tip = repository.refs[full_branch_name(project.head) if branch == "HEAD" else branch]
    return _file(repository, tip, file)


def _file(repository: Repository, commit: str, path: str) -> Content:
    entry = repository.files(commit).get(path)
    if entry is None:
        raise not_found(path)
    data = repository.content(entry)
    return as_base64(data, media_type(path, data))


def known_commit(call: Call, project: Project, name: str) -> str:
    """The full hash of a commit of the project; 404 for anything else."""
    if re.fullmatch(r"[0-9a-f]{40}", name):
        try:
            return call.host.repository(project.name).facts(name).sha
        except KeyError:
            pass
    raise not_found(name)


@routes.get("/projects/{project}/commits/{commit}", doc="#get-commit")
def commit(call: Call, *, project: Project, commit: str) -> dict[str, Any]:
    """A commit by its full hash."""
    return commit_info(call.host.repository(project.name), known_commit(call, project, commit), with_sha=True)


@routes.get("/projects/{project}/commits/{commit}/in", doc="#get-included-in")
def included_in(call: Call, *, project: Project, commit: str) -> dict[str, list[str]]:
    """The branches and tags that have a commit."""
    repository = call.host.repository(project.name)
    return refs_with(repository, known_commit(call, project, commit))


def refs_with(repository: Repository, sha: str) -> dict[str, list[str]]:
    """The branches and tags that have a commit, by their short names."""
    having = [
        ref for ref, tip in sorted(repository.refs.items()) if _is_public(ref) and repository.is_ancestor(sha, tip)
    ]
    return {
        "branches": [ref.removeprefix("refs/heads/") for ref in having if ref.startswith("refs/heads/")],
        "tags": [ref.removeprefix("refs/tags/") for ref in having if ref.startswith("refs/tags/")],
    }


def _is_public(ref: str) -> bool:
    return ref.startswith(("refs/heads/", "refs/tags/"))


@routes.get("/projects/{project}/commits/{commit}/files/{file}/content", doc="#get-content-from-commit")
def content_of_commit(call: Call, *, project: Project, commit: str, file: str) -> Content:
    """A file of a commit, as base64."""
    return _file(call.host.repository(project.name), known_commit(call, project, commit), file)


@routes.get("/projects/{project}/statistics.git", doc="#get-repository-statistics")
def statistics(call: Call, *, project: Project) -> dict[str, int]:
    """How much git stores; administrators only. Everything here is loose."""
    if not call.is_admin:
        raise GerritError(403, "run gc not permitted")
    refs = call.host.repository(project.name).refs
    return {
        "number_of_bitmaps": 0, "number_of_loose_objects": 2 * len(refs), "number_of_loose_refs": len(refs),
        "number_of_pack_files": 0, "number_of_packed_objects": 0, "number_of_packed_refs": 0,
        "size_of_loose_objects": 255 * len(refs), "size_of_packed_objects": 0,
    }  # fmt: skip
