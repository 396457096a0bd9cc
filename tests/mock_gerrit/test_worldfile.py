"""World files: what they build, and how a mistake in one is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from mock_gerrit.exchange import Request
from mock_gerrit.gerrit import answer
from mock_gerrit.worldfile import WorldFileError, load_world, parse_world

WORLDS = Path(__file__).parents[2] / "fixtures" / "worlds"

HOST = """\
[[hosts]]
name = "review"
url = "https://review.example.com"

[[hosts.accounts]]
username = "alice"

[[hosts.projects]]
name = "demo"

"""


def complaint(text):
    with pytest.raises(WorldFileError) as refused:
        parse_world(text, file="my.toml")
    return str(refused.value)


def test_four_hosts_of_which_two_have_the_task_plugin():
    world = load_world(WORLDS / "four-hosts.toml")
    having = [host.name for host in world.hosts if "task" in {plugin.id for plugin in host.enabled_plugins}]
    assert having == ["review-a", "review-b"]
    assert len(world.hosts) == 4
    assert "task" in world.host_named("review-c").plugins, "installed there and switched off"


def test_the_bad_day_has_every_kind_of_fault():
    world = load_world(WORLDS / "bad-day.toml")
    assert len({fault.kind for fault in world.faults}) == 10


@pytest.mark.parametrize("path", sorted(WORLDS.glob("*.toml")), ids=lambda path: path.stem)
def test_every_world_that_comes_with_the_project_can_be_built(path):
    assert load_world(path).hosts


def test_a_plugin_without_a_simulator_answers_what_stands_in_the_file():
    host = load_world(WORLDS / "bad-day.toml").hosts[0]
    response = answer(host, Request(method="GET", target="/plugins/weather/today"))
    assert (response.status, response.body) == (200, b""")]}'\n{"outlook":"rain"}\n""")
    gone = answer(host, Request(method="GET", target="/plugins/weather/yesterday"))
    assert (gone.status, gone.body) == (410, b"gone with the wind")


def test_a_change_has_everything_the_file_says():
    world = parse_world(
        HOST
        + """
[[hosts.accounts]]
username = "bob"

[[hosts.groups]]
name = "friends"
members = ["bob"]

[[hosts.changes]]
project = "demo"
owner = "alice"
number = 7
subject = "First"
topic = "t"
hashtags = ["h"]
votes = { Code-Review = { bob = -1 } }
comments = [{ path = "a.txt", message = "Why?", author = "bob", unresolved = true }]
files = { "a.txt" = "1" }

[[hosts.changes]]
project = "demo"
parent = 7
private = true
"""
    )
    first, second = world.hosts[0].changes.values()
    assert (first.number, first.topic, set(first.hashtags)) == (7, "t", {"h"})
    assert second.private
    assert world.hosts[0].repository("demo").is_ancestor(first.current.commit, second.current.commit)


def test_settings_of_a_project_are_files_of_its_configuration():
    world = parse_world(f'{HOST}settings = {{ "task.config" = "[root]" }}\n')
    assert world.hosts[0].projects["demo"].settings == {"task.config": "[root]"}


@pytest.mark.parametrize(
    ("added", "expected"),
    [
        (
            "seeed = 1\n" + HOST,
            "my.toml:1: a world file has no key 'seeed' (did you mean 'seed'?); expected one of",
        ),
        (HOST + "stat = 1\n", "my.toml:11: hosts[0].projects[0] has no key 'stat' (did you mean 'state'?)"),
        (
            HOST + 'state = "OPEN"\n',
            "my.toml:11: hosts[0].projects[0].state: expected 'ACTIVE', 'READ_ONLY' or 'HIDDEN'",
        ),
        (HOST + "[[hosts.changes]]\n", "my.toml:11: hosts[0].changes[0] needs the key 'project'"),
        (
            HOST + '[[hosts.changes]]\nproject = "dmo"\n',
            "my.toml:11: hosts[0].changes[0]: host 'review' has no project 'dmo'",
        ),
        (
            HOST + '[[hosts.changes]]\nproject = "demo"\nparent = 3\n',
            "my.toml:11: hosts[0].changes[0]: parent = 3 is no",
        ),
        (
            HOST + '[[hosts.changes]]\nproject = "demo"\nwip = "yes"\n',
            "my.toml:13: hosts[0].changes[0].wip: expected a valid",
        ),
        (HOST + '[[faults]]\nkind = "tmeout"\n', "(did you mean 'timeout'?)"),
        (
            HOST + '[[faults]]\nkind = "reset"\nhost = "b"\n',
            "my.toml:11: faults[0]: host = 'b' is no host of this world",
        ),
        (HOST + '[[faults]]\nkind = "reset"\nnth = 0\n', "my.toml:11: faults[0]: fault nth=0: expected 1 or more"),
        (HOST + '[[hosts]]\nurl = "https://review.example.com"\n', "my.toml:11: hosts[1]: "),
        ("[[hosts]]\nurl = 3\n", "my.toml:2: hosts[0].url: expected a valid string, got 3"),
        ('[[hosts]]\nurl = "review"\n', "my.toml:1: hosts[0]: expected the URL of a host"),
        ("", "my.toml:1: a world file needs the key 'hosts'"),
        ("hosts = []\n", "my.toml:1: hosts: "),
        ("seed = \n", "my.toml:1: expected valid TOML: Invalid value"),
        ("seed = 1\nseed = 'x", "my.toml:2: expected valid TOML"),
    ],
)
def test_a_mistake_is_told_with_file_line_and_what_was_expected(added, expected):
    assert expected in complaint(added)


@pytest.mark.parametrize(
    ("canned", "expected"),
    [
        ('"/x" = { json = 1 }', """canned."/x": expected a key such as 'GET /plugins/NAME/path'"""),
        ('"GET /x" = { jsn = 1 }', "has no key 'jsn' (did you mean 'json'?); expected one of json, status, text"),
        ('"GET /x" = { json = 1, text = "x" }', 'canned."GET /x": expected json or text, got both'),
    ],
)
def test_a_mistake_in_a_canned_answer_is_told_with_its_line(canned, expected):
    told = complaint(f'[[hosts]]\nurl = "https://a"\n[[hosts.plugins]]\nid = "x"\n[hosts.plugins.canned]\n{canned}\n')
    assert expected in told
    assert told.startswith("my.toml:6: ")


def test_a_file_that_is_not_there_is_told_without_a_line(tmp_path):
    with pytest.raises(WorldFileError, match=r"no\.toml: expected a readable TOML file: No such file") as refused:
        load_world(tmp_path / "no.toml")
    assert refused.value.line == 0


def test_a_file_in_another_encoding_is_told(tmp_path):
    (tmp_path / "w.toml").write_bytes(b"name = '\xff'")
    with pytest.raises(WorldFileError, match="expected a readable TOML file"):
        load_world(tmp_path / "w.toml")
