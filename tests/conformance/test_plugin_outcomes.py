"""How outcomes become pytest's words, a verdict, an exit code and a certificate."""

import json

import jsonschema
import pytest

from conformance.report.model import SCHEMA_FILE

from .running import Certifying

ALL_PASS = {"EXT-IMPORT", "EXT-QUIET", "EXT-NONEMPTY", "TOOL-WORKS", "ROUTE-NAMES", "ROUTE-HINT"}


def test_a_subject_that_keeps_everything_is_certified(certifying: Certifying) -> None:
    result = certifying.run()
    result.assert_outcomes(passed=6)
    result.stdout.fnmatch_lines(["*collected 6 items*", "*6 planned, 6 run; 6 pass*", "*CERTIFIED*"])
    assert result.ret == 0
    assert certifying.certificate()["verdict"] == "certified"


def test_a_broken_must_fails_and_its_finding_is_shown_once_with_the_names_of_the_tools(certifying: Certifying) -> None:
    result = certifying.run(ROUTE_NAMES="fail")
    result.assert_outcomes(passed=5, failed=1)
    assert result.ret == 1
    assert result.stdout.str().count("expected  an error") == 1
    result.stdout.fnmatch_lines(
        [
            "ROUTE-NAMES (MUST) FAIL   tools get_a, get_b of my_ext",
            "  saw       isError=false",
            '  reply     {"isError": false}',
            '  contract  *"Routing behavior"*gerrit-conformance explain ROUTE-NAMES',
            "  fix       Mend ROUTE-NAMES.",
        ]
    )
    assert certifying.certificate()["verdict"] == "failed"


def test_tb_no_does_not_hide_the_finding(certifying: Certifying) -> None:
    result = certifying.run("--tb=no", ROUTE_NAMES="fail")
    result.stdout.fnmatch_lines(["ROUTE-NAMES (MUST) FAIL   tools get_a, get_b of my_ext"])


def test_a_broken_should_passes_with_a_warning_and_is_fail_in_the_certificate(certifying: Certifying) -> None:
    result = certifying.run("-W", "error", EXT_NONEMPTY="fail")
    result.assert_outcomes(passed=6, warnings=1)
    result.stdout.fnmatch_lines(["*ConformanceWarning: EXT-NONEMPTY (SHOULD): get_a: expected an error; saw *"])
    assert result.ret == 0
    assert certifying.certificate()["verdict"] == "certified"
    assert certifying.outcomes()["EXT-NONEMPTY"] == "fail"


def test_a_broken_should_fails_a_strict_run(certifying: Certifying) -> None:
    result = certifying.run("--conformance-strict", EXT_NONEMPTY="fail", ROUTE_HINT="fail")
    result.assert_outcomes(passed=5, failed=1, warnings=1)
    assert result.ret == 1
    assert (certifying.certificate()["verdict"], certifying.certificate()["strict"]) == ("failed", True)


@pytest.mark.parametrize(
    ("outcome", "reason"),
    [
        ("inconclusive", "inconclusive: it cannot be told; to settle it: a sample"),
        ("blocked", "blocked by host: it cannot be told"),
        ("not_applicable", "not applicable: it cannot be told"),
    ],
)
def test_what_was_not_decided_is_skipped_with_the_reason(certifying: Certifying, outcome: str, reason: str) -> None:
    result = certifying.run("-rs", TOOL_WORKS=outcome)
    result.assert_outcomes(passed=5, skipped=1)
    result.stdout.fnmatch_lines([f"SKIPPED*{reason}*"])
    assert result.ret == (0 if outcome == "not_applicable" else 6)
    assert certifying.outcomes()["TOOL-WORKS"] == outcome


def test_a_waived_failure_is_xfailed_and_listed_with_its_reason(certifying: Certifying) -> None:
    certifying.pytester.makepyprojecttoml('[tool.gerrit-conformance.waivers]\nROUTE-NAMES = "known, ticket 7"')
    result = certifying.run(ROUTE_NAMES="fail")
    result.assert_outcomes(passed=5, xfailed=1)
    result.stdout.fnmatch_lines(["*waived    known, ticket 7", "*CERTIFIED WITH WAIVERS*ROUTE-NAMES*"])
    assert result.ret == 0
    certificate = certifying.certificate()
    assert (certificate["verdict"], certificate["waivers"]) == ("waived", {"ROUTE-NAMES": "known, ticket 7"})
    assert certifying.outcomes()["ROUTE-NAMES"] == "fail"


def test_a_waiver_of_what_does_not_fail_any_more_fails(certifying: Certifying) -> None:
    certifying.pytester.makepyprojecttoml('[tool.gerrit-conformance.waivers]\nROUTE-NAMES = "known"')
    result = certifying.run()
    result.assert_outcomes(passed=5, failed=1)
    result.stdout.fnmatch_lines(["*the waiver is stale*"])
    assert result.ret == 1
    certificate = certifying.certificate()
    assert (certificate["verdict"], certificate["stale_waivers"]) == ("failed", ["ROUTE-NAMES"])
    assert certifying.outcomes()["ROUTE-NAMES"] == "pass"


def test_a_defect_of_the_suite_is_no_finding_about_the_subject(certifying: Certifying) -> None:
    result = certifying.run(TOOL_WORKS="defect")
    result.stdout.fnmatch_lines(["*ZeroDivisionError: a defect of the suite*", "*INCOMPLETE*"])
    assert result.ret == 6
    assert certifying.outcomes()["TOOL-WORKS"] == "not_run"


def test_a_subject_that_cannot_be_built_is_one_message(certifying: Certifying) -> None:
    result = certifying.run(cannot="be built")
    assert result.ret == 4
    assert "Traceback" not in result.stdout.str() + result.stderr.str()
    result.stderr.fnmatch_lines(["ERROR: it cannot be built", "  the backend said no", "  mend it"])
    assert not (certifying.report / "certificate.json").exists()


def test_the_certificate_keeps_its_schema(certifying: Certifying) -> None:
    certifying.run(ROUTE_NAMES="fail", TOOL_WORKS="inconclusive")
    certificate = certifying.certificate()
    jsonschema.validate(certificate, json.loads(SCHEMA_FILE.read_text()))
    assert {clause["id"] for clause in certificate["clauses"]} == ALL_PASS
    assert certificate["counts"] == {
        "planned": 6, "run": 6, "pass": 4, "fail": 1,
        "inconclusive": 1, "blocked": 0, "not_applicable": 0, "not_run": 0,
    }  # fmt: skip
    finding = next(clause for clause in certificate["clauses"] if clause["id"] == "ROUTE-NAMES")["findings"][0]
    assert set(finding) == {"tool", "expected", "saw", "evidence", "hint"}


def test_several_subjects_have_a_certificate_each_and_the_worst_verdict_decides(certifying: Certifying) -> None:
    certifying.pytester.makepyfile(other_ext="def register(ctx): ...")
    result = certifying.run("--conformance=other_ext", "-k", "not QUIET")
    result.assert_outcomes(passed=10, deselected=2)
    assert result.ret == 6
    for slug in ("my_ext", "other_ext"):
        assert certifying.certificate(slug)["subject"]["name"] == slug
    assert (certifying.report / "junit.xml").is_file()


def test_an_old_certificate_does_not_outlive_a_run_that_comes_to_none(certifying: Certifying) -> None:
    certifying.run()
    assert certifying.certificate()["verdict"] == "certified"
    certifying.run(cannot="be built")
    assert [path.name for path in certifying.report.iterdir()] == []


def test_a_report_folder_that_cannot_be_written_is_one_message(certifying: Certifying) -> None:
    certifying.report.write_text("a file")
    result = certifying.run()
    assert result.ret == 4
    result.stderr.fnmatch_lines(["ERROR: no report can be written into *out", "  name another folder"])
