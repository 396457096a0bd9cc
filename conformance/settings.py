"""How a run was asked to go, independent of where that was said: command line, ini file or code."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from conformance.usage import UsageError

MEBIBYTE = 1024 * 1024
_FACTORS = {"": 1, "k": 1024, "m": MEBIBYTE, "g": 1024 * MEBIBYTE}


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Everything about a run that is not the subject itself.

    The host may be a whole command line, and command lines may hold credentials: `repr()` shows only its kind.
    """

    host: str = field(default="reference", repr=False)
    """`reference`, `installed`, `factory:MODULE:CALLABLE`, or the command that starts a server."""
    host_path: tuple[Path, ...] = ()
    """Folders in which the module of a factory is looked for, after the subject's own."""
    limit_seconds: float = 60.0
    """The longest that one trial may take."""
    limit_memory: int = 512 * MEBIBYTE
    """The most memory that a child of a trial may hold, in bytes."""
    log: str = ""
    """Where a server under test writes its server.log, in place of what its profile says; empty leaves that alone."""
    strict: bool = False
    """Whether a SHOULD that is not kept fails the certification."""
    report_dir: Path | None = None
    """The folder for certificate.json and junit.xml; None writes no report."""
    host_kind: str = field(init=False)
    """The first word of `host`, safe to show: `reference`, `installed`, `factory` or `command`."""

    def __post_init__(self) -> None:
        """Derive what may be shown of the host."""
        word = self.host.partition(":")[0]
        kind = word if self.host in {"reference", "installed"} or word == "factory" else "command"
        object.__setattr__(self, "host_kind", kind)


def parse_size(text: str) -> int:
    """Read a size such as `536870912`, `512M` or `1.5 GiB`.

    Args:
        text: a number with an optional unit of k, M or G, each a power of 1024.

    Returns:
        The size in bytes.

    Raises:
        UsageError: if it is no such size, or nothing at all.
    """
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmg]?)(?:i?b)?\s*", text, re.IGNORECASE)
    size = int(float(match[1]) * _FACTORS[match[2].lower()]) if match else 0
    if size <= 0:
        raise UsageError(f"{text!r} is no size of memory", "expected a positive number of bytes", "write 512M or 1G")
    return size


def parse_seconds(text: str) -> float:
    """Read a time in seconds.

    Raises:
        UsageError: if it is not a positive number.
    """
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        raise UsageError(f"{text!r} is no time limit", "expected a positive number of seconds", "write 60")
    return seconds
