"""Putting two lines of development together: file by file, and line by line where both touched a file."""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from mock_gerrit.diffing import is_binary, lines_of
from mock_gerrit.repository import FileEntry, Repository

if TYPE_CHECKING:
    from mock_gerrit.changes import Change
    from mock_gerrit.host import Host


class MergeConflict(Exception):  # noqa: N818 - an outcome, not a mistake
    """Two sides cannot be put together.

    Attributes:
        paths: the files that both sides changed in ways that do not fit.
    """

    def __init__(self, paths: list[str]) -> None:
        super().__init__(f"merge conflict in {', '.join(paths)}")
        self.paths = paths


def merge_files(repository: Repository, base: str | None, ours: str, theirs: str) -> dict[str, FileEntry]:
    """The files of two commits put together, seen from their common ancestor.

    Raises:
        MergeConflict: both changed the same lines, or one deleted what the other changed.
    """
    before, one, other = repository.files(base), repository.files(ours), repository.files(theirs)
    merged: dict[str, FileEntry] = {}
    clashes: list[str] = []
    for path in sorted(before.keys() | one.keys() | other.keys()):
        old, mine, new = before.get(path), one.get(path), other.get(path)
        if new in {mine, old}:
            result = mine
        elif mine == old:
            result = new
        else:
            result = _merge_contents(repository, old, mine, new)
            if result is None:
                clashes.append(path)
        if result is not None:
            merged[path] = result
    if clashes:
        raise MergeConflict(clashes)
    return merged


def with_conflict_markers(
    repository: Repository, base: str | None, ours: str, theirs: str, clashes: list[str]
) -> dict[str, FileEntry]:
    """The same for those that cannot be put together: files that clash have both versions between conflict markers."""
    one, other = repository.files(ours), repository.files(theirs)
    without = {path: entry for path, entry in repository.files(base).items() if path not in clashes}
    merged = {**without, **{path: entry for path, entry in {**other, **one}.items() if path not in clashes}}
    names = [f"{sha} {repository.facts(sha).subject}" for sha in (theirs, ours)]
    for path in clashes:
        texts = [repository.content(side[path]) if path in side else b"" for side in (other, one)]
        marked = f"<<<<<<< PATCH SET ({names[0]})\n".encode() + texts[0] + b"=======\n"
        marked += texts[1] + f">>>>>>> BASE      ({names[1]})\n".encode()
        merged[path] = FileEntry(mode=(one.get(path) or other[path]).mode, blob=repository.add_blob(marked))
    return merged


def _merge_contents(
    repository: Repository, old: FileEntry | None, mine: FileEntry | None, new: FileEntry | None
) -> FileEntry | None:
    """A file that both changed; None where the changes clash."""
    if mine is None or new is None:
        return None
    texts = [repository.content(entry) if entry else b"" for entry in (old, mine, new)]
    if any(is_binary(text) for text in texts):
        return None
    merged = merge_lines(*(lines_of(text) for text in texts))
    return None if merged is None else FileEntry(mode=mine.mode, blob=repository.add_blob(b"".join(merged)))


def merge_lines(old: list[bytes], mine: list[bytes], new: list[bytes]) -> list[bytes] | None:
    """Two changed versions of a text put together; None where they touch the same or adjoining lines."""
    edits = sorted([*_edits(old, mine), *_edits(old, new)], key=lambda edit: (edit[0], edit[1]))
    result: list[bytes] = []
    at = 0
    last: tuple[int, int, list[bytes]] | None = None
    for start, end, lines in edits:
        if last and (start, end, lines) == last:
            continue
        if last and start <= last[1]:
            return None
        result += old[at:start] + lines
        at, last = end, (start, end, lines)
    return result + old[at:]


def _edits(old: list[bytes], new: list[bytes]) -> list[tuple[int, int, list[bytes]]]:
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    return [(i, j, new[k:m]) for tag, i, j, k, m in matcher.get_opcodes() if tag != "equal"]


def applied_on(repository: Repository, commit: str, onto: str) -> dict[str, FileEntry]:
    """The files of `onto` with what `commit` changed against its first parent: what rebase and cherry-pick make."""
    parents = repository.facts(commit).parents
    return merge_files(repository, parents[0] if parents else None, onto, commit)


def conflicting(host: Host, change: Change, other: Change) -> bool:
    """Whether two changes to one branch could not both be merged."""
    if change.number == other.number or (change.project, change.branch) != (other.project, other.branch):
        return False
    repository = host.repository(change.project)
    one, two = change.current.commit, other.current.commit
    if repository.is_ancestor(one, two) or repository.is_ancestor(two, one):
        return False
    try:
        merge_files(repository, repository.merge_base(one, two), one, two)
    except MergeConflict:
        return True
    return False
