"""One start of a server in which a probe is asked to use the members of the context."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from conformance.probes import Probe, shipped

if TYPE_CHECKING:
    from conformance.rig.served import Served
    from conformance.rig.surroundings import HostPlan
    from conformance.rig.trial import Call

WITNESS = "probe_witness"
ASKS, APPENDS, REPEATS, ECHOES, HAS_PLUGIN = (
    "probe_ask", "probe_append", "probe_repeats", "probe_echoes", "probe_has_plugin",
)  # fmt: skip
PROBES = (Probe(module=WITNESS, source=shipped("witness")),)


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What came of using one member of the context."""

    what: str
    """The use in a few words, as it would be written."""
    call: Call
    told: Mapping[str, Any]
    """What the probe told of it (see `conformance.probes.witness`); empty where it told nothing."""

    @property
    def raised(self) -> bool:
        """The member raised, in place of giving something back."""
        return "raised" in self.told

    @property
    def value(self) -> Any:  # noqa: ANN401 - any JSON value
        """What it gave back; None too where it gave nothing back."""
        return self.told.get("value")

    def saw(self) -> str:
        """Say in a phrase what came of it."""
        if not self.told:
            return f"no answer to {self.what}: {self.call.saw()}"
        if "missing" in self.told:
            return "a context without it"
        if self.raised:
            return f"{self.what} raised {self.told['raised']}: {' '.join(str(self.told['text']).split())[:300]}"
        late = "an awaitable of " if self.told["awaited"] else ""
        return f"{self.what} gave {late}{self.told['kind']} {json.dumps(self.value, ensure_ascii=False)[:300]}"


@dataclass(kw_only=True)
class Asked:
    """One start with the probe, and what each member came to in it."""

    served: Served
    answers: dict[str, Answer] = field(default_factory=dict)
    """By what was asked, such as `get_base_url(null)`; requests have names of their own."""
    calls: dict[str, Call] = field(default_factory=dict)
    """Calls of the probe's other tools."""
    document: Mapping[str, Any] = field(default_factory=dict)
    """The configuration file of the start."""

    @property
    def ready(self) -> bool:
        """The probe can be asked, and answers."""
        calls = (*self.calls.values(), *(one.call for one in self.answers.values()))
        answers = all(one.reply is not None for one in calls)
        return self.served.in_session and ASKS in self.served.names and answers

    async def ask(self, member: str, *arguments: Any, key: str = "", seconds: float = 15.0) -> Answer | None:  # noqa: ANN401 - any JSON
        """Use a member and keep what came of it; nothing more is asked of a server that has not answered once."""
        if not self.ready:
            return None
        key = key or f"{member}({', '.join(json.dumps(one) for one in arguments)})"
        what = key if key.startswith(member) else f"{member} ({key})"
        told = {"member": member, "arguments": json.dumps(arguments)}
        call = await self.served.call(ASKS, told, seconds=seconds)
        answer = Answer(what=what, call=call, told=_read(call))
        self.answers[key] = answer
        return answer

    async def call(self, key: str, tool: str, arguments: Mapping[str, Any]) -> None:
        """Call another tool of the probe, if it is there, and keep the call."""
        if self.ready and tool in self.served.names:
            self.calls[key] = await self.served.call(tool, arguments)

    async def base(self, plan: HostPlan, *, signed: bool = True) -> str:
        """Give the base URL of a host in the server's own spelling; as the guide has it where that is another place."""
        wanted = plan.url + ("/a" if signed else "")
        told = await self.ask("get_base_url", plan.url)
        own = told.value if told is not None else None
        return own if isinstance(own, str) and own.rstrip("/") == wanted else wanted


def _read(call: Call) -> Mapping[str, Any]:
    if not call.succeeded:
        return {}
    try:
        told = json.loads(call.text)
    except ValueError:
        return {}
    return told if isinstance(told, dict) else {}
