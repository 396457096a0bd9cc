"""What has been seen of one server: each scene is played at most once, whoever asks for it first."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import AbstractAsyncContextManager
from typing import Any, Concatenate, ParamSpec, TypeVar

from conformance.memory import Memory
from conformance.outcomes import Blocked
from conformance.probes.broken import KINDS
from conformance.profile import Profile
from conformance.rig.rig import Rig
from conformance.rig.served import Served, Setup, served
from conformance.scenes import serving
from conformance.subject import Subject

T = TypeVar("T")
P = ParamSpec("P")


class ServerObservations:
    """The starts of one server on one rig, and what they show."""

    def __init__(self, subject: Subject, *, rig: Rig, profile: Profile, memory: Memory) -> None:
        """Start nothing yet."""
        self.subject = subject
        self.rig = rig
        self.profile = profile
        self._memory = memory

    async def of(
        self,
        scene: Callable[Concatenate[ServerObservations, P], Coroutine[Any, Any, T]],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        """Give what a scene shows, which is played at most once for each set of arguments."""
        key = (scene, args, tuple(sorted(kwargs.items())))
        return await self._memory.once(key, lambda: scene(self, *args, **kwargs))

    async def alone(self) -> Served:
        """Give the same, whether a session was opened or not."""
        return await self._memory.once("bare", self._bare)

    async def _bare(self) -> Served:
        return await self.start(Setup())

    def serving(self, setup: Setup) -> AbstractAsyncContextManager[Served]:
        """Start the server with these extensions, open a session and list its tools, for as long as the block lasts."""
        return served(self.rig, self.subject, setup, self.profile.server)

    async def start(self, setup: Setup) -> Served:
        """Start the server with these extensions, list its tools, and end it."""
        async with self.serving(setup) as trial:
            pass
        return trial

    async def bare(self) -> Served:
        """Give the start without any probe.

        Raises:
            Blocked: the server cannot be spoken to even so, which is SRV-ENTRY's to tell.
        """
        trial = await self.alone()
        if not trial.in_session:
            raise Blocked(f"it opens no session, even without extensions: {trial.session_trouble}", by="SRV-ENTRY")
        return trial

    async def foresee(self) -> None:
        """Begin every scene beside each other, and return at once: worth it where most clauses will be judged."""
        self._memory.begin("foreseen", self._foresee)

    async def _foresee(self) -> None:
        if not (await self.alone()).in_session:
            return
        scenes = [self.of(scene) for scene in serving.FORESEEN]
        kinds = [self.of(serving.broken, kind) for kind in KINDS]
        await asyncio.gather(*kinds, *scenes, return_exceptions=True)
