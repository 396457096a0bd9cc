"""What the owner of a subject tells, and how a mistake in it is answered."""

from __future__ import annotations

import pytest

from conformance.profile import load_profile, profile_from, reject_unknown_tools
from conformance.usage import UsageError


def test_without_a_file_the_profile_is_empty(tmp_path):
    assert load_profile(None, tmp_path).waivers == {}


def test_the_table_of_a_pyproject_is_read(tmp_path):
    (tmp_path / "pyproject.toml").write_text('[tool.gerrit-conformance.tools.t.arguments]\nchange_id = "7"\n')
    assert load_profile(None, tmp_path).tools["t"].arguments == {"change_id": "7"}


def test_a_file_of_its_own_needs_no_table(tmp_path):
    file = tmp_path / "profile.toml"
    file.write_text('[waivers]\nTOOL-SCHEMA = "later"\n')
    assert load_profile(file).waivers == {"TOOL-SCHEMA": "later"}


def test_a_canned_answer_keeps_its_json(tmp_path):
    file = tmp_path / "profile.toml"
    file.write_text('[[canned]]\nplugin = "p"\npath = "/x"\njson = {a = 1}\n')
    assert load_profile(file).canned[0].json_ == {"a": 1}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[extention]\nconfig_name = "x"\n', "did you mean extension"),
        ('[extension]\nconfg_name = "x"\n', "did you mean config_name"),
        ("[tools.t.argments]\na = 1\n", "did you mean arguments"),
        ('[[canned]]\nplugin = "p"\npath = "/x"\nmethd = "GET"\n', "did you mean method"),
    ],
)
def test_an_unknown_key_names_the_nearest_right_one(tmp_path, text, message):
    file = tmp_path / "profile.toml"
    file.write_text(text)
    with pytest.raises(UsageError, match=message):
        load_profile(file)


def test_a_value_of_the_wrong_type_is_named_with_its_key(tmp_path):
    file = tmp_path / "profile.toml"
    file.write_text("[waivers]\nTOOL-SCHEMA = 3\n")
    with pytest.raises(UsageError, match="TOOL-SCHEMA"):
        load_profile(file)


def test_a_file_that_is_missing_or_no_toml_is_a_usage_error(tmp_path):
    with pytest.raises(UsageError, match="there is no profile"):
        load_profile(tmp_path / "none.toml")
    (tmp_path / "bad.toml").write_text("a = \n")
    with pytest.raises(UsageError, match="line 1"):
        load_profile(tmp_path / "bad.toml")


@pytest.mark.parametrize(
    ("text", "key", "expected"),
    [
        ("[tools]\nx = 1\n", "tools.x", "a table"),
        ("tools = 1\n", "tools", "a table"),
        ("[tools.x]\narguments = 1\n", "tools.x.arguments", "a table"),
        ("extension = 1\n", "extension", "a table"),
        ("canned = 1\n", "canned", "a list"),
        ('[[canned]]\nplugin = "p"\n', "canned.0.path", "a value, and there is none"),
        ('[[canned]]\nplugin = "p"\npath = "/x"\nstatus = "many"\n', "canned.0.status", "a whole number"),
        ("[extension]\nconfig_name = 1\n", "extension.config_name", "a text"),
        ("[tool]\ngerrit-conformance = 1\n", r"\[tool.gerrit-conformance\]", "a table"),
    ],
)
def test_what_was_expected_is_said_in_words_of_toml(tmp_path, text, key, expected):
    file = tmp_path / "profile.toml"
    file.write_text(text)
    with pytest.raises(UsageError, match=f"(?s){key} is not as.*expected {expected}\\n") as caught:
        load_profile(file)
    assert "Table" not in str(caught.value)


def test_a_pyproject_whose_tool_is_no_table_holds_no_profile(tmp_path):
    (tmp_path / "pyproject.toml").write_text("tool = 1\n")
    assert load_profile(None, tmp_path).tools == {}


def test_arguments_for_a_tool_that_does_not_exist_name_the_nearest():
    profile = profile_from({"tools": {"get_task_tre": {"arguments": {}}}}, where="here")
    with pytest.raises(UsageError, match=r"(?s)get_task_tre,.*did you mean get_task_tree\?"):
        reject_unknown_tools(profile, ["get_task_tree", "count_tasks"])
    with pytest.raises(UsageError, match="registers no tools"):
        reject_unknown_tools(profile, [])


def test_arguments_for_tools_that_exist_are_accepted():
    profile = profile_from({"tools": {"get_task_tree": {"arguments": {}}}}, where="here")
    reject_unknown_tools(profile, iter(["get_task_tree", "count_tasks"]))
