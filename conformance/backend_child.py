"""A program for a contained child: ask a project's build backend what it needs, and build if all of it is there.

It imports nothing of the suite, as the child's import path holds only what the backend needs.
"""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement


def main(project: str, output: str, answer: str) -> int:
    """Build the wheel of `project` into the folder `output`.

    Where something is missing that the backend needs, nothing is built and the file `answer` tells as JSON all that
    it needs.
    """
    from build import BuildBackendException, BuildException, ProjectBuilder  # noqa: PLC0415 - in the child only

    try:
        builder = ProjectBuilder(project)
        needs = sorted({*builder.build_system_requires, *builder.get_requires_for_build("wheel")})
        if all(is_there(need) for need in needs):
            builder.build("wheel", output)
        else:
            Path(answer).write_text(json.dumps(needs), encoding="utf-8")
    except (BuildException, BuildBackendException) as problem:
        # A backend that failed has said why itself, and its own last line is to stay the last.
        if not isinstance(getattr(problem, "exception", None), subprocess.CalledProcessError):
            sys.stderr.write(f"{problem}\n")
        return 1
    return 0


def is_there(need: str) -> bool:
    """Tell whether a requirement is met by what can be imported here; one for other circumstances is."""
    try:
        requirement = Requirement(need)
        if requirement.marker and not requirement.marker.evaluate({"extra": ""}):
            return True
        return requirement.specifier.contains(version(requirement.name), prereleases=True)
    except (InvalidRequirement, PackageNotFoundError):
        return False


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
