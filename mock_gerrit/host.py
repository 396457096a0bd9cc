"""One Gerrit host: everything it knows, and the builders that fill it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import deepcopy
from datetime import datetime
from hashlib import sha1
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from mock_gerrit import building
from mock_gerrit.addresses import authority_of, checked_url
from mock_gerrit.changes import Change, ChangeStatus
from mock_gerrit.entities import (
    CODE_REVIEW,
    CODE_REVIEW_REQUIREMENT,
    NO_UNRESOLVED_COMMENTS,
    SERVICE_USERS,
    Account,
    Group,
    Label,
    Plugin,
    Project,
    ProjectState,
    SubmitRequirement,
)
from mock_gerrit.repository import Repository

if TYPE_CHECKING:
    from mock_gerrit.plugins.api import Simulator
    from mock_gerrit.world import World

ALL_PROJECTS = "All-Projects"
ALL_USERS = "All-Users"
FIRST_ACCOUNT = 1_000_000
BUILT_IN = (CODE_REVIEW_REQUIREMENT, NO_UNRESOLVED_COMMENTS)


class Host:
    """A Gerrit host; made by `World.host`.

    It comes with the projects and groups that every Gerrit has, and with the account `admin` (password `secret`).

    Attributes:
        name: what the journal calls it.
        url, internal_url: its addresses, without a trailing slash.
        context_path: the path of `url`; empty, or beginning with a slash and not ending in one.
        accounts: by id. groups: by UUID. projects: by name. changes: by number. plugins: by id.
        repositories: the content of each project.
        operator_aliases: other names for change query operators (`operator-alias.change` of gerrit.config).
        forbid_plugin_list: True makes `/plugins/` answer 403 to administrators too.
    """

    def __init__(self, *, world: World, url: str, internal_url: str | None = None, name: str | None = None) -> None:
        self.world = world
        self.url = checked_url(url)
        self.internal_url = checked_url(internal_url) if internal_url else None
        self.context_path = urlsplit(self.url).path
        self.authority = urlsplit(self.url).netloc.lower()
        self.authorities = frozenset(map(authority_of, filter(None, (self.url, self.internal_url))))
        self.name = name or self.authority
        self.accounts: dict[int, Account] = {}
        self.groups: dict[str, Group] = {}
        self.projects: dict[str, Project] = {}
        self.repositories: dict[str, Repository] = {}
        self.changes: dict[int, Change] = {}
        self.plugins: dict[str, Plugin] = {}
        self.plugin_states: dict[str, dict[str, Any]] = {}
        self.operator_aliases: dict[str, str] = {}
        self.forbid_plugin_list = False
        self._hashes = 0
        self._last_account = FIRST_ACCOUNT - 1
        self._last_number = 0
        self._fill()

    def _fill(self) -> None:
        self.projects[ALL_PROJECTS] = Project(
            name=ALL_PROJECTS,
            parent=None,
            description="Access inherited by all other projects.",
            permissions_only=True,
            labels={CODE_REVIEW.name: CODE_REVIEW},
            requirements=BUILT_IN,
        )
        self.projects[ALL_USERS] = Project(
            name=ALL_USERS, description="Individual user settings and preferences.", permissions_only=True
        )
        self.repositories.update({ALL_PROJECTS: Repository(), ALL_USERS: Repository()})
        self.group("Administrators", description="Gerrit Site Administrators")
        self.group(SERVICE_USERS, description="Users who perform batch actions on Gerrit")
        self.account("admin", name="Administrator", email="admin@example.com", http_password="secret", admin=True)  # noqa: S106 - known to all

    def copy(self, world: World) -> Host:
        """The host in the same state, as part of another world."""
        twin = Host.__new__(Host)
        twin.__dict__.update(self.__dict__)
        twin.world = world
        twin.accounts = {key: account.copy() for key, account in self.accounts.items()}
        twin.groups = {key: group.copy() for key, group in self.groups.items()}
        twin.projects = {key: project.copy() for key, project in self.projects.items()}
        twin.repositories = {key: repository.copy() for key, repository in self.repositories.items()}
        twin.changes = {key: change.copy() for key, change in self.changes.items()}
        twin.plugins = {key: plugin.copy() for key, plugin in self.plugins.items()}
        twin.plugin_states = deepcopy(self.plugin_states)
        twin.operator_aliases = dict(self.operator_aliases)
        return twin

    def now(self) -> datetime:
        """The present as Gerrit stores it: to the second."""
        return self.world.clock().replace(microsecond=0)

    def new_hash(self, *parts: object) -> str:
        """Forty hex digits that this host has not handed out before; the same in every run of the same calls."""
        self._hashes += 1
        text = "\0".join(map(str, (self.world.seed, self.name, self._hashes, *parts)))
        return sha1(text.encode(), usedforsecurity=False).hexdigest()

    # Accounts and groups

    def account(
        self,
        username: str,
        *,
        name: str | None = None,
        email: str | None = None,
        http_password: str | None = None,
        cookie: str | None = None,
        admin: bool = False,
        may_view_plugins: bool | None = None,
        service_user: bool = False,
    ) -> Account:
        """Adds an account.

        Args:
            username: what it signs in with.
            name: the full name; else the user name with a capital.
            email: the preferred address; else `USERNAME@example.com`.
            http_password: what HTTP Basic accepts; without one it cannot sign in that way.
            cookie: a cookie pair (`name=value`; a bare value is one of the cookie `o`) that signs it in.
            admin: whether it is an administrator.
            may_view_plugins: whether `/plugins/` answers it; without a word, administrators only.
            service_user: whether it is a robot.

        Raises:
            ValueError: the user name or the address is taken, or empty.
        """
        return building.add_account(
            self,
            username,
            name=name,
            email=email,
            http_password=http_password,
            cookie=cookie,
            admin=admin,
            may_view_plugins=admin if may_view_plugins is None else may_view_plugins,
            service_user=service_user,
        )

    def account_of(self, who: Account | str | int) -> Account:
        """An account by itself, its user name or its id.

        Raises:
            ValueError: there is none on this host.
        """
        wanted = who.id if isinstance(who, Account) else who
        for account in self.accounts.values():
            if wanted in (account.id, account.username):
                return account
        known = ", ".join(sorted(account.username or str(account.id) for account in self.accounts.values()))
        raise ValueError(f"host {self.name!r} has no account {wanted!r}; it has {known}")

    def group(self, name: str, *, members: Iterable[Account | str] = (), description: str | None = None) -> Group:
        """Adds a group of accounts; ValueError where the name is taken or a member is not there."""
        if any(group.name == name for group in self.groups.values()):
            raise ValueError(f"host {self.name!r} already has a group {name!r}")
        added = Group(
            id=self.new_hash("group", name),
            number=len(self.groups) + 1,
            name=name,
            description=description,
            members={self.account_of(member).id for member in members},
        )
        self.groups[added.id] = added
        return added

    def group_named(self, name: str) -> Group | None:
        """The group of a name or UUID, or None."""
        return self.groups.get(name) or next((group for group in self.groups.values() if group.name == name), None)

    # Plugins

    def add_plugin(
        self,
        id_: str,
        *,
        version: str | None = None,
        disabled: bool = False,
        simulator: Simulator | None = None,
        canned: Mapping[str, Any] | None = None,
        content: bytes | None = None,
    ) -> Plugin:
        """Installs a plugin, or another version of it.

        Args:
            id_: the plugin's id.
            version: what the plugin list says; else the simulator's version, else `v3.13.0`.
            disabled: whether it is installed and switched off.
            simulator: the code that behaves like it; else the one found under its id, if there is one.
            canned: fixed answers by `METHOD path`.
            content: the source of a JavaScript plugin, which has no jar and no simulator.
        """
        return building.add_plugin(
            self, id_, version=version, disabled=disabled, simulator=simulator, canned=canned or {}, content=content
        )

    def remove_plugin(self, id_: str) -> None:
        """Uninstalls a plugin; ValueError where it is not installed."""
        if self.plugins.pop(id_, None) is None:
            raise ValueError(f"host {self.name!r} has no plugin {id_!r}; it has {', '.join(self.plugins) or 'none'}")

    def plugin_state(self, id_: str) -> dict[str, Any]:
        """What the simulator of a plugin keeps on this host: a mapping of its own, copied with the host."""
        return self.plugin_states.setdefault(id_, {})

    @property
    def enabled_plugins(self) -> list[Plugin]:
        """The plugins that are switched on, in order of id."""
        return [self.plugins[id_] for id_ in sorted(self.plugins) if not self.plugins[id_].disabled]

    # Projects and changes

    def project(
        self,
        name: str,
        *,
        parent: str = ALL_PROJECTS,
        branches: Iterable[str] = ("master",),
        description: str | None = None,
        state: ProjectState = "ACTIVE",
        files: Mapping[str, str | bytes] | None = None,
        labels: Iterable[Label] = (),
        requirements: Iterable[SubmitRequirement] = (),
        readers: Iterable[str] | None = None,
    ) -> Project:
        """Adds a project whose branches begin with one common commit.

        Args:
            name: may have slashes.
            parent: the project it inherits from.
            branches: short names; the first is HEAD.
            description: its description.
            state: a HIDDEN project answers 409, a READ_ONLY one takes no changes.
            files: what the first commit holds.
            labels: labels besides Code-Review.
            requirements: submit requirements besides the inherited ones.
            readers: user names that may read it; everybody when left out.

        Raises:
            ValueError: the name is taken or the parent is not there.
        """
        return building.add_project(
            self,
            name,
            parent=parent,
            branches=tuple(branches),
            description=description,
            state=state,
            files=files or {},
            labels=labels,
            requirements=tuple(requirements),
            readers=readers,
        )

    def repository(self, project: str) -> Repository:
        """The content of a project."""
        return self.repositories[project]

    def change(
        self,
        project: str,
        *,
        owner: Account | str | None = None,
        branch: str | None = None,
        subject: str | None = None,
        message: str | None = None,
        files: Mapping[str, str | bytes | None] | None = None,
        parent: Change | None = None,
        topic: str | None = None,
        hashtags: Iterable[str] = (),
        votes: Mapping[str, int | Mapping[str, int]] | None = None,
        reviewers: Iterable[Account | str] = (),
        cc: Iterable[Account | str] = (),
        comments: Iterable[Mapping[str, Any]] = (),
        wip: bool = False,
        private: bool = False,
        status: ChangeStatus = "NEW",
        number: int | None = None,
        change_id: str | None = None,
    ) -> Change:
        """Adds a change, as if it had been pushed for review.

        Args:
            project: the name of a project of this host.
            owner: who uploads it; else the first account that is no administrator.
            branch: the destination; else the project's HEAD.
            subject: the first line of the commit message.
            message: the whole commit message; a Change-Id footer is added where it has none.
            files: content by path, on top of what the parent has; None deletes a file.
            parent: the change it builds on; else the tip of the branch.
            topic: its topic.
            hashtags: its hashtags.
            votes: value by label, given by the first reviewer (else by another account than the owner); or by label and
                user name.
            reviewers: who is asked to review.
            cc: who is kept informed.
            comments: published comments: `path`, `message`, and as wanted `line`, `author`, `unresolved`.
            wip: work in progress.
            private: visible to owner and reviewers only.
            status: MERGED really merges the commit into the branch.
            number: its number; else the next one.
            change_id: `I` and 40 hex digits; else made up.

        Raises:
            ValueError: the project, branch, account or label is not there, the vote is out of range, the number is
                taken, or the change cannot be merged.
        """
        return building.add_change(
            self,
            building.Plan(
                project=project,
                owner=owner,
                branch=branch,
                subject=subject,
                message=message,
                files=files,
                parent=parent,
                topic=topic,
                hashtags=tuple(hashtags),
                votes=votes or {},
                reviewers=tuple(reviewers),
                cc=tuple(cc),
                comments=tuple(comments),
                wip=wip,
                private=private,
                status=status,
                number=number,
                change_id=change_id,
            ),
        )

    def patch_set(
        self,
        change: Change,
        *,
        files: Mapping[str, str | bytes | None] | None = None,
        message: str | None = None,
        uploader: Account | str | None = None,
        parent: Change | None = None,
        note: str | None = None,
    ) -> Change:
        """Uploads another patch set of a change, by its owner unless told otherwise.

        Args:
            change: the change.
            files: content by path on top of the current patch set's; None deletes a file.
            message: the new commit message; else the old one.
            uploader: who sends it.
            parent: the change it builds on from now on; else the same parent commit.
            note: the line a pusher may add with `-o m=`.
        """
        return building.add_patch_set(
            self, change, files=files or {}, message=message, uploader=uploader, parent=parent, note=note
        )

    def draw_number(self, wanted: int | None = None) -> int:
        """The number of a new change: the one wanted, else the next; that of a deleted change does not come back."""
        number = wanted or self._last_number + 1
        self._last_number = max(self._last_number, number)
        return number

    def draw_account_id(self) -> int:
        """The number of a new account; like Gerrit's, never one that was drawn before."""
        self._last_account += 1
        return self._last_account

    def ancestors(self, project: str) -> list[Project]:
        """A project and those it inherits from, nearest first."""
        line: list[Project] = []
        name: str | None = project
        while name and name in self.projects:
            line.append(self.projects[name])
            name = self.projects[name].parent
        return line

    def labels(self, project: str) -> dict[str, Label]:
        """The labels that hold in a project, inherited ones first."""
        merged: dict[str, Label] = {}
        for item in reversed(self.ancestors(project)):
            merged.update(item.labels)
        return merged

    def requirements(self, project: str) -> dict[str, SubmitRequirement]:
        """The submit requirements that hold in a project: its own first, those every Gerrit has last."""
        merged: dict[str, SubmitRequirement] = {}
        for item in self.ancestors(project):
            for requirement in sorted(item.requirements, key=BUILT_IN.__contains__):
                merged.setdefault(requirement.name, requirement)
        return merged
