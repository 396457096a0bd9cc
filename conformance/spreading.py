"""How a certifying run is spread over the workers of pytest-xdist: all clauses of one subject go to one of them."""

from __future__ import annotations

from xdist.scheduler import LoadScopeScheduling

from conformance.options import NODE_ROOT


class BySubject(LoadScopeScheduling):
    """Keeps the clauses of a subject together: they share what has been seen of it, and trials run side by side anyway.

    Everything else is dealt out one by one.
    """

    def _split_scope(self, nodeid: str) -> str:
        root, _, rest = nodeid.partition("::")
        return f"{root}::{rest.partition('::')[0]}" if root == NODE_ROOT else nodeid
