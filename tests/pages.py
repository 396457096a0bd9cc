"""What the pages show: examples to run, commands to understand, links to follow."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from conformance import cli, options
from conformance.profile import profile_from
from mock_gerrit.serving import cli as mock_cli
from mock_gerrit.worldfile import parse_world
from reference_server import cli as reference_cli
from reference_server.config import Configuration

ROOT = Path(__file__).resolve().parents[1]
ALL = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]

_GENERATED = re.compile(r"<!-- generated: .*?<!-- end -->", re.DOTALL)
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_FILE_NAME = re.compile(r"# ([\w./-]+\.\w+)\n")
_LINK = re.compile(r"\]\(([^)#\s]+)[^)]*\)")
_PLUGINS = ("conformance.plugin", "mock_gerrit.pytest_plugin", "pytest_asyncio.plugin", "no:cacheprovider")
_PYTEST = (
    *("--import-mode=importlib", "-o", "asyncio_default_fixture_loop_scope=function"),
    *(word for name in _PLUGINS for word in ("-p", name)),
)
_ENVIRONMENT = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
"""Whatever else is installed would only cost each of these runs a second."""


@dataclass(frozen=True, kw_only=True)
class Example:
    """What one section of a page shows, as the folder it stands for.

    A block whose first line is a comment with a file name is that file; other Python is a test or a script of its own.
    """

    name: str
    files: dict[str, str]

    def run(self, folder: Path) -> subprocess.CompletedProcess[str]:
        """Write the files and run them: through pytest where there is a test, else one by one."""
        for name, text in self.files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8")
        if "pyproject.toml" in self.files:
            _install(folder)
        words = ["-m", "pytest", *_PYTEST] if any(name.startswith("test_") for name in self.files) else ["script.py"]
        return subprocess.run(
            [sys.executable, *words],
            cwd=folder,
            env={**_ENVIRONMENT, "PYTHONPATH": str(folder)},
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )


def _install(folder: Path) -> None:
    """Give the folder the metadata that installing its project would."""
    project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    metadata = folder / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Name: {project['name']}\nVersion: {project['version']}\n", encoding="utf-8")
    groups = [
        "\n".join([f"[{group}]", *(f"{name} = {value}" for name, value in points.items())])
        for group, points in project.get("entry-points", {}).items()
    ]
    (metadata / "entry_points.txt").write_text("\n".join(groups), encoding="utf-8")


def examples(page: Path) -> Iterator[Example]:
    """Yield what the sections of a page have to run."""
    text = _GENERATED.sub("", page.read_text(encoding="utf-8"))
    for section in re.split(r"^(?=#+ )", _without_headings_in_fences(text), flags=re.MULTILINE):
        title = section.partition("\n")[0].strip("# ")
        files: dict[str, str] = {}
        for language, block in _FENCE.findall(_restored(section)):
            named = _FILE_NAME.match(block)
            if named:
                files[named[1]] = block
            elif language == "python":
                is_test = "def test_" in block
                yield Example(name=f"{page.stem}: {title}", files={"test_it.py" if is_test else "script.py": block})
        if any(name.endswith(".py") for name in files):
            yield Example(name=f"{page.stem}: {title}", files=files)


def _without_headings_in_fences(text: str) -> str:
    return _FENCE.sub(lambda fence: fence[0].replace("\n# ", "\n\0# "), text)


def _restored(text: str) -> str:
    return text.replace("\0", "")


def commands(page: Path) -> Iterator[tuple[Path, str]]:
    """Yield each line of the shell blocks of a page that begins with a command of this project, pytest or make."""
    ours = ("gerrit-conformance", "gerrit-mcp-reference", "mock-gerrit", "pytest", "make")
    for language, block in _FENCE.findall(page.read_text(encoding="utf-8")):
        if language == "sh":
            yield from ((page, line) for line in block.splitlines() if line.split(" ")[0] in ours)


@dataclass(frozen=True, kw_only=True)
class Report:
    """What a page shows of the output of a run; `…` stands for lines that it leaves out."""

    name: str
    command: str
    lines: list[str]

    def run(self) -> str:
        """Run the command in the root of the repository and give what it says."""
        _, *arguments = shlex.split(self.command)
        command = [sys.executable, "-m", "pytest", *_PYTEST, *arguments]
        return subprocess.run(
            command, cwd=ROOT, env=_ENVIRONMENT, capture_output=True, text=True, check=False, timeout=120
        ).stdout


def reports(page: Path) -> Iterator[Report]:
    """Yield each certifying command of a page that is followed by what it says."""
    blocks = _FENCE.findall(page.read_text(encoding="utf-8"))
    for (language, command), (following, said) in pairwise(blocks):
        if (language, following) == ("sh", "text") and command.startswith("pytest --conformance="):
            lines = [line for line in said.splitlines() if line.strip() != "…"]
            yield Report(name=f"{page.stem}: {command.strip()}", command=command, lines=lines)


def is_understood(words: Sequence[str]) -> bool:
    """Tell whether a command line would get past the reading of its options; `list`, `explain` and `check` are run."""
    program, *arguments = words
    if program == "make":
        return all(re.search(rf"^{word}:", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE) for word in arguments)
    if program == "pytest":
        flags = {one.flag for one in options.OPTIONS}
        given = {word.partition("=")[0] for word in arguments if word.startswith("--conformance")}
        return bool(given or arguments) and given <= flags
    if program == "gerrit-mcp-reference":
        return reference_cli._parser().parse_args(arguments) is not None
    if program == "mock-gerrit":
        return _mock_gerrit(arguments)
    if arguments[0] in {"profile", "selftest"}:
        return cli._parse(list(arguments)) is not None
    return cli.main(arguments) == 0


def _mock_gerrit(arguments: Sequence[str]) -> bool:
    parsed = mock_cli._parser().parse_args(arguments)
    world = ROOT / parsed.world
    return world.parts[-2:-1] != ("worlds",) or mock_cli.main(["check", str(world)]) == 0


def configurations(page: Path) -> Iterator[tuple[Path, str, str]]:
    """Yield language and text of each block of a page that configures something of this project."""
    for language, block in _FENCE.findall(page.read_text(encoding="utf-8")):
        if language in {"toml", "json"}:
            yield page, language, block


def check_configuration(language: str, block: str) -> None:
    """Take a block as its reader would; raises what the reader raises."""
    if language == "json":
        Configuration.model_validate_json(block)
        return
    table = tomllib.loads(block)
    if "hosts" in table:
        parse_world(block)
    elif "tool" in table:
        profile_from(table["tool"]["gerrit-conformance"], where="the page")


def links(page: Path) -> list[str]:
    """Give the targets of all links that are no web addresses, without their anchors."""
    text = _FENCE.sub("", page.read_text(encoding="utf-8"))
    return [link for link in _LINK.findall(text) if not re.match(r"[a-z]+:", link)]
