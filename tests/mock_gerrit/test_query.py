"""The change query language."""

from __future__ import annotations

from urllib.parse import quote

import pytest

from mock_gerrit.host import Host
from tests.mock_gerrit.plugin_asking import a_host, ask, refusal, told


@pytest.fixture
def host() -> Host:
    host = a_host()
    host.project("tools/lint", branches=("master", "stable"))
    host.change("demo", subject="Fix the parser", files={"src/parser.py": "x\n"}, topic="parsing", hashtags=["Bug"])
    host.change(
        "demo", subject="Write docs", owner="bob", files={"docs/a.md": "y\n"}, votes={"Code-Review": {"alice": 2}}
    )
    host.change("tools/lint", branch="stable", subject="Lint", wip=True, reviewers=["bob"])
    host.change("tools/lint", subject="Old", status="ABANDONED")
    host.change("tools/lint", subject="Done", status="MERGED")
    host.change("demo", subject="Secret", private=True, owner="bob")
    return host


def found(host: Host, query: str, user: str = "alice") -> list[int]:
    return sorted(change["_number"] for change in told(ask(host, f"/changes/?q={quote(query)}", user=user)))


@pytest.mark.parametrize(
    ("query", "numbers"),
    [
        ("status:open", [1, 2, 3]),
        ("is:open -is:wip", [1, 2]),
        ("status:closed", [4, 5]),
        ("is:merged OR is:abandoned", [4, 5]),
        ("owner:bob", [2]),
        ("owner:self status:open", [1, 3]),
        ("owner:nobody", []),
        ("reviewer:alice", [2]),
        ("project:demo", [1, 2]),
        ("project:^tools/.*", [3, 4, 5]),
        ("projects:tools", [3, 4, 5]),
        ("branch:stable", [3]),
        ("topic:parsing", [1]),
        ('topic:""', [2, 3, 4, 5]),
        ("hashtag:bug", [1]),
        ("label:Code-Review=+2", [2]),
        ("label:Code-Review=MAX,user=alice", [2]),
        ("label:Code-Review>=1", [2]),
        ("-label:Code-Review>=1 status:open", [1, 3]),
        ("file:parser.py", [1]),
        ("path:src/parser.py", [1]),
        ("dir:docs", [2]),
        ("ext:py", [1]),
        ("message:parser", [1]),
        ("subject:docs", [2]),
        ("parser", [1]),
        ("1 OR 2", [1, 2]),
        ("change:3", [3]),
        ("(owner:bob OR topic:parsing) project:demo", [1, 2]),
        ("NOT owner:alice", [2]),
        ("status : open", [1, 2, 3]),
        ("is:submittable", [2]),
        ("age:1d", []),
        ("after:2020-01-01 status:abandoned", [4]),
        ("STATUS:open", []),
        ("status:OPEN limit:50", [1, 2, 3]),
    ],
)
def test_a_query_finds_what_it_says(host: Host, query: str, numbers: list[int]) -> None:
    assert found(host, query) == numbers


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("nosuch:x", "Unsupported operator nosuch:x"),
        ("is:nosuch", "Unrecognized value: nosuch"),
        ("has:nosuch", "Error in operator has:nosuch"),
        ("change:x", "Invalid change format"),
        ("owner:", "line 1:6 no viable alternative at input '<EOF>'"),
        ("(status:open", "line 1:12 mismatched input '<EOF>' expecting ')'"),
        ('"unfinished', "line 1:11 mismatched character '<EOF>' expecting '\"'"),
        ("status:open;limit:1", "line 1:11 no viable alternative at character ';'"),
        ("AND x", "line 1:0 no viable alternative at input 'AND'"),
        ("limit:0", "limit must be positive: 0"),
        ("added:x", "Invalid range predicate: x"),
        ("after:yesterday", "Invalid date format: yesterday"),
        ("ownerin:nosuch", "Group nosuch not found"),
        ("*", "Cannot create full-text query with value: *"),
    ],
)
def test_a_query_that_makes_no_sense_is_refused_in_gerrits_words(host: Host, query: str, said: str) -> None:
    assert refusal(ask(host, f"/changes/?q={quote(query)}")) == (400, said)


def test_an_empty_query_is_refused(host: Host) -> None:
    assert refusal(ask(host, "/changes/?q=")) == (400, "query is empty")


def test_without_a_query_all_open_changes_are_listed(host: Host) -> None:
    assert len(told(ask(host, "/changes/"))) == 3


def test_a_private_change_is_found_by_its_owner_and_administrators_only(host: Host) -> None:
    assert found(host, "is:private") == []
    assert found(host, "is:private", user="bob") == [6]
    assert found(host, "is:private", user="admin") == [6]


def test_the_last_row_of_a_page_tells_of_more(host: Host) -> None:
    page = told(ask(host, "/changes/?q=status:open&n=2"))
    assert [row.get("_more_changes") for row in page] == [None, True]
    rest = told(ask(host, "/changes/?q=status:open&n=2&S=2"))
    assert [row.get("_more_changes") for row in rest] == [None]


def test_several_queries_answer_a_list_each(host: Host) -> None:
    pages = told(ask(host, "/changes/?q=owner:bob&q=status:merged"))
    assert [[row["_number"] for row in page] for page in pages] == [[2], [5]]


def test_one_bad_query_fails_all(host: Host) -> None:
    assert ask(host, "/changes/?q=owner:bob&q=nosuch:x").status == 400


def test_the_latest_updated_comes_first(host: Host) -> None:
    ask(host, "/changes/1/topic", method="PUT", body={"topic": "again"})
    host.changes[1].updated = max(change.updated for change in host.changes.values()).replace(year=2999)
    assert told(ask(host, "/changes/?q=status:open"))[0]["_number"] == 1


def test_an_alias_stands_for_an_operator(host: Host) -> None:
    host.operator_aliases["mine"] = "owner"
    assert found(host, "mine:bob") == [2]


def test_an_unknown_option_is_refused(host: Host) -> None:
    assert refusal(ask(host, "/changes/?q=1&o=NOSUCH")) == (400, '"NOSUCH" is not a valid value for "-o"')
    assert refusal(ask(host, "/changes/?q=1&nosuch")) == (400, '"--nosuch" is not a valid option')
    assert refusal(ask(host, "/changes/?q=1&x")) == (400, '"-x" is not a valid option')
