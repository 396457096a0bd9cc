"""What was asked of a world: one entry a request, in the order of their arrival, for assertions."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields
from threading import Lock
from typing import Any

SECRET_HEADERS = frozenset({"authorization", "cookie", "proxy-authorization", "x-gerrit-auth"})
"""Headers whose values are kept and never shown."""


BODY_BUDGET = 128 * 1024 * 1024
"""How many bytes of bodies a journal keeps; clients under test may be hostile, and the journal is ours."""


class Headers(tuple[tuple[str, str], ...]):
    """Header pairs as sent; printing them hides what signs somebody in."""

    __slots__ = ()

    def __repr__(self) -> str:
        """Show all pairs, with the values of credentials replaced."""
        return repr(tuple((name, "(hidden)" if name.lower() in SECRET_HEADERS else value) for name, value in self))


def gerrit_path(path: str, context_path: str = "") -> str:
    """Strip what says nothing about the endpoint: the host's context path and one leading `/a`.

    Args:
        path: a raw path, still percent-encoded.
        context_path: the host's own, such as `/r`; empty for a host at the root.

    Returns:
        The path as Gerrit's documentation writes it: `/plugins/` for `/r/a/plugins/`.
    """
    inner = path.removeprefix(context_path) if path.startswith(f"{context_path}/") else path
    return inner.removeprefix("/a") if inner.startswith("/a/") else inner


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One request, and what became of it.

    Attributes:
        number: its place in the journal, from 0.
        host: the name of the simulated host that was asked.
        authority: the host name, and a port other than the default, under which it was asked.
        scheme: `http` or `https`.
        method: in capitals.
        target: path and query exactly as sent.
        path: the target without its query, still percent-encoded.
        query: the decoded pairs of the query, in order; a switch has an empty value.
        headers: the request's headers as sent.
        body: the request's body, unpacked.
        user: who asked; for a request that Gerrit never saw, who the client claimed to be; None for anonymous.
        status: the HTTP status of the answer; 0 where nothing was answered.
        response_body: the bytes of the answer.
        unsimulated: the nearest simulated route, where this simulator has no answer of its own; else None.
        fault: the kind of the fault that was played; else None.
        started: when the request was complete, in seconds of `time.monotonic()`.
        finished: when the answer was due, the delay of a fault included, on the same clock.
        context_path: that of the host.
        bodies_dropped: True where the bodies are left out because the journal holds as many bytes as it may.
    """

    number: int
    host: str
    authority: str
    scheme: str
    method: str
    target: str
    path: str
    query: tuple[tuple[str, str], ...] = ()
    headers: Headers = field(default=Headers())
    body: bytes = field(default=b"", repr=False)
    user: str | None = None
    status: int
    response_body: bytes = field(default=b"", repr=False)
    unsimulated: str | None = None
    fault: str | None = None
    started: float
    finished: float
    context_path: str = ""
    bodies_dropped: bool = False

    @property
    def gerrit_path(self) -> str:
        """The path after the context path and one leading `/a`, as Gerrit's documentation writes it."""
        return gerrit_path(self.path, self.context_path)

    @property
    def is_plugin_list(self) -> bool:
        """Whether the client asked which plugins the host has."""
        return self.gerrit_path in {"/plugins/", "/plugins"}

    @property
    def url(self) -> str:
        """The whole URL that was asked."""
        return f"{self.scheme}://{self.authority}{self.target}"

    def header(self, name: str) -> str | None:
        """The first value of a request header, whatever the case of its name; None when it was not sent."""
        return next((value for key, value in self.headers if key.lower() == name.lower()), None)

    def __str__(self) -> str:
        """One line for people: who asked what of whom, and how it ended."""
        ending = str(self.status) if self.status else "no answer"
        remarks = [f"fault {self.fault}"] if self.fault else []
        remarks += [f"not simulated, nearest: {self.unsimulated}"] if self.unsimulated else []
        milliseconds = (self.finished - self.started) * 1000
        line = f"{self.method} {self.url} as {self.user or 'anonymous'}: {ending}, {milliseconds:.1f} ms"
        return f"{line} ({'; '.join(remarks)})" if remarks else line


class Journal:
    """The requests that reached the hosts of one world; safe to read while it is written from another thread.

    Example:
        >>> before = world.journal.mark()  # doctest: +SKIP
        >>> assert [entry.path for entry in world.journal.since(before)] == ["/a/plugins/"]  # doctest: +SKIP
    """

    def __init__(self) -> None:
        self._entries: list[Entry] = []
        self._listeners: list[Callable[[Entry], None]] = []
        self._lock = Lock()
        self._bytes = 0

    def __iter__(self) -> Iterator[Entry]:
        """Iterate over a snapshot of the entries, the oldest first."""
        return iter(tuple(self._entries))

    def __len__(self) -> int:
        """Count the entries."""
        return len(self._entries)

    def __getitem__(self, number: int) -> Entry:
        """Give the entry of that number; negative ones count from the end."""
        return self._entries[number]

    def __repr__(self) -> str:
        """Show every entry on a line of its own, which is what a failing assertion needs."""
        lines = "".join(f"\n  {entry.number} {entry}" for entry in self)
        return f"<Journal of {len(self)} requests{lines}>"

    def mark(self) -> int:
        """Remember this moment: `since()` with the mark gives what came later."""
        return len(self._entries)

    def since(self, mark: int) -> list[Entry]:
        """The entries that came after a mark."""
        return self._entries[mark:]

    def of(self, *, since: int = 0, **facts: Any) -> list[Entry]:  # noqa: ANN401 - any attribute
        """The entries of which every named fact is true.

        Args:
            since: a mark before which entries do not count.
            **facts: attributes of `Entry` and the values they must have, such as `host="review-a", method="POST"`.

        Raises:
            TypeError: a name is no attribute of an entry.
        """
        for name in facts:
            if name not in _ASKABLE:
                raise TypeError(f"a journal entry has no {name!r}; it has {', '.join(sorted(_ASKABLE))}")
        return [entry for entry in self.since(since) if all(getattr(entry, name) == facts[name] for name in facts)]

    def clear(self) -> None:
        """Forget everything; marks made before are void."""
        with self._lock:
            self._entries.clear()
            self._bytes = 0

    def listen(self, listener: Callable[[Entry], None]) -> None:
        """Call `listener` with every entry from now on, in the thread that serves the request."""
        self._listeners.append(listener)

    def record(self, **facts: Any) -> Entry:  # noqa: ANN401 - the attributes of Entry but its number
        """Add an entry: all attributes of `Entry` but `number`; `finished` defaults to now."""
        facts = {"finished": time.monotonic(), **facts, "headers": Headers(facts.get("headers", ()))}
        with self._lock:
            self._bytes += len(facts.get("body", b"")) + len(facts.get("response_body", b""))
            if self._bytes > BODY_BUDGET:
                facts |= {"body": b"", "response_body": b"", "bodies_dropped": True}
            entry = Entry(number=len(self._entries), **facts)
            self._entries.append(entry)
        for listener in self._listeners:
            listener(entry)
        return entry


_ASKABLE = {one.name for one in fields(Entry)} | {"gerrit_path", "is_plugin_list", "url"}
