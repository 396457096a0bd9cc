"""Content that is no JSON: files and patches, sent as base64 text, as zip or raw."""

from __future__ import annotations

import base64
import io
import zipfile
from pathlib import PurePosixPath

from mock_gerrit.rest.call import Content

PLAIN = "text/plain;charset=iso-8859-1"

_TYPES = {
    ".py": "text/x-python",
    ".txt": "text/plain",
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".gif": "image/gif",
    ".java": "text/x-java",
    ".js": "text/javascript",
    ".json": "application/json",
    ".html": "text/html",
    ".css": "text/css",
    ".c": "text/x-csrc",
    ".h": "text/x-chdr",
    ".cc": "text/x-c++src",
    ".cpp": "text/x-c++src",
    ".go": "text/x-go",
    ".rs": "text/x-rustsrc",
    ".sh": "text/x-sh",
    ".xml": "application/xml",
    ".yaml": "text/x-yaml",
    ".yml": "text/x-yaml",
    ".md": "text/x-markdown",
    ".toml": "text/x-toml",
    ".bin": "application/macbinary",
}
UNKNOWN = "application/octet-stream"


def media_type(path: str, content: bytes) -> str:
    """The type Gerrit gives to a file."""
    name = PurePosixPath(path)
    if path == "/COMMIT_MSG":
        return "text/x-gerrit-commit-message"
    if path == "/MERGE_LIST":
        return "text/x-gerrit-merge-list"
    if name.name.lower() == "readme.md":
        return "text/x-gfm"
    known = _TYPES.get(name.suffix.lower())
    if known:
        return known
    return UNKNOWN if b"\0" in content else "text/plain"


def as_base64(data: bytes, content_type: str, *, filename: str | None = None) -> Content:
    """Content as Gerrit sends it to browsers: base64, the true type in a header of its own."""
    headers = (("X-FYI-Content-Encoding", "base64"), ("X-FYI-Content-Type", content_type))
    return Content(data=base64.b64encode(data), content_type=PLAIN, headers=(*_attached(filename), *headers))


def _attached(filename: str | None) -> tuple[tuple[str, str], ...]:
    return (("Content-Disposition", f'attachment; filename="{filename}"'),) if filename else ()


def as_zip(name: str, data: bytes, *, filename: str) -> Content:
    """One file in a zip archive, to be saved."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo(name), data)
    return Content(data=packed.getvalue(), content_type="application/zip", headers=_attached(filename))
