"""What clauses about servers read in a log, or why they cannot."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.outcomes import Inconclusive
from conformance.scenes import serving

if TYPE_CHECKING:
    from conformance.rig.served import Served
    from conformance.server_observations import ServerObservations


async def told_log(observed: ServerObservations, trial: Served) -> str:
    """Give what stands in server.log; raises Inconclusive where nobody knows which file that is.

    A server that has written the file in any start is known to have its log there, and may keep silent in this one.
    """
    known = trial.log_is_known
    for scene in (serving.by_variable, serving.advertised, serving.found_twice):
        known = known or (await observed.of(scene)).log_is_known
    if not known:
        raise Inconclusive(
            "nobody knows where the server writes its server.log",
            supply='the path of the file, as log = "…" in [tool.gerrit-conformance.server]',
            evidence=trial.evidence(),
        )
    return trial.let_out()["server.log"]
