"""A subject is seen with only what its distribution declares."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

LOOK = """
import importlib.util, json, sys
from importlib.metadata import version
from conformance.rig import declared
import dulwich
declared.remember()
declared.refuse_undeclared(sys.argv[1])
seen = {"probed": importlib.util.find_spec("dulwich") is not None, "version": version("mcp")}
for name in sys.argv[2:]:
    try:
        __import__(name)
        seen[name] = ""
    except ModuleNotFoundError as problem:
        seen[name] = f"{problem}{declared.why_missing(problem)}"
print(json.dumps(seen))
"""


def seen_by(folder: Path, *names: str, requires: tuple[str, ...] = ()) -> dict[str, object]:
    """Import modules in a process of its own that sees what a distribution with these requirements may see."""
    metadata = folder / "ext-1.0.dist-info"
    metadata.mkdir()
    wanted = "".join(f"Requires-Dist: {one}\n" for one in requires)
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: ext\nVersion: 1.0\n{wanted}")
    done = subprocess.run(
        [sys.executable, "-c", LOOK, str(metadata), *names], capture_output=True, text=True, check=True, timeout=60
    )
    return json.loads(done.stdout)


def test_what_is_not_declared_is_as_if_it_were_not_installed(tmp_path):
    seen = seen_by(tmp_path, "dulwich", "dulwich.repo")
    assert seen["dulwich"].startswith("No module named 'dulwich'")
    assert "belongs to dulwich, which is installed but not declared" in seen["dulwich"]
    assert seen["probed"] is False


def test_what_the_host_brings_and_what_is_declared_can_be_imported(tmp_path):
    seen = seen_by(tmp_path, "mcp", "pydantic", "anyio", "dulwich", requires=("dulwich>=0.1",))
    assert not any(seen[name] for name in ("mcp", "pydantic", "anyio", "dulwich"))
    assert seen["version"]


def test_a_module_that_is_not_installed_at_all_is_only_said_to_be_missing(tmp_path):
    assert seen_by(tmp_path, "no_such_module")["no_such_module"] == "No module named 'no_such_module'"


@pytest.mark.parametrize("marker", ['extra == "more"', 'python_version < "3"'])
def test_what_is_declared_for_other_circumstances_is_not_declared(tmp_path, marker):
    assert seen_by(tmp_path, "dulwich", requires=(f"dulwich; {marker}",))["dulwich"]
