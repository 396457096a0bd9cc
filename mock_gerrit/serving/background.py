"""A server in a thread with a loop of its own, for callers that have none, or whose loop is busy being tested."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from typing import TypeVar

from anyio.from_thread import start_blocking_portal

Server = TypeVar("Server")


@contextmanager
def in_thread(server: AbstractAsyncContextManager[Server]) -> Iterator[Server]:
    """Run a `Gateway` or a `Loopback` in a thread while the block lasts; usable inside and outside of an event loop.

    The world may be changed or exchanged from outside between requests.
    """
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(server) as running:
        yield running
