"""Extensions with known faults switched on and off: what the suite says equals the switches."""

import asyncio
import os
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from conformance.contracts.registry import catalogue
from conformance.examine import Examination
from conformance.families import about
from conformance.outcomes import Outcome
from conformance.targets import resolve_target

from .generated import SWITCHES, GeneratedTool, Switch, extension

EXAMPLES = int(os.environ.get("GENERATED_EXTENSIONS", "3"))
"""How many extensions to generate; `make matrix` raises it."""


def fit(one: Switch, *, routed: bool) -> bool:
    return one.routed is None or one.routed is routed


def apart(switches: list[Switch]) -> bool:
    """Two switches that change the same part of a tool cannot both be on."""
    changed = [key for one in switches for key in one.changes]
    return len(changed) == len(set(changed))


@st.composite
def tools(draw: st.DrawFn) -> GeneratedTool:
    routed = draw(st.booleans())
    fitting = [one for one in SWITCHES if fit(one, routed=routed)]
    chosen = draw(st.lists(st.sampled_from(fitting), max_size=2, unique_by=lambda one: one.name).filter(apart))
    return GeneratedTool(routed=routed, switches=tuple(chosen))


async def failed(path: Path) -> dict[str, set[str]]:
    """Judge every clause; give those that FAIL, by tool ("" where the whole subject is at fault)."""
    found: dict[str, set[str]] = {}
    async with Examination(resolve_target(f"path:{path}", cwd=path.parent)) as examination:
        await examination.foresee()
        for clause in about(catalogue(), "extension"):
            judged = await examination.judge(clause)
            if judged.outcome is Outcome.FAIL:
                for finding in judged.findings:
                    found.setdefault(finding.tool or "", set()).add(clause.id)
    return found


@settings(
    max_examples=EXAMPLES,
    phases=(Phase.explicit, Phase.generate),  # each example takes seconds: a smaller one is not worth the wait
    suppress_health_check=[HealthCheck.too_slow],
)
@given(st.lists(tools(), min_size=1, max_size=2))
def test_the_verdict_equals_the_switches(made: list[GeneratedTool]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "generated_ext.py")
        path.write_text(extension(made))
        seen = asyncio.run(failed(path))
    per_tool = {clause.id for clause in catalogue() if clause.per_tool}
    wanted = {f"tool_{number}": one.expected & per_tool for number, one in enumerate(made)}
    whole = set().union(*(one.expected - per_tool for one in made))
    assert seen == {name: clauses for name, clauses in {**wanted, "": whole}.items() if clauses}
