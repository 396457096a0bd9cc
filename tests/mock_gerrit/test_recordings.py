"""The simulated Gerrit answers as the recorded one did, as far as `recordings.toml` says, and never less far."""

from __future__ import annotations

import pytest

from tests.mock_gerrit.coverage_table import Table
from tests.mock_gerrit.recordings import scenario_names
from tests.mock_gerrit.replay import counts, outcomes

TABLE = Table.read()
every_scenario = pytest.mark.parametrize("scenario", scenario_names())


@every_scenario
def test_as_many_steps_as_before_are_answered_as_recorded(scenario: str) -> None:
    identical = counts(outcomes()[scenario])["identical"]
    floor = TABLE.identical.get(scenario, 0)
    assert identical >= floor, f"{floor} steps of {scenario} used to be answered as recorded, now {identical} are"
    assert identical == floor, f"raise the floor of {scenario} from {floor} to {identical} in recordings.toml"


@every_scenario
def test_a_step_that_is_answered_otherwise_is_listed_with_a_reason(scenario: str) -> None:
    listed = TABLE.differs.get(scenario, {})
    new = [
        outcome for outcome in outcomes()[scenario] if outcome.verdict == "differs" and outcome.step.name not in listed
    ]
    told = [f"{outcome.step.name}: {outcome.differences[0]}" for outcome in new]
    assert not told, f"see python -m tests.mock_gerrit.replay {scenario} --show"


@every_scenario
def test_a_listed_step_still_differs(scenario: str) -> None:
    differing = {outcome.step.name for outcome in outcomes()[scenario] if outcome.verdict == "differs"}
    stale = [step for step in TABLE.differs.get(scenario, {}) if step not in differing]
    assert not stale, f"these are answered as recorded now (or are gone): take them out of [differs.{scenario}]"


def test_the_table_names_no_scenario_that_is_not_there() -> None:
    named = {*TABLE.identical, *TABLE.differs}
    assert named <= set(scenario_names())
