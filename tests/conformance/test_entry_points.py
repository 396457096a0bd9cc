"""How the entry points of an installed distribution are read."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.subject import ENTRY_POINT_GROUP, misspelt, modules_of


def with_entry_point(folder: Path, value: str, group: str = ENTRY_POINT_GROUP) -> Path:
    """Lay down the metadata of a distribution with one entry point."""
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: some-dist\nVersion: 1.0\n")
    (folder / "entry_points.txt").write_text(f"[{group}]\nmine = {value}\n")
    return folder


@pytest.mark.parametrize(
    ("value", "module"),
    [
        ("pack.ext", "pack.ext"),
        ("pack.ext:register", "pack.ext"),
        ("pack.ext : register", "pack.ext"),
        ("pack.ext [more]", "pack.ext"),
        ("pack.ext:register [more, most]", "pack.ext"),
        ("pack-ext", "pack-ext"),
    ],
)
def test_the_module_of_an_entry_point_is_read_as_the_standard_library_reads_it(tmp_path, value, module):
    info = with_entry_point(tmp_path, value)
    assert modules_of(info) == (module,)


@pytest.mark.parametrize(
    ("group", "near"),
    [
        ("gerrit_mcp_server.extension", True),
        ("gerrit-mcp-server.extensions", True),
        ("gerrit_mcp_server_extensions", True),
        (ENTRY_POINT_GROUP, False),
        ("console_scripts", False),
        ("mcp_server.plugins", False),
    ],
)
def test_a_group_that_is_almost_right_is_told_from_one_for_something_else(tmp_path, group, near):
    info = with_entry_point(tmp_path, "pack", group)
    assert bool(misspelt(info)) is near
