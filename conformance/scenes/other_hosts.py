"""Answers of one host for another: what is remembered under a key that forgets the host."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from conformance.rig.samples import BASE_URL_PARAMETER
from conformance.rig.scenarios import Step, play
from conformance.rig.surroundings import BASE_FORMS, PLAIN_FORM

if TYPE_CHECKING:
    from conformance.observations import Observations
    from conformance.rig.scenarios import Seen
    from conformance.rig.trial import Call

OTHER_FORM = "context path"
"""The first form of address in which a second host is named."""
OTHER, OTHER_URL = BASE_FORMS[OTHER_FORM]
CONTENT = re.compile(r"\b[0-9a-f]{40}\b")
"""The id of a commit, whose content is the same wherever it is."""


async def answered_for_another(observed: Observations, tool: str) -> Call | None:
    """Give a call that answered for one host what another had told before, and asked the one named for nothing.

    The hosts of a trial are alike, so that the answer does not show it. What gives rise to it was seen among the calls
    with typed addresses; it is then done again with this tool alone.
    """
    seen = await observed.typed_addresses()
    usual = seen.calls.get((tool, OTHER_FORM))
    if usual is None or not usual.succeeded or OTHER not in usual.hosts:
        return None
    if CONTENT.search(json.dumps(dict(usual.arguments), default=str)) or not _is_suspect(seen, usual):
        return None
    entry = await observed.tool(tool)
    forms = {PLAIN_FORM: BASE_FORMS[PLAIN_FORM][1], OTHER_FORM: OTHER_URL}
    steps = [Step(tool=entry, name=form, added={BASE_URL_PARAMETER: url}, odd=None) for form, url in forms.items()]
    again = await play(observed.bench, steps)
    first, second = (again.calls.get((tool, form)) for form in forms)
    if first is None or second is None or not second.succeeded or len(again.trials) != 1:
        return None
    return second if OTHER not in first.hosts | second.hosts else None


def _is_suspect(seen: Seen, usual: Call) -> bool:
    """Tell whether the same call asked for nothing where it was not the first in its process."""
    return any(
        call.tool == usual.tool and call.arguments == usual.arguments and call.succeeded and not call.own
        for trial in seen.trials
        for call in trial.calls
    )
