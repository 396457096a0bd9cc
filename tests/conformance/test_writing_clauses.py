"""Tools that change something: what their calls leave behind, with what they are called, and what cannot be judged."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from conformance.contracts.registry import catalogue
from conformance.contracts.writing import _hands_on
from conformance.examine import Examination
from conformance.outcomes import Outcome
from conformance.profile import Profile
from conformance.rig.second_tries import _with_optional
from conformance.rig.states import ABANDONED, elsewhere, with_newcomer
from conformance.rig.surroundings import SIMULATED_PLUGINS, Credentials, Surroundings, build_world
from conformance.rig.traces import changes_state, is_of_plugin, late_writes, something_changed, writes, written_twice
from conformance.rig.trial import Call
from conformance.scenes.writing import _chosen, refusal_in_json
from conformance.targets import resolve_target
from conformance.wire.reply import ToolReply
from mock_gerrit.journal import Entry

SURROUNDINGS = Surroundings(plugins=SIMULATED_PLUGINS)


def request(method: str, path: str, **facts: object) -> Entry:
    usual: dict = {"number": 0, "host": "rowan", "authority": "rowan.example.com", "scheme": "https", "status": 200}
    return Entry(**{**usual, "method": method, "target": path, "path": path, "started": 1.0, "finished": 2.0, **facts})


def call(*entries: Entry, **facts: object) -> Call:
    usual: dict = {"tool": "t", "arguments": {}, "reply": None, "trouble": "", "facts": [], "seconds": 0.0}
    return Call(**{**usual, "entries": entries, **facts})


def success(structured: object) -> ToolReply:
    return ToolReply(raw=b"", is_error=False, structured=structured, has_structured=True)


@pytest.mark.parametrize(
    ("method", "path", "does"),
    [
        ("GET", "/changes/1/detail", False),
        ("HEAD", "/changes/1", False),
        ("POST", "/a/changes/1/check.submit_requirement", False),
        ("POST", "/changes/demo~1/revisions/current/fix:preview", False),
        ("POST", "/changes/1/index", True),
        ("POST", "/changes/1/revisions/current/review", True),
        ("PUT", "/changes/1/check.submit_requirement", True),
        ("DELETE", "/changes/1/topic", True),
        ("PATCH", "/changes/1", True),
    ],
)
def test_a_request_changes_something_unless_it_is_known_to_read(method, path, does):
    assert changes_state(request(method, path)) is does


@pytest.mark.parametrize(
    ("path", "does"),
    [
        ("/plugins/chart/run", True),
        ("/changes/1/chart~run", True),
        ("/changes/1/revisions/current/chart~run", True),
        ("/changes/demo~master~I5f7c/abandon", False),
        ("/changes/demo~1/abandon", False),
    ],
)
def test_a_request_to_a_plugin_is_told_from_the_id_of_a_change(path, does):
    assert is_of_plugin(request("POST", path)) is does


def test_a_write_that_comes_after_the_answer_is_late():
    first, later, reading = request("GET", "/changes/1"), request("PUT", "/changes/1/topic"), request("GET", "/x")

    world = SimpleNamespace(journal=[first, later, reading])
    assert late_writes(call(first, world=world)) == [later]
    assert writes(call(first, later)) == [later]


class StandInRig:
    """Makes worlds as a rig does."""

    def __init__(self) -> None:
        self.built = build_world(SURROUNDINGS, Credentials())

    def world(self, _: Surroundings):
        return self.built.copy()


@pytest.fixture(scope="module")
def rig():
    return StandInRig()


@pytest.fixture
def left(rig):
    """A call that asked the first host, and left the world that it stands in to be changed."""
    world = rig.world(SURROUNDINGS)
    world.journal.record(**{name: value for name, value in vars(request("POST", "/x")).items() if name != "number"})
    return call(world=world, surroundings=SURROUNDINGS)


def test_a_world_that_was_only_read_is_as_it_was(rig, left):
    assert something_changed(rig, left) == ()
    assert written_twice(rig, left) == ()


def test_what_changed_is_named_by_host_change_and_part(rig, left):
    left.world.hosts[0].changes[1].topic = "roots"
    left.world.hosts[0].account_of("alice").stars.add(2)
    assert something_changed(rig, left) == ("rowan: account Alice Ash: stars", "rowan: change 1: topic")


def test_a_host_that_was_not_asked_is_not_looked_at(rig, left):
    left.world.hosts[1].changes[1].topic = "roots"
    assert something_changed(rig, left) == ()


@pytest.mark.parametrize("times", [1, 2])
def test_what_was_written_twice_is_what_people_see_twice(rig, left, times):
    host = left.world.hosts[0]
    for _ in range(times):
        host.change("demo", owner="alice", subject="Grow")
    told = written_twice(rig, left)
    assert told == (("a change on master of demo: Grow",) if times == 2 else ())


def test_two_unlike_changes_are_no_repetition(rig, left):
    for subject in ("Grow", "Shrink"):
        left.world.hosts[0].change("demo", owner="alice", subject=subject)
    assert written_twice(rig, left) == ()


def test_another_state_is_tried_in_the_form_in_which_the_change_was_named():
    assert next(elsewhere({"change_id": "1", "message": "1"})) == {"change_id": str(ABANDONED), "message": "1"}
    assert next(elsewhere({"change_number": 1})) == {"change_number": ABANDONED}
    assert next(elsewhere({"change_ids": ["demo~1"]})) == {"change_ids": [f"demo~{ABANDONED}"]}
    assert list(elsewhere({"project": "demo"})) == []


def test_somebody_else_is_tried_where_a_reviewer_is_named():
    assert list(with_newcomer({"reviewer": "bob@example.com"})) == [{"reviewer": "hazel@example.com"}]
    assert list(with_newcomer({"owner": "bob@example.com"})) == []


def test_optional_arguments_of_known_meaning_are_tried_together_and_then_alone():
    properties = {
        "change_id": {"type": "string"},
        "message": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
        "labels": {"anyOf": [{"type": "object"}, {"type": "null"}], "default": None},
        "frobnication": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
        "gerrit_base_url": {"type": "string"},
    }
    tool = {"name": "t", "inputSchema": {"type": "object", "properties": properties, "required": ["change_id"]}}
    first, *alone = _with_optional(tool)
    assert set(first) == {"message", "labels"}
    assert [set(one) for one in alone] == [{"message"}, {"labels"}]


REFUSAL = request("POST", "/changes/1/abandon", status=403, response_body=b"not permitted\n")


@pytest.mark.parametrize(
    ("result", "only_hands_on"),
    [
        ({"result": "not permitted"}, True),
        ({"change_id": "1", "answer": "not permitted"}, True),
        ({"ok": True, "answer": "not permitted"}, False),
        ({"outcome": "abandoned", "answer": "not permitted"}, False),
        ({"answer": "abandoned: not permitted"}, False),
        ({"ok": False, "answer": "not permitted"}, True),
    ],
)
def test_a_body_that_is_handed_on_is_told_from_a_success_that_is_claimed(result, only_hands_on):
    usual = call(reply=success({"ok": True, "outcome": "abandoned", "change_id": "1", "answer": "{}"}))
    assert _hands_on(call(reply=success(result), arguments={"change_id": "1"}), REFUSAL, usual) is only_hands_on


async def judged(folder: Path, code: str, clause: str, **profile: object):
    (folder / "ext.py").write_text(code)
    subject = resolve_target(f"path:{folder / 'ext.py'}", cwd=folder)
    async with Examination(subject, profile=Profile.model_validate(profile)) as examination:
        return await examination.judge(catalogue()[clause])


WRITES_WHERE_NOTHING_IS = """
import json
from mcp.types import ToolAnnotations

def register(ctx):
    @ctx.mcp.tool({claim})
    async def provide_branch(project: str, branch: str, gerrit_base_url: str | None = None) -> str:
        base_url = ctx.get_base_url(gerrit_base_url)
        url = f"{{base_url}}/projects/{{project}}/branches/{{branch}}"
        try:
            json.loads((await ctx.run_curl([url], base_url)).removeprefix(")]}}'"))
        except Exception:
            return await ctx.run_curl(["-X", "PUT", url], base_url)
        return branch
"""


async def test_a_tool_that_writes_only_elsewhere_is_inconclusive_and_told_what_to_supply(tmp_path):
    judgement = await judged(tmp_path, WRITES_WHERE_NOTHING_IS.format(claim=""), "TOOL-TRUTH")
    assert judgement.outcome is Outcome.INCONCLUSIVE
    assert "PUT /projects/demo/branches/master" in judgement.reason
    assert "[tool.gerrit-conformance.tools.provide_branch.arguments]" in judgement.supply


async def test_a_read_only_claim_is_judged_in_every_scenario(tmp_path):
    claim = "annotations=ToolAnnotations(readOnlyHint=True)"
    judgement = await judged(tmp_path, WRITES_WHERE_NOTHING_IS.format(claim=claim), "TOOL-READONLY")
    assert judgement.outcome is Outcome.FAIL
    assert "PUT /projects/demo/branches/master" in judgement.findings[0].saw


POSTS_TO_A_PLUGIN = """
from mcp.types import ToolAnnotations

def register(ctx):
    @ctx.mcp.tool(annotations=ToolAnnotations(readOnlyHint=True))
    async def run_chart(change_id: str, gerrit_base_url: str | None = None) -> str:
        base_url = ctx.get_base_url(gerrit_base_url)
        return await ctx.run_curl(["-X", "POST", f"{base_url}/changes/{change_id}/chart~run"], base_url)
"""


async def test_a_post_to_an_unknown_plugin_leaves_a_read_only_claim_open(tmp_path):
    canned = [{"plugin": "chart", "method": "POST", "path": "/changes/1/chart~run", "json": {}}]
    judgement = await judged(tmp_path, POSTS_TO_A_PLUGIN, "TOOL-READONLY", canned=canned)
    assert (judgement.outcome, judgement.supply) == (
        Outcome.INCONCLUSIVE,
        "a GET request in its place, or no readOnlyHint",
    )


POSTS_WITH_A_BUG = """
from urllib.parse import quote
from mcp.types import ToolAnnotations

def register(ctx):
    @ctx.mcp.tool(annotations=ToolAnnotations(readOnlyHint=True))
    async def wake(change_id: str, gerrit_base_url: str | None = None) -> dict[str, str]:
        base_url = ctx.get_base_url(gerrit_base_url)
        await ctx.run_curl(["-X", "POST", f"{base_url}/changes/{quote(change_id, safe='')}/wip"], base_url)
        return {}["status"]
"""


async def test_a_broken_claim_is_the_cause_where_the_call_fails_too(tmp_path):
    assert (await judged(tmp_path, POSTS_WITH_A_BUG, "TOOL-WORKS")).blocked_by == "TOOL-READONLY"


def test_every_listed_value_but_the_usual_one_is_tried_alone_and_the_first_ones_together():
    flag = {"type": "boolean", "default": False}
    kind = {"enum": ["a", "b", "c"], "type": "string"}
    entry = {"inputSchema": {"properties": {"change_id": {"type": "string"}, "kind": kind, "star": flag}}}
    plain = {"change_id": "1", "kind": "a"}
    assert _chosen(entry, plain) == {
        "all at once": {"change_id": "1", "kind": "b", "star": True},
        "kind = 'b'": {"change_id": "1", "kind": "b"},
        "kind = 'c'": {"change_id": "1", "kind": "c"},
        "star = True": {"change_id": "1", "kind": "a", "star": True},
    }


STARS_IF_BOTH = """
from urllib.parse import quote
from mcp.types import ToolAnnotations

def register(ctx):
    @ctx.mcp.tool(annotations=ToolAnnotations(readOnlyHint=True))
    async def look(change_id: str, star: bool = False, really: bool = False) -> dict[str, str]:
        base_url = ctx.get_base_url(None)
        found = {"body": await ctx.run_curl([f"{base_url}/changes/{quote(change_id, safe='')}"], base_url)}
        if star and really:
            await ctx.run_curl(["-X", "PUT", f"{base_url}/accounts/self/starred.changes/1"], base_url)
        return found
"""


async def test_a_read_only_claim_is_broken_by_what_two_flags_do_together(tmp_path):
    judgement = await judged(tmp_path, STARS_IF_BOTH, "TOOL-READONLY")
    assert judgement.outcome is Outcome.FAIL
    assert "PUT /accounts/self/starred.changes/1" in judgement.findings[0].saw


REVIEW = "/changes/1/revisions/current/review"


@pytest.mark.parametrize(
    ("method", "path", "sent", "words"),
    [
        ("POST", "/changes/1/reviewers", {"reviewer": "bob"}, "does not identify"),
        ("POST", REVIEW, {"message": "x", "reviewers": [{"reviewer": "bob"}]}, "error adding reviewer"),
        ("POST", REVIEW, {"ready": True, "work_in_progress": True}, "mutually exclusive"),
    ],
)
def test_a_refusal_comes_in_json_where_gerrit_writes_one(method, path, sent, words):
    body = refusal_in_json(request(method, path, body=json.dumps(sent).encode()))
    assert words in json.loads(body.removeprefix(")]}'"))["error"]


@pytest.mark.parametrize(
    ("method", "path", "sent"),
    [
        ("POST", REVIEW, b'{"comments": {"leaves.py": [{"line": 1, "message": "x"}]}}'),
        ("POST", REVIEW, b'{"labels": {"Code-Review": 1}, "reviewers": []}'),
        ("POST", REVIEW, b'{"ready": true}'),
        ("POST", REVIEW, b"no JSON"),
        ("PUT", "/changes/1/topic", b'{"reviewers": ["bob"]}'),
        ("GET", "/changes/1/reviewers", b""),
    ],
)
def test_all_else_is_refused_in_plain_text(method, path, sent):
    assert refusal_in_json(request(method, path, body=sent)) is None
