"""Operators that say where a change is: change, project, branch, topic, hashtag, commit."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mock_gerrit.errors import bad_request
from mock_gerrit.merging import conflicting
from mock_gerrit.operators.base import Operator, never, pattern, words
from mock_gerrit.query import Predicate, Search
from mock_gerrit.repository import full_branch_name

if TYPE_CHECKING:
    from mock_gerrit.changes import Change

_CHANGE_ID = re.compile(r"[iI][0-9a-f]{4,40}")
_PAIR = re.compile(r"(?P<project>[^~]+)~(?P<number>\d+)", re.ASCII)
_TRIPLET = re.compile(r"(?P<project>[^~]+)~(?P<branch>[^~]+)~(?P<id>I[0-9a-f]{4,40})")


def named_change(text: str) -> Predicate | None:
    """The change of a number, a Change-Id (or the beginning of one), or a triplet; None for another text."""
    if text.isascii() and text.isdigit():
        return lambda change: change.number == int(text)
    if _CHANGE_ID.fullmatch(text):
        wanted = f"I{text[1:]}"
        return lambda change: change.change_id.startswith(wanted)
    triplet = _TRIPLET.fullmatch(text)
    if triplet:
        branch = full_branch_name(triplet["branch"])
        return lambda change: (
            change.project == triplet["project"]
            and full_branch_name(change.branch) == branch
            and change.change_id == triplet["id"]
        )
    return None


def _change(_: Search, value: str) -> Predicate:
    pair = _PAIR.fullmatch(value)
    if pair:
        return lambda change: change.project == pair["project"] and change.number == int(pair["number"])
    named = named_change(value)
    if named is None:
        raise bad_request("Invalid change format")
    return named


def _project(_: Search, value: str) -> Predicate:
    fits = pattern(value)
    return lambda change: fits(change.project)


def _projects(_: Search, value: str) -> Predicate:
    return lambda change: change.project.startswith(value)


def _parent_project(search: Search, value: str) -> Predicate:
    if value not in search.host.projects:
        return never
    return lambda change: any(project.name == value for project in search.host.ancestors(change.project))


def _branch(_: Search, value: str) -> Predicate:
    if value.startswith("^"):
        fits = pattern(f"^(?:refs/heads/)?{value[1:]}")
        return lambda change: fits(full_branch_name(change.branch))
    wanted = full_branch_name(value)
    return lambda change: full_branch_name(change.branch) == wanted


def _ref(_: Search, value: str) -> Predicate:
    fits = pattern(value)
    return lambda change: fits(full_branch_name(change.branch))


def _topic(_: Search, value: str) -> Predicate:
    return lambda change: (change.topic or "") == value


def _in_topic(_: Search, value: str) -> Predicate:
    if value.startswith("^"):
        fits = pattern(value)
        return lambda change: fits(change.topic or "")
    if not value:
        return lambda change: not change.topic
    return lambda change: bool(change.topic) and set(words(value)) <= set(words(change.topic or ""))


def _prefix_topic(_: Search, value: str) -> Predicate:
    return lambda change: (change.topic or "").startswith(value)


def _hashtag(_: Search, value: str) -> Predicate:
    wanted = value.removeprefix("#").strip().lower()
    return lambda change: wanted in {tag.lower() for tag in change.hashtags}


def _in_hashtag(_: Search, value: str) -> Predicate:
    if value.startswith("^"):
        fits = pattern(value)
        return lambda change: any(fits(tag) for tag in change.hashtags)
    wanted = set(words(value))
    return lambda change: any(wanted <= set(words(tag)) for tag in change.hashtags)


def _prefix_hashtag(_: Search, value: str) -> Predicate:
    wanted = value.lower()
    return lambda change: any(tag.lower().startswith(wanted) for tag in change.hashtags)


def _commit(_: Search, value: str) -> Predicate:
    wanted = value.lower()
    return lambda change: len(wanted) > 3 and any(item.commit.startswith(wanted) for item in change.patch_sets)


def _number_of(attribute: str) -> Operator:
    def operator(_: Search, value: str) -> Predicate:
        if not value.isdecimal():
            raise bad_request(f"Error in operator {attribute.replace('_', '')}:{value}")
        return lambda change: getattr(change, attribute) == int(value)

    return operator


def _cherry_pick_of(_: Search, value: str) -> Predicate:
    number, _comma, patch_set = value.partition(",")
    if not number.isdecimal():
        raise bad_request(f"Error in operator cherrypickof:{value}")

    def fits(change: Change) -> bool:
        origin = change.cherry_pick_of
        return origin is not None and origin[0] == int(number) and (not patch_set or str(origin[1]) == patch_set)

    return fits


def _submission(_: Search, value: str) -> Predicate:
    return lambda change: change.submission_id == value


def _parent_of(search: Search, value: str) -> Predicate:
    named = named_change(value)
    children = [change for change in search.host.changes.values() if named is not None and named(change)]
    parents = {sha for child in children for sha in _parents(search, child)}
    return lambda change: change.current.commit in parents


def _parents(search: Search, change: Change) -> tuple[str, ...]:
    return search.host.repository(change.project).facts(change.current.commit).parents


def _conflicts(search: Search, value: str) -> Predicate:
    named = named_change(value)
    others = [change for change in search.host.changes.values() if named is not None and named(change)]
    return lambda change: any(conflicting(search.host, change, other) for other in others)


OPERATORS: dict[str, Operator] = {
    "change": _change,
    "project": _project,
    "p": _project,
    "repo": _project,
    "repository": _project,
    "projects": _projects,
    "repos": _projects,
    "repositories": _projects,
    "parentproject": _parent_project,
    "parentof": _parent_of,
    "branch": _branch,
    "ref": _ref,
    "topic": _topic,
    "intopic": _in_topic,
    "prefixtopic": _prefix_topic,
    "hashtag": _hashtag,
    "inhashtag": _in_hashtag,
    "prefixhashtag": _prefix_hashtag,
    "commit": _commit,
    "revertof": _number_of("revert_of"),
    "cherrypickof": _cherry_pick_of,
    "submissionid": _submission,
    "conflicts": _conflicts,
}
