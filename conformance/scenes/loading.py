"""What hosts do with an extension besides calling it: let it wait, load it again, unload it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from conformance.rig.rehearsing import AGAIN, REFUSE_FROM, UNREGISTER
from conformance.rig.scenarios import LATE_SECONDS, loaded
from conformance.rig.unbidden import Question, asked_while_loading

if TYPE_CHECKING:
    from conformance.observations import Observations
    from conformance.rig.trial import Trial


async def without_calls(observed: Observations) -> list[Trial]:
    """Give trials in which the subject was loaded and nothing called, under each form of its settings.

    Where a thread, a process or a timer went on after loading, one of them waits for what that might still do.
    """
    survey = await observed.survey()
    trials = [survey]
    if survey.in_session:
        trials += (await observed.configured()).values()
    if _goes_on(survey):
        async with observed.rig.trial(observed.bench.subject, observed.bench.surroundings()) as waiting:
            if waiting.in_session:
                await observed.rig.rest(waiting, LATE_SECONDS)
        trials.append(waiting)
    return trials


async def unbidden(observed: Observations) -> frozenset[Question]:
    """Give what the subject asks of Gerrit by itself; it is waited for only where something went on after loading."""
    survey = await observed.survey()
    return asked_while_loading(await observed.of(without_calls) if _goes_on(survey) else [survey])


def _goes_on(survey: Trial) -> bool:
    """Tell whether a thread, a process or a timer was still there when the subject had been loaded."""
    return survey.in_session and any(fact["what"] for fact in survey.told("still_running"))


async def registered_again(observed: Observations) -> Trial:
    """Load the subject, then have another application of the same host load it in the same process."""
    return await loaded(observed.bench, instructions={AGAIN: True})


async def unregistered(observed: Observations) -> Trial:
    """Load the subject, and call its `unregister` with the context that its `register` was given."""
    return await loaded(observed.bench, instructions={UNREGISTER: True})


async def unregistered_after_failure(observed: Observations) -> list[Trial]:
    """Call `unregister` after a `register` that was refused its first registration, and after one refused its last."""
    counts = (await observed.survey()).told("registered")
    total = sum(int(counts[-1][kind]) for kind in ("tools", "resources", "prompts")) if counts else 0
    refused = [{REFUSE_FROM: first} for first in sorted({min(1, total), total} - {0})]
    return list(await asyncio.gather(*(loaded(observed.bench, instructions=one) for one in refused)))
