"""What the owner of a subject tells, and how a mistake in it is answered."""

from __future__ import annotations

import pytest

from conformance.profile import load_profile
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
