"""Servers under test: what is found of good ones, and of those that do not even serve."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.contracts.registry import catalogue
from conformance.examine import Examination
from conformance.families import about
from conformance.outcomes import Judgement, Outcome
from conformance.rig.rig import Rig
from conformance.settings import Settings
from conformance.targets import resolve_target

from .server_bench import LOGS_ELSEWHERE, REFERENCE

SILENT = """
import sys

for line in sys.stdin:
    pass
"""


async def judged(folder: Path, target: str, *clauses: str, **settings: float) -> dict[str, Judgement]:
    subject = resolve_target(target, cwd=folder)
    async with Examination(subject, settings=Settings(**settings)) as examination:
        await examination.foresee()
        return {one: await examination.judge(catalogue()[one]) for one in clauses}


async def test_the_reference_server_keeps_every_clause_where_it_is_forked(tmp_path: Path) -> None:
    clauses = [one.id for one in about(catalogue(), "server")]
    seen = await judged(tmp_path, "factory:reference_server.factory:build", *clauses)
    assert {one: two.outcome for one, two in seen.items()} == dict.fromkeys(clauses, Outcome.PASS)


async def test_the_reference_server_is_judged_as_a_command_like_any_other(tmp_path: Path) -> None:
    subject = resolve_target(REFERENCE, cwd=tmp_path)
    async with Examination(subject) as examination:
        for clause in ("SRV-ENTRY", "SRV-ENV", "SRV-STDOUT", "SRV-ISOLATE-EXIT"):
            assert (await examination.judge(catalogue()[clause])).outcome is Outcome.PASS


@pytest.mark.parametrize(
    ("script", "saw"),
    [
        ("exit 3", "the server ended its output"),
        ("exec cat > /dev/null", "no answer to initialize within 2 s"),
        ("echo garbage; exec cat > /dev/null", "no answer to initialize within 2 s"),
        ("while :; do echo flooooooooooooooooood >&2; done", "initialize"),
        ("trap '' TERM; while :; do sleep 1; done", "no answer to initialize within 2 s"),
    ],
    ids=["exits at once", "never answers", "answers garbage", "floods stderr", "ignores SIGTERM"],
)
async def test_a_server_that_does_not_serve_is_one_finding_and_nothing_is_left(
    tmp_path: Path, script: str, saw: str
) -> None:
    file = tmp_path / "serve"
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)
    seen = await judged(tmp_path, "stdio:./serve", "SRV-ENTRY", "SRV-ENV", "SRV-ISOLATE-EXIT", limit_seconds=2)
    assert seen["SRV-ENTRY"].outcome is Outcome.FAIL
    assert saw in seen["SRV-ENTRY"].findings[0].saw or "ended its output" in seen["SRV-ENTRY"].findings[0].saw
    for other in ("SRV-ENV", "SRV-ISOLATE-EXIT"):
        assert (seen[other].outcome, seen[other].blocked_by) == (Outcome.BLOCKED, "SRV-ENTRY")


async def test_a_server_whose_log_nobody_knows_leaves_open_what_stands_in_it(tmp_path: Path) -> None:
    """The same server, told to write its log where nobody looks."""
    (tmp_path / "elsewhere.py").write_text(LOGS_ELSEWHERE)
    seen = await judged(tmp_path, "factory:elsewhere", "SRV-DEDUP", "SRV-ENV")
    assert seen["SRV-ENV"].outcome is Outcome.PASS
    assert seen["SRV-DEDUP"].outcome is Outcome.INCONCLUSIVE
    assert 'log = "…"' in seen["SRV-DEDUP"].supply


async def test_the_processes_of_a_server_end_with_its_trial(tmp_path: Path) -> None:
    async with Rig(Settings(limit_seconds=2)) as rig:
        (tmp_path / "leaves.py").write_text(
            "import subprocess\nfrom reference_server import factory\n\n\n"
            "def build():\n    subprocess.Popen(['sleep', '600'], start_new_session=True)\n    return factory.build()\n"
        )
        async with Examination(resolve_target("factory:leaves", cwd=tmp_path), rig=rig) as examination:
            alone = await examination.server.alone()
    assert alone.in_session
    assert [one.name for one in alone.record.left_behind] == ["sleep"]
