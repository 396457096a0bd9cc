"""Operators about what a change says and touches: message, subject, files, sizes, comments."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mock_gerrit.diffing import size_of
from mock_gerrit.errors import bad_request
from mock_gerrit.operators.base import Operator, compared, contains_words, message_contains, never, pattern, words
from mock_gerrit.query import Predicate, Search
from mock_gerrit.repository import CommitFacts, FileChange

if TYPE_CHECKING:
    from mock_gerrit.changes import Change

_FOOTER = re.compile(r"^([A-Za-z0-9-]+): *(.*)$", re.MULTILINE)


def _facts(search: Search, change: Change) -> CommitFacts:
    return search.host.repository(change.project).facts(change.current.commit)


def _files(search: Search, change: Change) -> tuple[FileChange, ...]:
    repository = search.host.repository(change.project)
    parents = _facts(search, change).parents
    return repository.changes(parents[0] if parents else None, change.current.commit)


def _paths(search: Search, change: Change) -> set[str]:
    changes = _files(search, change)
    return {item.path for item in changes} | {item.old_path for item in changes if item.old_path}


def _message(search: Search, value: str) -> Predicate:
    if value.startswith("^"):
        compiled = re.compile(value[1:], re.DOTALL)
        return lambda change: compiled.fullmatch(_facts(search, change).message.rstrip("\n")) is not None
    _require_words(value)
    return message_contains(search.host, value)


def _subject(search: Search, value: str) -> Predicate:
    if value.startswith("^"):
        fits = pattern(value)
        return lambda change: fits(_facts(search, change).subject)
    _require_words(value)
    return lambda change: contains_words(_facts(search, change).subject, words(value))


def _require_words(value: str) -> None:
    if not words(value):
        raise bad_request(f"Cannot create full-text query with value: {value}")


def _prefix_subject(search: Search, value: str) -> Predicate:
    return lambda change: _facts(search, change).subject.startswith(value)


def _comment(_: Search, value: str) -> Predicate:
    _require_words(value)
    wanted = words(value)

    def fits(change: Change) -> bool:
        texts = [item.text for item in change.messages] + [item.message for item in change.comments]
        return contains_words(" ".join(texts), wanted)

    return fits


def _path(search: Search, value: str) -> Predicate:
    fits = pattern(value)
    return lambda change: any(fits(path) for path in _paths(search, change))


def _file(search: Search, value: str) -> Predicate:
    if value.startswith("^"):
        return _path(search, value)
    return lambda change: any(value == path or value in path.split("/") for path in _paths(search, change))


def _directory(search: Search, value: str) -> Predicate:
    wanted = value.strip("/").lower()

    def fits(change: Change) -> bool:
        return any(path.lower().startswith(f"{wanted}/") or not wanted for path in _paths(search, change))

    return fits


def _extension_of(path: str) -> str:
    return path.rpartition("/")[2].rpartition(".")[2].lower() if "." in path.rpartition("/")[2] else ""


def _extension(search: Search, value: str) -> Predicate:
    wanted = value.removeprefix(".").lower()
    return lambda change: any(_extension_of(path) == wanted for path in _paths(search, change))


def _only_extensions(search: Search, value: str) -> Predicate:
    wanted = {part.strip().removeprefix(".").lower() for part in value.split(",")}
    return lambda change: {_extension_of(path) for path in _paths(search, change)} == wanted


def _lines(which: str) -> Operator:
    def operator(search: Search, value: str) -> Predicate:
        fits = compared(value)

        def counted(change: Change) -> bool:
            repository = search.host.repository(change.project)
            sizes = [size_of(repository, item) for item in _files(search, change)]
            added, deleted = sum(size.inserted for size in sizes), sum(size.deleted for size in sizes)
            return fits({"added": added, "deleted": deleted, "delta": added + deleted}[which])

        return counted

    return operator


def _footer(search: Search, value: str) -> Predicate:
    name, equals, text = value.partition("=")
    wanted = (f"{name}: {text}" if equals and ":" not in name else value).strip().lower()
    return lambda change: any(
        f"{found[0]}: {found[1].strip()}".lower() == wanted for found in _footers(_facts(search, change).message)
    )


def _has_footer(search: Search, value: str) -> Predicate:
    return lambda change: any(found[0] == value for found in _footers(_facts(search, change).message))


def _footers(message: str) -> list[tuple[str, str]]:
    return _FOOTER.findall(message.rstrip("\n").rpartition("\n\n")[2])


OPERATORS: dict[str, Operator] = {
    "message": _message,
    "m": _message,
    "description": _message,
    "d": _message,
    "subject": _subject,
    "prefixsubject": _prefix_subject,
    "comment": _comment,
    "file": _file,
    "f": _file,
    "path": _path,
    "directory": _directory,
    "dir": _directory,
    "extension": _extension,
    "ext": _extension,
    "onlyextensions": _only_extensions,
    "onlyexts": _only_extensions,
    "added": _lines("added"),
    "deleted": _lines("deleted"),
    "delta": _lines("delta"),
    "size": _lines("delta"),
    "footer": _footer,
    "hasfooter": _has_footer,
    "bug": lambda _, __: never,
    "tr": lambda _, __: never,
}
