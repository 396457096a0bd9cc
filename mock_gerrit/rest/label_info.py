"""Labels, votes and who may move them, in Gerrit's JSON."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from mock_gerrit.changes import Change, Vote
from mock_gerrit.entities import Account, Label
from mock_gerrit.rest.call import Call
from mock_gerrit.rest.formats import AccountInfo, timestamp, vote_name

if TYPE_CHECKING:
    from mock_gerrit.host import Host

Who = Callable[[int], AccountInfo]


def labels(call: Call, change: Change, who: Who, *, detailed: bool) -> dict[str, Any]:
    """Every label of the change's project with its votes."""
    return {
        label.name: _label(change, label, who, detailed=detailed)
        for label in sorted(call.host.labels(change.project).values(), key=lambda label: label.name)
    }


def _label(change: Change, label: Label, who: Who, *, detailed: bool) -> dict[str, Any]:
    votes = {id_: vote for (name, id_), vote in change.votes.items() if name == label.name}
    info: dict[str, Any] = {}
    value = _summary(votes, label, who, info)
    voters = [id_ for id_, state in change.reviewers.items() if state == "REVIEWER"]
    voters += [id_ for id_, vote in votes.items() if vote.value and id_ not in voters]
    everyone = [_approval(change, label, id_, votes.get(id_), who, detailed=detailed) for id_ in reversed(voters)]
    if everyone:
        info["all"] = everyone
    info["values"] = {vote_name(number): meaning for number, meaning in label.values}
    if label.description:
        info["description"] = label.description
    if value is not None and not detailed:
        info["value"] = value
    info["default_value"] = label.default
    info["optional"] = True
    return info


def _summary(votes: dict[int, Vote], label: Label, who: Who, info: dict[str, Any]) -> int | None:
    """Writes who decides the label; a number where it is neither approved nor rejected."""
    by_value = sorted(votes.items(), key=lambda item: item[1].value)
    highest = [id_ for id_, vote in by_value if vote.value == label.highest]
    lowest = [id_ for id_, vote in by_value if vote.value == label.lowest]
    if highest:
        info["approved"] = who(highest[0])
    if lowest:
        info["rejected"] = who(lowest[0])
    if highest or lowest:
        return None
    for word, ids in (
        ("disliked", [id_ for id_, vote in by_value if vote.value < 0]),
        ("recommended", [id_ for id_, vote in by_value if vote.value > 0]),
    ):
        if ids:
            info[word] = who(ids[-1])
            return votes[ids[-1]].value
    return None


def _approval(change: Change, label: Label, id_: int, vote: Vote | None, who: Who, *, detailed: bool) -> dict[str, Any]:
    info: dict[str, Any] = {}
    if vote is not None and vote.value:
        if vote.tag:
            info["tag"] = vote.tag
        info["value"] = vote.value
        info["date"] = timestamp(vote.granted)
    elif detailed:
        info["value"] = 0
    if detailed and change.is_open:
        info["permitted_voting_range"] = {"min": label.lowest, "max": label.highest}
    elif detailed and vote is not None and vote.value:
        info["permitted_voting_range"] = {"min": vote.value, "max": label.highest}
    return {**info, **who(id_)}


def permitted(host: Host, change: Change, user: Account) -> dict[str, list[str]]:
    """The votes somebody may give now; after the merge none below the one given."""
    result = {}
    if change.status == "ABANDONED":
        return result
    for label in sorted(host.labels(change.project).values(), key=lambda label: label.name):
        given = change.votes.get((label.name, user.id))
        least = (given.value if given else 0) if change.status == "MERGED" else label.lowest
        result[label.name] = [vote_name(value) for value, _ in label.values if value >= least]
    return result


def removable(call: Call, change: Change, who: Who) -> dict[str, dict[str, list[AccountInfo]]]:
    """The votes the caller may take away: their own, and all where they own the change or administer."""
    result: dict[str, dict[str, list[AccountInfo]]] = {}
    if not change.is_open or call.user is None:
        return result
    every = call.user.admin or call.user.id == change.owner
    for (name, id_), vote in change.votes.items():
        if vote.value and (every or id_ == call.user.id):
            result.setdefault(name, {}).setdefault(vote_name(vote.value), []).append(who(id_))
    return result


def removable_reviewers(call: Call, change: Change) -> list[int]:
    """The reviewers and CCs that the caller may take away."""
    if not change.is_open or call.user is None:
        return []
    every = call.user.admin or call.user.id == change.owner
    return [id_ for id_ in sorted(change.reviewers, reverse=True) if every or id_ == call.user.id]
