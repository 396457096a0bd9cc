"""What tests of clauses about servers share: the reference server's command, one whose log is elsewhere, judgements."""

from __future__ import annotations

import sys
from pathlib import Path

from conformance.contracts.registry import catalogue
from conformance.examine import Examination
from conformance.outcomes import Judgement
from conformance.targets import resolve_target

REFERENCE = f"stdio:{Path(sys.executable).with_name('gerrit-mcp-reference')} stdio"
LOGS_ELSEWHERE = (
    "import os, tempfile\n"
    "from reference_server import factory\n\n\n"
    "def build():\n"
    "    os.environ['GERRIT_MCP_LOG_PATH'] = tempfile.mkstemp(suffix='.log')[1]\n"
    "    return factory.build()\n"
)
"""A module that builds the reference server, told to write its log where nobody looks."""


async def judged(folder: Path, target: str, *clauses: str) -> dict[str, Judgement]:
    async with Examination(resolve_target(target, cwd=folder)) as examination:
        return {one: await examination.judge(catalogue()[one]) for one in clauses}
