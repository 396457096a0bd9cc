"""Who owns a path: the `OWNERS` files of a branch, as the find-owners backend reads them.

https://gerrit.googlesource.com/plugins/code-owners/+/master/resources/Documentation/backend-find-owners.md
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from posixpath import dirname, join

from mock_gerrit.entities import SERVICE_USERS, Account, Project
from mock_gerrit.host import Host
from mock_gerrit.plugins.code_owners.settings import Settings
from mock_gerrit.repository import full_branch_name, short_branch_name

FILE = "OWNERS"
EVERYBODY = "*"
_PER_FILE = re.compile(r"per-file\s+(?P<globs>[^=]+?)\s*=\s*(?P<owners>.+)")


@dataclass(frozen=True, kw_only=True)
class OwnersFile:
    """One `OWNERS` file.

    Attributes:
        path: absolute within the project, such as `/docs/OWNERS`.
        emails: who owns everything below its folder; `*` stands for everybody.
        per_file: who owns files of the folder that a pattern names.
        no_parent: whether the files above do not count below this folder.
    """

    path: str
    emails: tuple[str, ...] = ()
    per_file: tuple[tuple[str, tuple[str, ...]], ...] = ()
    no_parent: bool = False

    @property
    def every_email(self) -> set[str]:
        """Every address that the file names."""
        return {*self.emails, *(email for _, emails in self.per_file for email in emails)}

    def owners_of(self, path: str) -> tuple[str, ...]:
        """The addresses this file gives for a path below its folder."""
        folder = dirname(self.path)
        named = [
            email
            for pattern, emails in self.per_file
            if dirname(path) == folder and fnmatchcase(path.rpartition("/")[2], pattern)
            for email in emails
        ]
        return (*self.emails, *named)


def read_owners(path: str, text: str) -> OwnersFile:
    """An `OWNERS` file, read; lines of kinds that are not simulated are passed over."""
    emails: list[str] = []
    per_file: list[tuple[str, tuple[str, ...]]] = []
    no_parent = False
    for line in text.splitlines():
        rule = line.partition("#")[0].strip()
        found = _PER_FILE.fullmatch(rule)
        if found:
            owners = tuple(email.strip() for email in found["owners"].split(","))
            per_file += [(glob.strip(), owners) for glob in found["globs"].split(",")]
        elif rule == "set noparent":
            no_parent = True
        elif rule == EVERYBODY or ("@" in rule and " " not in rule):
            emails.append(rule)
    return OwnersFile(path=path, emails=tuple(emails), per_file=tuple(per_file), no_parent=no_parent)


@dataclass(frozen=True, kw_only=True)
class Ownership:
    """Who owns one path.

    Attributes:
        distances: how far from the path the nearest file stands that names an account, by account id; 1 is its folder.
        by_everybody: whether `*` makes everybody an owner.
        files: the `OWNERS` files that were looked at, the nearest first.
        global_emails: addresses that own every path of the project.
    """

    distances: dict[int, int] = field(default_factory=dict)
    by_everybody: bool = False
    files: tuple[OwnersFile, ...] = ()
    global_emails: tuple[str, ...] = ()

    def owns(self, account: int) -> bool:
        """Whether an account is an owner."""
        return self.by_everybody or account in self.distances


def owners_files(host: Host, project: str, branch: str) -> list[OwnersFile]:
    """Every `OWNERS` file of a branch, in order of path; none where there is no such branch."""
    repository = host.repository(project)
    tip = repository.branch(full_branch_name(branch))
    return [
        read_owners(f"/{path}", repository.content(entry).decode("utf-8", "replace"))
        for path, entry in sorted(repository.files(tip).items())
        if path.rpartition("/")[2] == FILE
    ]


def ownership(host: Host, project: str, branch: str, path: str) -> Ownership:
    """Who owns a path of a branch; the path is absolute, and need not be there."""
    by_path = {found.path: found for found in owners_files(host, project, branch)}
    distances: dict[int, int] = {}
    everybody = False
    looked_at: list[OwnersFile] = []
    for distance, folder in enumerate(_folders(path), start=1):
        found = by_path.get(join(folder, FILE))
        if found is None:
            continue
        looked_at.append(found)
        named = found.owners_of(path)
        everybody = everybody or EVERYBODY in named
        for account in accounts_of(host, named):
            distances.setdefault(account.id, distance)
        if found.no_parent:
            break
    global_emails = Settings.of(host, project).global_owners
    depth = path.count("/") + 1
    for account in accounts_of(host, global_emails):
        distances.setdefault(account.id, depth)
    return Ownership(
        distances=distances,
        by_everybody=everybody or EVERYBODY in global_emails,
        files=tuple(looked_at),
        global_emails=global_emails,
    )


def branch_name(project: Project, ref: str) -> str:
    """The short name of a branch that a path names by its ref, or as `HEAD`."""
    return project.head if ref == "HEAD" else short_branch_name(ref)


def absolute(path: str) -> str:
    """A path as the plugin names it, beginning with one slash."""
    return "/" + path.lstrip("/")


def _folders(path: str) -> Iterator[str]:
    """The folders of an absolute path, the innermost first."""
    folder = dirname(path)
    while True:
        yield folder
        if folder == "/":
            return
        folder = dirname(folder)


def accounts_of(host: Host, emails: tuple[str, ...]) -> list[Account]:
    """The active accounts of some addresses."""
    return [
        account for account in host.accounts.values() if account.active and not set(emails).isdisjoint(account.emails)
    ]


def everybody(host: Host) -> list[Account]:
    """Every active account of a person."""
    group = host.group_named(SERVICE_USERS)
    robots = group.members if group else set()
    return [account for account in host.accounts.values() if account.active and account.id not in robots]
