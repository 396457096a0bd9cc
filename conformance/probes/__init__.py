"""Probe extensions: what the suite loads into a server under test to see from inside how it treats extensions.

Each is a real module, most of them in a real distribution with metadata of its own. They are written anew into the
folder of every trial, and import nothing of this package: any server on any interpreter can load them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

LEDGER = "gerrit_conformance_ledger"
"""The module in which the probes of one process note what they live through."""
LEDGER_FILE = "GERRIT_CONFORMANCE_LEDGER"
"""The environment variable that names the file for what is noted, one JSON object a line."""
GROUP = "gerrit_mcp_server.extensions"

GOOD = """
import {ledger} as ledger

ledger.note("imported", __name__)


def register(ctx):
    ledger.note("registered", __name__)
    ledger.offer(ctx, __name__)


def unregister(ctx):
    ledger.note("unregistered", __name__)
"""


@dataclass(frozen=True, kw_only=True)
class Probe:
    """One probe module."""

    module: str
    """Its dotted name; the packages around it are made, too."""
    source: str = GOOD
    """Its text, in which `{ledger}` stands for the name of the ledger's module."""

    @property
    def tool(self) -> str:
        """The name of the tool that a good one registers."""
        return tool_of(self.module)


@dataclass(frozen=True, kw_only=True)
class Advertisement:
    """One distribution that advertises probes."""

    name: str
    points: tuple[tuple[str, str], ...]
    """Its entry points in the group of extensions: the name on the left and what it stands for."""


def shipped(name: str) -> str:
    """Give the text of a probe that lies beside this file as a module of its own."""
    return Path(__file__).with_name(f"{name}.py").read_text(encoding="utf-8")


def tool_of(module: str) -> str:
    """Give the name of the tool that the good probe of this module registers."""
    return f"probe_{module.replace('.', '_')}"


def write_probes(folder: Path, probes: Iterable[Probe], advertised: Iterable[Advertisement]) -> None:
    """Put modules and the metadata of distributions into a folder that is going to be on the path of a server."""
    folder.mkdir(exist_ok=True)
    (folder / f"{LEDGER}.py").write_text(shipped("ledger"), encoding="utf-8")
    for probe in probes:
        *packages, name = probe.module.split(".")
        place = folder
        for package in packages:
            place /= package
            place.mkdir(exist_ok=True)
            (place / "__init__.py").touch()
        (place / f"{name}.py").write_text(probe.source.replace("{ledger}", LEDGER), encoding="utf-8")
    for one in advertised:
        _write_metadata(folder, one)


def _write_metadata(folder: Path, one: Advertisement) -> None:
    metadata = folder / f"{one.name.replace('-', '_')}-1.0.dist-info"
    metadata.mkdir()
    files: Mapping[str, str] = {
        "METADATA": f"Metadata-Version: 2.1\nName: {one.name}\nVersion: 1.0\n",
        "entry_points.txt": "\n".join([f"[{GROUP}]", *(f"{left} = {right}" for left, right in one.points), ""]),
        "INSTALLER": "gerrit-mcp-conformance\n",
        "RECORD": "",
    }
    for name, text in files.items():
        (metadata / name).write_text(text, encoding="utf-8")
