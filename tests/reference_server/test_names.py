"""The names of the upstream server, served from here where it is not installed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest


def run(script: str, *path: Path) -> str:
    code = f"import sys; sys.path[:0] = {[str(entry) for entry in path]!r}\n{script}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_the_public_names_are_those_of_this_server() -> None:
    script = """
from reference_server import names
names.install(); names.install()
assert "mcp" not in sys.modules, "installing the names loads no SDK"
from gerrit_mcp_server.extensions import ExtensionContext, ExtensionLoader, PluginRegistry, requires_plugin
import gerrit_mcp_server.plugin_registry as registry, gerrit_mcp_server.extensions as extensions
from reference_server import extensions as ours
assert registry.requires_plugin is ours.requires_plugin and registry.PluginRegistry is ours.PluginRegistry
print(extensions.__all__)
print(registry.__all__)
print(len([finder for finder in sys.meta_path if isinstance(finder, names.UpstreamNames)]))
"""
    assert run(script).splitlines() == [
        "['ExtensionContext', 'ExtensionLoader', 'PluginRegistry', 'requires_plugin']",
        "['PluginRegistry', 'requires_plugin']",
        "1",
    ]


@pytest.mark.parametrize("statement", ["import gerrit_mcp_server.main", "from gerrit_mcp_server import config"])
def test_what_is_internal_upstream_is_not_there(statement: str) -> None:
    script = f"""
from reference_server import names
names.install()
try:
    {statement}
except ImportError as problem:
    print(type(problem).__name__)
"""
    assert run(script) in {"ModuleNotFoundError", "ImportError"}


def test_an_installed_upstream_always_wins_and_is_never_completed(tmp_path: Path) -> None:
    package = tmp_path / "gerrit_mcp_server"
    package.mkdir()
    (package / "__init__.py").write_text("WHOSE = 'upstream'\n")
    (package / "extensions.py").write_text("WHOSE = 'upstream'\n")
    script = """
from reference_server import names
names.install()
import gerrit_mcp_server, gerrit_mcp_server.extensions
print(gerrit_mcp_server.WHOSE, gerrit_mcp_server.extensions.WHOSE)
try:
    import gerrit_mcp_server.plugin_registry
except ModuleNotFoundError:
    print("not completed")
"""
    assert run(script, tmp_path).splitlines() == ["upstream upstream", "not completed"]


def test_the_package_itself_loads_nothing_heavy() -> None:
    script = "import reference_server, reference_server.tools, reference_server.cli, reference_server.names\n"
    assert (
        run(script + "print([name for name in ('mcp', 'pydantic', 'uvicorn', 'starlette') if name in sys.modules])")
        == "[]"
    )
