"""junit.xml with the same words that pytest uses: a test case a clause, level, outcome and findings as properties."""

from __future__ import annotations

import re
from collections.abc import Sequence
from xml.etree import ElementTree as ET

from conformance.outcomes import Outcome
from conformance.report.model import Certificate, ClauseRecord
from conformance.report.words import PytestWord, block, one_line, pytest_word

_ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def to_junit(certificates: Sequence[tuple[str, Certificate]]) -> str:
    """Render the report.

    Args:
        certificates: the slug, as in the node ids, and the certificate of each subject.

    Returns:
        An XML document with one test suite, as pytest writes it.
    """
    suite = ET.Element("testsuite", name="conformance")
    for slug, certificate in certificates:
        for record in certificate.clauses:
            if record.seen is not None:
                suite.append(_case(slug, certificate, record))
    _tally(suite)
    root = ET.Element("testsuites", name="gerrit-mcp-conformance")
    root.append(suite)
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _case(slug: str, certificate: Certificate, record: ClauseRecord) -> ET.Element:
    case = ET.Element("testcase", classname=f"conformance.{slug}", name=record.id, time=f"{record.seconds:.3f}")
    case.append(_properties(record))
    word = pytest_word(record, waivers=certificate.waivers, strict=certificate.strict)
    message = legal(one_line(record, waivers=certificate.waivers))
    if word is PytestWord.FAILED:
        failure = ET.SubElement(case, "failure", message=message)
        failure.text = legal("\n".join(block(record, certificate.subject.name)))
    elif word is PytestWord.SKIPPED:
        ET.SubElement(case, "skipped", type="pytest.skip", message=message)
    elif word is PytestWord.XFAILED:
        ET.SubElement(case, "skipped", type="pytest.xfail", message=message)
    elif record.outcome is Outcome.FAIL:
        ET.SubElement(case, "system-out").text = legal("\n".join(block(record, certificate.subject.name)))
    return case


def _properties(record: ClauseRecord) -> ET.Element:
    properties = ET.Element("properties")
    facts = [("conformance_level", str(record.level)), ("conformance_outcome", str(record.outcome))]
    facts += [("conformance_finding", finding.model_dump_json()) for finding in record.findings]
    for name, value in facts:
        ET.SubElement(properties, "property", name=name, value=legal(value))
    return properties


def _tally(suite: ET.Element) -> None:
    """Count as pytest does: waived failures are among the skipped."""
    cases = suite.findall("testcase")
    suite.set("tests", str(len(cases)))
    suite.set("errors", "0")
    suite.set("failures", str(len(suite.findall("testcase/failure"))))
    suite.set("skipped", str(len(suite.findall("testcase/skipped"))))
    suite.set("time", f"{sum(float(case.get('time', '0')) for case in cases):.3f}")


def legal(text: str) -> str:
    """Show characters that XML 1.0 cannot hold as `#x1B`, in the way of pytest."""
    return _ILLEGAL.sub(lambda match: f"#x{ord(match[0]):02X}", text)
