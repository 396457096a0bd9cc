"""Probes that are broken, each in one way, and the words by which a log can tell in which."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Broken:
    """One way to be broken."""

    source: str | None
    """The text of the module; None where there is no such module."""
    causes: tuple[str, ...]
    """Words of which a report has at least one, in lower case: the type of what went wrong, or a part of its text."""


_REFUSES = "the probe refuses"
_HANGING = (
    "timeout", "timed out", "time", "too long", "did not return", "seconds", "hang", "hung", "gave up", "limit",
    "no answer", "stuck",
)  # fmt: skip

KINDS: Mapping[str, Broken] = {
    "import": Broken(source=f'raise RuntimeError("{_REFUSES} to be imported")\n', causes=("runtimeerror", _REFUSES)),
    "syntax": Broken(source="def register(ctx:\n    pass\n", causes=("syntaxerror", "syntax", "never closed")),
    "missing": Broken(source=None, causes=("modulenotfounderror", "importerror", "no module named", "not found")),
    "no register": Broken(source="registered = False\n", causes=("register",)),
    "not callable": Broken(source='register = "no function"\n', causes=("register", "callable")),
    "raises": Broken(
        source=f'def register(ctx):\n    raise ValueError("{_REFUSES} to be registered")\n',
        causes=("valueerror", _REFUSES),
    ),
    "exits at import": Broken(
        source=f'import sys\n\nsys.exit("{_REFUSES} to go on")\n', causes=("systemexit", _REFUSES, "exit")
    ),
    "exits in register": Broken(
        source=f'import sys\n\n\ndef register(ctx):\n    sys.exit("{_REFUSES} to go on")\n',
        causes=("systemexit", _REFUSES, "exit"),
    ),
    "arity": Broken(source="def register():\n    pass\n", causes=("typeerror", "argument", "register()")),
    "hangs at import": Broken(
        source="import time\n\nwhile True:\n    time.sleep(1)\n",
        causes=_HANGING,
    ),
    "hangs in register": Broken(
        source="import time\n\n\ndef register(ctx):\n    while True:\n        time.sleep(1)\n",
        causes=_HANGING,
    ),
    "interrupts at import": Broken(
        source=f'raise KeyboardInterrupt("{_REFUSES} to go on")\n', causes=("keyboardinterrupt", _REFUSES, "interrupt")
    ),
}

MALFORMED = "no:module:at all!"
"""The value of an entry point that no one can read."""
MALFORMED_CAUSES = (
    MALFORMED, "entry point", "entry_points", "expected", "invalid", "malformed", "cannot be read", "attributeerror",
    "assertionerror",
)  # fmt: skip
"""Words by which a report tells that an entry point could not be read."""

HALF = """
def register(ctx):
    @ctx.mcp.tool(name="probe_half_registered")
    def half() -> str:
        "Answer nothing of use."
        return "half"

    raise RuntimeError("the probe fails half-way")
"""

HALF_EXITS = """
import sys


def register(ctx):
    @ctx.mcp.tool(name="probe_half_registered_by_exit")
    def half() -> str:
        "Answer nothing of use."
        return "half"

    sys.exit("the probe exits half-way")
"""

PRINTING = """
import os

import {ledger} as ledger

print("printed at import")


def register(ctx):
    print("printed in register")
    os.write(1, b"written in register\\n")
    ledger.offer(ctx, __name__)

    @ctx.mcp.tool(name="probe_prints")
    def prints() -> str:
        "Print a line."
        print("printed in a call", flush=True)
        os.write(1, b"written in a call\\n")
        return "printed"
"""

NAMESAKE = """
import {ledger} as ledger


def register(ctx):
    ledger.offer(ctx, __name__)

    @ctx.mcp.tool(name="probe_of_two_masters")
    def claimed() -> str:
        "Tell whose it is."
        return __name__
"""

LEAVES_BADLY = """
import {ledger} as ledger


def register(ctx):
    ledger.note("registered", __name__)
    ledger.offer(ctx, __name__)


def unregister(ctx):
    ledger.note("unregistered", __name__)
    raise RuntimeError("the probe cannot be unregistered")
"""
