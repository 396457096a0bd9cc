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


def test_servers_by_name_are_refused_for_now_and_the_other_way_is_named(tmp_path):
    with pytest.raises(UsageError, match="stdio:"):
        resolve("server:a=https://host/mcp", tmp_path)


def test_a_project_folder_is_a_distribution_to_build(tmp_path):
    subject = resolve("proj", project(tmp_path / "proj").parent)
    assert (subject.kind, subject.name, subject.version) == ("distribution", "my-project", "2.0")
    assert subject.build_from == tmp_path / "proj"


def test_a_folder_with_manifest_and_project_names_both(tmp_path):
    (project(tmp_path / "proj") / "extension.json").write_text("{}")
    with pytest.raises(UsageError, match=r"extension\.json.*pyproject\.toml"):
        resolve("proj", tmp_path)


def package(*folders: Path) -> None:
    for folder in folders:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "__init__.py").write_text("")


def test_a_file_inside_a_package_is_known_by_its_dotted_name(tmp_path):
    package(tmp_path / "lib" / "acme", tmp_path / "lib" / "acme" / "sub")
    (tmp_path / "lib" / "acme" / "sub" / "ext.py").write_text("from . import other\n")
    subject = resolve("path:lib/acme/sub/ext.py", tmp_path)
    assert (subject.name, subject.modules) == ("acme.sub.ext", ("acme.sub.ext",))
    assert subject.import_path == (tmp_path / "lib",)
    folder = resolve("path:lib/acme/sub", tmp_path)
    assert (folder.modules, folder.import_path) == (("acme.sub",), (tmp_path / "lib",))
    assert resolve("lib/acme/sub/__init__.py", tmp_path).modules == ("acme.sub",)


@pytest.mark.parametrize("target", ["path:queue.py", "./queue.py", "module:queue", "queue", "path:queue.pyc"])
def test_a_module_named_like_one_of_the_standard_library_says_so(tmp_path, target):
    (tmp_path / "queue.py").write_text("")
    (tmp_path / "queue.pyc").write_bytes(b"")
    with pytest.raises(UsageError, match="name of a module of the standard library"):
        resolve(target, tmp_path)


def test_a_module_of_a_package_may_be_called_like_one_of_the_standard_library(tmp_path):
    package(tmp_path / "acme")
    (tmp_path / "acme" / "queue.py").write_text("")
    assert resolve("path:acme/queue.py", tmp_path).modules == ("acme.queue",)
    assert resolve("acme.queue", tmp_path).modules == ("acme.queue",)


@pytest.mark.parametrize("name", ["mcp", "conformance", "gerrit_mcp_server"])
def test_a_file_named_like_a_module_of_the_host_says_so(tmp_path, name):
    (tmp_path / f"{name}.py").write_text("")
    with pytest.raises(UsageError, match="name of a module of the host"):
        resolve(f"path:{name}.py", tmp_path)


def test_a_file_whose_name_holds_a_dot_cannot_be_imported(tmp_path):
    (tmp_path / "my.ext.py").write_text("")
    with pytest.raises(UsageError, match="rename it without a dot"):
        resolve("path:my.ext.py", tmp_path)


def test_a_project_folder_named_like_a_standard_module_is_a_project(tmp_path):
    project(tmp_path / "queue")
    assert resolve("queue", tmp_path).kind == "distribution"


@pytest.mark.parametrize("target", ["both", "path:both", "./both"])
def test_each_of_two_manifests_can_be_named_as_the_message_says(tmp_path, target):
    (project(tmp_path / "both") / "extension.json").write_text("{}")
    with pytest.raises(UsageError) as caught:
        resolve(target, tmp_path)
    first, second = caught.value.remedy.removeprefix("say ").split(" or ")
    assert "path:path:" not in caught.value.remedy
    assert resolve(second, tmp_path).build_from == tmp_path / "both"
    with pytest.raises(UsageError, match="is an extension manifest"):
        resolve(first, tmp_path)


def test_a_pyproject_stands_for_its_folder(tmp_path):
    project(tmp_path / "proj")
    assert resolve("proj/pyproject.toml", tmp_path).sha256() == resolve("path:proj", tmp_path).sha256()


@pytest.mark.parametrize(
    ("target", "meant"),
    [("pth:/abs/file.py", "path:/abs/file.py"), ("pthh:x/y", "path:x/y"), ("folder:x/y", "path:x/y")],
)
def test_an_unknown_prefix_before_a_path_names_the_right_one(tmp_path, target, meant):
    with pytest.raises(UsageError, match=f"did you mean {meant}"):
        resolve(target, tmp_path)


def test_a_path_that_holds_a_colon_is_a_path(tmp_path):
    package(tmp_path / "odd:folder")
    assert resolve("odd:folder", tmp_path).modules == ("odd:folder",)


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
    with pytest.raises(UsageError, match=r"0\.9"):
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


def test_a_folder_of_loose_modules_is_no_extension_and_the_message_names_them(tmp_path: Path) -> None:
    (tmp_path / "loose").mkdir()
    (tmp_path / "loose" / "first.py").write_text("def register(ctx): ...\n")
    with pytest.raises(UsageError, match=r"without __init__\.py(.|\n)*--conformance=loose/first\.py"):
        resolve_target("loose", cwd=tmp_path)


def test_an_empty_target_says_so(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="names nothing"):
        resolve_target(" ", cwd=tmp_path)
