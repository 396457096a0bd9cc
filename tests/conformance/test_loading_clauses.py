"""Loading: what is told of a finding, whose fault it is, and what the clauses have nothing to say about."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import pytest_asyncio

from conformance.contracts.registry import catalogue
from conformance.examine import Examination
from conformance.outcomes import Outcome
from conformance.preparing import prepare
from conformance.rig.rig import Rig
from conformance.settings import Settings
from conformance.targets import resolve_target
from conformance.usage import UsageError

GOOD = Path(__file__).parents[2] / "fixtures" / "extensions" / "good"
GROUP = "gerrit_mcp_server.extensions"
ONE_TOOL = """
def register(ctx):
    @ctx.mcp.tool()
    async def give_nothing() -> str:
        return ""
"""
OTHER_HOSTS = "factory:tests.conformance.loading_hosts:"

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def rig() -> AsyncIterator[Rig]:
    """One rig for all subjects on the usual host, as it takes longer to start than to judge one of them."""
    async with Rig() as running:
        yield running


@asynccontextmanager
async def examined(
    target: str | Path, *, rig: Rig | None = None, host: str = "reference"
) -> AsyncIterator[Examination]:
    cwd = target.parent if isinstance(target, Path) else GOOD
    subject = resolve_target(target.name if isinstance(target, Path) else target, cwd=cwd)
    async with Examination(subject, settings=Settings(host=host), rig=rig) as examination:
        yield examination


async def judged(examination: Examination, *clauses: str):
    return [await examination.judge(catalogue()[one]) for one in clauses]


def extension(folder: Path, text: str, name: str = "small_extension") -> Path:
    file = folder / f"{name}.py"
    file.write_text(text)
    return file


def installed(site: Path, value: str, *, group: str = GROUP, text: str | None = None) -> Path:
    """Lay down an installed distribution `some-dist` with one entry point; give its target, below where it lies."""
    info = site / "some_dist-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: some-dist\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[{group}]\nmine = {value}\n")
    if text is not None:
        extension(site, text, "some_module")
    return site / "dist:some-dist"


async def test_a_distribution_that_advertises_nothing_at_all_is_no_extension(tmp_path):
    target = installed(tmp_path, "some_module:main", group="console_scripts", text=ONE_TOOL)
    with pytest.raises(UsageError, match="advertises no extension"):
        await prepare(resolve_target(target.name, cwd=tmp_path), rig=None)


@pytest.mark.parametrize(
    ("value", "group", "saw"),
    [
        ("some_modul", GROUP, "No module named 'some_modul'"),
        ("some_module.part", GROUP, "No module named 'some_module.part'; 'some_module' is not a package"),
        ("some-module", GROUP, "'some-module'"),
        ("some_module.", GROUP, "'some_module.'"),
        ("some_module", "gerrit_mcp_server.extension", "one in gerrit_mcp_server.extension"),
    ],
)
async def test_an_entry_point_that_leads_nowhere_is_named_and_blocks_all_that_needs_the_module(
    rig, tmp_path, value, group, saw
):
    async with examined(installed(tmp_path, value, group=group, text=ONE_TOOL), rig=rig) as examination:
        entry, *others = await judged(
            examination, "EXT-ENTRY", "EXT-IMPORT", "EXT-REGISTER", "EXT-ENTRY-ATTRIBUTE", "TOOL-WORKS"
        )
    assert [finding.saw for finding in entry.findings] == [saw]
    assert entry.findings[0].evidence[0].text == f"[{group}] mine = {value}"
    assert {(one.outcome, one.blocked_by) for one in others} == {(Outcome.BLOCKED, "EXT-ENTRY")}


async def test_a_module_that_fails_to_import_something_else_is_no_fault_of_the_entry_point(rig, tmp_path):
    text = f"import nobody_has_this\n{ONE_TOOL}"
    async with examined(installed(tmp_path, "some_module", text=text), rig=rig) as examination:
        entry, imports = await judged(examination, "EXT-ENTRY", "EXT-IMPORT")
    assert (entry.outcome, entry.blocked_by, imports.outcome) == (Outcome.BLOCKED, "EXT-IMPORT", Outcome.FAIL)


async def test_a_module_without_register_is_the_fault_of_the_entry_point_that_names_it(rig, tmp_path):
    async with examined(installed(tmp_path, "some_module:setup", text="x = 1"), rig=rig) as examination:
        entry, register = await judged(examination, "EXT-ENTRY", "EXT-REGISTER")
    assert [finding.saw for finding in entry.findings] == ["some_module, which has no register"]
    assert (register.outcome, register.blocked_by) == (Outcome.BLOCKED, "EXT-ENTRY")


async def test_what_a_module_never_claimed_is_not_applicable(rig):
    async with examined("two_requests.py", rig=rig) as examination:
        entry, attribute, unregister, after = await judged(
            examination, "EXT-ENTRY", "EXT-ENTRY-ATTRIBUTE", "EXT-UNREGISTER", "EXT-UNREGISTER-FAILED"
        )
    assert {one.outcome for one in (entry, attribute, unregister, after)} == {Outcome.NOT_APPLICABLE}
    assert entry.reason == attribute.reason == "it is a module, and no distribution"
    assert unregister.reason == after.reason == "it defines no unregister"


async def test_a_register_that_cannot_be_made_to_fail_is_not_judged_by_its_failure(rig, tmp_path):
    text = """
def register(ctx):
    async def give_nothing() -> str:
        return ""
    try:
        ctx.mcp.add_tool(give_nothing)
    except Exception:
        pass

def unregister(ctx):
    ctx.mcp.remove_tool("give_nothing")
"""
    file = extension(tmp_path, text)
    async with examined(file, rig=rig) as examination:
        after = (await judged(examination, "EXT-UNREGISTER-FAILED"))[0]
    assert after.outcome is Outcome.NOT_APPLICABLE
    assert after.reason == "its register did not fail, whichever registration was refused"


async def test_it_is_told_which_registration_was_refused_before_unregister_failed(rig):
    specimen = GOOD.parent / "bad" / "EXT-UNREGISTER-FAILED" / "removes_tools_that_are_not_there.py"
    async with examined(specimen, rig=rig) as examination:
        [failed] = await judged(examination, "EXT-UNREGISTER-FAILED")
    [finding] = failed.findings
    assert finding.expected.endswith("a register that failed, as tool get_change_state was refused")
    line = next(one.text for one in finding.evidence if one.kind == "line")
    assert line == "removes_tools_that_are_not_there.py:20 in register: tool get_change_state was refused"


async def test_nothing_passes_that_was_never_loaded(rig, tmp_path):
    async with examined(extension(tmp_path, "raise ValueError('no')"), rig=rig) as examination:
        lazy, names = await judged(examination, "EXT-LAZY", "EXT-NAMES")
    assert {(one.outcome, one.blocked_by) for one in (lazy, names)} == {(Outcome.BLOCKED, "EXT-IMPORT")}


async def test_what_was_asked_before_register_raised_is_held_against_it_all_the_same(rig, tmp_path):
    text = """
import asyncio
def register(ctx):
    url = ctx.get_base_url()
    asyncio.run(ctx.run_curl([f"{url}/changes/1"], url))
    raise ValueError("no")
"""
    async with examined(extension(tmp_path, text), rig=rig) as examination:
        lazy = (await judged(examination, "EXT-LAZY"))[0]
    assert [finding.saw for finding in lazy.findings] == ["GET /changes/1 on cedar before any"]
    assert lazy.findings[0].evidence[0].text == "GET https://cedar.example.com/a/changes/1 → 200"


async def test_a_tool_of_the_host_that_a_call_replaces_is_noticed(rig, tmp_path):
    text = ONE_TOOL.replace("        return", "        del ctx.mcp._tool_manager._tools['set_topic']\n        return")
    async with examined(extension(tmp_path, text), rig=rig) as examination:
        names = (await judged(examination, "EXT-NAMES"))[0]
    assert [finding.saw for finding in names.findings] == ["tool set_topic removed after its tools were called"]


async def test_an_end_of_the_process_in_the_second_register_is_told(rig, tmp_path):
    text = f"import os\nseen = []\n{ONE_TOOL}    seen.append(1)\n    if len(seen) > 1: os._exit(3)\n"
    async with examined(extension(tmp_path, text), rig=rig) as examination:
        twice = (await judged(examination, "EXT-TWICE"))[0]
    assert twice.findings[0].expected == "register to return in a second context"
    assert "exit code 3" in twice.findings[0].saw


@pytest.mark.parametrize(("host", "clause"), [("curious", "EXT-LAZY"), ("wasteful", "EXT-NAMES")])
async def test_what_the_host_does_by_itself_is_blocked_by_it(host, clause):
    async with examined("two_requests.py", host=f"{OTHER_HOSTS}{host}") as examination:
        verdict = (await judged(examination, clause))[0]
    assert (verdict.outcome, verdict.blocked_by) == (Outcome.BLOCKED, "host")


@pytest.mark.parametrize(
    ("host", "why"),
    [("only_one", "the host gave the same server again"), ("only_once", "RuntimeError: one server a process")],
)
async def test_a_host_that_can_be_had_only_once_leaves_the_second_context_open(host, why):
    async with examined("two_requests.py", host=f"{OTHER_HOSTS}{host}") as examination:
        twice = (await judged(examination, "EXT-TWICE"))[0]
    assert twice.outcome is Outcome.INCONCLUSIVE
    assert twice.reason == f"a second application cannot be had in one process: {why}"
    assert twice.supply == "a host factory that builds a new application on every call"
