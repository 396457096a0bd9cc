"""What is done with a subject beyond the usual calls: one module a theme, one async function a scene.

A scene is given the `Observations` of a subject, acts, and gives back what was seen; it judges nothing. A clause asks
for it by `await observed.of(scene)`, so that it is played at most once, whoever asks first.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from conformance.scenes import (
    arguments,
    bodies,
    concurrency,
    crowds,
    faults,
    hostile,
    loading,
    patience,
    routing,
    surface,
    writing,
)

if TYPE_CHECKING:
    from conformance.observations import Observations
    from conformance.rig.scenarios import Seen

Scene = Callable[["Observations"], Coroutine[Any, Any, Any]]

CALLING: tuple[Callable[[Observations], Coroutine[Any, Any, Seen]], ...] = (
    arguments.unusual,
    faults.raising,
    faults.returning,
    bodies.lean,
    bodies.unstripped,
    writing.writes_on_a_raising_host,
    writing.writes_on_a_returning_host,
    writing.each_choice,
    routing.cold,
    routing.remembering,
    routing.changing,
    routing.failing,
)
"""Scenes that call tools: what must never happen (a stray byte, a leak, an end) is looked for in each of them."""

FORESEEN: tuple[Scene, ...] = (
    *CALLING,
    concurrency.watched,
    crowds.crowded,
    hostile.attacked,
    routing.started,
    faults.silent,
    patience.untold,
    loading.without_calls,
    loading.registered_again,
    surface.shared_belongings,
)
"""Scenes that a full run begins beside each other, ahead of the clauses that ask for them."""
