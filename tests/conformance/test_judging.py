"""How verdicts on tools become one judgement, and what stands in the way of judging."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from types import SimpleNamespace

import pytest

from conformance.contracts.registry import Catalogue, Clause, catalogue, clause, field_sense
from conformance.examine import Examination, combine
from conformance.memory import Memory
from conformance.outcomes import Blocked, Finding, Inconclusive, Level, NotApplicable, Outcome
from conformance.rig.masking import MASK, Masking
from conformance.rig.surroundings import HOSTS, Credentials
from conformance.rig.trial import names_host
from conformance.subject import Subject

ANY = catalogue()["TOOL-WORKS"]
FOUND = Finding(expected="a", saw="b", tool="t")
BLOCKED = Blocked("x", by="TOOL-EXIT")
OPEN = Inconclusive("y", supply="z")
NOT = NotApplicable("n")


@pytest.mark.parametrize(
    ("verdicts", "outcome"),
    [
        ([None, FOUND, BLOCKED, OPEN, NOT], Outcome.FAIL),
        ([None, BLOCKED, OPEN, NOT], Outcome.BLOCKED),
        ([None, OPEN, NOT], Outcome.INCONCLUSIVE),
        ([None, NOT], Outcome.PASS),
        ([NOT, NOT], Outcome.NOT_APPLICABLE),
    ],
)
def test_the_worst_tool_decides(verdicts, outcome):
    assert combine(ANY, {str(index): one for index, one in enumerate(verdicts)}).outcome is outcome


def test_what_is_open_says_what_to_supply_and_what_is_blocked_by_what():
    assert combine(ANY, {"a": None, "b": OPEN}).supply == "z"
    assert combine(ANY, {"a": None, "b": BLOCKED}).blocked_by == "TOOL-EXIT"


def test_every_finding_is_kept():
    assert len(combine(ANY, {"a": FOUND, "b": Finding(expected="c", saw="d")}).findings) == 2


async def test_work_is_done_once_however_many_ask_and_its_exception_is_kept():
    memory, times = Memory(), []

    async def act():
        times.append(1)
        await asyncio.sleep(0)
        raise ValueError("once")

    outcomes = await asyncio.gather(*(memory.once("key", act) for _ in range(5)), return_exceptions=True)
    assert [str(one) for one in outcomes] == ["once"] * 5
    assert times == [1]
    await memory.forget()


def a_clause(name: str, needs: tuple[str, ...] = ()) -> Clause:
    @clause(name, level=Level.MUST, source=field_sense("why"), fix="fix", needs=needs)
    async def holds(_: object) -> None:
        """It holds."""

    return holds.__conformance_clause__


@pytest.mark.parametrize("kind", [Inconclusive, Blocked])
async def test_no_credential_gets_out_in_what_is_open(kind):
    credentials = Credentials()
    token = credentials.tokens["rowan"]

    async def leaks(_: object) -> None:
        told = {"supply": f"an answer without {token}"} if kind is Inconclusive else {"by": "host"}
        raise kind(f"it said {token}", **told)

    examination = Examination(Subject(target="x", kind="module", name="x"))
    examination.rig = SimpleNamespace(masking=Masking(credentials))
    examination.observed = None
    judged = await examination.judge(replace(a_clause("A"), check=leaks))
    assert token not in judged.reason + judged.supply
    assert MASK in judged.reason


def test_two_clauses_of_one_id_are_refused():
    with pytest.raises(ValueError, match="two clauses are called A"):
        Catalogue([a_clause("A"), a_clause("A")])


def test_a_prerequisite_that_is_no_clause_is_refused():
    with pytest.raises(ValueError, match="names B, which is no clause"):
        Catalogue([a_clause("A", needs=("B",))])


def test_a_clause_without_a_text_is_refused():
    async def silent(_: object) -> None: ...

    with pytest.raises(ValueError, match="has no text"):
        clause("A", level=Level.MUST, source=field_sense("why"), fix="fix")(silent)


def test_every_clause_says_where_it_is_written_and_how_to_fix():
    for one in catalogue():
        assert str(one.source), one.id
        assert one.fix.endswith("."), one.id
        assert one.summary.endswith("."), one.id


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("ask https://elm.example.com/r/a instead", True),
        ("ask ELM.example.com", True),
        ("ask elm", True),
        ("ask http://elm.internal.example/r", True),
        ("overwhelm.example.com has it", False),
        ("elm.example.company has it", False),
        ("elm-two has it", False),
    ],
)
def test_a_host_is_named_by_address_authority_or_name_and_by_nothing_like_them(text, named):
    assert names_host(text, next(plan for plan in HOSTS if plan.name == "elm")) is named


def test_hosts_stand_in_no_order_that_a_tool_could_take_for_theirs():
    names = [plan.name for plan in HOSTS]
    having = [plan.name for plan in HOSTS if plan.has_plugin]
    assert names != sorted(names)
    assert having != sorted(having)
    assert having != sorted(having, key=len)
    assert not HOSTS[0].has_plugin
    assert [plan.has_plugin for plan in HOSTS if plan.default] == [False]
