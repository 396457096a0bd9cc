"""New changes and patch sets that people make through REST: from scratch, as a revert, by rebase or cherry-pick."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from mock_gerrit import updates
from mock_gerrit.building import CHANGE_ID, GERRIT_IDENTITY, identity_of, with_change_id
from mock_gerrit.changes import Change, ServerMerge
from mock_gerrit.entities import Account
from mock_gerrit.merging import merge_files
from mock_gerrit.repository import FileEntry, Identity

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mock_gerrit.host import Host

_REVERT_OF_REVERT = re.compile(r'^Revert(?:\^(?P<count>\d+))? "(?P<subject>.*)"$', re.DOTALL)


def draw_change_id(host: Host) -> str:
    """A Change-Id that no change has."""
    return f"I{host.new_hash('change-id')}"


def create(
    host: Host,
    owner: Account,
    *,
    project: str,
    branch: str,
    base: str | None,
    message: str,
    files: Mapping[str, FileEntry] | None = None,
    author: Identity | None = None,
    topic: str | None = None,
    wip: bool = False,
    private: bool = False,
    merged: bool = True,
) -> Change:
    """A change with one commit on `base`; without files one that changes nothing.

    `merged` is whether Gerrit notes how the commit was merged; of a patch it does not.
    """
    repository = host.repository(project)
    found: list[str] = CHANGE_ID.findall(message)
    change_id = found[-1] if found else draw_change_id(host)
    commit = repository.add_commit(
        repository.files(base) if files is None else files,
        parents=(base,) if base else (),
        message=message if found else with_change_id(message, change_id),
        author=author or identity_of(owner),
        committer=identity_of(owner),
        when=host.now(),
    )
    return updates.open_change(
        host,
        owner,
        project=project,
        branch=branch,
        change_id=change_id,
        commit=commit,
        topic=topic,
        wip=wip,
        private=private,
        merge=ServerMerge() if merged else None,
    )


def revert(
    host: Host,
    change: Change,
    owner: Account,
    *,
    message: str | None = None,
    topic: str | None = None,
    wip: bool = False,
    base: str | None = None,
    submission: str | None = None,
) -> Change:
    """A new change that takes a merged one back.

    Args:
        host: the host of the change.
        change: what to take back.
        owner: who does it.
        message: the commit message; else Gerrit's own words.
        topic: the topic of the new change.
        wip: whether it is work in progress.
        base: the commit to build on; else the one to take back.
        submission: set where a whole submission is reverted: its id, for the message.

    Raises:
        MergeConflict: `base` touches the same lines.
    """
    repository = host.repository(change.project)
    merged = repository.facts(change.current.commit)
    before = merged.parents[0] if merged.parents else None
    tip = base or merged.sha
    files = merge_files(repository, merged.sha, tip, before) if base and before else repository.files(before)
    text = message or default_revert_message(host, change, submission=submission)
    change_id = draw_change_id(host)
    commit = repository.add_commit(
        files,
        parents=(tip,),
        message=with_change_id(text, change_id),
        author=identity_of(owner),
        committer=GERRIT_IDENTITY,
        when=host.now(),
    )
    made = updates.open_change(
        host,
        owner,
        project=change.project,
        branch=change.branch,
        change_id=change_id,
        commit=commit,
        topic=topic,
        wip=wip,
        text="Uploaded patch set 1.",
        revert_of=change.number,
        merge=ServerMerge(),
    )
    _ask_those_concerned(host, change, made, owner)
    made.messages[0] = replace(made.messages[0], id=made.meta_revision)
    if not wip:
        updates.record(
            host, change, owner, f"Created a revert of this change as {change_id}", tag=updates.AUTO + "revert"
        )
    return made


def default_revert_message(host: Host, change: Change, *, submission: str | None = None) -> str:
    """What Gerrit writes when nobody gives a reason."""
    facts = host.repository(change.project).facts(change.current.commit)
    body = f"This reverts commit {facts.sha}."
    if submission is not None:
        subject = f'Revert "{facts.subject}"'
        return f"{subject}\n\nRevert submission {submission}\n\nReason for revert: <INSERT REASONING HERE>\n\n{body}"
    return f"{revert_subject(facts.subject)}\n\n{body}"


def revert_subject(subject: str) -> str:
    """`Revert "x"`; of a revert `Revert^2 "x"`, and so on."""
    found = _REVERT_OF_REVERT.match(subject)
    if found is None:
        return f'Revert "{subject}"'
    return f'Revert^{int(found["count"] or 1) + 1} "{found["subject"]}"'


def _ask_those_concerned(host: Host, change: Change, made: Change, owner: Account) -> None:
    """The owner and reviewers of what is taken back review the revert."""
    concerned = [change.owner, *(who for who, state in change.reviewers.items() if state == "REVIEWER")]
    for who in sorted(set(concerned)):
        if who != owner.id:
            updates.set_reviewer(host, made, host.accounts[who], "REVIEWER", by=owner)
    for who, state in change.reviewers.items():
        if state == "CC" and who not in made.reviewers and who != owner.id:
            updates.set_reviewer(host, made, host.accounts[who], "CC", by=owner)
