"""Filling a host by code: accounts, plugins, projects and changes as if people had made them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha1
from typing import TYPE_CHECKING, Any

from mock_gerrit import updates
from mock_gerrit.changes import Change, ChangeStatus, Comment, Vote
from mock_gerrit.entities import SERVICE_USERS, Account, Label, Plugin, Project, ProjectState, SubmitRequirement
from mock_gerrit.repository import REGULAR, FileEntry, Identity, Repository, full_branch_name, short_branch_name

if TYPE_CHECKING:
    from mock_gerrit.host import Host
    from mock_gerrit.plugins.api import Simulator

CHANGE_ID = re.compile(r"^Change-Id: *(I[0-9a-f]{40}) *$", re.MULTILINE)
GERRIT_VERSION = "3.13.0"
"""The Gerrit release that is simulated."""

GERRIT_IDENTITY = Identity(name="Gerrit Code Review", email="gerrit@example.org")
"""Who commits what no person does."""


def add_account(
    host: Host,
    username: str,
    *,
    name: str | None,
    email: str | None,
    http_password: str | None,
    cookie: str | None,
    admin: bool,
    may_view_plugins: bool,
    service_user: bool,
) -> Account:
    """See `Host.account`."""
    if not username:
        raise ValueError("an account needs a user name")
    address = email or f"{username}@example.com"
    for other in host.accounts.values():
        if other.username == username:
            raise ValueError(f"host {host.name!r} already has an account {username!r}")
        if address in other.emails:
            raise ValueError(f"{address} already belongs to account {other.username!r} of host {host.name!r}")
    account = Account(
        id=host.draw_account_id(),
        username=username,
        name=name or username.capitalize(),
        email=address,
        registered=host.now(),
        passwords={"legacy": http_password} if http_password else {},
        cookies={cookie if "=" in cookie else f"o={cookie}"} if cookie else set(),
        admin=admin,
        may_view_plugins=may_view_plugins,
    )
    host.accounts[account.id] = account
    for group_name, belongs in (("Administrators", admin), (SERVICE_USERS, service_user)):
        group = host.group_named(group_name)
        if belongs and group:
            group.members.add(account.id)
    return account


def add_plugin(
    host: Host,
    id_: str,
    *,
    version: str | None,
    disabled: bool,
    simulator: Simulator | None,
    canned: Mapping[str, Any],
    content: bytes | None,
) -> Plugin:
    """See `Host.add_plugin`."""
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", id_):
        raise ValueError(f"{id_!r} is no plugin id: letters, digits, '-', '_' and '.' only")
    if content is not None:
        plugin = Plugin(id=id_, version=version or "", api_version=None, disabled=disabled, content=content)
    else:
        code = simulator or _discovered(id_)
        plugin = Plugin(
            id=id_,
            version=version or (code.version if code else f"v{GERRIT_VERSION}"),
            disabled=disabled,
            simulator=code,
            canned=dict(canned),
        )
    host.plugins[id_] = plugin
    if plugin.simulator and plugin.simulator.install:
        plugin.simulator.install(host)
    return plugin


def _discovered(id_: str) -> Simulator | None:
    from mock_gerrit.plugins.api import discover  # noqa: PLC0415 - simulators import this package

    return discover(id_)


def add_project(
    host: Host,
    name: str,
    *,
    parent: str,
    branches: tuple[str, ...],
    description: str | None,
    state: ProjectState,
    files: Mapping[str, str | bytes],
    labels: Iterable[Label],
    requirements: tuple[SubmitRequirement, ...],
    readers: Iterable[str] | None,
) -> Project:
    """See `Host.project`."""
    if name in host.projects:
        raise ValueError(f"host {host.name!r} already has a project {name!r}")
    if parent not in host.projects:
        raise ValueError(f"parent {parent!r} of project {name!r} is no project of host {host.name!r}")
    project = Project(
        name=name,
        parent=parent,
        description=description,
        state=state,
        head=short_branch_name(branches[0]) if branches else "master",
        labels={label.name: label for label in labels},
        requirements=requirements,
        readers=frozenset(readers) if readers is not None else None,
    )
    repository = Repository()
    first = _commit_by_gerrit(host, repository, files, "Initial content" if files else "Initial empty repository")
    repository.refs.update({full_branch_name(branch): first for branch in branches})
    config = {"project.config": f"[access]\n\tinheritFrom = {parent}\n"}
    repository.refs["refs/meta/config"] = _commit_by_gerrit(host, repository, config, "Created project")
    host.projects[name] = project
    host.repositories[name] = repository
    return project


def _commit_by_gerrit(host: Host, repository: Repository, files: Mapping[str, str | bytes], subject: str) -> str:
    """A first commit, as Gerrit makes it for an administrator."""
    return repository.add_commit(
        with_files(repository, {}, files),
        parents=(),
        message=f"{subject}\n",
        author=Identity(name="Administrator", email="admin@example.com"),
        committer=GERRIT_IDENTITY,
        when=host.now(),
    )


def with_files(
    repository: Repository, base: Mapping[str, FileEntry], files: Mapping[str, str | bytes | None]
) -> dict[str, FileEntry]:
    """The files of `base` with others put on top; None deletes one.

    Raises:
        ValueError: a path is none that git could store.
    """
    result = dict(base)
    for path, content in files.items():
        if {"", ".", "..", ".git"} & set(path.split("/")):
            raise ValueError(f"{path!r} is no path of a file in a repository; write it like 'src/main.py'")
        if content is None:
            result.pop(path, None)
        else:
            raw = content.encode() if isinstance(content, str) else content
            result[path] = FileEntry(mode=REGULAR, blob=repository.add_blob(raw))
    return result


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What `Host.change` was asked for."""

    project: str
    owner: Account | str | None
    branch: str | None
    subject: str | None
    message: str | None
    files: Mapping[str, str | bytes | None] | None
    parent: Change | None
    topic: str | None
    hashtags: tuple[str, ...]
    votes: Mapping[str, int | Mapping[str, int]]
    reviewers: tuple[Account | str, ...]
    cc: tuple[Account | str, ...]
    comments: tuple[Mapping[str, Any], ...]
    wip: bool
    private: bool
    status: ChangeStatus
    number: int | None
    change_id: str | None


def add_change(host: Host, plan: Plan) -> Change:
    """See `Host.change`."""
    project = host.projects.get(plan.project)
    if project is None:
        known = ", ".join(sorted(host.projects))
        raise ValueError(f"host {host.name!r} has no project {plan.project!r}; it has {known}")
    if plan.number in host.changes:
        raise ValueError(f"host {host.name!r} already has a change {plan.number}")
    owner = host.account_of(plan.owner) if plan.owner is not None else _default_owner(host)
    branch = short_branch_name(plan.branch or (plan.parent.branch if plan.parent else project.head))
    number = host.draw_number(plan.number)
    change_id, commit = _first_commit(host, plan, owner, branch, number=number)
    change = updates.open_change(
        host,
        owner,
        project=project.name,
        branch=branch,
        change_id=change_id,
        commit=commit,
        number=number,
        topic=plan.topic,
        hashtags=plan.hashtags,
        wip=plan.wip,
        private=plan.private,
    )
    _decorate(host, change, plan)
    return change


def _first_commit(host: Host, plan: Plan, owner: Account, branch: str, *, number: int) -> tuple[str, str]:
    """Stores the commit of a new change; its Change-Id and its hash."""
    repository = host.repository(plan.project)
    base = plan.parent.current.commit if plan.parent else repository.branch(branch)
    if base is None:
        raise ValueError(f"project {plan.project!r} of host {host.name!r} has no branch {branch!r}")
    message = _message(plan, number)
    change_id = plan.change_id or _change_id_in(message) or _new_change_id(host, number)
    if _change_id_in(f"Change-Id: {change_id}") is None:
        raise ValueError(f"{change_id!r} is no Change-Id: 'I' and 40 hex digits in small letters")
    if _change_id_in(message) not in {None, change_id}:
        raise ValueError(f"the message has Change-Id {_change_id_in(message)}, change_id= says {change_id}")
    commit = repository.add_commit(
        with_files(repository, repository.files(base), _default_files(plan, number)),
        parents=(base,),
        message=with_change_id(message, change_id),
        author=identity_of(owner),
        committer=identity_of(owner),
        when=host.now(),
    )
    return change_id, commit


def _default_files(plan: Plan, number: int) -> Mapping[str, str | bytes | None]:
    return plan.files if plan.files is not None else {f"change-{number}.txt": f"{plan.subject or 'A change'}\n"}


def _default_owner(host: Host) -> Account:
    people = [account for account in host.accounts.values() if not account.admin]
    return (people or list(host.accounts.values()))[0]


def _message(plan: Plan, number: int) -> str:
    if plan.message and plan.subject and not plan.message.startswith(plan.subject):
        return f"{plan.subject}\n\n{plan.message}"
    return plan.message or plan.subject or f"Change {number} of {plan.project}"


def _change_id_in(message: str) -> str | None:
    found: list[str] = CHANGE_ID.findall(message)
    return found[-1] if found else None


def _new_change_id(host: Host, number: int) -> str:
    return "I" + sha1(f"{host.world.seed}/{host.name}/{number}".encode(), usedforsecurity=False).hexdigest()


def with_change_id(message: str, change_id: str) -> str:
    """A commit message that ends in a Change-Id footer, joining footers that are there already."""
    if _change_id_in(message):
        return message if message.endswith("\n") else message + "\n"
    body = message.rstrip("\n")
    last = body.rpartition("\n\n")
    has_footers = bool(last[1]) and all(re.match(r"^[A-Za-z0-9-]+: ", line) for line in last[2].splitlines())
    return f"{body}\n{'' if has_footers else chr(10)}Change-Id: {change_id}\n"


def identity_of(account: Account) -> Identity:
    """Who an account is in a commit."""
    return Identity(name=account.label, email=account.email or f"{account.username}@unknown")


def _decorate(host: Host, change: Change, plan: Plan) -> None:
    owner = host.accounts[change.owner]
    for state, people in (("CC", plan.cc), ("REVIEWER", plan.reviewers)):
        for who in people:
            updates.set_reviewer(host, change, host.account_of(who), "CC" if state == "CC" else "REVIEWER", by=owner)
    for label, given in plan.votes.items():
        by_name = given if isinstance(given, Mapping) else {_default_voter(host, change): given}
        for username, value in by_name.items():
            _vote(host, change, label, host.account_of(username), value)
    for comment in plan.comments:
        _comment(host, change, comment)
    if plan.status == "ABANDONED":
        updates.abandon(host, change, owner)
    elif plan.status == "MERGED":
        _merge(host, change)


def _default_voter(host: Host, change: Change) -> str:
    asked = [host.accounts[id_] for id_, state in change.reviewers.items() if state == "REVIEWER"]
    others = [account for account in host.accounts.values() if account.id != change.owner]
    people = [account for account in others if not account.admin]
    return str((asked or people or others or list(host.accounts.values()))[0].username)


def _vote(host: Host, change: Change, name: str, voter: Account, value: int) -> None:
    label = host.labels(change.project).get(name)
    if label is None:
        known = ", ".join(host.labels(change.project))
        raise ValueError(f"project {change.project!r} has no label {name!r}; it has {known}")
    if not label.lowest <= value <= label.highest:
        raise ValueError(f"{name} takes {label.lowest} to {label.highest:+d}, not {value:+d}")
    if voter.id == change.owner:
        change.reviewers.setdefault(voter.id, "REVIEWER")
    else:
        updates.set_reviewer(host, change, voter, "REVIEWER", by=voter)
    change.votes[name, voter.id] = Vote(value=value, granted=host.now(), patch_set=change.current.number)
    updates.record(host, change, voter, f"Patch Set {change.current.number}: {name}{value:+d}")


def _comment(host: Host, change: Change, facts: Mapping[str, Any]) -> None:
    unknown = facts.keys() - {"path", "message", "line", "author", "unresolved", "patch_set", "in_reply_to"}
    if unknown or "message" not in facts:
        raise ValueError(
            f"a comment has message, and path, line, author, unresolved, patch_set, in_reply_to: {facts!r}"
        )
    author = host.account_of(facts["author"]) if "author" in facts else host.account_of(_default_voter(host, change))
    entry = updates.record(host, change, author, f"Patch Set {change.current.number}:\n\n(1 comment)")
    change.comments.append(
        Comment(
            id=entry.id[:8] + "_" + entry.id[8:16],
            path=str(facts.get("path", "/PATCHSET_LEVEL")),
            patch_set=int(facts.get("patch_set", change.current.number)),
            author=author.id,
            updated=entry.date,
            message=str(facts["message"]),
            line=facts.get("line"),
            unresolved=bool(facts.get("unresolved", False)),
            in_reply_to=facts.get("in_reply_to"),
            message_id=entry.id,
        )
    )


def _merge(host: Host, change: Change) -> None:
    from mock_gerrit import submitting  # noqa: PLC0415 - submitting builds commits with this module

    submitting.merge([change], host, host.accounts[change.owner])


def add_patch_set(
    host: Host,
    change: Change,
    *,
    files: Mapping[str, str | bytes | None],
    message: str | None,
    uploader: Account | str | None,
    parent: Change | None,
    note: str | None,
) -> Change:
    """See `Host.patch_set`."""
    repository = host.repository(change.project)
    who = host.account_of(uploader if uploader is not None else change.owner)
    before = repository.facts(change.current.commit)
    base = (parent.current.commit,) if parent else before.parents
    commit = repository.add_commit(
        with_files(repository, repository.files(before.sha), files),
        parents=base,
        message=with_change_id(message, change.change_id) if message else before.message,
        author=before.author,
        committer=identity_of(who),
        when=host.now(),
        authored=before.authored,
    )
    updates.add_patch_set(host, change, commit, who, note=note)
    return change
