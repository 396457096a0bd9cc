"""The options of the pytest plugin, and the exit codes."""

from __future__ import annotations

from _parts.markdown import code, table
from conformance.options import OPTIONS
from conformance.verdict import ExitCode

_INI_FORMS = {"targets": "one a line", "text": "text", "path": "path from the ini file", "switch": "true or false"}
_MEANINGS = {
    ExitCode.CERTIFIED: "certified, or certified with waivers",
    ExitCode.FAILED: "a MUST is not kept (with `--conformance-strict` a SHOULD), or a waiver is stale",
    ExitCode.INTERRUPTED: "interrupted; the reports that are written are partial and say so",
    ExitCode.USAGE: "a mistake in the command, an ini key, a target or the profile; nothing was run",
    ExitCode.NOTHING_RUN: "nothing to run",
    ExitCode.INCOMPLETE: "a MUST could not be decided or was not run; the report says what to supply",
}


def options(_: str) -> str:
    """Render every option with its ini key."""
    rows = [
        (
            code(f"{one.flag}={one.metavar}" if one.metavar else one.flag),
            code(one.key),
            _INI_FORMS[one.kind],
            one.help,
        )
        for one in OPTIONS
    ]
    return table(("option", "ini key", "written as", "meaning"), rows)


def exit_codes(_: str) -> str:
    """Render what each exit code says."""
    return table(("exit code", "meaning"), [(str(int(one)), _MEANINGS[one]) for one in sorted(ExitCode)])
