"""Patches as `git diff` writes them."""

from __future__ import annotations

from dataclasses import replace
from difflib import SequenceMatcher

from mock_gerrit.diffing import contents, is_binary, lines_of
from mock_gerrit.repository import FileChange, Repository

CONTEXT = 3
NO_BLOB = "0" * 40


def quoted(path: str) -> str:
    """A path as git writes it: in quotes, with octal escapes, where it is not plain ASCII."""
    raw = path.encode()
    if all(32 <= byte < 127 and byte not in b'"\\' for byte in raw):
        return path
    escaped = "".join(
        {34: '\\"', 92: "\\\\", 9: "\\t", 10: "\\n"}.get(byte, chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}")
        for byte in raw
    )
    return f'"{escaped}"'


def header(repository: Repository, change: FileChange) -> list[str]:
    """The lines before the first hunk."""
    old_path, new_path = quoted(f"a/{change.old_path or change.path}"), quoted(f"b/{change.path}")
    lines = [f"diff --git {old_path} {new_path}"]
    if change.old is None and change.new:
        lines.append(f"new file mode {change.new.mode:o}")
    if change.new is None and change.old:
        lines.append(f"deleted file mode {change.old.mode:o}")
    if change.old_path:
        old, new = contents(repository, change)
        word = "rename" if change.status == "R" else "copy"
        lines.append(f"similarity index {similarity(old, new)}%")
        lines += [f"{word} from {change.old_path}", f"{word} to {change.path}"]
    before, after = (entry.blob if entry else NO_BLOB for entry in (change.old, change.new))
    if before != after:
        mode = f" {change.new.mode:o}" if change.old and change.new and change.old.mode == change.new.mode else ""
        lines.append(f"index {before[:7]}..{after[:7]}{mode}")
        lines.append(f"--- {old_path if change.old else '/dev/null'}")
        lines.append(f"+++ {new_path if change.new else '/dev/null'}")
        if any(is_binary(content) for content in contents(repository, change)):
            lines.append("Binary files differ")
    return lines


def similarity(old: bytes, new: bytes) -> int:
    """How alike two files are, in percent, by the bytes of the lines they share."""
    if old == new:
        return 100
    matcher = SequenceMatcher(None, lines_of(old), lines_of(new), autojunk=False)
    before = lines_of(old)
    common = sum(
        len(line) for block in matcher.get_matching_blocks() for line in before[block.a : block.a + block.size]
    )
    return common * 100 // max(len(old), len(new), 1)


def patch_of(repository: Repository, change: FileChange) -> bytes:
    """The patch of one file, hunks with three lines of context."""
    written = "".join(f"{line}\n" for line in header(repository, change)).encode()
    old, new = contents(repository, change)
    if is_binary(old) or is_binary(new) or old == new:
        return written
    return written + _hunks(lines_of(old), lines_of(new))


def _hunks(old: list[bytes], new: list[bytes]) -> bytes:
    result = []
    for group in SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(CONTEXT):
        old_from, old_to, new_from, new_to = group[0][1], group[-1][2], group[0][3], group[-1][4]
        result.append(f"@@ -{_span(old_from, old_to)} +{_span(new_from, new_to)} @@\n".encode())
        for tag, i, j, k, m in group:
            if tag == "equal":
                result += [_line(b" ", line) for line in old[i:j]]
                continue
            result += [_line(b"-", line) for line in old[i:j]]
            result += [_line(b"+", line) for line in new[k:m]]
    return b"".join(result)


def _span(start: int, end: int) -> str:
    length = end - start
    if length == 1:
        return str(start + 1)
    return f"{start if length == 0 else start + 1},{length}"


def _line(sign: bytes, line: bytes) -> bytes:
    return sign + line if line.endswith(b"\n") else sign + line + b"\n\\ No newline at end of file\n"


def without_renames(repository: Repository, old: str | None, new: str) -> list[FileChange]:
    """The changes between two commits with each rename as a deletion and an addition, by path."""
    plain: list[FileChange] = []
    for change in repository.changes(old, new):
        if change.status == "R" and change.old_path:
            plain.append(replace(change, status="A", old=None, old_path=None))
            plain.append(FileChange(path=change.old_path, status="D", old_path=None, old=change.old, new=None))
        elif change.status == "C":
            plain.append(replace(change, status="A", old=None, old_path=None))
        else:
            plain.append(change)
    return sorted(plain, key=lambda change: change.path.encode())


def mail(repository: Repository, commit: str, parent: str | None) -> bytes:
    """A whole commit as `git format-patch` writes it."""
    facts = repository.facts(commit)
    subject, _, body = facts.message.partition("\n")
    head = (
        f"From {commit} Mon Sep 17 00:00:00 2001\n"
        f"From: {facts.author}\n"
        f"Date: {facts.authored:%a, %d %b %Y %H:%M:%S} +0000\n"
        f"Subject: [PATCH] {subject}\n"
        f"{body.rstrip(chr(10))}\n---\n\n"
    )
    diffs = [patch_of(repository, change) for change in without_renames(repository, parent, commit)]
    return head.encode() + b"".join(diffs)
