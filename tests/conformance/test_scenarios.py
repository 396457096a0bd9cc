"""How scenarios are played: no further than asked for, with no place taken for waiting, again where all stood still."""

from __future__ import annotations

import asyncio
from pathlib import Path
from textwrap import dedent

import pytest

from conformance.contracts.registry import catalogue
from conformance.examine import Examination
from conformance.outcomes import Outcome
from conformance.rig import rig as rigs
from conformance.rig.rig import Rig
from conformance.targets import resolve_target

SUBJECT = """
    import json, os, time

    def register(ctx):
        @ctx.mcp.tool()
        async def get_subject(change_id: str, gerrit_base_url: str | None = None) -> str:
            "Give the subject of a change."
            base_url = ctx.get_base_url(gerrit_base_url)
            text = await ctx.run_curl([f"{{base_url}}/changes/{{change_id}}"], base_url)
            {action}
            return json.loads(text.removeprefix(")]}}'"))["subject"]
"""


def subject_that(folder: Path, action: str, rig: Rig | None = None) -> Examination:
    (folder / "made_to_play.py").write_text(dedent(SUBJECT.format(action=action)))
    return Examination(resolve_target("made_to_play.py", cwd=folder), rig=rig)


async def test_a_tool_that_ends_the_process_at_once_is_judged_without_another_scene(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def is_of_the_host(*_: object) -> bool:
        return False

    monkeypatch.setattr(Examination, "_is_of_the_host", is_of_the_host)  # which would examine another extension whole
    async with subject_that(tmp_path, "os._exit(1)") as examination:
        judged = await examination.judge(catalogue()["TOOL-EXIT"])
        trials = examination.about()["trials"]
    assert judged.outcome is Outcome.FAIL
    assert judged.findings[0].__traceback__ is None, "it would keep every trial and world of the subject alive"
    assert trials <= 3, "it was loaded, and called plainly with the first arguments and with others"


async def test_a_trial_that_only_waits_leaves_its_place_to_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rigs, "TRIALS_AT_ONCE", 1)
    async with Rig() as rig, subject_that(tmp_path, "pass", rig) as examination:
        surroundings = examination.observed.bench.surroundings()
        async with rig.trial(examination.subject, surroundings) as waiting:
            resting = asyncio.ensure_future(rig.rest(waiting, 60))
            async with asyncio.timeout(30), rig.trial(examination.subject, surroundings) as other:
                assert other.in_session
                assert waiting.in_session
                assert not resting.done()
            resting.cancel()
            await asyncio.gather(resting, return_exceptions=True)


async def test_a_first_call_that_met_a_limit_while_the_machine_stood_still_is_made_again(tmp_path: Path) -> None:
    stalls_once = (
        f"if not os.path.exists({str(tmp_path / 'stalled')!r}): "
        f'open({str(tmp_path / "stalled")!r}, "w").close(); time.sleep(2.2); raise TimeoutError("no time left")'
    )
    async with subject_that(tmp_path, stalls_once) as examination:
        judged = await examination.judge(catalogue()["TOOL-WORKS"])
    assert judged.outcome is Outcome.PASS
