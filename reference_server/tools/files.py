"""Tools that read the files of a change's current patch set."""

from __future__ import annotations

import base64
import binascii

from typing_extensions import TypedDict

from reference_server.errors import GerritError
from reference_server.gerrit import change_path, fetch, get_base_url, request
from reference_server.tools.parameters import ChangeId, FilePath, HostUrl
from reference_server.tools.shapes import Json


class ChangedFile(TypedDict):
    """One file of a patch set; `status` is Gerrit's letter (A, C, D, M, R, W), counts are of lines."""

    path: str
    status: str
    old_path: str | None
    lines_inserted: int
    lines_deleted: int
    binary: bool


class ChangedFiles(TypedDict):
    """All files of a patch set, Gerrit's own such as `/COMMIT_MSG` included."""

    files: list[ChangedFile]


class FileDiff(TypedDict):
    """The unified diff of one file against the parent commit."""

    path: str
    diff: str


async def list_change_files(change_id: ChangeId, gerrit_base_url: HostUrl = None) -> ChangedFiles:
    """List the files that the current patch set of a change touches."""
    path = change_path(change_id, "revisions", "current", "files") + "/"
    files = await request("GET", get_base_url(gerrit_base_url), path)
    return {"files": [_changed_file(path, file) for path, file in files.items()]}


async def get_file_diff(change_id: ChangeId, file_path: FilePath, gerrit_base_url: HostUrl = None) -> FileDiff:
    """Read what the current patch set of a change does to one file, as a unified diff."""
    path = change_path(change_id, "revisions", "current", "patch")
    encoded = await fetch(get_base_url(gerrit_base_url), path, [("path", file_path)])
    try:
        diff = base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        raise GerritError(f"expected a patch in base64 from {path}, saw something else") from None
    return {"path": file_path, "diff": diff.decode(errors="replace")}


def _changed_file(path: str, file: Json) -> ChangedFile:
    return {
        "path": path,
        "status": file.get("status", "M"),
        "old_path": file.get("old_path"),
        "lines_inserted": file.get("lines_inserted", 0),
        "lines_deleted": file.get("lines_deleted", 0),
        "binary": bool(file.get("binary", False)),
    }
