"""`server.log`: one line an event, beside what stands on stderr."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path

from reference_server.config import config_path

_PREFIX = "[gerrit-mcp-server]"


def log_path() -> Path:
    """Where the log lies: `GERRIT_MCP_LOG_PATH`, else `server.log` beside the configuration file.

    The folder exists afterwards wherever it can be made.
    """
    named = os.environ.get("GERRIT_MCP_LOG_PATH")
    path = Path(named).absolute() if named else config_path().with_name("server.log")
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
    return path


def log(message: str) -> None:
    """Append one line to the log and to stderr; never raises, as nothing must fail because a disk is full."""
    line = f"{_PREFIX} {' '.join(message.split())}\n"
    with contextlib.suppress(OSError), log_path().open("a", encoding="utf-8", errors="backslashreplace") as file:
        file.write(line)
    with contextlib.suppress(OSError, ValueError, AttributeError):
        sys.stderr.write(line)
        sys.stderr.flush()


def log_extension(name: str, message: str) -> None:
    """Log what became of the extension module `name`."""
    log(f"extension {name}: {message}")
