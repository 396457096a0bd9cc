"""An extension that keeps every clause, tried on a host before a finding is held against somebody else's.

Where this one shows the same fault, the fault is the host's or the SDK's, and the clause is BLOCKED by it.
"""

from __future__ import annotations

from pathlib import Path

from conformance.subject import Subject

MODULE = "gerrit_conformance_known_good"


def known_good() -> Subject:
    """Give the extension as a subject."""
    file = Path(__file__).with_name(f"{MODULE}.py")
    return Subject(
        target=MODULE, kind="module", name=MODULE, modules=(MODULE,), import_path=(file.parent,), content=(file,)
    )
