"""What a client needs of whatever carries its messages: pipes to a child now, streamable HTTP as well later."""

from __future__ import annotations

from typing import Protocol, runtime_checkable


@runtime_checkable
class ByteStream(Protocol):
    """Carries whole messages as bytes, in order, and changes none of them."""

    async def receive(self) -> bytes:
        """Give the next message exactly as it came (a line with its end, on pipes); empty bytes when none will come."""

    async def send(self, message: bytes) -> None:
        """Send one message and what ends it; raises ConnectionError when the other side no longer reads."""

    async def write(self, data: bytes) -> None:
        """Send bytes as they are, whole message or not; raises ConnectionError likewise."""

    async def close(self) -> None:
        """Tell the other side that nothing more will be sent."""
