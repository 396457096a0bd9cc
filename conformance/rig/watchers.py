"""Everything that watches a subject from inside its process, each put in place at its moment.

Importing this module loads all of it; the warm process does so, that no child has to.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from conformance.rig import belongings, crashing, curling, decorating, surface
from conformance.rig.egress import watch_traffic
from conformance.rig.naming import Names
from conformance.rig.observing import Observer
from conformance.rig.rehearsing import Rehearsal

if TYPE_CHECKING:
    from conformance.rig.channel import Channel


class Watchers:
    """Puts all watchers around a host that has loaded nothing yet.

    Args:
        channel: where they tell their facts.
        payload: what `conformance.rig.hosting.serve` was given.
        application: the host.
        build: makes another host of the same kind.
    """

    def __init__(
        self,
        channel: Channel,
        payload: Mapping[str, Any],
        application: Any,  # noqa: ANN401 - any host's application
        *,
        build: Callable[[], Any],
    ) -> None:
        """Watch what is there before the subject."""
        self._channel, self._application = channel, application
        self._instructions: Mapping[str, Any] = payload["instructions"]
        self._observer = Observer(channel, application)
        self._observer.watch_host()
        surface.watch(channel, payload, application)
        belongings.watch(channel, payload, application)
        curling.watch(channel, application, self._instructions)
        watch_traffic(channel, application, payload)
        self._names = Names(channel, application)
        self._rehearsal = Rehearsal(channel, payload, application, build=build, names=self._names)

    def imported(self, module: str) -> None:
        """Watch the `register` of a module of the subject."""
        self._observer.watch_register(module)

    def before_loading(self) -> None:
        """Do what has to be done ahead of the host's loader."""
        self._rehearsal.before_loading()

    def after_loading(self) -> None:
        """Tell what the loading has left, and watch the tools that are there now."""
        self._observer.tell_tools()
        if self._instructions.get(crashing.TELL_FAILURES):
            crashing.watch_failures(self._application, self._channel)
        self._channel.tell("threads", count=threading.active_count() - 1)
        if decorating.INSTRUCTION in self._instructions:
            self._observer.compare_decorated()
        self._names.tell()
        self._rehearsal.after_loading()
