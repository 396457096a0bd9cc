"""Files of a revision: …/revisions/REV/files/, their diffs and contents, and …/patch."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from mock_gerrit.changes import COMMIT_MESSAGE, MERGE_LIST, Change, PatchSet
from mock_gerrit.diffing import contents, edits, is_binary
from mock_gerrit.errors import GerritError, bad_request, forbidden, not_found
from mock_gerrit.patches import header, mail, patch_of, without_renames
from mock_gerrit.repository import FileChange, Repository
from mock_gerrit.rest.call import NO_CONTENT, Call, Content, Created, NoContent
from mock_gerrit.rest.contents import UNKNOWN, as_base64, as_zip, media_type
from mock_gerrit.rest.options import flag, integer, text
from mock_gerrit.rest.revision_info import files_with_message, magic_text, parent_of
from mock_gerrit.rest.routes import Routes

routes = Routes()

WHITESPACE = ("IGNORE_NONE", "IGNORE_TRAILING", "IGNORE_LEADING_AND_TRAILING", "IGNORE_ALL")
LIST_OPTIONS = (text("base"), integer("parent"), flag("reviewed"), text("q"))
CHANGE_TYPES = {"A": "ADDED", "M": "MODIFIED", "D": "DELETED", "R": "RENAMED", "C": "COPIED", "W": "REWRITE"}


@dataclass(frozen=True, kw_only=True)
class Sides:
    """The two commits that are compared; without an old one everything is new."""

    old: str | None
    new: str
    between_patch_sets: bool = False


def sides(call: Call, change: Change, patch_set: PatchSet) -> Sides:
    """What a revision is compared with: its parent, or what `base` or `parent` say."""
    repository = call.host.repository(change.project)
    base, number = call.options.text("base"), call.options.integer("parent")
    if base is not None:
        if base in {"0", "edit"}:  # one's own edit
            call.signed_in()
        other = change.patch_set(int(base)) if base.isdecimal() else None
        if other is None:
            raise not_found(base)
        return Sides(old=other.commit, new=patch_set.commit, between_patch_sets=True)
    if number is not None:
        return Sides(old=_parent(repository, patch_set.commit, number), new=patch_set.commit)
    return Sides(old=parent_of(repository, patch_set.commit), new=patch_set.commit)


def _parent(repository: Repository, commit: str, number: int) -> str:
    parents = repository.facts(commit).parents
    if not 1 <= number <= len(parents):
        raise bad_request(f"invalid parent number: {number}")
    return parents[number - 1]


@routes.get("/changes/{change}/revisions/{revision}/files/", options=LIST_OPTIONS, doc="#list-files")
def list_files(call: Call, *, change: Change, revision: PatchSet) -> Any:  # noqa: ANN401 - by path, or a list
    """The files a revision touches; with `q` those of the whole tree by part of their names."""
    repository = call.host.repository(change.project)
    if call.options.flag("reviewed"):
        if call.user is None:
            raise forbidden("Authentication required")
        return sorted(change.reviewed_files.get((call.user.id, revision.number), ()))
    wanted = call.options.text("q")
    if wanted is not None:
        return [path for path in sorted(repository.files(revision.commit)) if wanted in path]
    compared = sides(call, change, revision)
    return files_with_message(repository, compared.old, compared.new, between=compared.between_patch_sets)


def _touched(repository: Repository, compared: Sides, path: str) -> FileChange | None:
    found = (item for item in repository.changes(compared.old, compared.new) if path in {item.path, item.old_path})
    return next(found, None)


DIFF_OPTIONS = (
    text("base"), integer("parent"), flag("intraline"), text("whitespace", choices=WHITESPACE), text("context"),
    text("ignore-whitespace"),
)  # fmt: skip


@routes.get("/changes/{change}/revisions/{revision}/files/{file}/diff", options=DIFF_OPTIONS, doc="#get-diff")
def diff(call: Call, *, change: Change, revision: PatchSet, file: str) -> dict[str, Any]:
    """How a file differs; one that is not there differs in nothing."""
    repository = call.host.repository(change.project)
    compared = sides(call, change, revision)
    if file in {COMMIT_MESSAGE, MERGE_LIST}:
        return _magic_diff(call, repository, compared, file)
    item = _touched(repository, compared, file)
    if item is not None and item.path != file:
        old = contents(repository, item)[0]
        meta = {"meta_a": _meta(file, old), **_intraline_status(call)}
        return {**meta, "change_type": "MODIFIED", "content": [{"skip": len(shown_lines(old))}]}
    if item is None:
        entry = repository.files(revision.commit).get(file)
        if entry is None:
            return {**_intraline_status(call), "change_type": "MODIFIED", "content": []}
        item = FileChange(path=file, status="M", old_path=None, old=entry, new=entry)
    return _diff_info(call, repository, item)


def _intraline_status(call: Call) -> dict[str, str]:
    return {"intraline_status": "OK"} if call.options.flag("intraline") else {}


def _diff_info(call: Call, repository: Repository, item: FileChange) -> dict[str, Any]:
    old, new = contents(repository, item)
    info: dict[str, Any] = {}
    if item.old:
        info["meta_a"] = _meta(item.old_path or item.path, old)
    if item.new:
        info["meta_b"] = _meta(item.path, new)
    info |= _intraline_status(call)
    info["change_type"] = CHANGE_TYPES[item.status]
    if item.old != item.new or item.old_path:
        info["diff_header"] = header(repository, item)
    binary = is_binary(old) or is_binary(new)
    info["content"] = _skipped(old, new) if binary else _content(call, old, new)
    if binary:
        info["binary"] = True
    return info


def _meta(path: str, content: bytes) -> dict[str, Any]:
    kind = media_type(path, content) if content or path in {COMMIT_MESSAGE, MERGE_LIST} else UNKNOWN
    return {"name": path, "content_type": kind, "lines": len(shown_lines(content))}


def shown_lines(content: bytes) -> list[str]:
    """The lines of a file as a diff shows them: an end of line at the end of the file begins an empty last line."""
    return content.decode("utf-8", "replace").split("\n") if content else []


def _skipped(old: bytes, new: bytes) -> list[dict[str, Any]]:
    return [{"skip": len(shown_lines(new))}] if old and new else []


def _content(call: Call, old: bytes, new: bytes) -> list[dict[str, Any]]:
    """The lines in stretches: `ab` on both sides, `a` and `b` on one."""
    before, after = shown_lines(old), shown_lines(new)
    found: list[dict[str, Any]] = []
    for edit in edits(
        "\n".join(before).encode() + b"\n" if before else b"", "\n".join(after).encode() + b"\n" if after else b""
    ):
        if edit.equal:
            found.append({"ab": after[slice(*edit.new)]})
            continue
        entry: dict[str, Any] = {}
        if edit.old[0] < edit.old[1]:
            entry["a"] = before[slice(*edit.old)]
        if edit.new[0] < edit.new[1]:
            entry["b"] = after[slice(*edit.new)]
        if call.options.flag("intraline") and len(entry) > 1:
            entry |= _intraline("\n".join(entry["a"]) + "\n", "\n".join(entry["b"]) + "\n")
        found.append(entry)
    return found


def _intraline(old: str, new: str) -> dict[str, Any]:
    """Where inside changed lines the change is: pairs of characters skipped and characters marked."""
    shortest = min(len(old), len(new))
    start = next((at for at in range(shortest) if old[at] != new[at]), shortest)
    end = next((at for at in range(shortest - start) if old[-1 - at] != new[-1 - at]), shortest - start)
    return {"edit_a": [[start, len(old) - end - start]], "edit_b": [[start, len(new) - end - start]]}


def _magic_diff(call: Call, repository: Repository, compared: Sides, path: str) -> dict[str, Any]:
    new = magic_text(repository, repository.facts(compared.new)).encode() if path == COMMIT_MESSAGE else b""
    if compared.between_patch_sets and compared.old and path == COMMIT_MESSAGE:
        old = magic_text(repository, repository.facts(compared.old)).encode()
        return {
            "meta_a": _meta(path, old), "meta_b": _meta(path, new), "change_type": "MODIFIED",
            "diff_header": [f"diff --git a/{path} b/{path}", f"--- a/{path}", f"+++ b/{path}"],
            "content": _content(call, old, new),
        }  # fmt: skip
    return {
        "meta_b": _meta(path, new),
        **_intraline_status(call),
        "change_type": "ADDED",
        "diff_header": [f"diff --git /dev/null b/{path}", "--- /dev/null", f"+++ b/{path}"],
        "content": _content(call, b"", new),
    }


CONTENT_OPTIONS = (integer("parent"),)


@routes.get("/changes/{change}/revisions/{revision}/files/{file}/content", options=CONTENT_OPTIONS, doc="#get-content")
def content(call: Call, *, change: Change, revision: PatchSet, file: str) -> Content:
    """A file, as base64; with `parent` as it was before."""
    repository = call.host.repository(change.project)
    if file == COMMIT_MESSAGE:
        return as_base64(repository.facts(revision.commit).message.encode(), f"{media_type(file, b'x')}; charset=UTF-8")
    if file == MERGE_LIST:
        return as_base64(b"", media_type(file, b""))
    data = _data(call, repository, revision.commit, file)
    return as_base64(data, media_type(file, data))


def _data(call: Call, repository: Repository, commit: str, path: str) -> bytes:
    number = call.options.integer("parent")
    source = commit if number is None else _parent(repository, commit, number)
    entry = repository.files(source).get(path)
    if entry is None:
        raise GerritError(404, "Not Found")
    return repository.content(entry)


@routes.get(
    "/changes/{change}/revisions/{revision}/files/{file}/download", options=CONTENT_OPTIONS, doc="#get-safe-content"
)
def download(call: Call, *, change: Change, revision: PatchSet, file: str) -> Content:
    """A file in a zip archive, named for its side."""
    data = _data(call, call.host.repository(change.project), revision.commit, file)
    name = PurePosixPath(file)
    side = "new" if call.options.integer("parent") is None else "old"
    safe = "".join(
        sign if sign.isascii() and (sign.isalnum() or sign in "._-") else "_" if not sign.isspace() else "-"
        for sign in name.stem
    )
    return as_zip(
        f"{safe}_{side}-{revision.commit[:32]}{name.suffix}", data, filename=f"{safe}_{side}{name.suffix}.zip"
    )  # fmt: skip


@routes.put("/changes/{change}/revisions/{revision}/files/{file}/reviewed", doc="#set-reviewed")
def mark_reviewed(call: Call, *, change: Change, revision: PatchSet, file: str) -> str | Created:
    """Marks a file as seen by the caller; 201 where that is new."""
    seen = change.reviewed_files.setdefault((call.signed_in().id, revision.number), set())
    if file in seen:
        return ""
    seen.add(file)
    return Created(value="")


@routes.delete("/changes/{change}/revisions/{revision}/files/{file}/reviewed", doc="#delete-reviewed")
def unmark_reviewed(call: Call, *, change: Change, revision: PatchSet, file: str) -> NoContent:
    """Takes the mark away."""
    change.reviewed_files.get((call.signed_in().id, revision.number), set()).discard(file)
    return NO_CONTENT


PATCH_OPTIONS = (flag("zip"), flag("download"), flag("raw"), text("path"), integer("parent"))


@routes.get("/changes/{change}/revisions/{revision}/patch", options=PATCH_OPTIONS, doc="#get-patch")
def patch(call: Call, *, change: Change, revision: PatchSet) -> Content:
    """The commit as a mail, or the patch of one file; base64 unless `raw` or `zip`."""
    repository = call.host.repository(change.project)
    options, commit = call.options, revision.commit
    parent = sides(call, change, revision).old
    data = _patch_data(repository, commit, parent, options.text("path"))
    if options.flag("zip"):
        return as_zip(f"{commit[:7]}.diff", data, filename=f"{commit[:7]}.diff.zip")
    if options.flag("raw"):
        return Content(data=data, content_type="text/plain")
    filename = f"{commit[:7]}.diff.base64" if options.flag("download") else None
    return as_base64(data, "application/mbox", filename=filename)


def _patch_data(repository: Repository, commit: str, parent: str | None, path: str | None) -> bytes:
    if path is None:
        return mail(repository, commit, parent)
    if not path:
        raise GerritError(500, "Internal server error")
    found = [item for item in without_renames(repository, parent, commit) if item.path == path]
    if not found:
        raise GerritError(404, f"File not found: {path}.")
    return patch_of(repository, found[0])
