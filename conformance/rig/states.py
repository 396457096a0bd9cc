"""Changes in other states than that of an open one, for tools that need such a state: to restore, revert, publish.

They come with numbers of their own, far from those that tools are usually called with.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from conformance.rig.meanings import DRAFT_ID, HAZEL, SECOND_BRANCH, meaning_of

if TYPE_CHECKING:
    from mock_gerrit.entities import Account
    from mock_gerrit.host import Host

USUAL = 1
"""The change with which tools are called first."""
UNDER_WORK, ABANDONED, MERGED = 901, 902, 903
"""Work in progress (also private, starred, and with an edit that is not published); given up; submitted."""


def add_states(host: Host, user: Account) -> None:
    """Add the changes to a host of the rig, another branch, one more account, and a draft of `user` on change 1."""
    from mock_gerrit import editing  # noqa: PLC0415 - dulwich is loaded only when something runs

    host.account("hazel", name="Hazel Holt", email=HAZEL)
    refs = host.repository("demo").refs
    refs[f"refs/heads/{SECOND_BRANCH}"] = refs["refs/heads/master"]
    files = {"acorns.py": "ACORNS = 7\n"}
    under_work = host.change("demo", owner=user, subject="Gather the acorns", number=UNDER_WORK, files=files, wip=True)
    under_work.private = True
    user.stars.add(UNDER_WORK)
    editing.with_file(host, under_work, user, path="acorns.py", content=b"ACORNS = 8\n")
    files = {"moss.py": "MOSS = True\n"}
    host.change("demo", owner=user, subject="Scrape off the moss", number=ABANDONED, files=files, status="ABANDONED")
    files = {"bark.py": "BARK = 2\n"}
    host.change("demo", owner=user, subject="Thicken the bark", number=MERGED, files=files, status="MERGED")
    _add_draft(host, user)


def _add_draft(host: Host, user: Account) -> None:
    from mock_gerrit.changes import Comment  # noqa: PLC0415 - dulwich is loaded only when something runs

    change = host.changes[USUAL]
    change.drafts.append(
        Comment(
            id=DRAFT_ID, path="leaves.py", line=1, patch_set=change.current.number, author=user.id,
            updated=host.now(), message="Name it count_leaves?",
        )
    )  # fmt: skip


def elsewhere(arguments: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Give the same arguments with each change of another state in place of the usual one."""
    for number in (ABANDONED, MERGED, UNDER_WORK):
        moved = {name: _moved(name, value, number) for name, value in arguments.items()}
        if moved != arguments:
            yield moved


def with_newcomer(arguments: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Give the same arguments with somebody who is not on the change yet in place of one who is."""
    moved = {name: _other_person(name, value) for name, value in arguments.items()}
    if moved != arguments:
        yield moved


def _moved(name: str, value: Any, number: int) -> Any:  # noqa: ANN401 - any JSON value
    meaning = meaning_of(name)
    if meaning is None or meaning.names[0] not in {"change_id", "change_ids"}:
        return value
    if isinstance(value, list):
        return [_moved("change_id", one, number) for one in value[:1]]
    forms: dict[Any, Any] = {"1": str(number), 1: number, "demo~1": f"demo~{number}"}
    return forms.get(value, value) if isinstance(value, int | str) else value


def _other_person(name: str, value: Any) -> Any:  # noqa: ANN401 - any JSON value
    meaning = meaning_of(name)
    if meaning is None or meaning.names[0] not in {"reviewer", "reviewers"}:
        return value
    return [HAZEL] if isinstance(value, list) else HAZEL
