"""Change edits: a commit that somebody prepares on the server, and that becomes a patch set when it is published."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mock_gerrit import updates
from mock_gerrit.building import identity_of
from mock_gerrit.changes import Change, Edit, PatchSet
from mock_gerrit.entities import Account
from mock_gerrit.errors import conflict
from mock_gerrit.repository import EXECUTABLE, REGULAR, FileEntry

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mock_gerrit.host import Host


def nothing_changed() -> Exception:
    """The edit would be what it is already: 409."""
    return conflict("no changes were made")


def begin(change: Change, by: Account) -> None:
    """Begin an edit that is still its base; 409 where there is one."""
    if by.id in change.edits:
        raise conflict(f"A change edit already exists for change {change.number}")
    change.edits[by.id] = _begun(change, by)


def with_file(host: Host, change: Change, by: Account, *, path: str, content: bytes, mode: int | None = None) -> None:
    """Put a file into the edit of an account, which is begun where there is none."""
    repository = host.repository(change.project)
    files = dict(repository.files(_begun(change, by).commit))
    known = files.get(path)
    files[path] = FileEntry(mode=mode or (known.mode if known else REGULAR), blob=repository.add_blob(content))
    _store(host, change, by, files)


def without_file(host: Host, change: Change, by: Account, path: str) -> None:
    """Delete a file in the edit."""
    files = dict(host.repository(change.project).files(_begun(change, by).commit))
    files.pop(path, None)
    _store(host, change, by, files)


def renamed(host: Host, change: Change, by: Account, old: str, new: str) -> None:
    """Rename a file in the edit."""
    files = dict(host.repository(change.project).files(_begun(change, by).commit))
    entry = files.pop(old, None)
    if entry is not None:
        files[new] = entry
    _store(host, change, by, files)


def restored(host: Host, change: Change, by: Account, path: str) -> None:
    """Bring a file back to what the parent of the base has."""
    repository = host.repository(change.project)
    edit = _begun(change, by)
    parents = repository.facts(edit.commit).parents
    before = repository.files(parents[0]).get(path) if parents else None
    files = dict(repository.files(edit.commit))
    files.pop(path, None)
    if before is not None:
        files[path] = before
    _store(host, change, by, files)


def reworded(host: Host, change: Change, by: Account, message: str) -> None:
    """Give the edit another commit message."""
    repository = host.repository(change.project)
    edit = _begun(change, by)
    if repository.facts(edit.commit).message == message:
        raise conflict("New commit message cannot be same as existing commit message")
    _store(host, change, by, repository.files(edit.commit), message=message)


def publish(host: Host, change: Change, by: Account) -> PatchSet:
    """Make the edit a patch set."""
    edit = change.edits.pop(by.id, None)
    if edit is None:
        raise conflict(f"no edit exists for change {change.number}")
    if edit.base != change.current.number:
        change.edits[by.id] = edit
        raise conflict("only edit for current patch set can be published")
    text = f"Patch Set {edit.base + 1}: Published edit on patch set {edit.base}."
    return updates.add_patch_set(host, change, edit.commit, by, text=text)


def file_mode(told: int | None) -> int | None:
    """The mode of a file from its octal digits read as decimal ones (100755)."""
    return None if told is None else EXECUTABLE if told in {100755, EXECUTABLE} else int(str(told), 8)


def _begun(change: Change, by: Account) -> Edit:
    return change.edits.get(by.id) or Edit(commit=change.current.commit, base=change.current.number)


def _store(
    host: Host, change: Change, by: Account, files: Mapping[str, FileEntry], *, message: str | None = None
) -> None:
    repository = host.repository(change.project)
    edit = _begun(change, by)
    facts = repository.facts(edit.commit)
    if message is None and files == repository.files(edit.commit):
        raise nothing_changed()
    commit = repository.add_commit(
        files,
        parents=facts.parents,
        message=message or facts.message,
        author=facts.author,
        committer=identity_of(by),
        when=host.now(),
        authored=facts.authored,
    )
    change.edits[by.id] = replace(edit, commit=commit)
