"""A fault of the host is not held against an extension."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.contracts.registry import catalogue
from conformance.examine import Examination
from conformance.outcomes import Outcome
from conformance.settings import Settings
from conformance.targets import resolve_target

GOOD = Path(__file__).parents[2] / "fixtures" / "extensions" / "good"


async def judged(target: str, clause: str, host: str):
    subject = resolve_target(str(GOOD / target), cwd=GOOD)
    async with Examination(subject, settings=Settings(host=host)) as examination:
        return await examination.judge(catalogue()[clause])


@pytest.mark.parametrize(
    ("host", "target", "clause"),
    [
        ("talkative", "guide_first_mended.py", "EXT-QUIET"),
        ("forgetful", "own_routing.py", "ROUTE-FIRST"),
        ("absent", "own_routing.py", "EXT-QUIET"),
        ("absent", "own_routing.py", "TOOL-WORKS"),
    ],
)
async def test_what_is_the_fault_of_the_host_is_blocked_by_it(host, target, clause):
    judgement = await judged(target, clause, f"factory:tests.conformance.faulty_hosts:{host}")
    assert (judgement.outcome, judgement.blocked_by) == (Outcome.BLOCKED, "host")


async def test_the_same_extensions_pass_on_the_reference_host():
    assert (await judged("own_routing.py", "ROUTE-FIRST", "reference")).outcome is Outcome.PASS
