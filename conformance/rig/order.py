"""What is to be run in a child, in full: nothing reaches it that does not stand here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from conformance.rig.limits import Limits

OrderKind = Literal["entry", "program", "command"]


@dataclass(frozen=True, kw_only=True)
class Order:
    """One child.

    An `entry` order forks and calls `entry` ("module:function") as `function(payload, channel)`; its protocol runs over
    descriptors of its own. A `program` order does the same with a function that is a program of its own: its protocol
    is the child's stdin and stdout. A `command` order forks and executes `command`, whose stdin and stdout they are.
    """

    kind: OrderKind = "entry"
    entry: str = ""
    command: Sequence[str] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    """The whole environment of the child; `PATH` in it decides where the program of a `command` is found."""
    folder: str
    """The working folder; also looked through at the end for files that grew past the limit."""
    watched: Sequence[str] = ()
    """Further files and folders that are looked through for files that grew past the limit."""
    payload: Mapping[str, Any] = field(default_factory=dict)
    """Handed to the entry function; must survive JSON."""
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        """Refuse an order that names nothing to run."""
        if self.kind != "command" and self.entry.count(":") != 1:
            raise ValueError(f"this {self.kind} order needs entry='module:function', not {self.entry!r}")
        if self.kind == "command" and not self.command:
            raise ValueError("a command order needs a command: a list with the program first")

    def as_json(self) -> dict[str, Any]:
        """Turn into what `from_json` reads."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Order:
        """Read what `as_json` gave."""
        return cls(**{**data, "limits": Limits(**data["limits"])})
