"""The scenarios, in the order in which they are asked of one server."""

from __future__ import annotations

from tests.real_gerrit.asking import Scenario
from tests.real_gerrit.scenarios import building, querying, reading, reviewing, writing

SCENARIOS: dict[str, Scenario] = {
    "building": building.building,
    "changes": reading.changes,
    "options": reading.options,
    "names": reading.names,
    "files": reading.files,
    "elsewhere": reading.elsewhere,
    "heads": reading.heads,
    "credentials": reading.credentials,
    "operators": querying.operators,
    "combinations": querying.combinations,
    "paging": querying.paging,
    "states": reviewing.states,
    "reviewers": reviewing.reviewers,
    "reviews": reviewing.reviews,
    "drafts": reviewing.drafts,
    "creation": writing.creation,
    "submitting": writing.submitting,
    "messages": writing.messages,
    "bad bodies": writing.bad_bodies,
}
