"""The pages are current, their examples run, their commands are understood, their links lead somewhere."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import pytest

from conformance.profile import ToolTable
from tests import pages
from tests.pages import ALL, ROOT, Example, Report

EXAMPLES = [one for page in ALL for one in pages.examples(page)]
CONFIGURATIONS = [one for page in ALL for one in pages.configurations(page)]
REPORTS = [one for page in ALL for one in pages.reports(page)]
COMMANDS = [one for page in ALL for one in pages.commands(page)]


def generate(*arguments: str, docs: Path = ROOT / "docs") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(docs / "generate.py"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda one: one.name)
def test_an_example_runs(example: Example, tmp_path: Path) -> None:
    ran = example.run(tmp_path)
    assert ran.returncode == 0, f"{example.name} ends with {ran.returncode}\n{ran.stdout}\n{ran.stderr}"


@pytest.mark.parametrize(("page", "command"), COMMANDS, ids=lambda one: one if isinstance(one, str) else one.name)
def test_a_command_is_understood(page: Path, command: str) -> None:
    assert pages.is_understood(shlex.split(command, comments=True)), (
        f"{page.name} shows a command that is refused: {command}"
    )


@pytest.mark.parametrize(
    ("page", "language", "block"),
    CONFIGURATIONS,
    ids=[f"{page.stem}-{language}" for page, language, _ in CONFIGURATIONS],
)
def test_a_configuration_is_taken(page: Path, language: str, block: str) -> None:
    pages.check_configuration(language, block)


@pytest.mark.parametrize("report", REPORTS, ids=lambda one: one.name)
def test_a_report_says_what_the_page_shows(report: Report) -> None:
    told = report.run()
    missing = [line for line in report.lines if line not in told.splitlines()]
    assert not missing, f"{report.name} does not say {missing}\n{told}"


@pytest.mark.parametrize("page", ALL, ids=lambda one: one.name)
def test_links_lead_somewhere(page: Path) -> None:
    dead = [link for link in pages.links(page) if not (page.parent / link).exists()]
    assert not dead, f"{page.name} links to what is not there: {', '.join(dead)}"


@pytest.mark.parametrize("page", ALL, ids=lambda one: one.name)
def test_pages_name_no_address_of_a_registry(page: Path) -> None:
    assert not re.search(r"https?://[\w.]*(pypi|index-url|registry)\S*", page.read_text(encoding="utf-8"))


def test_every_page_is_found_from_the_readme() -> None:
    linked = {(ROOT / link).resolve() for link in pages.links(ROOT / "README.md")}
    assert set(ALL) - {ROOT / "README.md"} <= linked


def test_a_stale_page_is_told_by_name(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    shutil.copytree(ROOT / "docs", docs, ignore=shutil.ignore_patterns("*.md"))
    (docs / "options.md").write_text("<!-- generated: exit-codes -->\n<!-- end -->\n", encoding="utf-8")
    checked = generate("--check", docs=docs)
    assert (checked.returncode, checked.stderr) == (1, "not current: options.md; run make docs\n")


@pytest.fixture
def parts(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """The modules from which the generated parts of pages come."""
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    names = ("clauses", "errors", "models")
    return SimpleNamespace(**{name: import_module(f"_parts.{name}") for name in names})


@pytest.mark.parametrize("lacking", ["_good", "_bad"])
def test_a_clause_without_an_example_has_no_page(
    parts: SimpleNamespace, monkeypatch: pytest.MonkeyPatch, lacking: str
) -> None:
    monkeypatch.setattr(parts.clauses, lacking, lambda: ())
    with pytest.raises(parts.errors.NotTold, match=r"EXT-EXIT has .*: add them"):
        parts.clauses.catalogue_text("")


def test_a_key_without_words_has_no_page(parts: SimpleNamespace) -> None:
    with pytest.raises(parts.errors.NotTold, match="ToolTable: keys and words differ in arguments"):
        parts.models.keys(ToolTable, {})
