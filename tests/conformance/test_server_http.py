"""Servers over streamable HTTP: started anew for each look, at a port of their own."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from conformance.contracts.registry import catalogue
from conformance.examine import Examination
from conformance.outcomes import Judgement, Outcome
from conformance.profile import profile_from
from conformance.settings import Settings
from conformance.targets import resolve_target
from conformance.usage import UsageError

URL = "http://127.0.0.1:6322/mcp"
REFERENCE = str(Path(sys.executable).with_name("gerrit-mcp-reference"))
CLAUSES = ("SRV-ENTRY", "SRV-ENV", "SRV-FIRST", "SRV-SCHEMA", "SRV-SECRETS", "SRV-STDOUT", "SRV-END")


async def judged(command: str, *clauses: str, folder: Path, seconds: float = 20) -> dict[str, Judgement]:
    profile = profile_from({"server": {"command": command}}, where="the test")
    settings = Settings(limit_seconds=seconds)
    async with Examination(resolve_target(URL, cwd=folder), profile=profile, settings=settings) as examination:
        return {one: await examination.judge(catalogue()[one]) for one in clauses}


@pytest.mark.parametrize("port", ["{port}", "6322"], ids=["a port of its own", "the port of the URL"])
async def test_the_reference_server_keeps_its_contracts_over_http_too(tmp_path: Path, port: str) -> None:
    seen = await judged(f"{REFERENCE} --host 127.0.0.1 --port {port}", *CLAUSES, folder=tmp_path)
    outcomes = {one: two.outcome for one, two in seen.items()}
    assert outcomes.pop("SRV-STDOUT") is Outcome.NOT_APPLICABLE
    assert set(outcomes.values()) == {Outcome.PASS}


@pytest.mark.parametrize(
    ("script", "saw"),
    [
        ("exec sleep 60", "does not listen on port"),
        ("exit 3", "does not listen on port"),
        ('exec "{python}" -m http.server --bind 127.0.0.1 "$1"', "was answered 501 without a message"),
    ],
    ids=["opens no port", "exits at once", "is no MCP server"],
)
async def test_what_does_not_serve_is_one_finding_bounded_in_time(tmp_path: Path, script: str, saw: str) -> None:
    file = tmp_path / "serve"
    file.write_text(f"#!/bin/sh\n{script.replace('{python}', sys.executable)}\n")
    file.chmod(0o755)
    seen = await judged(f"{file} {{port}}", "SRV-ENTRY", "SRV-ENV", folder=tmp_path, seconds=4)
    assert seen["SRV-ENTRY"].outcome is Outcome.FAIL
    assert saw in seen["SRV-ENTRY"].findings[0].saw
    assert (seen["SRV-ENV"].outcome, seen["SRV-ENV"].blocked_by) == (Outcome.BLOCKED, "SRV-ENTRY")


async def test_a_url_without_a_command_says_where_that_belongs(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="nobody knows how to start") as told:
        async with Examination(resolve_target(URL, cwd=tmp_path)):
            pass
    assert "command = " in told.value.remedy


@pytest.mark.parametrize("url", ["https://127.0.0.1/mcp", "http://gerrit.example.com/mcp", "http://127.0.0.1:x/mcp"])
def test_a_server_elsewhere_cannot_be_started_here(tmp_path: Path, url: str) -> None:
    with pytest.raises(UsageError, match="is no server that can be started here"):
        resolve_target(url, cwd=tmp_path)
