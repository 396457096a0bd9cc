"""What names of parameters mean in the simulated world of a trial (see `conformance.rig.surroundings`).

Only names whose meaning is certain stand here. A name that may as well be that of something to be created (`name`,
`branch_name`) stands nowhere: a wrong guess would be held against the subject.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Values = Sequence[Any]
"""JSON values to choose from, the plainest first."""


@dataclass(frozen=True, kw_only=True)
class Meaning:
    """What a parameter of one of `names` stands for."""

    names: tuple[str, ...]
    values: Values
    """Values that are right for it, in every form in which it may be wanted."""
    entity: bool = False
    """It names something that exists on every host of a trial, or how much of a list to give."""
    within: str = ""
    """The kind of entity (a name of its meaning) without which it stands for nothing; empty where it stands alone."""
    amount: bool = False
    """Any number will do that its schema admits."""


def _lists(*values: Any) -> Values:  # noqa: ANN401 - JSON values
    """Give the lists of the first value, of the first two, and so on."""
    return [list(values[: length + 1]) for length in range(len(values))]


ALICE, BOB = "alice@example.com", "bob@example.com"
HAZEL = "hazel@example.com"
"""Somebody who is on no change yet."""
SECOND_BRANCH = "stable"
DRAFT_ID = "d7af7000_0c0ffee0"
"""A draft of the caller's on the usual change."""
NOTE = "A note from the conformance suite"

MEANINGS = (
    Meaning(
        names=("change_id", "change", "change_number", "change_num", "cl", "cl_number"),
        values=("1", 1, "demo~1"),
        entity=True,
    ),
    Meaning(names=("change_ids", "changes", "change_numbers"), values=(*_lists(1, 2), *_lists("1", "2")), entity=True),
    Meaning(names=("project", "repo", "repository"), values=("demo",), entity=True),
    Meaning(names=("projects", "repos", "repositories"), values=_lists("demo"), entity=True),
    Meaning(names=("branch",), values=("master", "refs/heads/master"), entity=True),
    Meaning(
        names=("dest_branch", "destination_branch", "target_branch", "destination"),
        values=(SECOND_BRANCH, f"refs/heads/{SECOND_BRANCH}"),
    ),
    Meaning(
        names=("path", "file_path", "file", "filename", "file_name"),
        values=("leaves.py", "docs/guide.md"),
        entity=True,
        within="change",
    ),
    Meaning(
        names=("paths", "file_paths", "files"),
        values=_lists("leaves.py", "docs/guide.md"),
        entity=True,
        within="change",
    ),
    Meaning(names=("line", "line_number"), values=(1, "1")),
    Meaning(names=("draft_id",), values=(DRAFT_ID,), entity=True, within="change"),
    Meaning(names=("content", "new_content", "file_content"), values=(f"# {NOTE}\n",)),
    Meaning(names=("wip", "work_in_progress", "unresolved"), values=(True,)),
    Meaning(names=("revision", "revision_id", "rev"), values=("current", 1, "1"), entity=True, within="change"),
    Meaning(
        names=("patchset", "patch_set", "patchset_id", "patch_set_id", "patchset_number", "patch_set_number"),
        values=("1", 1),
        entity=True,
        within="change",
    ),
    Meaning(names=("username",), values=("alice",), entity=True),
    Meaning(
        names=("email", "user_email", "account_email", "owner_email", "account", "account_id", "user", "owner"),
        values=(ALICE,),
        entity=True,
    ),
    Meaning(names=("reviewer", "reviewer_email"), values=(BOB,), entity=True),
    Meaning(names=("reviewers", "accounts", "emails", "users"), values=_lists(BOB, ALICE), entity=True),
    Meaning(names=("limit", "max_results", "max_count", "page_size", "n"), values=(5, "5"), entity=True, amount=True),
    Meaning(names=("start", "offset", "skip"), values=(0, "0"), entity=True, amount=True),
    Meaning(names=("query", "q", "change_query"), values=("status:open",)),
    Meaning(names=("topic", "topic_name", "new_topic"), values=("leaves",)),
    Meaning(names=("hashtag",), values=("leaves",)),
    Meaning(names=("hashtags",), values=_lists("leaves", "twigs")),
    Meaning(names=("label", "label_name"), values=("Code-Review",)),
    Meaning(names=("labels",), values=({"Code-Review": 1}, ["Code-Review"])),
    Meaning(names=("score", "vote"), values=(1, "1", "+1")),
    Meaning(names=("start_date", "from_date"), values=("2000-01-01", "2000-01-01T00:00:00Z")),
    Meaning(names=("end_date", "to_date"), values=("2100-01-01", "2100-01-01T00:00:00Z")),
    Meaning(
        names=(
            "message",
            "review_message",
            "commit_message",
            "comment",
            "comment_text",
            "reason",
            "note",
            "description",
            "subject",
        ),
        values=(NOTE, "A note"),
    ),
)
"""One entry a meaning; a name stands in one of them only."""

BY_NAME: Mapping[str, Meaning] = {name: one for one in MEANINGS for name in one.names}


def meaning_of(name: str) -> Meaning | None:
    """Give what a parameter of this name means, in whatever case it is written; None where nobody can tell."""
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower().replace("-", "_")
    return BY_NAME.get(snake) or BY_NAME.get(snake.removeprefix("gerrit_"))


def certain(arguments: Mapping[str, Any]) -> bool:
    """Tell whether every argument names something that exists in the world of a trial.

    If so, a tool that is refused by Gerrit has not been given a wrong name; with a text, a query, a label or anything
    from a profile that the rig does not know, the refusal may be the argument's fault.

    Args:
        arguments: those of a call; the address of a host and what is null do not count.
    """
    told = {name: value for name, value in arguments.items() if name != "gerrit_base_url" and value is not None}
    kinds = {meaning.names[0].partition("_")[0] for name in _names(told) if (meaning := meaning_of(name))}
    return all(_is_certain(name, value, kinds) for name, value in told.items())


def _names(arguments: Mapping[str, Any]) -> list[str]:
    nested = [name for value in arguments.values() if isinstance(value, Mapping) for name in _names(value)]
    return [*arguments, *nested]


def _is_certain(name: str, value: Any, kinds: set[str]) -> bool:  # noqa: ANN401 - any JSON value
    if isinstance(value, Mapping):
        return bool(value) and all(_is_certain(inner, one, kinds) for inner, one in value.items())
    meaning = meaning_of(name)
    if meaning is None or not meaning.entity or (meaning.within and meaning.within not in kinds):
        return False
    if meaning.amount:
        return str(value).isdecimal()
    return value in meaning.values or [value] in meaning.values or (isinstance(value, list) and _each(value, meaning))


def _each(value: list[Any], meaning: Meaning) -> bool:
    """A list under a name that usually holds one: each element has to be right."""
    return bool(value) and all(one in meaning.values for one in value)
