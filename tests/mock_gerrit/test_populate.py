"""Invented hosts are full, repeatable and consistent."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from mock_gerrit.populate import populate
from mock_gerrit.world import World
from mock_gerrit.worldfile import WorldFileError, parse_world


def filled(**wanted):
    world = World(clock=lambda: datetime(2026, 1, 2, tzinfo=UTC))
    return populate(world.host("https://review.example.com"), **wanted)


def summary(host):
    return [(change.project, change.status, change.current.commit) for change in host.changes.values()]


def test_a_host_has_as_much_as_was_asked_for():
    host = filled(people=4, projects=2, changes=30, seed=3)
    assert (len(host.accounts), len(host.projects), len(host.changes)) == (1 + 4, 2 + 2, 30)
    assert {change.status for change in host.changes.values()} == {"NEW", "MERGED", "ABANDONED"}


def test_the_same_seed_makes_the_same_host_and_another_another():
    assert summary(filled(seed=1)) == summary(filled(seed=1))
    assert summary(filled(seed=1)) != summary(filled(seed=2))


def test_people_sign_in_with_their_own_password():
    host = filled(people=20, projects=0, changes=0)
    people = [account for account in host.accounts.values() if not account.admin]
    assert all(f"{one.username}-secret" in one.passwords.values() for one in people)
    assert len({one.username for one in people}) == 20


def test_changes_by_nobody_are_refused():
    with pytest.raises(ValueError, match="changes=20 need people and projects, got people=0, projects=3"):
        filled(people=0)


def test_a_world_file_can_ask_for_it():
    text = '[[hosts]]\nurl = "https://a.example.com"\npopulate = { people = 2, projects = 1, changes = 3 }\n'
    assert len(parse_world(text).hosts[0].changes) == 3


def test_a_world_file_that_asks_for_it_without_faker_is_told_what_to_install(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "mock_gerrit.populate", None)
    with pytest.raises(WorldFileError, match=r"world:3: hosts\[0\]\.populate: .*gerrit-mcp-conformance\[worlds\]"):
        parse_world('[[hosts]]\nurl = "https://a.example.com"\n[hosts.populate]\nseed = 1\n')
