"""The summary on the terminal."""

import io

from conformance.outcomes import Level
from conformance.report.progress import CountingLine, ProgressLine
from conformance.report.terminal import summary
from conformance.report.words import EVIDENCE_LINES, block, one_line

from .certificates import broken, certificate, finding, record


def test_a_broken_clause_is_told_as_expected_saw_evidence_contract_fix() -> None:
    assert block(broken("ROUTE-NAMES", Level.MUST, finding("get_a")), "my_ext") == [
        "ROUTE-NAMES (MUST) FAIL   tool get_a of my_ext",
        "  expected  an error",
        "  saw       isError=false",
        '  reply     {"isError": false}',
        "  contract  guide    gerrit-conformance explain ROUTE-NAMES",
        "  fix       Let it raise.",
    ]


def test_the_same_finding_on_several_tools_is_told_once_and_another_one_apart() -> None:
    told = block(broken("A-1", Level.MUST, finding("a"), finding("b"), finding("c", saw="a crash")), "my_ext")
    assert [line for line in told if line.startswith("A-1")] == [
        "A-1 (MUST) FAIL   tools a, b of my_ext",
        "A-1 (MUST) FAIL   tool c of my_ext",
    ]


def test_a_hint_for_the_case_replaces_the_clauses_own_fix() -> None:
    assert "  fix       Do this." in block(broken("A-1", Level.MUST, finding(hint="Do this.")), "my_ext")


def test_long_evidence_is_cut_on_the_terminal_and_says_so() -> None:
    long = finding(evidence=({"kind": "log", "text": "\n".join(map(str, range(30)))},))
    told = "\n".join(block(broken("A-1", Level.MUST, long), "my_ext"))
    assert f"… {30 - EVIDENCE_LINES} more lines in certificate.json" in told
    assert "\n            11\n" in told
    assert "\n            12\n" not in told


def test_what_a_subject_prints_cannot_steer_the_terminal() -> None:
    hostile = broken("A-1", Level.MUST, finding("\x1b]0;t\x07", saw="\x1b[2J\rverdict     CERTIFIED\x9b1A"))
    for told in ("\n".join(block(hostile, "my_ext")), one_line(hostile, waivers={})):
        assert not [letter for letter in told if (ord(letter) < 32 and letter != "\n") or 127 <= ord(letter) < 160]
        assert r"\x1b[2J" in told


def test_the_table_counts_each_family_by_outcome() -> None:
    told = summary(certificate(record("EXT-A"), record("EXT-B", "blocked"), broken("ROUTE-A")), failures_shown=True)
    rows = {line.split()[1]: line.split() for line in told if line[:1] in "ABC" and "  " in line}
    assert rows["EXT"][-6:] == ["1", "·", "1", "·", "·", "·"]
    assert rows["ROUTE"][-6:] == ["·", "1", "·", "·", "·", "·"]


def test_the_last_line_is_the_verdict_with_what_made_it() -> None:
    def last(*records: object, **options: object) -> str:
        return summary(certificate(*records, **options), failures_shown=True)[-1]

    assert last(record()) == "verdict     CERTIFIED"
    assert last(broken("A-1")) == "verdict     FAILED  (broken: A-1)"
    assert last(record("A-1", "blocked")) == "verdict     INCOMPLETE  (undecided: A-1)"
    assert last(broken("A-1"), A_1="known") == "verdict     CERTIFIED WITH WAIVERS  (known failures: A-1)"
    assert last(record("A-1"), A_1="known") == "verdict     FAILED  (waiver is stale: A-1)"
    assert last(*(broken(f"A-{number}") for number in range(8))).endswith("A-5 and 2 more)")


def test_what_is_open_for_one_reason_is_told_once() -> None:
    one = {"outcome": "blocked", "reason": "no host", "blocked_by": "host"}
    told = summary(
        certificate(record("A-1", **one), record("A-2", **one), record("A-3", "inconclusive")), failures_shown=True
    )
    assert "A-1, A-2: blocked by host: no host" in told
    assert "A-3: inconclusive" in told


def test_remarks_about_the_run_stand_before_the_verdict() -> None:
    told = summary(certificate(record(), remarks=("worker gw0 was lost: gone",)), failures_shown=True)
    assert "note        worker gw0 was lost: gone" in told


def test_one_line_tells_the_outcome_with_its_reason() -> None:
    blocked = record(outcome="blocked", reason="EXT-IMPORT is not kept", blocked_by="EXT-IMPORT")
    assert one_line(blocked, waivers={}) == "blocked by EXT-IMPORT: EXT-IMPORT is not kept"
    more = broken()
    assert one_line(more, waivers={}) == "get_a: expected an error; saw isError=false (and 1 more)"
    assert one_line(more, waivers={"ROUTE-NAMES": "known"}) == "waived: known"


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


class Writer:
    """What of pytest's terminal writer the progress line uses."""

    def __init__(self, *, width_of_current_line: int) -> None:
        self._file = io.StringIO()
        self.fullwidth = 80
        self.width_of_current_line = width_of_current_line

    def flush(self) -> None: ...


def test_the_progress_line_leaves_the_cursor_where_it_was() -> None:
    writer = Writer(width_of_current_line=20)
    line = ProgressLine(writer, total=9)
    line.show("ROUTE-NAMES", number=3)
    assert writer._file.getvalue() == "\x1b7  ROUTE-NAMES (3 of 9)\x1b[K\x1b8"
    line.clear()
    assert writer._file.getvalue().endswith("\x1b8\x1b[K")


def test_the_progress_line_is_left_out_where_it_would_wrap() -> None:
    writer = Writer(width_of_current_line=70)
    line = ProgressLine(writer, total=9)
    line.show("ROUTE-NAMES", number=3)
    line.clear()
    assert writer._file.getvalue() == ""


def test_a_commands_progress_is_one_line_on_a_terminal_and_rare_lines_elsewhere() -> None:
    terminal, file = Terminal(), io.StringIO()
    for stream in (terminal, file):
        with CountingLine(stream) as line:
            line.show("1 of 2")
            line.show("2 of 2")
    assert terminal.getvalue() == "\r1 of 2\x1b[K\r2 of 2\x1b[K\r\x1b[K"
    assert file.getvalue() == "1 of 2\n"
