"""What can keep an answer from a caller. A refusal by the server is no trouble: it is a Reply with an error."""

from __future__ import annotations

from conformance.wire.reply import RpcError


class WireTrouble(Exception):  # noqa: N818 - trouble with the wire is often the subject's fault, not an error of ours
    """Base of all: no usable answer came. `seen` holds the last raw messages that did come."""

    def __init__(self, text: str, *, seen: tuple[bytes, ...] = ()) -> None:
        """Keep the last messages for the evidence."""
        super().__init__(text)
        self.seen = seen


class NoAnswer(WireTrouble):
    """The time was over and the server was still there."""

    def __init__(self, method: str, seconds: float, *, seen: tuple[bytes, ...] = ()) -> None:
        """Tell what was asked and how long was waited."""
        super().__init__(f"no answer to {method} within {seconds:g} s", seen=seen)
        self.method = method
        self.seconds = seconds


class ServerGone(WireTrouble):
    """The server ended its output, or no longer reads its input."""


class Garbled(WireTrouble):
    """An answer that came breaks JSON-RPC or MCP, so that it cannot be read as what it should be."""


class Refused(WireTrouble):
    """The server answered with a JSON-RPC error where the caller needs a result."""

    def __init__(self, method: str, error: RpcError, *, seen: tuple[bytes, ...] = ()) -> None:
        """Tell what was asked and what was said to it."""
        super().__init__(f"{method} was refused: {error}", seen=seen)
        self.method = method
        self.error = error
