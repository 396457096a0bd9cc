"""Worlds and hosts built by code."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from mock_gerrit.host import Host
from mock_gerrit.world import World
from tests.mock_gerrit.plugin_asking import a_host, ask, told


def test_a_host_comes_with_an_administrator_and_the_projects_every_gerrit_has() -> None:
    host = World().host("https://review.example.com")
    assert [account.username for account in host.accounts.values()] == ["admin"]
    assert set(host.projects) == {"All-Projects", "All-Users"}


def test_a_host_is_found_by_each_of_its_authorities_in_any_case() -> None:
    world = World()
    host = world.host("https://Review.example.com/r", internal_url="https://10.0.0.1:8443")
    assert world.host_for("REVIEW.example.com") is host
    assert world.host_for("review.example.com:443") is host
    assert world.host_for("10.0.0.1:8443") is host
    assert world.host_for("other.example.com") is None


def test_two_hosts_of_one_authority_are_refused_naming_the_first() -> None:
    world = World()
    world.host("https://review.example.com")
    with pytest.raises(ValueError, match=r"'review\.example\.com'"):
        world.host("https://review.example.com/other", name="another")


@pytest.mark.parametrize(
    "url", ["review.example.com", "ftp://review.example.com", "https://", "https://h/?q=1", "https://u@h"]
)
def test_what_is_no_url_of_a_host_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="URL of a host"):
        World().host(url)


def test_the_first_change_of_a_project_has_sensible_defaults() -> None:
    host = a_host()
    change = host.change("demo")
    assert (change.number, change.branch, change.status) == (1, "master", "NEW")
    assert host.accounts[change.owner].username == "alice", "the first who is no administrator"
    assert change.change_id in host.repository("demo").facts(change.current.commit).message


@pytest.mark.parametrize(
    ("facts", "complaint"),
    [
        ({"project": "nosuch"}, "no project 'nosuch'; it has .*demo"),
        ({"project": "demo", "branch": "nosuch"}, "no branch 'nosuch'"),
        ({"project": "demo", "owner": "nobody"}, "no account 'nobody'; it has .*alice"),
        ({"project": "demo", "votes": {"Nosuch": 1}}, "no label 'Nosuch'; it has Code-Review"),
        ({"project": "demo", "votes": {"Code-Review": 3}}, r"takes -2 to \+2, not \+3"),
        ({"project": "demo", "comments": [{"text": "x"}]}, "a comment has message"),
        ({"project": "demo", "change_id": "I123"}, "'I123' is no Change-Id"),
        ({"project": "demo", "files": {"/etc/passwd": "x"}}, "'/etc/passwd' is no path of a file"),
    ],
)
def test_an_impossible_change_is_refused_saying_what_is_possible(facts: dict, complaint: str) -> None:
    host = a_host()
    with pytest.raises(ValueError, match=complaint):
        host.change(**facts)


def test_a_number_that_is_taken_is_refused() -> None:
    host = a_host()
    host.change("demo", number=7)
    with pytest.raises(ValueError, match="already has a change 7"):
        host.change("demo", number=7)


def test_the_number_of_a_deleted_change_does_not_come_back() -> None:
    host = a_host()
    gone = host.change("demo")
    del host.changes[gone.number]
    assert host.change("demo").number == 2


def test_the_same_calls_make_the_same_hashes_and_another_seed_makes_others() -> None:
    def commit(seed: int) -> str:
        world = World(clock=lambda: datetime(2026, 1, 1, tzinfo=UTC), seed=seed)
        host = world.host("https://review.example.com")
        host.account("alice")
        host.project("demo")
        return host.change("demo").current.commit

    assert commit(0) == commit(0)
    assert commit(0) != commit(1)


def test_a_merged_change_is_in_the_branch() -> None:
    host = a_host()
    change = host.change("demo", files={"a.py": "x\n"}, status="MERGED")
    repository = host.repository("demo")
    tip = repository.branch("master")
    assert tip is not None
    assert "a.py" in repository.files(tip)
    assert change.submission_id == "1"


def test_a_chain_builds_on_its_parent() -> None:
    host = a_host()
    first = host.change("demo", files={"a": "1"})
    second = host.change("demo", files={"b": "2"}, parent=first)
    assert set(host.repository("demo").files(second.current.commit)) == {"a", "b"}


def test_a_file_given_as_none_is_deleted() -> None:
    host = World().host("https://review.example.com")
    host.project("demo", files={"old.txt": "x", "kept.txt": "y"})
    change = host.change("demo", files={"old.txt": None})
    assert set(host.repository("demo").files(change.current.commit)) == {"kept.txt"}


def test_a_new_patch_set_drops_votes_that_are_no_veto() -> None:
    host = a_host()
    host.account("carol")
    change = host.change("demo", votes={"Code-Review": {"bob": 2, "carol": -2}})
    host.patch_set(change, files={"more.txt": "x"})
    assert {key[1]: vote.value for key, vote in change.votes.items()} == {host.account_of("carol").id: -2}


def test_votes_survive_a_rebase_and_not_another_commit_message() -> None:
    host = a_host()
    merged = host.change("demo", files={"other.txt": "x"}, votes={"Code-Review": 2})
    change = host.change("demo", votes={"Code-Review": 2})
    told(ask(host, f"/changes/{merged.number}/submit", method="POST", body={}))
    told(ask(host, f"/changes/{change.number}/rebase", method="POST", body={}))
    assert (change.current.kind, len(change.votes)) == ("TRIVIAL_REBASE", 1)
    host.patch_set(change, message="Another subject")
    assert (change.current.kind, len(change.votes)) == ("NO_CODE_CHANGE", 0)


def test_the_votes_of_a_plan_may_name_who_gives_them() -> None:
    host = a_host()
    change = host.change("demo", votes={"Code-Review": {"bob": -1}})
    assert change.votes["Code-Review", host.account_of("bob").id].value == -1


class TestCopies:
    """A world and its copy go separate ways."""

    @pytest.fixture
    def host(self) -> Host:
        host = a_host()
        host.change("demo", topic="old", votes={"Code-Review": 1})
        return host

    def test_what_happens_in_the_copy_is_not_seen_in_the_original(self, host: Host) -> None:
        twin = host.world.copy().host_named(host.name)
        assert ask(twin, "/changes/1/topic", method="PUT", body={"topic": "new"}).status == 200
        ask(twin, "/changes/1/revisions/current/review", user="bob", method="POST", body={"labels": {"Code-Review": 2}})
        ask(twin, "/changes/1/submit", method="POST", body={})
        twin.account("dora")
        twin.add_plugin("task", disabled=True)
        change = host.changes[1]
        assert (change.topic, change.status, len(change.messages)) == ("old", "NEW", 2)
        assert "task" not in host.plugins
        assert all(account.username != "dora" for account in host.accounts.values())
        assert host.repository("demo").branch("master") != change.current.commit

    def test_what_happens_in_the_original_is_not_seen_in_the_copy(self, host: Host) -> None:
        twin = host.world.copy().host_named(host.name)
        ask(host, "/changes/1/abandon", method="POST", body={})
        assert twin.changes[1].status == "NEW"

    def test_the_copy_has_the_same_content(self, host: Host) -> None:
        twin = host.world.copy().host_named(host.name)
        assert told(ask(twin, "/changes/1/detail")) == told(ask(host, "/changes/1/detail"))

    def test_copies_draw_the_same_numbers_next(self, host: Host) -> None:
        twin = host.world.copy().host_named(host.name)
        assert twin.change("demo").number == host.change("demo").number == 2


def test_times_come_from_the_worlds_clock() -> None:
    now = datetime(2026, 5, 4, 3, 2, 1, tzinfo=UTC)
    world = World(clock=lambda: now)
    host = world.host("https://review.example.com")
    host.account("alice", http_password="alice-pw")
    host.project("demo")
    host.change("demo")
    assert told(ask(host, "/changes/1"))["created"] == "2026-05-04 03:02:01.000000000"
    now += timedelta(days=1)
    ask(host, "/changes/1/topic", method="PUT", body={"topic": "x"})
    assert told(ask(host, "/changes/1"))["updated"] == "2026-05-05 03:02:01.000000000"
