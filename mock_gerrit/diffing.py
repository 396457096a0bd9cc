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
    """How `old` becomes `new`, from top to bottom; equal stretches included.

    Like JGit's, the comparison sets equal beginnings and ends aside before it looks at what is between.
    """
    before, after = lines_of(old), lines_of(new)
    shortest = min(len(before), len(after))
    start = next((at for at in range(shortest) if before[at] != after[at]), shortest)
    rest = range(shortest - start)
    end = next((at for at in rest if before[-1 - at] != after[-1 - at]), shortest - start)
    middle = SequenceMatcher(None, before[start : len(before) - end], after[start : len(after) - end], autojunk=False)
    found = [("equal", 0, start, 0, start)] if start else []
    found += [(tag, a + start, b + start, c + start, d + start) for tag, a, b, c, d in middle.get_opcodes()]
    found += [("equal", len(before) - end, len(before), len(after) - end, len(after))] if end else []
    return tuple(
        Edit(equal=tag == "equal", old=(old_from, old_to), new=(new_from, new_to))
        for tag, old_from, old_to, new_from, new_to in _joined(found)
    )


_Stretch = tuple[str, int, int, int, int]


def _joined(stretches: list[_Stretch]) -> list[_Stretch]:
    """Neighbouring equal stretches as one."""
    joined: list[_Stretch] = []
    for stretch in stretches:
        tag, _, old_to, _, new_to = stretch
        if joined and joined[-1][0] == tag == "equal":
            joined[-1] = (tag, joined[-1][1], old_to, joined[-1][3], new_to)
        else:
            joined.append(stretch)
    return joined


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
