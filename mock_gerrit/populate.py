"""Hosts full of invented people, projects and changes, for trying things out at some size; needs the extra `worlds`.

Nothing else imports this module; faker costs too much to load for those who do not ask for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import count
from random import Random
from typing import Any

from faker import Faker

from mock_gerrit.changes import ChangeStatus
from mock_gerrit.entities import Account
from mock_gerrit.host import Host

_FOLDERS = ("src", "tests", "docs", "tools")
_VERBS = ("Add", "Remove", "Fix", "Rename", "Speed up", "Document", "Test", "Simplify")


def populate(host: Host, *, people: int = 5, projects: int = 3, changes: int = 20, seed: int = 0) -> Host:
    """Fill a host, beside what it has.

    Args:
        host: the host.
        people: how many accounts; the password of each is `USERNAME-secret`, and all may see the plugins.
        projects: how many projects, each with a few files.
        changes: how many changes by these people in these projects: open, merged, abandoned, in progress, with votes.
        seed: the same seed and the same release of faker give the same host.

    Returns:
        the host.

    Raises:
        ValueError: changes are wanted and nobody could make them, or nowhere.
    """
    if changes and not (people and projects):
        raise ValueError(f"changes={changes} need people and projects, got people={people}, projects={projects}")
    invented = _Inventor(host, seed)
    crowd = [invented.person() for _ in range(people)]
    names = [invented.project() for _ in range(projects)]
    for _ in range(changes):
        invented.change(crowd, names)
    return host


class _Inventor:
    def __init__(self, host: Host, seed: int) -> None:
        self._host = host
        self._chance = Random(seed)  # noqa: S311 - repeatable on purpose
        self._faker = Faker("en_US")
        self._faker.seed_instance(seed)

    def person(self) -> Account:
        name = f"{self._faker.first_name()} {self._faker.last_name()}"
        taken = {account.username for account in self._host.accounts.values()}
        username = _free(re.sub(r"\W+", ".", name.lower()), taken)
        return self._host.account(
            username,
            name=name,
            email=f"{username}@example.com",
            http_password=f"{username}-secret",
            may_view_plugins=True,
        )

    def project(self) -> str:
        wanted = f"{self._faker.word()}/{self._faker.word()}"
        name = _free(wanted, set(self._host.projects))
        files = {self._path(): self._text() for _ in range(self._chance.randint(2, 5))}
        self._host.project(name, description=self._faker.sentence(), files=files, branches=("master", "stable"))
        return name

    def change(self, crowd: list[Account], projects: list[str]) -> None:
        owner = self._chance.choice(crowd)
        others = [person for person in crowd if person is not owner]
        reviewers = self._chance.sample(others, k=min(len(others), self._chance.randint(0, 2)))
        status: ChangeStatus = self._chance.choices(("NEW", "MERGED", "ABANDONED"), weights=(6, 3, 1))[0]
        facts: dict[str, Any] = {"wip": self._chance.random() < 0.1} if status == "NEW" else {}
        self._host.change(
            self._chance.choice(projects),
            owner=owner,
            subject=f"{self._chance.choice(_VERBS)} {self._faker.word()} {self._faker.word()}",
            files={self._path(): self._text()},
            topic=self._faker.word() if self._chance.random() < 0.3 else None,
            hashtags=(self._faker.word(),) if self._chance.random() < 0.2 else (),
            reviewers=reviewers,
            votes={"Code-Review": {one.username or "": self._chance.choice((-1, 1, 2)) for one in reviewers}},
            status=status,
            **facts,
        )

    def _path(self) -> str:
        return f"{self._chance.choice(_FOLDERS)}/{self._faker.word()}_{self._faker.word()}.txt"

    def _text(self) -> str:
        return "".join(f"{self._faker.sentence()}\n" for _ in range(self._chance.randint(2, 6)))


def _free(wanted: str, taken: set[str] | set[str | None]) -> str:
    """The wanted name, or with the first number behind it that makes it a new one."""
    return next(name for name in _numbered(wanted) if name not in taken)


def _numbered(wanted: str) -> Iterator[str]:
    yield wanted
    yield from (f"{wanted}{number}" for number in count(2))
