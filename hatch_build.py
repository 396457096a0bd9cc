"""Packs the fixtures into one archive of the wheel.

Hundreds of small files would make every pytest run slower that has the wheel installed: pytest looks at each file of a
distribution that brings a plugin.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PACKED = ("extensions", "servers", "worlds", "hosts")
"""The folders of `fixtures/` that are shipped."""
OLDEST = (1980, 1, 1, 0, 0, 0)
"""The date of every file in the archive, so that equal contents give equal bytes."""


class PackFixtures(BuildHookInterface[Any]):
    """Puts `conformance/fixtures.zip` into the wheel; an editable installation reads `fixtures/` itself."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write the archive and tell the builder where it belongs."""
        if version == "editable":
            return
        archive = Path(self.directory) / "fixtures.zip"
        archive.parent.mkdir(parents=True, exist_ok=True)
        pack(Path(self.root) / "fixtures", archive)
        build_data["force_include"][str(archive)] = "conformance/fixtures.zip"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002
        """Remove the archive again: the wheel holds it now."""
        (Path(self.directory) / "fixtures.zip").unlink(missing_ok=True)


def pack(root: Path, archive: Path) -> None:
    """Write the shipped folders of `root` into `archive`; what Python leaves beside its sources stays out."""
    with ZipFile(archive, "w", ZIP_DEFLATED) as packed:
        for path in sorted(one for folder in PACKED for one in (root / folder).rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                packed.writestr(ZipInfo(path.relative_to(root).as_posix(), OLDEST), path.read_bytes(), ZIP_DEFLATED)
