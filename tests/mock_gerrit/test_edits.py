"""Change edits: prepared on the server, seen by their author only, made a patch set by publishing."""

from __future__ import annotations

import base64

import pytest

from mock_gerrit.host import Host
from mock_gerrit.world import World
from tests.mock_gerrit.plugin_asking import ask, refusal, told

NEW = {"binary_content": f"data:text/plain;base64,{base64.b64encode(b'new').decode()}"}


@pytest.fixture
def host() -> Host:
    host = World().host("https://review.example.com")
    for name in ("alice", "bob"):
        host.account(name, http_password=f"{name}-pw")
    host.project("demo", files={"a.txt": "a\n"})
    host.change("demo", owner="alice", files={"b.txt": "b\n"}, number=1)
    return host


def test_what_is_put_into_an_edit_is_seen_by_its_author_only(host: Host) -> None:
    assert ask(host, "/changes/1/edit/dir%2Fc.txt", method="PUT", body=NEW).status == 204
    assert base64.b64decode(ask(host, "/changes/1/edit/dir%2Fc.txt").body) == b"new"
    assert "dir/c.txt" in told(ask(host, "/changes/1/edit?list"))["files"]
    assert "dir/c.txt" in told(ask(host, "/changes/1/revisions/edit/files"))
    assert ask(host, "/changes/1/edit", user="bob").status == 204
    assert "dir/c.txt" not in told(ask(host, "/changes/1/revisions/current/files"))


def test_publishing_makes_a_patch_set_and_ends_the_edit(host: Host) -> None:
    ask(host, "/changes/1/edit/c.txt", method="PUT", body=NEW)
    ask(host, "/changes/1/edit", method="POST", body={"old_path": "b.txt", "new_path": "d.txt"})
    assert [info["_number"] for info in told(ask(host, "/changes/?q=has:edit"))] == [1]
    assert ask(host, "/changes/1/edit:publish", method="POST", body={}).status == 204
    assert {"c.txt", "d.txt"} <= told(ask(host, "/changes/1/revisions/2/files")).keys()
    assert host.changes[1].messages[-1].text == "Patch Set 2: Published edit on patch set 1."
    again = ask(host, "/changes/1/edit:publish", method="POST", body={})
    assert refusal(again) == (409, "no edit exists for change 1")


def test_an_edit_that_a_newer_patch_set_left_behind_is_not_published(host: Host) -> None:
    ask(host, "/changes/1/edit/c.txt", method="PUT", body=NEW)
    host.patch_set(host.changes[1], files={"b.txt": "other\n"})
    refused = ask(host, "/changes/1/edit:publish", method="POST", body={})
    assert refusal(refused) == (409, "only edit for current patch set can be published")
    assert ask(host, "/changes/1/edit", method="DELETE").status == 204
    assert ask(host, "/changes/1/edit").status == 204


def test_the_message_of_an_edit_keeps_the_change_id(host: Host) -> None:
    refused = ask(host, "/changes/1/edit:message", method="PUT", body={"message": "Without"})
    assert refusal(refused) == (409, "missing Change-Id footer")
    message = f"With\n\nChange-Id: {host.changes[1].change_id}\n"
    assert ask(host, "/changes/1/edit:message", method="PUT", body={"message": message}).status == 204
    assert base64.b64decode(ask(host, "/changes/1/edit:message").body).decode() == message


def test_a_copy_of_a_world_does_not_see_later_edits(host: Host) -> None:
    twin = host.world.copy().hosts[0]
    ask(host, "/changes/1/edit/c.txt", method="PUT", body=NEW)
    assert host.changes[1].edits
    assert not twin.changes[1].edits
