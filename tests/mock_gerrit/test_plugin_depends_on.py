"""The simulated depends-on plugin: declarations in comments, and the operators that follow them."""

from __future__ import annotations

from typing import Any

import pytest

from mock_gerrit import updates
from mock_gerrit.host import Host
from tests.mock_gerrit.plugin_asking import a_host, ask, refusal, told


def host_with_changes(count: int = 3) -> Host:
    """A host on which nothing depends on anything yet."""
    host = a_host("depends-on")
    host.plugin_state("depends-on").clear()
    for _ in range(count):
        host.change("demo")
    return host


def say(host: Host, number: int, text: str) -> None:
    change = host.changes[number]
    updates.record(host, change, host.account_of("bob"), f"Patch Set 1:\n\n{text}")


def needs(host: Host, number: int, *, options: str = "depends-on--all") -> list[Any]:
    [change] = told(ask(host, f"/changes/?q=change:{number}&{options}"))
    return change["plugins"][0]["depends_ons"] if "plugins" in change else []


def found(host: Host, query: str) -> list[int]:
    return sorted(change["_number"] for change in told(ask(host, f"/changes/?q={query}")))


def test_on_a_fresh_host_each_change_needs_the_one_before() -> None:
    host = a_host("depends-on")
    host.change("demo")
    host.change("demo")
    assert needs(host, 2) == [{"change_number": 1}]
    assert "unresolved" in needs(host, 1)[0]
    assert found(host, "independson:2") == [1]


@pytest.mark.parametrize("switch", ["depends-on--all", "--depends-on--all", "--depends-on--all=true"])
def test_a_comment_declares_what_a_change_needs(switch: str) -> None:
    host = host_with_changes()
    say(host, 1, "Depends-on: 2 3")
    assert needs(host, 1, options=switch) == [{"change_number": 2}, {"change_number": 3}]


def test_without_a_declaration_there_is_no_entry() -> None:
    assert needs(host_with_changes(), 1) == []


def test_what_is_no_number_stays_unresolved_and_any_number_counts() -> None:
    host = host_with_changes()
    change_id = host.changes[2].change_id
    say(host, 1, f"Depends-on: {change_id} 999 nonsense")
    assert needs(host, 1) == [{"unresolved": change_id}, {"change_number": 999}, {"unresolved": "nonsense"}]


def test_the_latest_declaration_counts_wherever_in_the_message_it_stands() -> None:
    host = host_with_changes()
    say(host, 1, "Depends-on: 2")
    say(host, 1, "Hello\n\nDepends-on: 3\n\nBye")
    say(host, 1, "depends-on: 2")
    assert needs(host, 1) == [{"change_number": 3}]


def test_an_empty_declaration_takes_it_back() -> None:
    host = host_with_changes()
    say(host, 1, "Depends-on: 2")
    say(host, 1, "Depends-on:")
    assert needs(host, 1) == []
    assert found(host, "has:a_depends-on") == []


def test_the_operators_find_both_sides() -> None:
    host = host_with_changes()
    say(host, 1, "Depends-on: 2 3")
    assert found(host, "independson:1") == [2, 3]
    assert found(host, "in_depends-on:1") == [2, 3]
    assert found(host, "hasdependson:%7Bchange:3%7D") == [1]
    assert found(host, "has:a_depends-on") == [1]
    assert found(host, "-independson:1") == [1]


@pytest.mark.parametrize("value", ["999", "x", "I" + "0" * 40])
def test_the_operator_finds_nothing_for_what_is_no_change_with_a_declaration(value: str) -> None:
    assert found(host_with_changes(), f"independson:{value}") == []


def test_without_the_alias_the_operator_answers_400() -> None:
    host = host_with_changes()
    host.operator_aliases.clear()
    assert refusal(ask(host, "/changes/?q=independson:1")) == (400, "Unsupported operator independson:1")


@pytest.mark.parametrize("query", ["in_depends_on:2", "dependson:3"])
def test_another_spelling_of_the_operator_answers_400(query: str) -> None:
    assert refusal(ask(host_with_changes(), f"/changes/?q={query}")) == (400, f"Unsupported operator {query}")


def test_a_broken_inner_query_answers_400() -> None:
    assert refusal(ask(host_with_changes(), "/changes/?q=hasdependson:%7Bnosuch:1%7D"))[0] == 400


def test_an_option_that_there_is_not_answers_400() -> None:
    answer = ask(host_with_changes(), "/changes/?q=change:1&depends-on--nosuch")
    assert refusal(answer) == (400, '"--depends-on--nosuch" is not a valid option')
