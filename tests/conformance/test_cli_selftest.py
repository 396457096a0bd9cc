"""The kill matrix: what is read of specimens, what is tried, and how it is tallied."""

import json
from pathlib import Path
from textwrap import dedent

import pytest

from conformance import cli, selftest
from conformance.contracts import registry
from conformance.families import about
from conformance.outcomes import Judgement, Outcome
from conformance.selftest import Scope, Tally, clauses_for, enter
from conformance.specimens import Specimen, SpecimenError, bad_specimens, fixtures_root, good_specimens, read

SILENT = "def register(ctx): ...\n"
NO_REGISTER = "registered = False\n"


@pytest.fixture
def extensions(tmp_path: Path) -> Path:
    """A folder of specimens with nothing in it."""
    (tmp_path / "extensions" / "bad").mkdir(parents=True)
    (tmp_path / "extensions" / "good").mkdir()
    return tmp_path


def put(root: Path, path: str, text: str) -> Path:
    file = root / "extensions" / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(dedent(text))
    return file


def specimen(clause: str | None = "EXT-SYNC", **declared: object) -> Specimen:
    return Specimen(name="lies", path=Path("lies.py"), clause=clause, **declared)  # type: ignore[arg-type]


def judged(**outcomes: str) -> list[Judgement]:
    return [Judgement(clause=name.replace("_", "-"), outcome=Outcome(word)) for name, word in outcomes.items()]


def entered(one: Specimen, **outcomes: str) -> Tally:
    tally = Tally(clauses=1)
    enter(tally, one, judged(**outcomes))
    return tally


def test_alone_a_bad_specimen_is_judged_by_its_own_clause_and_a_good_one_by_all() -> None:
    clauses = about(registry.catalogue(), "extension")
    scope = Scope(clauses=clauses, alone=True)
    assert [one.id for one in clauses_for(specimen("TOOL-BASE"), scope)] == ["TOOL-BASE"]
    assert clauses_for(specimen(None), scope) == [*clauses]


async def test_every_specimen_is_in_one_part_and_those_of_one_sdk_in_each(
    extensions: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in "abc":
        put(extensions, f"bad/EXT-SYNC/{name}.py", SILENT)
    put(extensions, "bad/EXT-SYNC/only.py", f'ONLY_ON = "{selftest.sdk_major()}"')
    tried: list[list[str]] = []

    async def judge_all(those: list[Specimen], *_: object) -> list[list[Judgement]]:
        tried.append([one.name for one in those])
        return [judged(EXT_SYNC="fail") for _ in those]

    monkeypatch.setattr(selftest, "_judge_all", judge_all)
    for part in ((1, 2), (2, 2)):
        scope = Scope(clauses=(registry.catalogue()["EXT-SYNC"],), part=part)
        assert (await selftest.run(scope, progress=lambda *_: None, root=extensions)).holds
    assert tried == [["a", "c", "only"], ["b", "only"]]


def test_modules_packages_and_projects_are_specimens_and_other_files_are_not(extensions: Path) -> None:
    put(extensions, "bad/EXT-SYNC/module.py", SILENT)
    put(extensions, "bad/EXT-SYNC/package/__init__.py", SILENT)
    put(extensions, "bad/EXT-SYNC/project/pyproject.toml", "")
    put(extensions, "bad/EXT-SYNC/README.md", "")
    put(extensions, "bad/EXT-SYNC/__pycache__/module.pyc", "")
    put(extensions, "good/kind.py", SILENT)
    assert [one.label for one in bad_specimens(extensions)] == [
        "EXT-SYNC/module",
        "EXT-SYNC/package",
        "EXT-SYNC/project",
    ]
    assert [one.label for one in good_specimens(extensions)] == ["good/kind"]


def test_what_a_specimen_declares_is_read_without_importing_it(extensions: Path) -> None:
    file = put(
        extensions,
        "bad/EXT-SYNC/lies.py",
        """
        ALSO_VIOLATES: tuple[str, ...] = ("EXT-VISIBLE",)
        ONLY_ON = "mcp2"
        PROFILE = {"extension": {"config_name": "lies"}}
        raise SystemExit("imported")
        """,
    )
    one = read(file, clause="EXT-SYNC")
    assert (one.also_violates, one.only_on) == ({"EXT-VISIBLE"}, "mcp2")
    assert one.profile == {"extension": {"config_name": "lies"}}


def test_a_file_that_does_not_parse_declares_nothing(extensions: Path) -> None:
    assert read(put(extensions, "bad/EXT-IMPORT/torn.py", "def ("), clause="EXT-IMPORT").also_violates == frozenset()


@pytest.mark.parametrize("text", ['ONLY_ON = "mcp3"', 'ALSO_VIOLATES = "EXT-SYNC"', "PROFILE = dict(a=1)"])
def test_a_declaration_in_another_form_is_an_error_that_names_the_file(extensions: Path, text: str) -> None:
    with pytest.raises(SpecimenError, match=r"lies\.py"):
        read(put(extensions, "bad/EXT-SYNC/lies.py", text), clause="EXT-SYNC")


def test_every_shipped_specimen_can_be_read_and_names_clauses_that_exist() -> None:
    ids = set(registry.catalogue().ids())
    assert (fixtures_root() / "extensions").is_dir()
    for one in (*bad_specimens(), *good_specimens()):
        assert one.also_violates <= ids, one.label
        assert one.clause is None or one.clause in ids, one.label


def test_a_bad_specimen_is_tried_against_its_clause_prerequisites_and_neighbours() -> None:
    clause = registry.catalogue()["ROUTE-NAMES"]
    scope = Scope(clauses=tuple(registry.catalogue()))
    wanted = {one.id for one in clauses_for(specimen("ROUTE-NAMES"), scope)}
    assert wanted >= {"ROUTE-NAMES", "EXT-IMPORT", *clause.needs, *clause.neighbours}
    full = Scope(clauses=scope.clauses, full=True)
    assert clauses_for(specimen("ROUTE-NAMES"), full) == list(about(registry.catalogue(), "extension"))
    assert clauses_for(specimen("SRV-ENV", kind="server"), full) == list(about(registry.catalogue(), "server"))


def test_a_good_specimen_is_tried_against_all_chosen_clauses() -> None:
    chosen = tuple(one for one in registry.catalogue() if one.family == "EXT")
    assert clauses_for(specimen(None), Scope(clauses=chosen)) == list(chosen)


def test_a_clause_that_is_left_out_is_judged_on_no_specimen() -> None:
    scope = Scope(clauses=tuple(registry.catalogue()), without=frozenset({"EXT-SYNC"}), full=True)
    assert "EXT-SYNC" not in {one.id for one in clauses_for(specimen("ROUTE-NAMES"), scope)}


def test_a_specimen_is_killed_by_its_own_clause_only() -> None:
    killed = entered(specimen(), EXT_SYNC="fail", EXT_IMPORT="pass", TOOL_WORKS="blocked")
    assert (killed.killed, killed.survived, killed.false_alarms) == (1, [], [])
    survived = entered(specimen(), EXT_SYNC="blocked", EXT_IMPORT="fail")
    assert (survived.killed, survived.survived) == (0, ["EXT-SYNC/lies"])
    assert survived.false_alarms == ["EXT-IMPORT/lies"]
    assert not survived.holds


def test_what_is_listed_says_in_a_line_what_was_judged_of_it(
    extensions: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    put(extensions, "bad/EXT-REGISTER/has_one.py", SILENT)
    put(extensions, "good/torn.py", NO_REGISTER)
    assert cli.main(["selftest", "--family=EXT-REGISTER", f"--specimens={extensions}"]) == 1
    printed = capsys.readouterr().out.splitlines()
    assert printed[0] == "survived     EXT-REGISTER/has_one"
    assert printed[1].split() == ["pass"]
    alarms = dict(zip(printed[2:-1:2], printed[3:-1:2], strict=True))
    assert "fail: no attribute" in alarms["false alarm  EXT-REGISTER/torn"]


def test_declared_company_is_no_false_alarm() -> None:
    one = specimen(also_violates=frozenset({"EXT-VISIBLE"}))
    assert entered(one, EXT_SYNC="fail", EXT_VISIBLE="fail").holds


@pytest.mark.parametrize("outcome", ["fail", "inconclusive", "blocked"])
def test_a_good_specimen_that_is_not_certified_is_a_false_alarm(outcome: str) -> None:
    tally = entered(specimen(None), EXT_SYNC=outcome)
    assert tally.false_alarms == ["EXT-SYNC/lies"]
    assert tally.specimens == 0, "good ones are not counted among the specimens"


def test_selftest_prints_the_tally_as_json_and_tells_survivors(
    extensions: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    put(extensions, "bad/EXT-REGISTER/has_none.py", NO_REGISTER)
    put(extensions, "bad/EXT-REGISTER/has_one.py", SILENT)
    other = "mcp2" if selftest.sdk_major() == "mcp1" else "mcp1"
    put(extensions, "bad/EXT-REGISTER/elsewhere.py", f'ONLY_ON = "{other}"\n{NO_REGISTER}')
    put(extensions, "good/kind.py", SILENT)
    arguments = ["selftest", "--json", "--family=EXT-REGISTER", f"--specimens={extensions}"]
    assert cli.main(arguments) == 1
    printed = capsys.readouterr()
    assert json.loads(printed.out) == {
        "clauses": 1, "specimens": 2, "killed": 1, "survived": ["EXT-REGISTER/has_one"], "false_alarms": [],
        "skipped_for_sdk": 1,
    }  # fmt: skip
    assert "1 of 3  EXT-REGISTER/has_none" in printed.err


def test_without_a_clause_exactly_its_specimens_survive_and_without_source_the_verdicts_are_the_same(
    extensions: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    put(extensions, "bad/EXT-REGISTER/has_none.py", NO_REGISTER)
    put(extensions, "bad/EXT-REGISTER/package/__init__.py", "from . import inner\n")
    put(extensions, "bad/EXT-REGISTER/package/inner.py", NO_REGISTER)
    arguments = ["selftest", "--json", "--family=EXT-REGISTER", f"--specimens={extensions}"]
    assert cli.main([*arguments, "--pyc"]) == 0
    assert json.loads(capsys.readouterr().out)["killed"] == 2
    assert cli.main([*arguments, "--without=EXT-REGISTER"]) == 1
    tally = json.loads(capsys.readouterr().out)
    assert tally["survived"] == ["EXT-REGISTER/has_none", "EXT-REGISTER/package"]
    assert (tally["clauses"], tally["false_alarms"]) == (0, [])


def test_a_clause_that_no_specimen_breaks_is_told(extensions: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["selftest", "--json", "--family=EXT-SYNC", f"--specimens={extensions}"]) == 1
    assert json.loads(capsys.readouterr().out)["survived"] == ["EXT-SYNC/(no specimen)"]


def test_a_specimen_that_cannot_be_tried_is_named_in_one_message(
    extensions: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    put(extensions, "bad/EXT-SYNC/torn/pyproject.toml", "[project")
    put(extensions, "bad/EXT-SYNC/whole.py", SILENT)
    assert cli.main(["selftest", "--family=EXT-SYNC", f"--specimens={extensions}"]) == 4
    printed = capsys.readouterr()
    assert printed.err.splitlines()[-3].startswith("gerrit-conformance: EXT-SYNC/torn: ")
