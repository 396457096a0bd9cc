"""Clauses among pytest's own ways to select, order and spread tests."""

import json
from xml.etree import ElementTree as ET

from .running import Certifying

NODE = "conformance::my_ext"


def test_without_a_path_only_clauses_are_collected_and_no_conftest_is_loaded(certifying: Certifying) -> None:
    certifying.pytester.makeconftest('raise RuntimeError("loaded")')
    certifying.pytester.makepyfile(test_own="def test_own(): ...")
    result = certifying.run("--collect-only", "-q")
    assert result.ret == 0
    assert [line for line in result.outlines if "::" in line] == [
        f"{NODE}::{clause}"
        for clause in ("EXT-IMPORT", "EXT-QUIET", "EXT-NONEMPTY", "TOOL-WORKS", "ROUTE-NAMES", "ROUTE-HINT")
    ]
    assert not certifying.report.exists()


def test_testpaths_of_the_project_are_no_path_argument(certifying: Certifying) -> None:
    certifying.pytester.makeini("[pytest]\ntestpaths = checks\n")
    folder = certifying.pytester.mkdir("checks")
    (folder / "test_own.py").write_text("def test_own(): ...")
    (folder / "conftest.py").write_text('raise RuntimeError("loaded")')
    certifying.run().assert_outcomes(passed=6)


def test_with_a_path_the_projects_tests_run_too(certifying: Certifying) -> None:
    certifying.pytester.makepyfile(test_own="def test_own(): assert False")
    result = certifying.run("test_own.py")
    result.assert_outcomes(passed=6, failed=1)
    assert (result.ret, certifying.certificate()["verdict"]) == (1, "certified")


def test_a_pasted_node_id_runs_that_clause_alone_and_the_rest_is_not_run(certifying: Certifying) -> None:
    certifying.pytester.makeconftest('raise RuntimeError("loaded")')
    result = certifying.run(f"{NODE}::ROUTE-NAMES")
    result.assert_outcomes(passed=1)
    assert result.ret == 6
    assert certifying.certificate()["counts"]["not_run"] == 5


def test_a_subjects_node_id_runs_all_its_clauses(certifying: Certifying) -> None:
    assert certifying.run(NODE).ret == 0


def test_a_misspelt_node_id_names_the_nearest(certifying: Certifying) -> None:
    result = certifying.run(f"{NODE}::ROUTE-NAME")
    result.stderr.fnmatch_lines(
        [f"ERROR: {NODE}::ROUTE-NAME is no clause of this run", f"*did you mean {NODE}::ROUTE-NAMES?"]
    )
    assert result.ret == 4


def test_k_looks_at_clauses_and_not_at_the_name_of_the_subject(certifying: Certifying) -> None:
    certifying.run("-k", "ROUTE and not HINT").assert_outcomes(passed=1, deselected=5)
    nothing = certifying.run("-k", "my_ext or conformance")
    nothing.assert_outcomes(deselected=6)
    assert nothing.ret == 5


def test_a_deselected_must_makes_the_verdict_incomplete_a_deselected_should_does_not(certifying: Certifying) -> None:
    assert certifying.run("-k", "not QUIET").ret == 6
    assert certifying.run("-k", "not NONEMPTY").ret == 0
    assert certifying.run("-k", "not NONEMPTY", "--conformance-strict").ret == 6


def test_x_stops_at_the_first_failure(certifying: Certifying) -> None:
    result = certifying.run("-x", EXT_QUIET="fail")
    result.assert_outcomes(passed=1, failed=1)
    assert result.ret == 1
    assert certifying.outcomes()["TOOL-WORKS"] == "not_run"


def test_lf_runs_what_failed_last(certifying: Certifying) -> None:
    certifying.run(EXT_QUIET="fail")
    result = certifying.run("--lf")
    result.assert_outcomes(passed=1, deselected=5)
    assert result.ret == 6


def test_two_workers_give_the_verdict_of_one(certifying: Certifying) -> None:
    chosen = {"ROUTE_NAMES": "fail", "EXT_NONEMPTY": "fail", "TOOL_WORKS": "inconclusive"}
    alone = certifying.run(**chosen)
    before = certifying.certificate()
    spread = certifying.run("-n", "2", **chosen)
    spread.assert_outcomes(passed=4, failed=1, skipped=1, warnings=1)
    after = certifying.certificate()
    assert (alone.ret, spread.ret) == (1, 1)
    told = ("clauses", "verdict", "counts", "catalogue", "host", "sdk", "containment", "subject")
    assert {word: after[word] for word in told} == {word: before[word] for word in told}
    assert after["trials"] == before["trials"], "one worker judges all clauses of a subject, and no trial is made twice"


def test_a_lost_worker_is_said_and_what_it_had_at_hand_is_not_run(certifying: Certifying) -> None:
    result = certifying.run("-n", "2", TOOL_WORKS="crash")
    result.stdout.fnmatch_lines(["note *worker gw? was lost: *", "*INCOMPLETE*"])
    assert result.ret == 6
    lost = next(clause for clause in certifying.certificate()["clauses"] if clause["id"] == "TOOL-WORKS")
    assert lost["outcome"] == "not_run"
    assert "crashed" in lost["reason"]


def test_x_over_two_workers_is_a_failure_and_no_interruption(certifying: Certifying) -> None:
    assert certifying.run("-x", "-n", "2", EXT_IMPORT="fail").ret == 1


def test_junitxml_of_pytest_and_of_the_report_folder_tell_the_same(certifying: Certifying) -> None:
    certifying.pytester.makepyprojecttoml('[tool.gerrit-conformance.waivers]\nEXT-QUIET = "known"')
    chosen = {"ROUTE_NAMES": "fail", "EXT_NONEMPTY": "fail", "TOOL_WORKS": "inconclusive", "EXT_QUIET": "fail"}
    certifying.run("--junitxml=pytest.xml", **chosen)
    theirs = _told(ET.parse(certifying.pytester.path / "pytest.xml"))
    ours = _told(ET.parse(certifying.report / "junit.xml"))
    assert ours == theirs
    assert ours["suite"] == {"tests": "6", "errors": "0", "failures": "1", "skipped": "2"}


def _told(document: ET.ElementTree) -> dict:
    suite = document.find("testsuite")
    told: dict = {"suite": {word: suite.get(word) for word in ("tests", "errors", "failures", "skipped")}}
    for case in suite.findall("testcase"):
        kinds = [(child.tag, child.get("type")) for child in case if child.tag in {"failure", "skipped"}]
        properties = {one.get("name"): one.get("value") for one in case.findall("properties/property")}
        facts = [properties["conformance_level"], properties["conformance_outcome"]]
        told[f"{case.get('classname')}.{case.get('name')}"] = json.dumps([kinds, facts])
    return told
