"""What an entry function in the child holds: the protocol's streams, and the line on which it tells facts."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from socket import socket
from typing import Any, BinaryIO


class Channel:
    """The child's side of the rig."""

    def __init__(
        self, *, protocol_in: BinaryIO, protocol_out: BinaryIO, facts: socket, preloaded: Mapping[str, Any]
    ) -> None:
        """Take over the streams that were made for this child."""
        self.protocol_in = protocol_in
        """Where the client's messages come from."""
        self.protocol_out = protocol_out
        """Where answers go."""
        self.preloaded = preloaded
        """What each callable of `WarmProcess(preload=…)` gave back before the fork, by its name."""
        self._facts = facts
        self._lock = threading.RLock()

    def tell(self, kind: str, **facts: Any) -> None:  # noqa: ANN401 - anything that JSON or repr can show
        """Tell the rig one fact; from any thread.

        `tell("phase", name=…)` begins a new phase: it returns once the rig has taken in all that stdout and stderr
        hold, so that every byte is filed under the phase in which it was written.
        """
        line = json.dumps({"kind": kind, **facts}, default=repr).encode() + b"\n"
        with self._lock:
            if kind == "phase":
                self._flush()
            self._facts.sendall(line)
            if kind == "phase" and not self._facts.recv(1):
                raise SystemExit("the rig is gone")

    def phase(self, name: str) -> None:
        """Begin a new phase."""
        self.tell("phase", name=name)

    @staticmethod
    def _flush() -> None:
        for stream in (sys.stdout, sys.stderr):
            with suppress(Exception):  # whatever the subject put in place of the stream is its own affair
                stream.flush()
