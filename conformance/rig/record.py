"""What is known of a child after its end: the guardian's record, not the child's own word."""

from __future__ import annotations

import re
import signal
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from conformance.rig.limits import Exceeded

EndedBy = Literal["itself", "us", "limit"]

_OPTION_WITH_SECRET = re.compile(
    r"^(--?(u|user|cookie|b|token|password|auth\S*|key|secret|oauth2-bearer))(=.*)?$", re.IGNORECASE
)
_WORD_WITH_SECRET = re.compile(r"(?i)((?:token|password|passwd|secret|api[-_]?key|authorization)\s*[=:]\s*)(.+)")
_LOGIN_IN_URL = re.compile(r"(?<=://)[^/@\s]+(?=@)")
HIDDEN = "…"


def redacted(arguments: Sequence[str]) -> str:
    """Join a command line for people, without what looks like a credential, and cut to 300 characters."""
    shown, hide_next = [], False
    for argument in arguments:
        option = _OPTION_WITH_SECRET.match(argument)
        if hide_next:
            shown.append(HIDDEN)
        elif option:
            shown.append(f"{option[1]}={HIDDEN}" if option[3] else option[1])
        else:
            shown.append(_LOGIN_IN_URL.sub(HIDDEN, _WORD_WITH_SECRET.sub(rf"\1{HIDDEN}", argument)))
        hide_next = option is not None and not option[3] and not hide_next
    line = " ".join(shown)
    return line if len(line) <= 300 else line[:299] + HIDDEN


@dataclass(frozen=True, kw_only=True)
class ProcessSeen:
    """A process that was still alive after the subject's end."""

    pid: int
    """As the guardian saw it: inside the child's PID namespace where there is one."""
    name: str
    command: str
    """The command line without credentials."""

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> ProcessSeen:
        """Read what the guardian wrote."""
        return cls(pid=data["pid"], name=data["name"], command=redacted(data["arguments"]))

    def __str__(self) -> str:
        """Render as one line of evidence."""
        return f"{self.pid} {self.name}: {self.command}"


@dataclass(frozen=True, kw_only=True)
class Record:
    """How a child went, and what it used."""

    exit_code: int | None
    """None where a signal ended it, or where nobody could see it end."""
    signal: int | None
    ended_by: EndedBy
    """`itself`: before it was asked to; `us`: on our request; `limit`: the guardian stopped it."""
    peak_memory_bytes: int
    """Most resident memory of any one of its processes."""
    peak_reserved_bytes: int
    """Most memory that one of its processes had asked for on top of what it began with, touched or not."""
    peak_processes: int
    left_behind: tuple[ProcessSeen, ...]
    """Processes that outlived the subject; they have been ended since."""
    exceeded: tuple[Exceeded, ...]
    """Limits that were passed, in that order."""
    seconds: float
    cpu_seconds: float = 0.0
    """Processor time of the subject itself; 0 where nobody could see it end."""
    parent_attacked: bool = False
    """The subject sent a signal to its parent, where that could not be harmed by it."""
    guardian_killed: bool = False
    """The subject ended its own guardian; figures are those up to then."""
    orphaned: bool = False
    """The subject was left when its owner gave up on it (the warm process was gone)."""

    @property
    def signal_name(self) -> str:
        """The signal's name (`SIGKILL`), empty where none ended it."""
        if self.signal is None:
            return ""
        try:
            return signal.Signals(self.signal).name
        except ValueError:
            return f"signal {self.signal}"

    def describe(self) -> str:
        """Tell the end in one line for people."""
        how = f"ended by {self.signal_name}" if self.signal is not None else f"ended with exit code {self.exit_code}"
        who = {"itself": "by itself", "us": "when asked to", "limit": f"past its limit of {', '.join(self.exceeded)}"}
        left = f", leaving {len(self.left_behind)} process(es)" if self.left_behind else ""
        guardian = ", after killing its guardian" if self.guardian_killed else ""
        return f"{how} {who[self.ended_by]} after {self.seconds:.1f} s{guardian}{left}"
