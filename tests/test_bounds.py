"""The lower bounds of our dependencies are those that a corner of the test matrix installs."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_the_file_of_lowest_versions_says_what_pyproject_says():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = [*project["dependencies"], *(one for extra in project["optional-dependencies"].values() for one in extra)]
    bounds = {match[1]: match[2] for one in wanted if (match := re.match(r"([\w-]+)>=([\d.]+)", one))}
    lines = [line for line in (ROOT / "lowest.txt").read_text().splitlines() if not line.startswith("#")]
    assert dict(line.split("==") for line in lines) == bounds
