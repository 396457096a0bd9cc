"""What a server hands to other programs: each of them stands behind one that writes its arguments down first.

A list of processes shows arguments to everybody, if only for the moment until the program hides them, as curl does.
"""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Iterable
from pathlib import Path

PROGRAMS = "programs"
"""The folder, in that of the start, which is searched ahead of PATH."""
ARGUMENTS = "arguments"
SCRIPT = """#!/bin/sh
printf '%s ' "$@" >> {notes}
printf '\\n' >> {notes}
exec {program} "$@"
"""


def overhear(home: Path, programs: Iterable[str]) -> None:
    """Put a stand-in for each program that is installed into the folder of a start."""
    folder = home / PROGRAMS
    for name in programs:
        program = shutil.which(name)
        if program is not None:
            folder.mkdir(exist_ok=True)
            stand_in = folder / name
            told = {"notes": shlex.quote(str(home / ARGUMENTS)), "program": shlex.quote(program)}
            stand_in.write_text(SCRIPT.format(**told), encoding="utf-8")
            stand_in.chmod(0o755)


def overheard(home: Path) -> list[str]:
    """Give the arguments of each run, one line a run."""
    try:
        return (home / ARGUMENTS).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
