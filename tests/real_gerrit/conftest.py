from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.real_gerrit.side_by_side import SideBySide, real_gerrit


def _missing() -> str:
    """What a real Gerrit needs and this machine has not."""
    homes = [Path(os.environ.get("JAVA_HOME", "/")), *Path("/usr/lib/jvm").glob("*")]
    told = [home / "release" for home in homes if (home / "bin" / "javac").exists() and (home / "release").exists()]
    versions = [re.search(r'^JAVA_VERSION="(\d+)', path.read_text(), re.MULTILINE) for path in told]
    if not any(found and int(found[1]) >= 21 for found in versions):
        return "a JDK 21 or later, in JAVA_HOME or under /usr/lib/jvm"
    return next((f"`{program}`" for program in ("mvn", "git", "curl") if shutil.which(program) is None), "")


@pytest.fixture(scope="package")
def side_by_side() -> Iterator[SideBySide]:
    """A real Gerrit, started for these tests, and its simulated twin."""
    missing = _missing()
    if missing:
        pytest.skip(f"a real Gerrit needs {missing}")
    with real_gerrit() as site:
        both = SideBySide(site)
        yield both
        both.real.close()
