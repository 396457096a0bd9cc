"""Differences between two texts, line by line."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache

from mock_gerrit.repository import GITLINK, FileChange, Repository

BINARY_PEEK = 8000
"""How many bytes git looks at for a NUL that makes a file binary."""


@dataclass(frozen=True, kw_only=True)
class Edit:
    """A stretch in which two texts are equal or differ: line numbers from 0, ends exclusive."""

    equal: bool
    old: tuple[int, int]
    new: tuple[int, int]


@dataclass(frozen=True, kw_only=True)
class Size:
    """How large a difference is; bytes count the whole file before and after."""

    inserted: int
    deleted: int
    old_bytes: int
    new_bytes: int
    binary: bool


def lines_of(text: bytes) -> list[bytes]:
    """The lines of a text, each with its end."""
    *whole, rest = text.split(b"\n")
    return [line + b"\n" for line in whole] + ([rest] if rest else [])


def is_binary(content: bytes) -> bool:
    """Whether git takes the content for binary."""
    return b"\0" in content[:BINARY_PEEK]


@lru_cache(maxsize=4096)
def edits(old: bytes, new: bytes) -> tuple[Edit, ...]:
    """How `old` becomes `new`, from top to bottom; equal stretches included."""
    matcher = SequenceMatcher(None, lines_of(old), lines_of(new), autojunk=False)
    return tuple(
        Edit(equal=tag == "equal", old=(old_from, old_to), new=(new_from, new_to))
        for tag, old_from, old_to, new_from, new_to in matcher.get_opcodes()
    )


def contents(repository: Repository, change: FileChange) -> tuple[bytes, bytes]:
    """A file before and after; empty where it is not there."""
    old = repository.content(change.old) if change.old else b""
    new = repository.content(change.new) if change.new else b""
    return old, new


def size_of(repository: Repository, change: FileChange) -> Size:
    """How many lines a change to a file adds and takes away."""
    old, new = contents(repository, change)
    binary = is_binary(old) or is_binary(new)
    found = () if binary else [edit for edit in edits(old, new) if not edit.equal]
    old_bytes = 0 if change.old and change.old.mode == GITLINK else len(old)
    new_bytes = 0 if change.new and change.new.mode == GITLINK else len(new)
    return Size(
        inserted=sum(edit.new[1] - edit.new[0] for edit in found),
        deleted=sum(edit.old[1] - edit.old[0] for edit in found),
        old_bytes=old_bytes,
        new_bytes=new_bytes,
        binary=binary,
    )
