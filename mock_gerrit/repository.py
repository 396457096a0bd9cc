"""The content of a project: real git objects, so that files, diffs and patches are derived and never invented."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from dulwich.diff_tree import RenameDetector, TreeChange
from dulwich.index import commit_tree
from dulwich.object_store import MemoryObjectStore
from dulwich.objects import Blob, Commit, ObjectID, Tree

FileStatus = Literal["M", "A", "D", "R", "C", "W"]
REGULAR = 0o100644
GITLINK = 0o160000
EXECUTABLE = 0o100755


@dataclass(frozen=True, kw_only=True)
class Identity:
    """Name and address as they stand in a commit."""

    name: str
    email: str

    def __str__(self) -> str:
        return f"{self.name} <{self.email}>"


@dataclass(frozen=True, kw_only=True)
class FileEntry:
    """A file of a tree: its mode and the hash of its content."""

    mode: int
    blob: str


@dataclass(frozen=True, kw_only=True)
class FileChange:
    """How one file differs between two commits; `old` and `new` are absent for added and deleted files."""

    path: str
    status: FileStatus
    old_path: str | None
    old: FileEntry | None
    new: FileEntry | None


@dataclass(frozen=True, kw_only=True)
class CommitFacts:
    """A commit, decoded."""

    sha: str
    tree: str
    parents: tuple[str, ...]
    author: Identity
    committer: Identity
    authored: datetime
    committed: datetime
    author_zone: int
    committer_zone: int
    message: str

    @property
    def subject(self) -> str:
        """The first paragraph of the message in one line, as Gerrit shows it."""
        paragraph = self.message.lstrip("\n").partition("\n\n")[0]
        return " ".join(paragraph.split("\n")).strip()


def _identity(raw: bytes) -> Identity:
    name, _, rest = raw.decode("utf-8", "replace").rpartition(" <")
    return Identity(name=name, email=rest.removesuffix(">"))


class Repository:
    """Objects and refs of one project. Objects are only ever added, so copies share them; refs are each copy's own.

    Attributes:
        refs: commit hash by full ref name.
    """

    def __init__(self) -> None:
        self.refs: dict[str, str] = {}
        self._objects = MemoryObjectStore()
        self._commits: dict[str, CommitFacts] = {}
        self._trees: dict[str, dict[str, FileEntry]] = {}
        self._changes: dict[tuple[str | None, str], tuple[FileChange, ...]] = {}

    def copy(self) -> Repository:
        """The same content with refs that move independently."""
        twin = Repository.__new__(Repository)
        twin.__dict__.update(self.__dict__)
        twin.refs = dict(self.refs)
        return twin

    def branch(self, name: str) -> str | None:
        """The tip of a branch given by its short or full name; None where there is none."""
        return self.refs.get(full_branch_name(name))

    def add_commit(
        self,
        files: Mapping[str, FileEntry],
        *,
        parents: Iterable[str],
        message: str,
        author: Identity,
        committer: Identity,
        when: datetime,
        authored: datetime | None = None,
    ) -> str:
        """Stores a commit of exactly these files and returns its hash."""
        commit = Commit()
        commit.tree = commit_tree(
            self._objects, [(path.encode(), _object_id(entry.blob), entry.mode) for path, entry in files.items()]
        )
        commit.parents = [_object_id(parent) for parent in parents]
        commit.author = str(author).encode()
        commit.committer = str(committer).encode()
        commit.author_time = int((authored or when).timestamp())
        commit.commit_time = int(when.timestamp())
        commit.author_timezone = commit.commit_timezone = 0
        commit.message = message.encode()
        self._objects.add_object(commit)
        sha = commit.id.decode()
        self._trees.setdefault(commit.tree.decode(), dict(files))
        return sha

    def add_blob(self, content: bytes) -> str:
        """Stores a file's content and returns its hash."""
        blob = Blob.from_string(content)
        self._objects.add_object(blob)
        return blob.id.decode()

    def facts(self, commit: str) -> CommitFacts:
        """What a commit says; KeyError for a hash that is no commit here."""
        known = self._commits.get(commit)
        if known is None:
            known = self._commits[commit] = self._read(commit)
        return known

    def _read(self, sha: str) -> CommitFacts:
        commit = self._objects[_object_id(sha)]
        if not isinstance(commit, Commit):
            raise KeyError(sha)
        return CommitFacts(
            sha=sha,
            tree=commit.tree.decode(),
            parents=tuple(parent.decode() for parent in commit.parents),
            author=_identity(commit.author),
            committer=_identity(commit.committer),
            authored=_moment(commit.author_time),
            committed=_moment(commit.commit_time),
            author_zone=commit.author_timezone // 60,
            committer_zone=commit.commit_timezone // 60,
            message=commit.message.decode("utf-8", "replace"),
        )

    def files(self, commit: str | None) -> dict[str, FileEntry]:
        """Every file of a commit by path; empty for None, which stands for the tree before the first commit."""
        return self._files_of_tree(self.facts(commit).tree) if commit else {}

    def _files_of_tree(self, tree: str) -> dict[str, FileEntry]:
        known = self._trees.get(tree)
        if known is None:
            known = self._trees[tree] = dict(self._walk(tree, ""))
        return known

    def _walk(self, tree: str, prefix: str) -> Iterable[tuple[str, FileEntry]]:
        found = self._objects[_object_id(tree)]
        if not isinstance(found, Tree):
            raise KeyError(tree)
        for entry in found.items():
            if entry.path is None or entry.mode is None or entry.sha is None:
                continue
            path = prefix + entry.path.decode("utf-8", "replace")
            if entry.mode == 0o040000:
                yield from self._walk(entry.sha.decode(), path + "/")
            else:
                yield path, FileEntry(mode=entry.mode, blob=entry.sha.decode())

    def content(self, entry: FileEntry) -> bytes:
        """The bytes of a file; for a submodule, the line git shows for it."""
        if entry.mode == GITLINK:
            return f"Subproject commit {entry.blob}\n".encode()
        found = self._objects[_object_id(entry.blob)]
        if not isinstance(found, Blob):
            raise KeyError(entry.blob)
        return found.data

    def changes(self, old: str | None, new: str) -> tuple[FileChange, ...]:
        """How the files of `new` differ from those of `old`, renames detected, in order of path."""
        key = (old, new)
        known = self._changes.get(key)
        if known is None:
            known = self._changes[key] = self._compare(old, new)
        return known

    def _compare(self, old: str | None, new: str) -> tuple[FileChange, ...]:
        before, after = self.files(old), self.files(new)
        gone = before.keys() - after.keys()
        come = after.keys() - before.keys()
        if gone and come:
            return self._compare_with_renames(old, new)
        found = [_file_change(path, before.get(path), after.get(path)) for path in before.keys() | after.keys()]
        return tuple(sorted((change for change in found if change.old != change.new), key=lambda change: change.path))

    def _compare_with_renames(self, old: str | None, new: str) -> tuple[FileChange, ...]:
        before = _object_id(self.facts(old).tree) if old else None
        detector = RenameDetector(self._objects)
        found = detector.changes_with_renames(before, _object_id(self.facts(new).tree))
        flat = [item for item in found if isinstance(item, TreeChange)]
        return tuple(sorted(map(_from_tree_change, flat), key=lambda change: change.path))

    def is_ancestor(self, older: str, newer: str) -> bool:
        """Whether `older` is `newer` or one of the commits it builds on."""
        return older in self.history(newer)

    def history(self, tip: str) -> set[str]:
        """A commit and everything it builds on."""
        seen: set[str] = set()
        waiting = [tip]
        while waiting:
            sha = waiting.pop()
            if sha not in seen:
                seen.add(sha)
                waiting.extend(self.facts(sha).parents)
        return seen

    def merge_base(self, one: str, other: str) -> str | None:
        """The nearest commit both build on; None for unrelated histories."""
        theirs = self.history(other)
        waiting = [one]
        for sha in waiting:
            if sha in theirs:
                return sha
            waiting.extend(self.facts(sha).parents)
        return None


def full_branch_name(name: str) -> str:
    """`master` as `refs/heads/master`; a name that begins with `refs/` stays."""
    return name if name.startswith("refs/") else f"refs/heads/{name}"


def short_branch_name(ref: str) -> str:
    """`refs/heads/master` as `master`; other refs stay."""
    return ref.removeprefix("refs/heads/")


def _object_id(sha: str) -> ObjectID:
    return ObjectID(sha.encode())


def _moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, tz=UTC)


def _file_change(path: str, old: FileEntry | None, new: FileEntry | None) -> FileChange:
    status: FileStatus = "M" if old and new else "A" if new else "D"
    if old and new and (old.mode >> 12) != (new.mode >> 12):
        status = "W"
    return FileChange(path=path, status=status, old_path=None, old=old, new=new)


_STATUS: dict[str, FileStatus] = {"add": "A", "delete": "D", "modify": "M", "rename": "R", "copy": "C"}


def _from_tree_change(change: TreeChange) -> FileChange:
    def entry(side: object) -> FileEntry | None:
        mode, sha = getattr(side, "mode", None), getattr(side, "sha", None)
        return FileEntry(mode=mode, blob=sha.decode()) if mode and sha else None

    def path(side: object) -> str | None:
        raw = getattr(side, "path", None)
        return raw.decode("utf-8", "replace") if raw else None

    old_path, new_path = path(change.old), path(change.new)
    moved = change.type in {"rename", "copy"}
    return FileChange(
        path=new_path or old_path or "",
        status=_STATUS[change.type],
        old_path=old_path if moved else None,
        old=entry(change.old),
        new=entry(change.new),
    )
