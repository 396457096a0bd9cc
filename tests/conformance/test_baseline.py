"""An earlier certificate as a baseline: it excuses what it knew, and no more."""

import json
import shutil

from conformance.outcomes import Level
from conformance.report.model import ClauseRecord, FindingRecord
from conformance.waiving import Waivers

from .running import Certifying


def failing(certifying: Certifying, **outcomes: str) -> str:
    """Write a baseline by a run with these outcomes; give its option."""
    certifying.run(**outcomes)
    shutil.copy(certifying.report / "certificate.json", certifying.pytester.path / "baseline.json")
    return "--conformance-baseline=baseline.json"


def test_what_failed_in_the_baseline_is_excused_and_told(certifying: Certifying) -> None:
    option = failing(certifying, ROUTE_NAMES="fail")
    result = certifying.run(option, ROUTE_NAMES="fail")
    result.assert_outcomes(passed=5, xfailed=1)
    assert result.ret == 0
    certificate = certifying.certificate()
    assert certificate["verdict"] == "waived"
    assert "get_a, get_b in the baseline baseline.json" in certificate["waivers"]["ROUTE-NAMES"]


def test_what_the_baseline_does_not_know_fails(certifying: Certifying) -> None:
    option = failing(certifying, ROUTE_NAMES="fail")
    result = certifying.run(option, ROUTE_NAMES="fail", EXT_QUIET="fail")
    result.assert_outcomes(passed=4, xfailed=1, failed=1)
    assert result.ret == 1


def test_a_failure_that_is_gone_makes_the_baseline_stale(certifying: Certifying) -> None:
    option = failing(certifying, ROUTE_NAMES="fail")
    result = certifying.run(option)
    assert result.ret == 1
    result.stdout.fnmatch_lines(["*waiver is stale*renew the baseline*"])


def test_a_further_tool_is_a_new_failure() -> None:
    waivers = Waivers(baseline={"ROUTE-NAMES": frozenset({"get_a"})}, name="b.json")
    assert waivers.in_force([record("get_a")])
    assert not waivers.in_force([record("get_a"), record("get_b")][1:])
    assert not waivers.in_force([record("get_a", "get_b")])


def record(*tools: str) -> ClauseRecord:
    findings = tuple(FindingRecord(tool=tool, expected="an error", saw="none") for tool in tools)
    return ClauseRecord(
        id="ROUTE-NAMES", family="ROUTE", level=Level.MUST, outcome="fail", findings=findings, source="somewhere"
    )


def test_a_baseline_that_is_none_is_a_usage_error(certifying: Certifying) -> None:
    missing = certifying.run("--conformance-baseline=nowhere.json")
    assert missing.ret == 4
    missing.stderr.fnmatch_lines(["*there is no baseline*nowhere.json*"])
    (certifying.pytester.path / "other.json").write_text("{}")
    broken = certifying.run("--conformance-baseline=other.json")
    assert broken.ret == 4
    broken.stderr.fnmatch_lines(["*other.json is no certificate*"])


def test_the_certificate_of_another_subject_is_no_baseline(certifying: Certifying) -> None:
    failing(certifying, ROUTE_NAMES="fail")
    path = certifying.pytester.path / "baseline.json"
    told = json.loads(path.read_text())
    told["subject"]["name"] = "somebody_elses"
    path.write_text(json.dumps(told))
    result = certifying.run("--conformance-baseline=baseline.json")
    assert result.ret == 4
    result.stderr.fnmatch_lines(["*is the certificate of another subject*", "*somebody_elses*"])
