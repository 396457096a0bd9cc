"""Submitting: which changes go together, what keeps them from it, and the merge itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mock_gerrit import updates
from mock_gerrit.building import GERRIT_IDENTITY, identity_of
from mock_gerrit.changes import Change, PatchSet
from mock_gerrit.entities import Account
from mock_gerrit.errors import conflict
from mock_gerrit.merging import MergeConflict, applied_on, merge_files
from mock_gerrit.plugins.contributions import submit_verdicts
from mock_gerrit.repository import CommitFacts, Repository, full_branch_name
from mock_gerrit.submittability import judge

if TYPE_CHECKING:
    from mock_gerrit.host import Host

PATH_CONFLICT = (
    "Change could not be merged due to a path conflict. Please rebase the change locally and upload the rebased commit "
    "for review."
)


def changes_by_commit(host: Host, project: str, branch: str) -> dict[str, Change]:
    """The changes of a branch by the commit of any of their patch sets."""
    return {
        item.commit: change
        for change in host.changes.values()
        if change.project == project and change.branch == branch
        for item in change.patch_sets
    }


def open_ancestors(host: Host, change: Change) -> list[Change]:
    """The open changes that a change builds on and that are not in the branch yet, nearest first."""
    repository = host.repository(change.project)
    tip = repository.branch(change.branch)
    merged = repository.history(tip) if tip else set()
    known = changes_by_commit(host, change.project, change.branch)
    found: list[Change] = []
    waiting = list(repository.facts(change.current.commit).parents)
    for sha in waiting:
        if sha in merged:
            continue
        other = known.get(sha)
        if other is not None and other.is_open and other is not change and other not in found:
            found.append(other)
        waiting.extend(repository.facts(sha).parents)
    return found


def together(host: Host, change: Change, *, whole_topic: bool = False) -> list[Change]:
    """What would be submitted with an open change, itself first; with `whole_topic` also all of its topic."""
    found = [change, *open_ancestors(host, change)]
    if whole_topic:
        for item in list(found):
            for other in _of_topic(host, item):
                found += [new for new in (other, *open_ancestors(host, other)) if new not in found]
    return found


def _of_topic(host: Host, change: Change) -> list[Change]:
    if not change.topic:
        return []
    return [other for other in host.changes.values() if other.is_open and other.topic == change.topic]


def hindrances(host: Host, changes: list[Change], submitted: Change) -> dict[int, str]:
    """What keeps each change from being submitted, by number."""
    problems: dict[int, str] = {}
    for change in changes:
        problem = _problem(host, change)
        if problem is None:
            continue
        if change is submitted:
            said = problem if change.wip else f"Change {change.number} is not ready: {problem}"
        else:
            must = f"Change {submitted.number} must be submitted with change {change.number}"
            said = f"{must} but {change.number} is not ready: {problem}"
        problems[change.number] = said
    return problems


def _problem(host: Host, change: Change) -> str | None:
    if change.wip:
        return f"Change {change.number} is marked work in progress"
    missing = [verdict.requirement.name for verdict in judge(host, change) if not verdict.lets_pass]
    missing += [verdict.rule for _, verdict in submit_verdicts(host, change) if verdict.status != "OK"]
    return f"submit requirement '{missing[0]}' is unsatisfied." if missing else None


def submit(host: Host, change: Change, submitter: Account) -> None:
    """Merges a change and all open ones it builds on.

    Raises:
        GerritError: 409 naming every change of these that may not be merged, or cannot.
    """
    changes = together(host, change)
    problems = hindrances(host, changes, change)
    if problems:
        raise _failure(len(changes), problems)
    merge(changes, host, submitter)


def _failure(count: int, problems: dict[int, str]) -> Exception:
    lines = [f"Failed to submit {count} change{'s' if count > 1 else ''} due to the following problems:"]
    lines += [f"Change {number}: {problems[number]}" for number in sorted(problems)]
    return conflict("\n".join(lines))


def merge(changes: list[Change], host: Host, submitter: Account) -> None:
    """Merges changes, the ones built upon first, without asking whether they may be.

    Raises:
        GerritError: 409 where a change does not fit the branch; nothing is merged then.
    """
    before = {change.project: dict(host.repository(change.project).refs) for change in changes}
    submission = _submission_id(changes)
    try:
        merged = [(change, _merge_one(host, change, submitter)) for change in reversed(changes)]
    except MergeConflict:
        for project, refs in before.items():
            host.repository(project).refs = refs
        raise _failure(len(changes), {changes[0].number: PATH_CONFLICT}) from None
    for change, text in merged:
        _close(host, change, submitter, submission, text)


def _submission_id(changes: list[Change]) -> str:
    number = max(change.number for change in changes)
    topic = changes[0].topic
    return f"{number}-{topic}" if topic else str(number)


def _merge_one(host: Host, change: Change, submitter: Account) -> str:
    """Moves the branch so that it has the change; what the log will say."""
    repository = host.repository(change.project)
    ref = full_branch_name(change.branch)
    tip, commit = repository.refs.get(ref), change.current.commit
    kind = host.projects[change.project].submit_type
    fits = tip is None or repository.is_ancestor(tip, commit)
    if fits and kind not in {"MERGE_ALWAYS", "CHERRY_PICK", "REBASE_ALWAYS"}:
        repository.refs[ref] = commit
        return "Change has been successfully merged"
    if tip is None or repository.is_ancestor(commit, tip):
        return "Change has been successfully merged"
    if kind == "FAST_FORWARD_ONLY":
        raise MergeConflict([change.branch])
    if kind in {"CHERRY_PICK", "REBASE_ALWAYS", "REBASE_IF_NECESSARY"}:
        repository.refs[ref] = _pick(host, change, tip, submitter)
        word = "cherry-picked" if kind == "CHERRY_PICK" else "rebased and submitted"
        return f"Change has been successfully {word} as {repository.refs[ref]}"
    repository.refs[ref] = _merge_commit(host, repository, change, tip, submitter)
    return "Change has been successfully merged"


def _merge_commit(host: Host, repository: Repository, change: Change, tip: str, submitter: Account) -> str:
    commit = change.current.commit
    into = "" if change.branch == host.projects[change.project].head else f" into {change.branch}"
    return repository.add_commit(
        merge_files(repository, repository.merge_base(tip, commit), tip, commit),
        parents=(tip, commit),
        message=f'Merge "{repository.facts(commit).subject}"{into}\n',
        author=identity_of(submitter),
        committer=GERRIT_IDENTITY,
        when=host.now(),
    )


def _pick(host: Host, change: Change, tip: str, submitter: Account) -> str:
    """The change's commit on top of the branch, as a new patch set."""
    repository = host.repository(change.project)
    facts: CommitFacts = repository.facts(change.current.commit)
    commit = repository.add_commit(
        applied_on(repository, facts.sha, tip),
        parents=(tip,),
        message=facts.message,
        author=facts.author,
        committer=identity_of(submitter),
        when=host.now(),
        authored=facts.authored,
    )
    added = PatchSet(number=change.current.number + 1, commit=commit, uploader=submitter.id, created=host.now())
    change.patch_sets.append(added)
    repository.refs[updates.patch_set_ref(change.number, added.number)] = commit
    return commit


def _close(host: Host, change: Change, submitter: Account, submission: str, text: str) -> None:
    updates.clear_attention(host, change, "Change was submitted")
    if submitter.id != change.owner and change.reviewers.get(submitter.id) != "REVIEWER":
        updates.set_reviewer(host, change, submitter, "REVIEWER", by=submitter)
    change.status = "MERGED"
    change.submitted = host.now()
    change.submitter = submitter.id
    change.submission_id = submission
    updates.record(host, change, submitter, text, tag=updates.AUTO + "merged")
