"""Who and what a host knows besides its changes: accounts, groups, labels, projects, plugins."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

from mock_gerrit.changes import Kind

if TYPE_CHECKING:
    from mock_gerrit.plugins.api import Simulator

ProjectState = Literal["ACTIVE", "READ_ONLY", "HIDDEN"]
SubmitType = Literal[
    "MERGE_IF_NECESSARY", "FAST_FORWARD_ONLY", "REBASE_IF_NECESSARY", "REBASE_ALWAYS", "MERGE_ALWAYS", "CHERRY_PICK"
]
SERVICE_USERS = "Service Users"
"""The group whose members are shown as robots."""


@dataclass(kw_only=True)
class Account:
    """Somebody who can sign in.

    Attributes:
        id: Gerrit's number for the account.
        username: the name used to sign in.
        passwords: what HTTP Basic accepts, by token id; the one given when building is `legacy`.
        cookies: `Cookie` pairs (`name=value`) that sign this account in.
        admin: True for a member of Administrators.
        may_view_plugins: whether `/plugins/` answers; as in Gerrit only for administrators unless granted.
        secondary_emails: more addresses; `email` is the preferred one.
        registered: when the account was made.
    """

    id: int
    username: str | None
    name: str | None = None
    email: str | None = None
    registered: datetime
    passwords: dict[str, str] = field(default_factory=dict)
    cookies: set[str] = field(default_factory=set)
    admin: bool = False
    may_view_plugins: bool = False
    active: bool = True
    status: str | None = None
    display_name: str | None = None
    secondary_emails: tuple[str, ...] = ()
    stars: set[int] = field(default_factory=set)

    @property
    def label(self) -> str:
        """How Gerrit names an account in its messages: `Ada Example`, else the user name, else the number."""
        return self.name or self.username or f"Name of user not set #{self.id}"

    @property
    def emails(self) -> tuple[str, ...]:
        """Every address of the account, the preferred one first."""
        return ((self.email,) if self.email else ()) + self.secondary_emails

    def copy(self) -> Account:
        """An account that can be changed without the original seeing it."""
        return replace(self, passwords=dict(self.passwords), cookies=set(self.cookies), stars=set(self.stars))


@dataclass(kw_only=True)
class Group:
    """A named set of accounts.

    Attributes:
        id: the group's UUID (40 hex digits).
        number: Gerrit's number for it.
        members: account ids.
    """

    id: str
    number: int
    name: str
    description: str | None = None
    members: set[int] = field(default_factory=set)
    owner: str = "Administrators"

    def copy(self) -> Group:
        """A group that can be changed without the original seeing it."""
        return replace(self, members=set(self.members))


@dataclass(frozen=True, kw_only=True)
class Label:
    """A label that reviewers vote on.

    Attributes:
        values: the meaning of each vote, lowest first.
        description: what the label is about, where the project says so.
        copied: the kinds of new patch sets that votes survive.
        copies_lowest: whether the most negative vote survives any new patch set.
    """

    name: str
    values: tuple[tuple[int, str], ...]
    description: str | None = None
    default: int = 0
    copied: frozenset[Kind] = frozenset({"NO_CHANGE", "NO_CODE_CHANGE"})
    copies_lowest: bool = False

    def keeps(self, value: int, kind: Kind) -> bool:
        """Whether a vote survives a new patch set of a kind."""
        return kind in self.copied or (self.copies_lowest and value == self.lowest)

    @property
    def lowest(self) -> int:
        """The most negative vote."""
        return self.values[0][0]

    @property
    def highest(self) -> int:
        """The most positive vote."""
        return self.values[-1][0]


CODE_REVIEW = Label(
    name="Code-Review",
    values=(
        (-2, "This shall not be submitted"),
        (-1, "I would prefer this is not submitted as is"),
        (0, "No score"),
        (1, "Looks good to me, but someone else must approve"),
        (2, "Looks good to me, approved"),
    ),
    copied=frozenset({"NO_CHANGE", "TRIVIAL_REBASE"}),
    copies_lowest=True,
)
"""The label every Gerrit comes with."""


@dataclass(frozen=True, kw_only=True)
class SubmitRequirement:
    """A condition a change must meet before it can be submitted; the expressions are change queries."""

    name: str
    submittable_if: str
    description: str | None = None
    applicable_if: str | None = None
    override_if: str | None = None


CODE_REVIEW_REQUIREMENT = SubmitRequirement(
    name="Code-Review",
    description="Changes must have at least one MAX Code-Review vote and no MIN to be submittable.",
    submittable_if="label:Code-Review=MAX AND -label:Code-Review=MIN",
)
"""The requirement every Gerrit comes with."""

NO_UNRESOLVED_COMMENTS = SubmitRequirement(
    name="No-Unresolved-Comments",
    description="Changes that have unresolved comments are not submittable.",
    applicable_if="has:unresolved",
    submittable_if="-has:unresolved",
)
"""The other requirement every Gerrit comes with."""


@dataclass(kw_only=True)
class Project:
    """A project: its settings; its content is in the host's repository of the same name.

    Attributes:
        parent: the project it inherits from; None for All-Projects only.
        labels: labels that this project adds to those it inherits.
        requirements: submit requirements that this project adds.
        readers: user names that may read it; None when everybody may.
        uploaders: user names that may push and create changes; None when every registered user may.
        settings: entries of configuration files in refs/meta/config by path, for plugins to read.
    """

    name: str
    parent: str | None = "All-Projects"
    description: str | None = None
    state: ProjectState = "ACTIVE"
    submit_type: SubmitType = "MERGE_IF_NECESSARY"
    permissions_only: bool = False
    head: str = "master"
    labels: dict[str, Label] = field(default_factory=dict)
    requirements: tuple[SubmitRequirement, ...] = ()
    readers: frozenset[str] | None = None
    uploaders: frozenset[str] | None = None
    settings: dict[str, str] = field(default_factory=dict)

    def copy(self) -> Project:
        """A project that can be changed without the original seeing it."""
        return replace(self, labels=dict(self.labels), settings=dict(self.settings))


@dataclass(kw_only=True)
class Plugin:
    """A plugin as a host has it.

    Attributes:
        version: what its jar says; empty for a plugin of one JavaScript file.
        api_version: the Gerrit it was built for; None for JavaScript.
        simulator: the code that behaves like the plugin; None when only its presence matters.
        canned: fixed answers by `METHOD path` for a plugin without a simulator.
        content: the source of a JavaScript plugin.
        says_enabled: whether its entry in the list has `"disabled": false`, which Gerrit 3.13 leaves out.
    """

    id: str
    version: str
    api_version: str | None = "3.13.0"
    disabled: bool = False
    simulator: Simulator | None = None
    canned: dict[str, Any] = field(default_factory=dict)
    content: bytes | None = None
    says_enabled: bool = False

    @property
    def filename(self) -> str:
        """The file in the site's plugin folder."""
        name = f"{self.id}.js" if self.content is not None else f"{self.id}.jar"
        return f"{name}.disabled" if self.disabled else name

    def copy(self) -> Plugin:
        """A plugin that can be switched off without the original seeing it."""
        return replace(self)
