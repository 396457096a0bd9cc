"""The journal reads well in assertions, and keeps secrets out of them."""

from __future__ import annotations

import pytest

from mock_gerrit.journal import Headers, Journal, gerrit_path


@pytest.fixture
def journal():
    return Journal()


def record(journal, target="/a/plugins/?all", **facts):
    given = {
        "host": "review-a", "authority": "review-a.example.com", "scheme": "https", "method": "GET", "target": target,
        "path": target.partition("?")[0], "status": 200, "started": 1.0, "finished": 1.0123, **facts,
    }  # fmt: skip
    return journal.record(**given)


def test_entries_are_numbered_in_order(journal):
    assert [record(journal).number for _ in range(3)] == [0, 1, 2]
    assert [entry.number for entry in journal] == [0, 1, 2]
    assert journal[-1].number == 2


def test_since_a_mark_gives_only_what_came_later(journal):
    record(journal, "/early")
    mark = journal.mark()
    record(journal, "/late")
    assert [entry.path for entry in journal.since(mark)] == ["/late"]


def test_entries_are_found_by_their_facts(journal):
    record(journal)
    mark = journal.mark()
    record(journal, host="review-b", fault="timeout")
    record(journal, method="POST", target="/a/changes/")
    assert [entry.number for entry in journal.of(host="review-a")] == [0, 2]
    assert [entry.number for entry in journal.of(host="review-a", since=mark)] == [2]
    assert [entry.number for entry in journal.of(fault="timeout", is_plugin_list=True)] == [1]


def test_a_misspelled_fact_is_an_error_and_no_empty_list(journal):
    with pytest.raises(TypeError, match="no 'hots'; it has authority, bodies_dropped, body, "):
        journal.of(hots="review-a")


@pytest.mark.parametrize(
    ("path", "context", "expected"),
    [
        ("/a/plugins/", "", "/plugins/"),
        ("/plugins/", "", "/plugins/"),
        ("/r/a/plugins/", "/r", "/plugins/"),
        ("/r/a/a/x", "/r", "/a/x"),
        ("/rest/a", "/r", "/rest/a"),
        ("/a", "", "/a"),
        ("/abc/", "", "/abc/"),
        ("/a/projects/x%2Fa%2Fy", "", "/projects/x%2Fa%2Fy"),
    ],
)
def test_the_gerrit_path_is_the_one_of_the_documentation(path, context, expected):
    assert gerrit_path(path, context) == expected


@pytest.mark.parametrize(
    ("target", "expected"),
    [("/a/plugins/?all", True), ("/plugins", True), ("/a/plugins/task/gerrit~status", False), ("/a/changes/", False)],
)
def test_a_request_for_the_list_of_plugins_is_recognised(journal, target, expected):
    assert record(journal, target).is_plugin_list is expected


def test_credentials_are_kept_and_never_shown(journal):
    headers = (("Authorization", "Basic c2VjcmV0"), ("cookie", "session=hush"), ("Accept", "text/plain"))
    entry = record(journal, headers=headers)
    assert entry.header("authorization") == "Basic c2VjcmV0"
    assert entry.header("Cookie") == "session=hush"
    for shown in (repr(entry), str(entry), repr(journal), repr(entry.headers)):
        assert "c2VjcmV0" not in shown
        assert "hush" not in shown
    assert "('Accept', 'text/plain')" in repr(entry)


def test_a_failing_comparison_of_headers_shows_no_secret():
    assert "hush" not in f"{Headers((('Cookie', 'hush'),))}"


def test_an_entry_tells_its_story_in_one_line(journal):
    plain = record(journal, user="alice")
    assert str(plain) == "GET https://review-a.example.com/a/plugins/?all as alice: 200, 12.3 ms"
    odd = record(journal, status=0, fault="reset", unsimulated="/plugins/")
    assert str(odd).endswith("as anonymous: no answer, 12.3 ms (fault reset; not simulated, nearest: /plugins/)")


def test_the_journal_shows_all_entries_when_an_assertion_fails(journal):
    record(journal)
    record(journal, "/b")
    assert repr(journal).splitlines()[0] == "<Journal of 2 requests"
    assert len(repr(journal).splitlines()) == 3


def test_a_listener_hears_of_every_entry_from_then_on(journal):
    heard = []
    record(journal, "/before")
    journal.listen(heard.append)
    record(journal, "/after")
    assert [entry.path for entry in heard] == ["/after"]


def test_a_cleared_journal_starts_anew(journal):
    record(journal)
    journal.clear()
    assert (len(journal), record(journal).number) == (0, 0)


def test_bodies_are_dropped_once_there_are_too_many_bytes_of_them(journal, monkeypatch):
    monkeypatch.setattr("mock_gerrit.journal.BODY_BUDGET", 10)
    for _ in range(2):
        record(journal, body=b"123456", response_body=b"1")
    assert [(entry.body, entry.bodies_dropped) for entry in journal] == [(b"123456", False), (b"", True)]
    journal.clear()
    assert record(journal, body=b"123456").body == b"123456"
