"""Observers of what is the host's and shared by all extensions: the configuration and the log.

The log is made to look as one does that has been written for long, and the configuration as one that others use too,
so that whoever takes what is not theirs, or rotates what is not theirs, is seen to do it.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conformance.rig.document import watched
from conformance.rig.frames import Frames, line_of, of_the_host, where

if TYPE_CHECKING:
    from conformance.rig.channel import Channel

INSTRUCTION = "belongings"
"""Switches these observers on for a trial."""

SETTING = "release_calendar"
"""A setting at the top of the configuration that nobody asks for by name."""
NEIGHBOUR = "release_notes"
"""The block of another extension."""
PLANTED = {"template": "plain", "lines": 20}

FIRST_LINE = "2026-01-05 08:30:00 [gerrit-mcp-server] the server has started\n"
LATER_LINE = "2026-01-05 08:31:00 [gerrit-mcp-server] a change was read\n"
LATER_LINES = 20_000
"""More than those who cut a log down usually leave."""
LOG_BYTES = 11 * 1024 * 1024
"""More than those who rotate a log usually let it have."""
LOG_AGE_SECONDS = 40 * 86_400

READ, OPENED = "setting_read", "configuration_opened"
LOG_PLANTED, LOG_CUT = "log_planted", "log_cut"
MOST_TOLD = 500


def watch(channel: Channel, payload: Mapping[str, Any], application: Any) -> None:  # noqa: ANN401 - any host's
    """Plant the settings of others and an old log, and tell what becomes of them."""
    if not payload["instructions"].get(INSTRUCTION):
        return
    config, log = Path(os.environ["GERRIT_CONFIG_PATH"]), Path(os.environ["GERRIT_MCP_LOG_PATH"])
    plant_settings(config)
    if Path(application.context.log_path) == log:
        plant_log(log)
        channel.tell(LOG_PLANTED)
    belongings = Belongings(channel, Frames(payload), config=config, log=log)
    belongings.watch_settings(type(application.context))
    sys.addaudithook(belongings.hear)


def plant_settings(config: Path) -> None:
    """Add a setting and the block of an extension that the subject does not know of."""
    document = json.loads(config.read_bytes())
    document[SETTING] = PLANTED
    document["extensions"] = {NEIGHBOUR: PLANTED, **(document.get("extensions") or {})}
    config.write_text(json.dumps(document), encoding="utf-8")


def plant_log(log: Path) -> None:
    """Make a log that is long and old, most of it a hole that takes no room."""
    with log.open("wb") as file:
        file.write((FIRST_LINE + LATER_LINE * LATER_LINES).encode())
        file.seek(LOG_BYTES)
        file.write(b"\n")
    written = time.time() - LOG_AGE_SECONDS
    os.utime(log, (written, written))


class Belongings:
    """Tells what the subject does with the configuration and the log."""

    def __init__(self, channel: Channel, frames: Frames, *, config: Path, log: Path) -> None:
        """Tell over `channel` of what the subject's `frames` do."""
        self._channel = channel
        self._frames = frames
        self._config = _names_of(config)
        self._log = _names_of(log)
        self._told: set[tuple[object, ...]] = set()

    def watch_settings(self, context: type) -> None:
        """Hand out what `load_config` gives as a document that tells what is read in it."""
        loading = context.load_config  # type: ignore[attr-defined]  # a member of every host's context

        def load_config(ctx: object) -> Any:  # noqa: ANN401 - as the host's
            return watched(loading(ctx), self._note_setting)

        load_config.__doc__ = loading.__doc__
        context.load_config = load_config  # type: ignore[attr-defined]  # likewise

    def _note_setting(self, path: tuple[str, ...], key: str) -> None:
        frame = self._frames.behind(sys._getframe(2))  # noqa: SLF001 - beyond the document's own method
        if frame is not None:
            spot = f"{frame.f_code.co_qualname} {frame.f_code.co_firstlineno} {frame.f_lasti}"
            self._tell(READ, path=list(path), key=str(key), spot=spot, where=where(frame), line=line_of(frame))

    def hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Take in an event of the interpreter; whatever goes wrong here must not reach the subject."""
        if event in _HEARD:
            with suppress(Exception):
                self._heard(event, arguments)

    def _heard(self, event: str, arguments: tuple[Any, ...]) -> None:
        frame = sys._getframe(2)  # noqa: SLF001 - beyond `hear`
        if event == "open" and _named(arguments[0], self._config):
            reader = self._frames.behind(frame)
            if reader is not None:
                self._tell(OPENED, where=where(reader), line=line_of(reader))
        elif (how := self._cut(event, arguments)) and not of_the_host(frame):
            doer = self._frames.behind(frame)
            self._tell(LOG_CUT, how=how, where=where(doer), line=line_of(doer))

    def _cut(self, event: str, arguments: tuple[Any, ...]) -> str:
        """Say how an event takes away what stands in the log; empty where it does not."""
        if event == "open":
            emptied = int(arguments[2]) & os.O_TRUNC
            return "it was opened to be written anew" if emptied and _named(arguments[0], self._log) else ""
        touched = arguments[:2] if event == "os.rename" else arguments[:1]
        return _HEARD[event] if any(_named(one, self._log) for one in touched) else ""

    def _tell(self, fact: str, **about: Any) -> None:  # noqa: ANN401 - what JSON can show
        key = (fact, *map(str, about.values()))
        if key not in self._told and len(self._told) < MOST_TOLD:
            self._told.add(key)
            self._channel.tell(fact, **about)


_HEARD = {
    "open": "",
    "os.truncate": "it was cut",
    "os.rename": "it was renamed, or something else was put in its place",
    "os.remove": "it was removed",
}
"""The events that are looked at, with what they do to the log."""


def _names_of(file: Path) -> frozenset[str]:
    return frozenset({str(file), os.path.realpath(file)})


def _named(target: object, names: frozenset[str]) -> bool:
    """Tell whether a path, or an open descriptor, is that of a file."""
    if isinstance(target, int):
        return any(os.path.exists(name) and os.path.samestat(os.fstat(target), os.stat(name)) for name in names)  # noqa: PTH110, PTH116
    text = os.fsdecode(target)  # type: ignore[arg-type]  # whatever else it is ends in the suppressed exception
    return os.path.abspath(text) in names or os.path.realpath(text) in names  # noqa: PTH100 - symlinks are told apart
