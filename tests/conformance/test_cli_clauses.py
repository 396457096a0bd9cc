"""`gerrit-conformance list` and `explain`, and mistakes on the command line."""

import ast
import json
import subprocess
import sys
import textwrap
import tomllib

import pytest

from conformance import cli
from conformance.contracts import registry
from conformance.families import FAMILIES


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = cli.main(arguments)
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_list_tells_every_clause_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "list", "--json")
    told = json.loads(out)
    assert code == 0
    assert set(told) == {"catalogue", "clauses"}
    assert told["catalogue"] == registry.CATALOGUE_VERSION
    assert [clause["id"] for clause in told["clauses"]] == list(registry.catalogue().ids())
    for clause in told["clauses"]:
        assert set(clause) == {"id", "family", "level", "source", "summary"}
        assert clause["level"] in {"must", "should", "may"}
        assert clause["summary"]
        assert clause["source"]


def test_list_for_people_has_a_heading_a_family_and_every_id(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "list")
    assert code == 0
    for family in FAMILIES:
        assert f"{family.letter}  {family.prefixes[0]}" in out
    for clause_id in registry.catalogue().ids():
        assert f"  {clause_id} " in out


@pytest.mark.parametrize(
    ("words", "families"),
    [("A", {"EXT"}), ("B,C", {"TOOL", "ROUTE"}), ("ext-", {"EXT"}), ("TOOL-W, c", {"TOOL", "ROUTE"})],
)
def test_family_takes_letters_and_beginnings_of_ids(
    capsys: pytest.CaptureFixture[str], words: str, families: set[str]
) -> None:
    _, out, _ = run(capsys, "list", "--json", "--family", words)
    assert {clause["family"] for clause in json.loads(out)["clauses"]} == families


def test_explain_tells_text_source_and_fix_whatever_the_case_of_the_id(capsys: pytest.CaptureFixture[str]) -> None:
    clause = registry.catalogue()["ROUTE-NAMES"]
    code, out, _ = run(capsys, "explain", "route-names")
    assert code == 0
    flat = " ".join(out.split())
    for part in ("ROUTE-NAMES (MUST)", clause.summary, str(clause.source), clause.fix):
        assert part in flat


def test_every_clause_can_be_explained(capsys: pytest.CaptureFixture[str]) -> None:
    for clause_id in registry.catalogue().ids():
        assert run(capsys, "explain", clause_id)[0] == 0


@pytest.mark.parametrize("clause", registry.catalogue(), ids=lambda one: one.id)
def test_every_clause_has_a_short_example_that_is_python_or_toml(clause: registry.Clause) -> None:
    assert 1 <= len(clause.example.splitlines()) <= 8, clause.id
    if clause.example.startswith("["):
        tomllib.loads(clause.example)
    else:
        ast.parse(f"async def example():\n{textwrap.indent(clause.example, '    ')}")


@pytest.mark.parametrize(
    ("arguments", "what", "remedy"),
    [
        (["lst"], "lst is no command", "did you mean list?"),
        (["list", "--jsn"], "list does not know --jsn", "did you mean --json?"),
        (["list", "--famly=A"], "list does not know --famly=A", "did you mean --family?"),
        (["list", "--family=TOOLS"], "--family=TOOLS fits no clause", "did you mean TOOL?"),
        (["list", "--family=,"], "--family is empty", "say --family=A"),
        (["explain", "ROUTE-NAME"], "there is no clause ROUTE-NAME", "did you mean ROUTE-NAMES?"),
        (["explain", "zebra"], "there is no clause zebra", "gerrit-conformance list shows them all"),
        (["selftest", "--full", "--alone"], "--full and --alone exclude each other", "drop one"),
        (["selftest", "--part=3/2"], "--part=3/2 is no part", "say --part=1/2"),
        (["explain"], "the following arguments are required: ID", "see gerrit-conformance explain --help"),
        (["selftest", "--without=EXT-QUIT"], "there is no clause EXT-QUIT", "did you mean EXT-QUIET?"),
        ([], "the following arguments are required: COMMAND", "see gerrit-conformance --help"),
    ],
)
def test_a_mistake_is_one_message_and_exit_code_4(
    capsys: pytest.CaptureFixture[str], arguments: list[str], what: str, remedy: str
) -> None:
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (4, "")
    assert err.startswith(f"gerrit-conformance: {what}\n")
    assert remedy in err


def test_a_reader_that_has_seen_enough_is_no_error() -> None:
    command = f"{sys.executable} -m conformance.cli list | head -1"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
    assert done.stdout.count("\n") == 1
    assert done.stderr == ""
