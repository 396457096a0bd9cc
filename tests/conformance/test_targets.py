"""What a `--conformance` value names."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.targets import resolve_target
from conformance.usage import UsageError


def resolve(text: str, cwd: Path, *more: Path):
    return resolve_target(text, cwd=cwd, import_path=[str(one) for one in more])


def distribution(root: Path, name: str, version: str = "1.0", entry: str | None = "ext") -> Path:
    """Lay down what an installer leaves: a metadata folder with an entry point."""
    folder = root / f"{name.replace('-', '_')}-{version}.dist-info"
    folder.mkdir(parents=True)
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    if entry:
        (folder / "entry_points.txt").write_text(f"[gerrit_mcp_server.extensions]\nmine = {entry}\n")
    return folder


def project(root: Path, name: str = "my-project") -> Path:
    root.mkdir(parents=True, exist_ok=True)
    (root / "pyproject.toml").write_text(f'[project]\nname = "{name}"\nversion = "2.0"\n')
    return root


def test_a_module_in_the_current_folder_is_found_by_its_name(tmp_path):
    (tmp_path / "ext.py").write_text("")
    subject = resolve("ext", tmp_path)
    assert (subject.kind, subject.modules, subject.import_path) == ("module", ("ext",), (tmp_path,))


def test_a_dotted_module_is_found_without_importing_its_parents(tmp_path):
    package = tmp_path / "pack" / "inner"
    package.mkdir(parents=True)
    (tmp_path / "pack" / "__init__.py").write_text("raise RuntimeError('imported')")
    (package / "__init__.py").write_text("")
    (package / "ext.py").write_text("")
    subject = resolve("module:pack.inner.ext", tmp_path)
    assert subject.modules == ("pack.inner.ext",)
    assert subject.import_path == (tmp_path,)


def test_a_module_that_is_not_there_names_the_nearest_one(tmp_path):
    (tmp_path / "my_extension.py").write_text("")
    with pytest.raises(UsageError, match="did you mean my_extension"):
        resolve("my_extnsion", tmp_path)


@pytest.mark.parametrize("prefix", ["module:", "dist:", "path:"])
def test_an_exact_target_that_is_missing_is_a_usage_error(tmp_path, prefix):
    with pytest.raises(UsageError):
        resolve(f"{prefix}nothing_here", tmp_path)


def test_an_unknown_prefix_names_the_right_one(tmp_path):
    with pytest.raises(UsageError, match="module:ext"):
        resolve("modul:ext", tmp_path)


@pytest.mark.parametrize("target", ["stdio:my-server stdio", "https://host/mcp", "factory:a:b", "server:a=b"])
def test_a_server_target_says_that_extensions_are_certified(tmp_path, target):
    with pytest.raises(UsageError, match="certifies extensions"):
        resolve(target, tmp_path)


def test_a_project_folder_is_a_distribution_to_build(tmp_path):
    subject = resolve("proj", project(tmp_path / "proj").parent)
    assert (subject.kind, subject.name, subject.version) == ("distribution", "my-project", "2.0")
    assert subject.build_from == tmp_path / "proj"


def test_a_folder_with_manifest_and_project_names_both(tmp_path):
    (project(tmp_path / "proj") / "extension.json").write_text("{}")
    with pytest.raises(UsageError, match=r"extension\.json.*pyproject\.toml"):
        resolve("proj", tmp_path)


def test_a_package_folder_and_a_file_are_modules(tmp_path):
    (tmp_path / "pack").mkdir()
    (tmp_path / "pack" / "__init__.py").write_text("")
    (tmp_path / "one.py").write_text("")
    assert resolve("path:pack", tmp_path).modules == ("pack",)
    assert resolve("./one.py", tmp_path).modules == ("one",)


def test_a_folder_that_is_no_extension_says_what_one_would_be(tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match=r"pyproject\.toml"):
        resolve("path:empty", tmp_path)


def test_a_wheel_is_known_by_its_name(tmp_path):
    (tmp_path / "my_ext-1.2-py3-none-any.whl").write_bytes(b"")
    subject = resolve("my_ext-1.2-py3-none-any.whl", tmp_path)
    assert (subject.name, subject.version) == ("my-ext", "1.2")


def test_an_installed_distribution_gives_the_modules_of_its_entry_points(tmp_path):
    site = tmp_path / "site"
    distribution(site, "my-dist", entry="pack.ext:register")
    subject = resolve("dist:My_Dist", tmp_path, site)
    assert (subject.name, subject.version, subject.modules) == ("my-dist", "1.0", ("pack.ext",))


def test_metadata_without_content_is_an_error_that_names_its_folder(tmp_path):
    site = tmp_path / "site"
    stale = site / "my_dist-0.9.dist-info"
    stale.mkdir(parents=True)
    distribution(site, "my-dist")
    with pytest.raises(UsageError, match="0.9"):
        resolve("my-dist", tmp_path, site)


def test_one_name_in_two_versions_is_an_error_that_names_both_folders(tmp_path):
    first, second = tmp_path / "a", tmp_path / "b"
    distribution(first, "my-dist", "1.0")
    distribution(second, "my-dist", "2.0")
    with pytest.raises(UsageError, match=r"(?s)1\.0.*2\.0"):
        resolve("my-dist", tmp_path, first, second)


def test_the_same_metadata_twice_is_no_contradiction(tmp_path):
    first, second = tmp_path / "a", tmp_path / "b"
    distribution(first, "my-dist")
    distribution(second, "my-dist")
    assert resolve("my-dist", tmp_path, first, second).version == "1.0"


def test_a_distribution_and_a_module_that_is_not_its_own_are_ambiguous(tmp_path):
    site = tmp_path / "site"
    distribution(site, "thing", entry="thing_ext")
    (tmp_path / "thing.py").write_text("")
    with pytest.raises(UsageError, match=r"dist:thing or module:thing"):
        resolve("thing", tmp_path, site)


def test_a_distribution_and_its_own_module_are_one_thing(tmp_path):
    site = tmp_path / "site"
    distribution(site, "thing", entry="thing")
    (site / "thing.py").write_text("")
    assert resolve("thing", tmp_path, site).kind == "distribution"


def test_a_broken_pyproject_is_a_usage_error_with_its_line(tmp_path):
    (tmp_path / "proj").mkdir()
    (tmp_path / "proj" / "pyproject.toml").write_text("[project\n")
    with pytest.raises(UsageError, match="line 1"):
        resolve("proj", tmp_path)


def test_the_slug_has_neither_blanks_nor_colons_nor_slashes(tmp_path):
    (tmp_path / "odd name ü").mkdir()
    (tmp_path / "odd name ü" / "__init__.py").write_text("")
    assert not set(resolve("path:odd name ü", tmp_path).slug) & set(" :/")


def test_the_hash_changes_with_content_name_and_mode_and_with_nothing_else(tmp_path):
    root = project(tmp_path / "proj")
    (root / "ext.py").write_text("a = 1\n")
    first = resolve("proj", tmp_path).sha256()
    (root / "__pycache__").mkdir()
    (root / "__pycache__" / "ext.pyc").write_bytes(b"x")
    (root / "dist").mkdir()
    (root / "dist" / "old.whl").write_bytes(b"x")
    assert resolve("proj", tmp_path).sha256() == first
    (root / "ext.py").chmod(0o755)
    second = resolve("proj", tmp_path).sha256()
    (root / "ext.py").write_text("a = 2\n")
    assert len({first, second, resolve("proj", tmp_path).sha256()}) == 3


def test_a_package_called_build_deeper_down_is_content(tmp_path):
    root = project(tmp_path / "proj")
    (root / "src" / "build").mkdir(parents=True)
    (root / "src" / "build" / "x.py").write_text("1")
    first = resolve("proj", tmp_path).sha256()
    (root / "src" / "build" / "x.py").write_text("2")
    assert resolve("proj", tmp_path).sha256() != first
