"""`gerrit-conformance profile TARGET`: what it writes can be used as it stands, once the gaps are filled."""

import tomllib
from pathlib import Path

import pytest

from conformance import cli
from conformance.profile import load_profile, profile_from
from conformance.specimens import fixtures_root
from conformance.usage import UsageError

EXTENSION = '''
"""Reads a change, and something that only its author knows."""


def register(ctx):
    settings = ctx.extension_config("odd-settings")

    @ctx.mcp.tool()
    async def get_subject(change_id: str) -> str:
        """Give the subject of a change."""
        base_url = ctx.get_base_url(None)
        return await ctx.run_curl([f"{base_url}/changes/{change_id}"], base_url)

    @ctx.mcp.tool()
    async def get_flavour(change_id: str, flavour: str, sizes: list[int] | None = None) -> str:
        """Give a flavour."""
        return flavour
'''


@pytest.fixture
def extension(tmp_path: Path) -> Path:
    path = tmp_path / "odd_ext.py"
    path.write_text(EXTENSION)
    return path


def test_it_names_the_settings_and_asks_only_for_what_cannot_be_told(
    extension: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["profile", str(extension)]) == 0
    text = capsys.readouterr().out
    table = tomllib.loads(text)["tool"]["gerrit-conformance"]
    assert table["extension"]["config_name"] == "odd-settings"
    assert table["tools"] == {"get_flavour": {"arguments": {"change_id": "1", "flavour": "…"}}}
    assert "#   flavour: string" in text
    assert "# [tool.gerrit-conformance.tools.get_subject]" in text


def test_a_gap_that_is_not_filled_is_a_usage_error(extension: Path, tmp_path: Path) -> None:
    written = tmp_path / "profile.toml"
    assert cli.main(["profile", str(extension), "--output", str(written)]) == 0
    with pytest.raises(UsageError, match=r"tools\.get_flavour\.arguments\.flavour is still to be filled in"):
        load_profile(written)
    written.write_text(written.read_text().replace("…", "vanilla").replace('"""', "").replace('every "vanilla"', ""))
    assert load_profile(written).tools["get_flavour"].arguments["flavour"] == "vanilla"


def test_a_subject_that_needs_nothing_gets_a_profile_of_comments(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["profile", str(fixtures_root() / "extensions" / "good" / "task")]) == 0
    table = tomllib.loads(capsys.readouterr().out)["tool"]["gerrit-conformance"]
    assert profile_from(table, where="here") == profile_from({}, where="nowhere")


def test_an_old_profile_is_never_overwritten(
    extension: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = tmp_path / "kept.toml"
    kept.write_text("# mine")
    assert cli.main(["profile", str(extension), "--output", str(kept)]) == 4
    assert "is there already" in capsys.readouterr().err
    assert kept.read_text() == "# mine"
