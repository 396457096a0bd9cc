"""A project becomes loadable, by its own backend and without a network, and has to fit this installation."""

from __future__ import annotations

import base64
import hashlib
import platform
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest
import pytest_asyncio

from conformance.preparing import prepare
from conformance.rig.rig import Rig
from conformance.subject import Subject
from conformance.targets import resolve_target
from conformance.usage import UsageError

BACKEND = """
import zipfile, os, pathlib

def get_requires_for_build_wheel(settings=None):
    return {needs}

def build_wheel(folder, settings=None, metadata=None):
    {before}
    name = "ext-{version}-py3-none-any.whl"
    info = "ext-{version}.dist-info"
    files = {{
        "ext.py": "def register(ctx): ...",
        info + "/METADATA": "Metadata-Version: 2.1\\nName: ext\\nVersion: {version}\\n" + {metadata!r},
        info + "/WHEEL": "Wheel-Version: 1.0\\nGenerator: x\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n",
        info + "/entry_points.txt": "[gerrit_mcp_server.extensions]\\next = ext\\n",
    }}
    files[info + "/RECORD"] = "".join(one + ",,\\n" for one in [*files, info + "/RECORD"])
    with zipfile.ZipFile(os.path.join(folder, name), "w") as wheel:
        for path, text in files.items():
            wheel.writestr(path, text)
    return name
"""


def project(
    root: Path,
    *,
    needs: tuple[str, ...] = (),
    before: str = "pass",
    version: str = "1.0",
    metadata: str = "",
    told: tuple[str, ...] = (),
    table: str = "",
) -> Path:
    """Write a project with a backend of its own, which asks for `needs` only when it is asked."""
    root.mkdir()
    text = BACKEND.format(needs=list(needs), before=before, version=version, metadata=metadata)
    (root / "own_backend.py").write_text(text)
    (root / "pyproject.toml").write_text(
        f'[build-system]\nrequires = {list(told)}\nbuild-backend = "own_backend"\nbackend-path = ["."]\n{table}'
    )
    return root


def wheel(folder: Path, name: str, *, tag: str = "py3-none-any", metadata: str = "", content: str = "") -> Path:
    """Write a wheel that pip accepts, with one module and one extension."""
    folder.mkdir(exist_ok=True)
    info = f"{name}-1.0.dist-info"
    files = {
        f"{name}.py": content,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n{metadata}",
        f"{info}/WHEEL": f"Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: {tag}\n",
        f"{info}/entry_points.txt": f"[gerrit_mcp_server.extensions]\n{name} = {name}\n",
    }
    lines = [
        f"{path},sha256={base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).decode().rstrip('=')},"
        f"{len(text.encode())}"
        for path, text in files.items()
    ]
    files[f"{info}/RECORD"] = "\n".join([*lines, f"{info}/RECORD,,", ""])
    made = folder / f"{name}-1.0-{tag}.whl"
    with zipfile.ZipFile(made, "w") as archive:
        for path, text in files.items():
            archive.writestr(path, text)
    return made


pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def rig():
    async with Rig() as running:
        yield running


@pytest.fixture(autouse=True)
def no_registry(tmp_path, monkeypatch):
    """Let pip find what lies in a folder, and nothing else; keep nothing between tests."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "registry"))


async def prepared(path: Path, rig: Rig) -> Subject:
    return await prepare(resolve_target(f"path:{path}", cwd=path.parent), rig)


async def refused(path: Path, rig: Rig) -> UsageError:
    with pytest.raises(UsageError) as caught:
        await prepared(path, rig)
    return caught.value


async def test_what_a_backend_asks_for_only_when_asked_is_fetched(tmp_path, rig):
    wheel(tmp_path / "registry", "late_need", content="VALUE = 7\n")
    root = project(tmp_path / "proj", needs=("late-need>=1",), before="import late_need; assert late_need.VALUE == 7")
    assert (await prepared(root, rig)).modules == ("ext",)


async def test_what_the_environment_has_is_not_fetched(tmp_path, rig):
    root = project(tmp_path / "proj", needs=("packaging>=20",), told=("packaging",))
    await prepared(root, rig)
    assert not (tmp_path / "cache" / "gerrit-mcp-conformance" / "backends").exists()


async def test_a_need_for_other_circumstances_is_none(tmp_path, rig):
    root = project(tmp_path / "proj", needs=('colorama; sys_platform == "no-such"',))
    assert (await prepared(root, rig)).version == "1.0"


async def test_a_need_that_cannot_be_had_is_named(tmp_path, rig):
    error = await refused(project(tmp_path / "proj", needs=("nobody-has-this",)), rig)
    assert "nobody-has-this" in error.what


@pytest.mark.parametrize("need", ["evil @ file:///tmp/evil", "./evil", "-rfile"])
async def test_a_need_whose_code_would_run_on_installing_is_refused(tmp_path, rig, need):
    error = await refused(project(tmp_path / "proj", needs=(need,)), rig)
    assert "nothing runs while being installed" in error.why


async def test_a_backend_that_never_has_enough_is_ended(tmp_path, rig):
    for number in range(9):
        wheel(tmp_path / "registry", f"need{number}")
    root = project(tmp_path / "proj")
    file = root / "own_backend.py"
    asking = """
    from importlib.metadata import distributions
    had = sum(one.name.startswith("need") for one in distributions())
    return [f"need{number}" for number in range(had + 1)]
"""
    file.write_text(file.read_text().replace("    return []", asking))
    assert "goes on asking" in (await refused(root, rig)).why


async def test_a_failed_build_says_its_last_line_first(tmp_path, rig):
    root = project(tmp_path / "proj", before="[print('x' * 70) for _ in range(90)]; raise RuntimeError('no such leaf')")
    error = await refused(root, rig)
    assert error.what == "proj cannot be built"
    assert error.why.splitlines()[0] == "RuntimeError: no such leaf"
    assert len(error.why) < 2500


async def test_a_backend_that_is_not_there_is_named(tmp_path, rig):
    root = project(tmp_path / "proj")
    file = root / "pyproject.toml"
    file.write_text(file.read_text().replace('"own_backend"', '"other_backend"'))
    assert "other_backend" in (await refused(root, rig)).why


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
async def test_the_history_of_a_project_is_there_to_take_the_version_from(tmp_path, rig):
    ask = "import subprocess as s; tag = str(s.check_output(['git', 'describe', '--tags'])); assert 'v2' in tag, tag"
    root = project(tmp_path / "proj", before=ask)
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.com", "-C", str(root)]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "all"], ["tag", "v1"]):
        subprocess.run([*git, *words], check=True, capture_output=True)
    assert "AssertionError: b'v1" in (await refused(root, rig)).why
    subprocess.run([*git, "tag", "-d", "v1"], check=True, capture_output=True)
    subprocess.run([*git, "tag", "v2"], check=True, capture_output=True)
    assert (await prepared(root, rig)).modules == ("ext",)


async def test_a_new_tag_is_a_new_build(tmp_path, rig):
    root = project(tmp_path / "proj")
    (root / ".git" / "refs").mkdir(parents=True)
    for tag in ("one", "two"):
        (root / ".git" / "refs" / "tag").write_text(tag)
        await prepared(root, rig)
    assert len(list((tmp_path / "cache" / "gerrit-mcp-conformance" / "subjects").iterdir())) == 2


async def test_another_interpreter_is_a_reason_and_no_finding(tmp_path, rig):
    subject = await prepared(project(tmp_path / "proj", metadata="Requires-Python: >=99\n"), rig)
    assert subject.blocked == f"it requires Python >=99, and this is Python {platform.python_version()}"
    assert subject.modules == ("ext",)


async def test_a_build_that_fails_on_another_interpreter_than_told_is_that_ones(tmp_path, rig):
    root = project(tmp_path / "proj", before="raise RuntimeError", table='[project]\nrequires-python = ">=99"\n')
    assert "requires Python >=99" in (await prepared(root, rig)).blocked


async def test_a_wheel_for_another_platform_is_refused(tmp_path, rig):
    error = await refused(wheel(tmp_path / "w", "ext", tag="py3-none-win_arm64"), rig)
    assert "py3-none-win_arm64" in error.why


async def test_a_dependency_that_is_not_there_is_named_with_the_command(tmp_path, rig):
    metadata = "Requires-Dist: nobody-has-this>=2\nRequires-Dist: packaging>=999\nRequires-Dist: mcp\n"
    error = await refused(wheel(tmp_path / "w", "ext", metadata=metadata), rig)
    assert error.remedy.endswith("-m pip install 'nobody-has-this>=2' 'packaging>=999'")
    assert "nobody-has-this is missing" in error.why
    assert "packaging is there in version" in error.why


async def test_what_is_asked_for_elsewhere_or_brought_by_the_host_is_not_missed(tmp_path, rig):
    metadata = (
        "Provides-Extra: more\nRequires-Dist: gerrit-mcp-server\nRequires-Dist: ext[some]\n"
        'Requires-Dist: nobody-has-this; extra == "more"\nRequires-Dist: nobody-either; python_version < "3"\n'
    )
    assert (await prepared(wheel(tmp_path / "w", "ext", metadata=metadata), rig)).modules == ("ext",)


async def test_an_extra_that_is_asked_for_has_to_be_there(tmp_path, rig):
    metadata = 'Requires-Dist: ext[more]\nRequires-Dist: nobody-has-this; extra == "more"\n'
    error = await refused(wheel(tmp_path / "w", "ext", metadata=metadata), rig)
    assert "nobody-has-this is missing, which ext needs" in error.why


async def test_an_installed_subject_is_held_against_the_installation_too(tmp_path, rig):
    info = tmp_path / "ext-1.0.dist-info"
    info.mkdir()
    (info / "entry_points.txt").write_text("[gerrit_mcp_server.extensions]\next = ext\n")
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: ext\nVersion: 1.0\nRequires-Dist: nobody-has-this\n")
    with pytest.raises(UsageError, match="nobody-has-this"):
        await prepare(resolve_target("dist:ext", cwd=tmp_path), rig)
