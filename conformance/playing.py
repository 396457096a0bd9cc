"""What observations of every kind of subject have in common: scenes that are played at most once."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from conformance.memory import Memory

T = TypeVar("T")
P = ParamSpec("P")


class Playing:
    """Plays scenes with a subject, and keeps what each has shown."""

    def __init__(self, memory: Memory) -> None:
        """Play nothing yet."""
        self._memory = memory

    async def of(
        self, scene: Callable[Concatenate[Self, P], Coroutine[Any, Any, T]], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Give what a scene shows, which is played at most once for each set of arguments.

        A scene is an async function of the observations and perhaps a few plain values; see `conformance.scenes`.
        """
        key = (scene, args, tuple(sorted(kwargs.items())))
        return await self._memory.once(key, lambda: scene(self, *args, **kwargs))

    async def foresee(self) -> None:
        """Begin every scenario beside each other, and return at once: worth it where most clauses will be judged."""
        self._memory.begin("foreseen", self._foresee)

    async def _foresee(self) -> None:
        raise NotImplementedError
