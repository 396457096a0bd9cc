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
    shown = sorted(voters, reverse=True)
    everyone = [_approval(change, label, id_, votes.get(id_), who, detailed=detailed) for id_ in shown]
    if everyone:
        info["all"] = everyone
    info["values"] = {vote_name(number): meaning for number, meaning in label.values}
    if label.description:
        info["description"] = label.description
    if value is not None:
        info["value"] = value
    info["default_value"] = label.default
    info["optional"] = True
    return info


def _summary(votes: dict[int, Vote], label: Label, who: Who, info: dict[str, Any]) -> int | None:
    """Writes who decides the label; a number where somebody votes neither highest nor lowest.

    Votes count in the order they were first given, and nothing counts after a highest or lowest one.
    """
    value = None
    for id_, vote in votes.items():
        if vote.value in {label.highest, label.lowest}:
            info["approved" if vote.value == label.highest else "rejected"] = who(id_)
            break
        if vote.value < 0:
            info["disliked"], value = who(id_), vote.value
        elif vote.value > 0 and "disliked" not in info:
            info["recommended"], value = who(id_), vote.value
    return value


def _approval(change: Change, label: Label, id_: int, vote: Vote | None, who: Who, *, detailed: bool) -> dict[str, Any]:
    info: dict[str, Any] = {}
    if vote is not None and (vote.value or detailed):
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
    result: dict[str, list[str]] = {}
    if change.status == "ABANDONED":
        return result
    for label in sorted(host.labels(change.project).values(), key=lambda label: label.name):
        given = change.votes.get((label.name, user.id))
        least = (given.value if given else 0) if change.status == "MERGED" else label.lowest
        result[label.name] = [vote_name(value) for value, _ in label.values if value >= least]
    return result


def removable(call: Call, change: Change, who: Who) -> dict[str, dict[str, list[AccountInfo]]]:
    """The votes the caller may take away."""
    result: dict[str, dict[str, list[AccountInfo]]] = {}
    if not change.is_open or call.user is None:
        return result
    for (name, id_), vote in change.votes.items():
        if _may_remove(call, change, id_, vote.value):
            result.setdefault(name, {}).setdefault(vote_name(vote.value), []).append(who(id_))
    return result


def _may_remove(call: Call, change: Change, voter: int, value: int) -> bool:
    """Everybody may take their own votes back, owners all that do not object, administrators all."""
    user = call.user
    if user is None:
        return False
    return user.admin or user.id == voter or (user.id == change.owner and value >= 0)


def removable_reviewers(call: Call, change: Change) -> list[int]:
    """The reviewers and CCs that the caller may take away: those all of whose votes they may take away."""
    if not change.is_open or call.user is None:
        return []
    user = call.user
    found = []
    for id_ in sorted(change.reviewers, reverse=True):
        worst = min((vote.value for (_, who), vote in change.votes.items() if who == id_), default=0)
        if (user.id in {id_, change.owner} or user.admin) and _may_remove(call, change, id_, worst):
            found.append(id_)
    return found
