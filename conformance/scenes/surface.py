"""Scenes about what a subject does with what all extensions share: the configuration and the log."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.rig.belongings import INSTRUCTION
from conformance.rig.scenarios import NOT_FOUND, Seen, Step, loaded, play
from conformance.rig.trial import ASKING_FOR_PLUGINS

if TYPE_CHECKING:
    from conformance.observations import Observations


async def shared_belongings(observed: Observations) -> Seen:
    """Load the subject where the configuration holds settings of others and the log is old and long; call each tool.

    Each tool is called once as usual, and once while Gerrit finds nothing: then there is something to write down.
    """
    from mock_gerrit.faults import Fault  # noqa: PLC0415 - loaded with the first trial

    watching = {"instructions": {INSTRUCTION: True}}
    missing = Fault(kind="status", status=404, body=NOT_FOUND, not_path=ASKING_FOR_PLUGINS)
    tools = await observed.answering() if (await observed.survey()).in_session else {}
    steps = [
        Step(tool=tool, name=name, faults=faults, odd=None)
        for tool in tools.values()
        for name, faults in {"": (), "not found": (missing,)}.items()
    ]
    if not steps:
        return Seen(trials=[await loaded(observed.bench, **watching)])
    return await play(observed.bench, steps, **watching)
