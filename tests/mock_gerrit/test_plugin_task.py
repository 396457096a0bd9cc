"""The simulated task plugin: what it shows of a change's tasks."""

from __future__ import annotations

from typing import Any

import pytest

from mock_gerrit.host import Host
from mock_gerrit.worldfile import WorldFileError, parse_world
from tests.mock_gerrit.plugin_asking import a_host, ask, refusal, told


def host_with(configuration: str) -> Host:
    host = a_host("task")
    host.projects["All-Projects"].settings["task.config"] = configuration
    return host


def roots(host: Host, *, options: str = "task--applicable", number: int = 1, user: str = "alice") -> list[Any]:
    """The roots of a change's tasks; empty where the change has no entry of the plugin."""
    [change] = told(ask(host, f"/changes/?q=change:{number}&{options}", user=user))
    return change["plugins"][0]["roots"] if "plugins" in change else []


def states(entries: list[Any]) -> dict[str, str]:
    return {entry["name"]: entry["status"] for entry in entries}


def test_a_fresh_host_has_tasks_for_every_open_change() -> None:
    host = a_host("task")
    host.change("demo")
    [ready, notes] = roots(host)
    assert (ready["name"], ready["status"]) == ("Ready to submit", "WAITING")
    assert [task["status"] for task in ready["sub_tasks"]] == ["READY", "READY"]
    assert notes["hint"] == "Add a line to the release notes"


def test_a_task_follows_the_votes_of_its_change() -> None:
    host = a_host("task")
    for votes in ({}, {"Code-Review": {"bob": 2}}, {"Code-Review": {"bob": -2}}):
        host.change("demo", votes=votes)
    reviews = [roots(host, number=number)[0]["sub_tasks"][0] for number in (1, 2, 3)]
    assert [review["status"] for review in reviews] == ["READY", "PASS", "FAIL"]
    assert [review.get("hint") for review in reviews] == ["Ask a reviewer for a +2", None, "A reviewer voted -2"]


def test_without_a_switch_a_change_has_no_tasks() -> None:
    host = a_host("task")
    host.change("demo")
    assert roots(host, options="n=1") == []


@pytest.mark.parametrize("switch", ["task--applicable", "--task--applicable", "task--applicable=true", "--task--all"])
def test_a_switch_is_written_with_or_without_dashes(switch: str) -> None:
    host = a_host("task")
    host.change("demo")
    assert states(roots(host, options=switch)) == {"Ready to submit": "WAITING", "Release notes": "READY"}


@pytest.mark.parametrize("switch", ["task--only=Release%20notes", "task--applicable=false", "task--include-paths"])
def test_a_switch_that_asks_for_no_tasks_brings_none(switch: str) -> None:
    host = a_host("task")
    host.change("demo")
    assert roots(host, options=switch) == []


def test_only_leaves_the_roots_of_the_given_names() -> None:
    host = a_host("task")
    host.change("demo")
    assert states(roots(host, options="task--applicable&task--only=Release%20notes")) == {"Release notes": "READY"}
    assert roots(host, options="task--applicable&task--only=release%20notes") == []


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ("--task--nosuch", '"--task--nosuch" is not a valid option'),
        ("task", '"--task" is not a valid option'),
        ("task--applicable=x", 'invalid boolean "task--applicable=x"'),
        ("task--preview=x", '"x" is not a valid patch set'),
    ],
)
def test_a_switch_that_makes_no_sense_answers_400(options: str, text: str) -> None:
    host = a_host("task")
    assert refusal(ask(host, f"/changes/?q=change:1&{options}")) == (400, text)


def test_the_switches_of_a_disabled_plugin_answer_400() -> None:
    host = a_host("task")
    host.plugins["task"].disabled = True
    answer = ask(host, "/changes/?q=change:1&task--applicable")
    assert refusal(answer) == (400, '"--task--applicable" is not a valid option')


def test_a_task_that_does_not_apply_is_left_out_or_shown_without_its_name() -> None:
    host = host_with('[root "Merged"]\napplicable = status:merged\npass = True\n[root "Open"]\npass = True\n')
    host.change("demo")
    assert states(roots(host)) == {"Open": "PASS"}
    assert roots(host, options="task--all") == [
        {"name": "UNKNOWN", "status": "UNKNOWN"},
        {"name": "Open", "status": "PASS", "has_pass": True, "applicable": True},
    ]


def test_a_broken_query_is_shown_as_invalid_and_by_its_name_to_administrators_only() -> None:
    host = host_with('[root "Broken"]\napplicable = nosuch:query\npass = True\n')
    host.change("demo")
    assert roots(host) == [{"name": "UNKNOWN", "status": "INVALID"}]
    assert roots(host, user="admin") == [{"name": "Broken", "status": "INVALID"}]


def test_a_broken_pass_query_makes_the_task_invalid() -> None:
    host = host_with('[root "Broken"]\npass = nosuch:query\n')
    host.change("demo")
    assert roots(host) == [{"name": "Broken", "status": "INVALID", "has_pass": True}]


def test_a_configuration_that_does_not_parse_is_one_invalid_task() -> None:
    host = host_with('[root "x"\n  pass = True\n')
    host.change("demo")
    assert roots(host) == [{"name": "UNKNOWN", "status": "INVALID"}]


def test_a_configuration_without_roots_brings_no_entry() -> None:
    host = host_with('[task "x"]\n  pass = True\n')
    host.change("demo")
    assert roots(host) == []


def test_a_task_without_any_criterion_is_invalid() -> None:
    host = host_with('[root "Empty"]\napplicable = status:open\n')
    host.change("demo")
    assert states(roots(host)) == {"Empty": "INVALID"}


def test_a_subtask_that_is_not_defined_is_invalid_unless_it_is_optional() -> None:
    host = host_with('[root "A"]\nsubtask = Nosuch\n[root "B"]\npass = True\nsubtask = Nosuch | \n')
    host.change("demo")
    first, second = roots(host)
    assert first["sub_tasks"] == [{"name": "UNKNOWN", "status": "INVALID"}]
    assert "sub_tasks" not in second


def test_the_first_defined_alternative_is_taken() -> None:
    host = host_with('[root "A"]\nsubtask = Nosuch | Second\n[task "Second"]\npass = True\n')
    host.change("demo")
    assert states(roots(host)[0]["sub_tasks"]) == {"Second": "PASS"}


def test_a_task_below_itself_is_a_duplicate_and_blocks_nothing() -> None:
    host = host_with('[root "A"]\nsubtask = L\n[task "L"]\npass = True\nsubtask = L\n')
    host.change("demo")
    [root] = roots(host)
    again = root["sub_tasks"][0]["sub_tasks"][0]
    assert (root["status"], again["status"], again["has_pass"]) == ("PASS", "DUPLICATE", False)


def test_in_progress_and_exported_values_are_shown() -> None:
    host = host_with(
        '[root "A"]\npass = hashtag:done\nin-progress = topic:busy\nready-hint = See ${_change_number} on'
        " ${_change_branch}\nexport-url = https://ci.example.com/${_change_number}\n"
    )
    host.change("demo", topic="busy")
    assert roots(host) == [
        {
            "name": "A",
            "status": "READY",
            "has_pass": True,
            "in_progress": True,
            "hint": "See 1 on refs/heads/master",
            "exported": {"url": "https://ci.example.com/1"},
        }
    ]


def test_a_factory_makes_a_task_for_each_change_that_a_query_finds() -> None:
    host = host_with(
        '[root "A"]\napplicable = change:1\nsubtasks-factory = each\n'
        '[tasks-factory "each"]\nnames-factory = chain\npass = label:Code-Review=MAX\n'
        '[names-factory "chain"]\ntype = change\nchanges = topic:chain\n'
    )
    host.change("demo")
    host.change("demo", topic="chain")
    host.change("demo", topic="chain", votes={"Code-Review": {"bob": 2}})
    made = {task["change"]: (task["name"], task["status"]) for task in roots(host)[0]["sub_tasks"]}
    assert made == {2: ("2", "READY"), 3: ("3", "PASS")}


def test_a_factory_of_given_names_makes_a_task_for_each() -> None:
    host = host_with(
        '[root "A"]\nsubtasks-factory = each\n[tasks-factory "each"]\nnames-factory = two\npass = True\n'
        '[names-factory "two"]\ntype = static\nname = One\nname = Two\n'
    )
    host.change("demo")
    assert states(roots(host)[0]["sub_tasks"]) == {"One": "PASS", "Two": "PASS"}


def test_a_factory_without_names_is_invalid() -> None:
    host = host_with(
        '[root "A"]\nsubtasks-factory = each\n[tasks-factory "each"]\nnames-factory = nosuch\npass = True\n'
    )
    host.change("demo")
    assert roots(host)[0]["sub_tasks"] == [{"name": "UNKNOWN", "status": "INVALID"}]


def test_paths_are_for_administrators_only() -> None:
    host = host_with('[root "A"]\npass = True\n')
    host.change("demo")
    asked = "task--applicable&task--include-paths"
    assert roots(host, options=asked)[0]["path"] == {"error": "Can't perform operation, need viewTaskPaths capability"}
    assert roots(host, options=asked, user="admin")[0]["path"] == {
        "name": "A",
        "type": "root",
        "project": "All-Projects",
        "ref": "refs/meta/config",
        "file": "task.config",
    }


def test_statistics_break_the_plugin_as_they_do_in_the_real_one() -> None:
    host = a_host("task")
    host.change("demo")
    [change] = told(ask(host, "/changes/?q=change:1&task--applicable&task--include-statistics"))
    assert change["plugins"] == [{"name": "task", "message": "Something went wrong in plugin: task"}]


@pytest.mark.parametrize("view", ["/changes/1?", "/changes/1/detail?"])
def test_one_change_and_its_detail_take_the_switches_too(view: str) -> None:
    host = a_host("task")
    host.change("demo")
    assert told(ask(host, f"{view}task--applicable"))["plugins"][0]["name"] == "task"


def test_invalid_shows_only_what_is_not_defined_properly() -> None:
    host = host_with(
        '[root "Good"]\npass = True\n'
        '[root "Bad pass"]\npass = nosuch:1\n'
        '[root "Bad below"]\nsubtask = Fine\nsubtask = Broken\n'
        '[root "Bad progress"]\npass = True\nin-progress = nosuch:1\n'
        '[task "Fine"]\npass = True\n'
        '[task "Broken"]\nfail = nosuch:1\n'
    )
    host.change("demo")
    found = roots(host, options="task--invalid")
    assert states(found) == {"Bad pass": "INVALID", "Bad below": "WAITING", "Bad progress": "INVALID"}
    assert states(found[1]["sub_tasks"]) == {"Broken": "INVALID"}


def test_a_broken_in_progress_query_is_left_out() -> None:
    host = host_with('[root "A"]\npass = True\nin-progress = nosuch:1\n')
    host.change("demo")
    assert roots(host) == [{"name": "A", "status": "PASS", "has_pass": True}]


def test_the_time_of_each_task_is_told_when_asked_for() -> None:
    host = host_with('[root "A"]\npass = True\n')
    host.change("demo")
    [root] = roots(host, options="task--applicable&task--evaluation-time")
    assert root["evaluation_milli_seconds"] >= 0


def test_a_factory_whose_query_is_broken_is_invalid() -> None:
    host = host_with(
        '[root "A"]\nsubtasks-factory = each\n[tasks-factory "each"]\nnames-factory = all\npass = True\n'
        '[names-factory "all"]\ntype = change\nchanges = nosuch:1\n'
    )
    host.change("demo")
    assert roots(host)[0]["sub_tasks"] == [{"name": "UNKNOWN", "status": "INVALID"}]


def test_a_task_asks_nothing_that_takes_more_than_the_change_to_answer() -> None:
    host = host_with('[root "A"]\npass = is:submittable\n')
    host.change("demo")
    assert states(roots(host)) == {"A": "INVALID"}


WORLD = """
[[hosts]]
url = "https://review.example.com"
plugins = ["task"]

[[hosts.accounts]]
username = "alice"
password = "alice-pw"

[[hosts.projects]]
name = "All-Projects"
settings = { "task.config" = '''
[root "From the file"]
pass = True
''' }

[[hosts.projects]]
name = "demo"

[[hosts.changes]]
project = "demo"
"""


def test_tasks_can_be_defined_in_a_world_file() -> None:
    [host] = parse_world(WORLD, file="world.toml").hosts
    assert states(roots(host)) == {"From the file": "PASS"}


def test_a_world_file_cannot_make_a_project_that_comes_with_the_host() -> None:
    with pytest.raises(WorldFileError, match="All-Projects comes with the host: it can be given settings, not state"):
        parse_world(WORLD.replace("settings =", 'state = "HIDDEN"\nsettings ='), file="world.toml")
