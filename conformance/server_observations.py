"""What has been seen of one server: each scene is played at most once, whoever asks for it first."""

from __future__ import annotations

import asyncio
from contextlib import AbstractAsyncContextManager

from conformance.memory import Memory
from conformance.outcomes import Blocked, Measurement
from conformance.playing import Playing
from conformance.probes.broken import KINDS
from conformance.profile import Profile
from conformance.rig.rig import Rig
from conformance.rig.served import Served, Setup, served
from conformance.scenes import (
    server_care,
    server_context,
    server_lifecycle,
    server_results,
    server_routing,
    serving,
)
from conformance.subject import Subject

CHAPTERS = (serving, server_context, server_routing, server_results, server_lifecycle, server_care)


class ServerObservations(Playing):
    """The starts of one server on one rig, and what they show."""

    def __init__(self, subject: Subject, *, rig: Rig, profile: Profile, memory: Memory) -> None:
        """Start nothing yet."""
        self.subject = subject
        self.rig = rig
        self.profile = profile
        self.measured: list[Measurement] = []
        """What clauses have measured, for the report."""
        super().__init__(memory)

    def serving(self, setup: Setup) -> AbstractAsyncContextManager[Served]:
        """Start the server with these extensions, open a session and list its tools, for as long as the block lasts."""
        return served(self.rig, self.subject, setup, self.profile.server)

    async def start(self, setup: Setup) -> Served:
        """Start the server with these extensions, list its tools, and end it."""
        async with self.serving(setup) as trial:
            pass
        return trial

    async def alone(self) -> Served:
        """Give the start without any probe, whether a session was opened or not."""
        return await self.of(ServerObservations._alone)

    async def _alone(self) -> Served:
        return await self.start(Setup())

    async def bare(self) -> Served:
        """Give the start without any probe, in which a session was opened.

        Raises:
            Blocked: the server cannot be spoken to even so, which is SRV-ENTRY's to tell.
        """
        trial = await self.alone()
        if not trial.in_session:
            raise Blocked(f"it opens no session, even without extensions: {trial.session_trouble}", by="SRV-ENTRY")
        return trial

    async def _foresee(self) -> None:
        if not (await self.alone()).in_session:
            return
        scenes = [self.of(scene) for chapter in CHAPTERS for scene in chapter.FORESEEN]
        kinds = [self.of(serving.broken, kind) for kind in KINDS]
        await asyncio.gather(*kinds, *scenes, return_exceptions=True)
