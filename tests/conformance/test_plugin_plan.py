"""Which subjects, profiles and node ids a run is planned with."""

from pathlib import Path

import pytest

from conformance.plan import make_plans
from conformance.usage import UsageError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a module and a project of one name, and a profile beside them."""
    (tmp_path / "greeter.py").write_text("def register(ctx): ...")
    project = tmp_path / "project"
    project.mkdir()
    (project / "pyproject.toml").write_text('[project]\nname = "greeter"\nversion = "1"\n')
    (tmp_path / "pyproject.toml").write_text('[tool.gerrit-conformance.waivers]\nEXT-QUIET = "of the folder"\n')
    return tmp_path


def waivers(folder: Path, *targets: str, profile: Path | None = None) -> list[dict[str, str]]:
    return [plan.profile.waivers for plan in make_plans(targets, cwd=folder, root=folder, profile_path=profile)]


def test_a_project_brings_its_own_profile_and_else_the_root_folders_holds(folder: Path) -> None:
    assert waivers(folder, "./project", "greeter") == [{"EXT-QUIET": "of the folder"}] * 2
    with (folder / "project" / "pyproject.toml").open("a") as file:
        file.write('[tool.gerrit-conformance.waivers]\nEXT-QUIET = "its own"\n')
    assert waivers(folder, "./project", "greeter") == [{"EXT-QUIET": "its own"}, {"EXT-QUIET": "of the folder"}]


def test_a_named_profile_holds_for_every_subject(folder: Path) -> None:
    named = folder / "named.toml"
    named.write_text('[waivers]\nEXT-SYNC = "named"\n')
    assert waivers(folder, "./project", "greeter", profile=named) == [{"EXT-SYNC": "named"}] * 2


def test_two_subjects_of_one_name_have_different_slugs_and_a_target_given_twice_counts_once(folder: Path) -> None:
    plans = make_plans(["greeter", "./project", "greeter"], cwd=folder, root=folder, profile_path=None)
    assert [plan.slug for plan in plans] == ["greeter", "greeter-2"]


def test_a_waiver_of_no_clause_is_refused(folder: Path) -> None:
    (folder / "pyproject.toml").write_text('[tool.gerrit-conformance.waivers]\nEXT-QUIT = "typo"\n')
    with pytest.raises(UsageError, match="did you mean EXT-QUIET"):
        make_plans(["greeter"], cwd=folder, root=folder, profile_path=None)
