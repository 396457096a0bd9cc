"""One trial: a child with the subject loaded, a client in session with it, and everything that was seen."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from conformance.outcomes import Evidence
from conformance.rig.answers import READING
from conformance.rig.surroundings import HOSTS, HostPlan, Surroundings
from conformance.rig.unbidden import is_unbidden, written_for_others

if TYPE_CHECKING:
    from conformance.rig.masking import Masking
    from conformance.rig.record import Record
    from conformance.rig.warm import Child
    from conformance.wire.client import Client
    from conformance.wire.reply import ToolReply
    from mock_gerrit.faults import Fault
    from mock_gerrit.journal import Entry
    from mock_gerrit.serving.elsewhere import StrangeRequest
    from mock_gerrit.serving.gateway import Gateway
    from mock_gerrit.world import World


ASKING_FOR_PLUGINS = r"^/plugins/?$|^/plugins/[^/]+/gerrit~status$"
"""Paths that say whether a plugin is there; no request for them counts as a tool's own."""


FINISHING_SECONDS = 0.5
MOST_LINES = 4
"""How many lines of a subject are quoted of each kind."""


@dataclass(frozen=True, kw_only=True)
class Fact:
    """Something that the child told of itself."""

    kind: str
    about: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Call:
    """One call of a tool, with all that it caused."""

    tool: str
    arguments: Mapping[str, Any]
    reply: ToolReply | None
    """None where no answer came."""
    trouble: str
    """Why no answer came: a time-out, or the end of the process; empty otherwise."""
    entries: Sequence[Entry]
    """Every request that reached a Gerrit host during the call."""
    facts: Sequence[Fact]
    seconds: float
    of_others: frozenset[int] = frozenset()
    """Those of the requests (by their `id`) that another tool had left to be made later."""
    refused: Sequence[str] = ()
    """Addresses outside the simulated world that were asked for."""
    elsewhere: Sequence[StrangeRequest] = ()
    """Every request to a host that is no Gerrit; none of them left this machine."""
    let_out: Mapping[str, str] = field(default_factory=dict)
    """What the call added to `server.log` and to `stderr`."""
    died: bool = False
    """The process was gone after the call."""
    stdin_read: bool = False
    world: World | None = None
    """The hosts as the call left them, and what else happened to them before the next call found others."""
    surroundings: Surroundings | None = None
    """Those of its trial, which tell what the hosts were like before."""

    @property
    def own(self) -> list[Entry]:
        """The tool's own requests: not those for plugins, nor what the extension asks by itself or late for others."""
        own = [entry for entry in self.entries if not asks_for_plugins(entry) and id(entry) not in self.of_others]
        unbidden = self.surroundings.unbidden if self.surroundings is not None else frozenset()
        return [one for one in own if not is_unbidden(one, unbidden, self.told("run_curl"))] if unbidden else own

    @property
    def lists(self) -> list[Entry]:
        """The requests that ask which plugins a host has."""
        return [entry for entry in self.entries if asks_for_plugins(entry)]

    @property
    def hosts(self) -> set[str]:
        """The names of the hosts that the tool's own requests reached."""
        return {entry.host for entry in self.own}

    @property
    def succeeded(self) -> bool:
        """There is an answer, and it is no error."""
        return self.reply is not None and not self.reply.is_error

    @property
    def text(self) -> str:
        """All text of the answer, or the reason why there is none."""
        return self.reply.text if self.reply is not None else self.trouble

    def told(self, kind: str) -> list[Mapping[str, Any]]:
        """Give the facts of one kind that the child told during the call."""
        return [fact.about for fact in self.facts if fact.kind == kind]

    def saw(self) -> str:
        """Say in a phrase what came back."""
        if self.reply is None:
            return self.trouble
        kind = "an error" if self.reply.is_error else "a success"
        return f"{kind}: {_shortened(self.text or str(self.reply.structured))}"

    def evidence(self) -> tuple[Evidence, ...]:
        """Quote the call, its requests and its answer."""
        quoted = [Evidence(kind="call", text=f"{self.tool} {dict(self.arguments)}")]
        quoted += [
            Evidence(kind="request", text=f"{one.method} {one.scheme}://{one.authority}{one.target} → {one.status}")
            for one in self.entries
        ]
        quoted += [
            Evidence(kind="request", text=f"{one.method} {one.scheme}://{one.authority} → {one.status} (no Gerrit)")
            for one in self.elsewhere
        ]
        if self.died:
            quoted.append(Evidence(kind="process", text="it ended during the call"))
        quoted.append(Evidence(kind="reply", text=_shortened(self.saw(), 1500)))
        return (*quoted, *(Evidence(kind="line", text=line) for line in self.lines()))

    def lines(self) -> list[str]:
        """Tell where in the subject it happened: what asked Gerrit, and what raised; the first few of each."""
        asked = [f"{about['line']} asked Gerrit" for about in self.told("run_curl") if about["line"]]
        raised = [
            f"{about['line']} raised {about['type']}: {_shortened(str(about['text']))}"
            for about in self.told("tool_raised")
            if about["line"] and about["tool"] == self.tool
        ]
        return [line for several in (asked, raised) for line in list(dict.fromkeys(several))[:MOST_LINES]]


def _shortened(text: str, limit: int = 300) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= limit else f"{flat[:limit]}… ({len(flat)} characters)"


@dataclass(kw_only=True)
class Trial:
    """A running child with a session, until it is closed."""

    surroundings: Surroundings
    child: Child
    client: Client
    world: World
    gateway: Gateway
    home: Path
    log_path: Path
    masking: Masking
    tools: list[dict[str, Any]] = field(default_factory=list)
    """The answer to the first `tools/list`, all pages."""
    tools_after: list[str] | None = None
    """The names in a list that was asked for after the calls, where one was."""
    calls: list[Call] = field(default_factory=list)
    facts: list[Fact] = field(default_factory=list)
    stage: str = "start"
    """How far it came: `import`, `register`, `calls`."""
    hung: bool = False
    """The stage did not end in time."""
    in_session: bool = False
    session_trouble: str = ""
    """Why there is no session although the subject was loaded."""
    last_words: dict[str, str] = field(default_factory=dict)
    """What stood in server.log and stderr when the trial was closed."""
    started: float = field(default_factory=time.monotonic)
    requests: int = 0
    """How many requests reached the worlds that this trial has left."""
    record: Record | None = None
    """What the guardian saw, once the trial is closed."""

    def told(self, kind: str) -> list[Mapping[str, Any]]:
        """Give the facts of one kind that the child has told so far."""
        return [fact.about for fact in self.facts if fact.kind == kind]

    @property
    def elsewhere(self) -> list[StrangeRequest]:
        """Every request so far to a host that is no Gerrit."""
        return self.gateway.elsewhere.requests if self.gateway.elsewhere is not None else []

    @property
    def alive(self) -> bool:
        """The child has not ended."""
        return not self.child.ended

    @property
    def age(self) -> float:
        """Seconds since the start of the child."""
        return time.monotonic() - self.started

    def enter(self, world: World, faults: Iterable[Fault]) -> None:
        """Put another world around the child, with faults of its own; what was asked of the old one is only counted."""
        self.requests += self.world.journal.mark()
        self.world = self.gateway.world = world
        for fault in faults:
            world.faults.add(fault)

    async def call(self, tool: str, arguments: Mapping[str, Any], *, seconds: float = 15.0) -> Call:
        """Call a tool and gather what that caused; a call never raises for what the subject does."""
        from conformance.wire.client import WireTrouble  # noqa: PLC0415 - loaded with the first trial

        mark, known = self.world.journal.mark(), len(self.facts)
        written, refused, strange = self._written(), len(self.gateway.refused), len(self.elsewhere)
        began = asyncio.get_running_loop().time()
        reply, trouble = None, ""
        try:
            reply = await self.client.call_tool(tool, dict(arguments), timeout=seconds)
        except WireTrouble as problem:
            trouble = str(problem)
        await self._settle(expect_end=reply is None)
        entries = self.world.journal.since(mark)
        call = Call(
            tool=tool, arguments=arguments, reply=reply, trouble=trouble, entries=entries,
            of_others=self._of_others(entries, tool, known),
            facts=self.facts[known:], seconds=asyncio.get_running_loop().time() - began,
            let_out=self._let_out_since(*written), elsewhere=self.elsewhere[strange:],
            refused=[one.target for one in self.gateway.refused[refused:] if one.kind in {"connect", "http"}],
            died=self.child.ended, stdin_read=self.child.stdin_read > 0, world=self.world,
            surroundings=self.surroundings,
        )  # fmt: skip
        self.calls.append(call)
        if reply is not None:
            await self._let_finish()
        return call

    def _of_others(self, entries: Sequence[Entry], tool: str, known: int) -> frozenset[int]:
        """Name the requests of a call that an earlier one had left to be made; `known` facts were told before it."""
        if all(entry.method in READING for entry in entries):  # most calls: nothing to look for
            return frozenset()
        began = [fact.about for fact in self.facts[known:] if fact.kind == "tool_called" and fact.about["tool"] == tool]
        over = {fact.about["number"] for fact in self.facts[:known] if fact.kind == "run_curl_over"}
        asked = [fact.about for fact in self.facts if fact.kind == "run_curl" and fact.about["number"] not in over]
        if not began:  # on a host whose tools cannot be watched
            return frozenset()
        return frozenset(map(id, written_for_others(entries, asked, began[-1]["call"])))

    async def _let_finish(self) -> None:
        """Wait a moment for what a call has left on its way to Gerrit, which would arrive in the middle of the next."""
        until = time.monotonic() + FINISHING_SECONDS
        while self.gateway.gate is None and self.alive and time.monotonic() < until:
            self.gather()
            if len(self.told("run_curl")) <= len(self.told("run_curl_over")):
                return
            await asyncio.sleep(0.01)

    def _written(self) -> tuple[int, int]:
        """Tell how long server.log (in bytes) and stderr (in characters) are by now."""
        try:
            return self.log_path.stat().st_size, len(self.stderr())
        except OSError:
            return 0, len(self.stderr())

    def _let_out_since(self, log: int, stderr: int) -> dict[str, str]:
        """Give what has been written since; all of a log that is shorter than it was."""
        start = log if self._written()[0] >= log else 0
        return {"server.log": self.log(start), "stderr": self.stderr()[stderr:]}

    def let_out(self) -> dict[str, str]:
        """Give all that the child has written where people read it, by place; also after the trial is closed."""
        return self.last_words or {"server.log": self.log(), "stderr": self.stderr()}

    async def _settle(self, *, expect_end: bool) -> None:
        """Let what the child told before its answer arrive; where no answer came, see whether it is ending."""
        for _ in range(3):
            await asyncio.sleep(0)
        if expect_end:
            await self.child.wait_ended(0.3)
        self.gather()

    def gather(self) -> None:
        """Take in every fact that the child has told since the last time."""
        self.facts += [Fact(kind=told.kind, about=told.about) for told in self.child.facts[len(self.facts) :]]

    async def names_now(self) -> list[str] | None:
        """Ask for the names of the tools once more; None where no answer comes."""
        from conformance.wire.client import WireTrouble  # noqa: PLC0415 - loaded with the first trial

        try:
            return [str(tool["name"]) for tool in await self.client.list_tools()]
        except WireTrouble:
            return None

    def log(self, start: int = 0) -> str:
        """Read what was written to server.log, from byte `start` on and two million bytes at most."""
        try:
            with self.log_path.open("rb") as file:
                file.seek(start)
                return file.read(2_000_000).decode(errors="replace")
        except OSError:
            return ""

    def stderr(self) -> str:
        """Give what came on stderr so far."""
        return self.child.stderr.text


def asks_for_plugins(entry: Entry) -> bool:
    """Tell whether a request asks for a host's list of plugins, or for the state of one of them."""
    return re.match(ASKING_FOR_PLUGINS, entry.gerrit_path) is not None


def host_of(entry: Entry) -> HostPlan | None:
    """Tell which of the rig's hosts a request reached."""
    return next((plan for plan in HOSTS if plan.name == entry.host), None)


def names_host(text: str, plan: HostPlan) -> bool:
    """Tell whether a text names a host, by its address, its authority or its name in the configuration."""
    authority = re.escape(plan.url.split("//")[1].split("/")[0])
    internal = re.escape(plan.internal_url.split("//")[1].split("/")[0])
    pattern = rf"(?<![\w.-])(?:{authority}|{internal}|{re.escape(plan.name)})(?![\w-]|\.\w)"
    return re.search(pattern, unquote(text), re.IGNORECASE) is not None
