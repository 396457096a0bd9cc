"""certificate.json, its schema, and junit.xml."""

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import jsonschema
import pytest

from conformance.outcomes import Evidence, Finding, Judgement, Outcome
from conformance.report.certificate import to_json
from conformance.report.folder import write_atomically
from conformance.report.junit import legal, to_junit
from conformance.report.model import SCHEMA_FILE, Certificate, record_not_run, record_of, schema_text

from .certificates import broken, certificate, finding, record
from .stand_in import CLAUSES, made

FIELDS = {
    "schema_version", "subject", "host", "sdk", "python", "platform", "containment", "catalogue", "counts", "verdict",
    "strict", "waivers", "clauses",
}  # fmt: skip
CLAUSE_FIELDS = {"id", "family", "level", "outcome", "findings", "source", "seconds"}


def test_the_shipped_schema_is_the_one_of_the_model() -> None:
    assert SCHEMA_FILE.read_text() == schema_text(), "run python -m conformance.report.model"


def test_a_certificate_has_the_fields_that_its_readers_rely_on() -> None:
    told = json.loads(to_json(certificate(broken(), record("EXT-IMPORT", "not_run"))))
    jsonschema.validate(told, json.loads(SCHEMA_FILE.read_text()))
    assert set(told) >= FIELDS
    assert set(told["clauses"][0]) >= CLAUSE_FIELDS
    assert set(told["subject"]) == {"kind", "name", "version", "sha256"}
    assert set(told["catalogue"]) == {"version", "planned_sha256"}
    assert (told["clauses"][0]["level"], told["clauses"][0]["outcome"]) == ("must", "fail")


def test_a_certificate_reads_back_as_itself_and_fields_of_later_versions_are_ignored() -> None:
    issued = certificate(broken(), ROUTE_NAMES="known")
    later = {**json.loads(to_json(issued)), "badge": "new"}
    assert Certificate.model_validate(later) == issued


def test_the_hash_of_the_plan_does_not_depend_on_what_was_run() -> None:
    run = certificate(record("EXT-IMPORT"), record("EXT-QUIET"))
    partial = certificate(record("EXT-IMPORT"), record("EXT-QUIET", "not_run"))
    fewer = certificate(record("EXT-IMPORT"))
    assert run.catalogue == partial.catalogue != fewer.catalogue


def test_a_clauses_record_carries_its_judgement_with_findings_as_they_were_raised() -> None:
    clause = made("ROUTE-NAMES", CLAUSES["ROUTE-NAMES"])
    raised = Finding(expected="this", saw="that", tool="get_a", hint="do so")
    made_record = record_of(
        clause, Judgement(clause=clause.id, outcome=Outcome.FAIL, findings=(raised,), seconds=0.12345)
    )
    assert made_record.seconds == 0.123
    assert made_record.findings[0].model_dump() == {
        "tool": "get_a", "expected": "this", "saw": "that", "evidence": (), "hint": "do so",
    }  # fmt: skip
    assert record_not_run(clause, "why").seen is None


def test_a_report_is_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "deep" / "certificate.json"
    write_atomically(file, "old")

    def full(self: Path, text: str, encoding: str) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(OSError, match="disk full"):
        write_atomically(file, "new")
    assert [path.name for path in file.parent.iterdir()] == ["certificate.json"]
    assert file.read_text() == "old"


def test_junit_counts_as_pytest_does_and_leaves_out_what_was_not_run() -> None:
    issued = certificate(
        broken(),
        broken("EXT-QUIET"),
        record("EXT-IMPORT", "not_run"),
        record("TOOL-WORKS", "blocked"),
        EXT_QUIET="known",
    )
    suite = ET.fromstring(to_junit([("my_ext", issued)])).find("testsuite")
    assert suite is not None
    assert {word: suite.get(word) for word in ("tests", "failures", "skipped", "errors")} == {
        "tests": "3", "failures": "1", "skipped": "2", "errors": "0",
    }  # fmt: skip
    assert [case.get("classname") for case in suite.findall("testcase")] == ["conformance.my_ext"] * 3


def test_junit_holds_what_xml_cannot_in_readable_form() -> None:
    assert legal("\x1b \ufffe") == "#x1B #xFFFE"
    text = to_junit([("my_ext", certificate(broken("ROUTE-NAMES", "must", finding(saw="\x1b[31m\x00 <&>"))))])
    failure = ET.fromstring(text).find(".//failure")
    assert failure is not None
    assert r"\x1b[31m\x00 <&>" in (failure.text or "")


def test_what_cannot_be_encoded_is_written_out() -> None:
    clause = made("ROUTE-NAMES", CLAUSES["ROUTE-NAMES"])
    raised = Finding(
        expected="a text", saw="half a pair: \ud83d", tool="t\udcff", evidence=(Evidence(kind="reply", text="\ud83d"),)
    )
    judged = Judgement(clause=clause.id, outcome=Outcome.FAIL, findings=(raised,), per_tool={"t\udcff": Outcome.FAIL})
    told = json.loads(to_json(certificate(record_of(clause, judged))))
    assert told["clauses"][0]["findings"][0]["saw"] == r"half a pair: \ud83d"
    assert told["clauses"][0]["per_tool"] == {r"t\udcff": "fail"}
