"""All operators together, and what a word without an operator means."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from mock_gerrit.errors import GerritError, bad_request
from mock_gerrit.operators.base import Operator, message_contains
from mock_gerrit.plugins.contributions import query_operator
from mock_gerrit.query import Predicate, Search

if TYPE_CHECKING:
    from mock_gerrit.changes import Change


@cache
def core() -> dict[str, Operator]:
    """The operators of Gerrit's core, by every name they have."""
    from mock_gerrit.operators import content, labels, people, places, states  # noqa: PLC0415 - they are made of this

    every: dict[str, Operator] = {}
    for family in (states, people, places, content, labels):
        every.update(family.OPERATORS)
    return every


def operate(search: Search, name: str, value: str) -> Predicate:
    """What `name:value` stands for; 400 where no operator is called so."""
    written = search.host.operator_aliases.get(name, name)
    operator = core().get(written) or query_operator(search.host, written)
    if operator is None:
        raise bad_request(f"Unsupported operator {name}:{value}")
    return operator(search, value)


def anywhere(search: Search, text: str) -> Predicate:
    """What a word without an operator stands for: a change by any of its names, else the word anywhere in changes."""
    from mock_gerrit.operators.places import named_change  # noqa: PLC0415 - it is made of this

    named = named_change(text)
    if named is not None:
        return named
    if not any(sign.isalnum() for sign in text):
        raise bad_request(f"Cannot create full-text query with value: {text}")
    predicates: list[Predicate] = [message_contains(search.host, text)]
    for name in ("owner", "reviewer", "file", "label", "commit", "comment", "project", "branch", "topic", "hashtag"):
        try:
            predicates.append(core()[name](search, text))
        except GerritError:
            continue

    def found(change: Change) -> bool:
        return any(predicate(change) for predicate in predicates)

    return found
