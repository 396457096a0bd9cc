"""What is done with a subject beyond the usual calls: one module a theme, one async function a scene.

A scene is given the `Observations` of a subject, acts, and gives back what was seen; it judges nothing. A clause asks
for it by `await observed.of(scene)`, so that it is played at most once, whoever asks first.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from conformance.observations import Observations
    from conformance.rig.scenarios import Seen

Scene = Callable[["Observations"], Coroutine[Any, Any, Any]]

CALLING: tuple[Callable[[Observations], Coroutine[Any, Any, Seen]], ...] = ()
"""Scenes that call tools: what must never happen (a stray byte, a leak, an end) is looked for in each of them."""

FORESEEN: tuple[Scene, ...] = (*CALLING,)
"""Scenes that a full run begins beside each other, ahead of the clauses that ask for them."""
