"""What TOOL-FAULTS, -RAISES, -OPTIONAL, -XSSI and TOOL-VALID-TEXT say beyond pass and fail, and what they excuse."""

from __future__ import annotations

import json
from typing import Any

import pytest

from conformance.contracts.registry import catalogue
from conformance.examine import Examination
from conformance.outcomes import Outcome
from conformance.rig.answers import embeds, hands_on, is_beheaded, left_out, told_by_gerrit, without_line
from conformance.rig.crashing import how_it_failed
from conformance.rig.leanness import LEAN
from conformance.rig.surroundings import Credentials, Surroundings, build_world
from conformance.rig.trial import Call
from conformance.scenes.bodies import names_a_change
from conformance.scenes.faults import CUT, EMPTY, REDIRECT, WRONG_TYPE, is_accused, is_fair
from conformance.settings import Settings
from conformance.specimens import fixtures_root
from conformance.targets import resolve_target
from conformance.wire.reply import ToolReply
from mock_gerrit.journal import Entry

CHANGE = {"_number": 1, "subject": "Count the leaves", "topic": "leaves", "owner": {"_account_id": 1000001}}
GUARDED = ")]}'\n" + json.dumps(CHANGE)


def entry(body: str = GUARDED, **facts: Any) -> Entry:
    usual = {"method": "GET", "status": 200, "target": "/a/changes/1/detail", "path": "/a/changes/1/detail"}
    about = {"number": 0, "host": "cedar", "authority": "cedar.example.com", "scheme": "https"}
    return Entry(**{**about, **usual, **facts}, response_body=body.encode(), started=0.0, finished=0.0)


def reply(structured: Any, *, text: str | None = None, error: bool = False) -> ToolReply:
    shown = json.dumps(structured) if text is None else text
    content = ({"type": "text", "text": shown},)
    return ToolReply(raw=shown.encode(), is_error=error, content=content, structured=structured)


def call(result: Any, *entries: Entry, **facts: Any) -> Call:
    answer = result if isinstance(result, ToolReply) or result is None else reply(result)
    usual = {"tool": "t", "arguments": {"change_id": "1"}, "trouble": "", "facts": (), "seconds": 0.1}
    return Call(**{**usual, **facts}, reply=answer, entries=entries)


USUAL = call({"subject": "Count the leaves"}, entry())


def faulty(result: Any, body: str = "", **facts: Any) -> Call:
    return call(result, entry(body, fault="status", **facts))


def test_a_made_up_result_is_accused_under_every_fault():
    made_up = faulty({"subject": ""})
    assert all(is_accused(made_up, USUAL, kind, returns_http_errors=False) for kind in ("403", EMPTY, CUT, WRONG_TYPE))


def test_an_error_and_a_call_that_met_no_fault_are_not_accused():
    assert not is_accused(faulty(reply(None, text="no", error=True)), USUAL, "403", returns_http_errors=False)
    assert not is_accused(call({"subject": "kept"}), USUAL, "403", returns_http_errors=False)


def test_no_answer_at_all_is_accused():
    assert is_accused(call(None, entry(fault="timeout")), USUAL, "500", returns_http_errors=False)


def test_the_usual_result_is_excused_where_only_the_body_was_damaged():
    same = faulty({"subject": "Count the leaves"})
    assert not is_accused(same, USUAL, CUT, returns_http_errors=False)
    assert is_accused(same, USUAL, "500", returns_http_errors=False)


def test_the_usual_result_is_excused_where_another_request_gave_it():
    elsewhere = call({"subject": "Count the leaves"}, entry("Busy", fault="status", status=500), entry(target="/a/x"))
    assert not is_accused(elsewhere, USUAL, "500", returns_http_errors=False)


def test_a_write_that_failed_is_not_excused_by_a_look_at_the_result():
    failed = entry("Busy", fault="status", status=500, method="POST")
    assert is_accused(call({"subject": "Count the leaves"}, failed, entry()), USUAL, "500", returns_http_errors=False)


def test_a_body_that_is_handed_on_is_excused_but_not_a_result_that_tells_of_it():
    assert not is_accused(faulty({"raw": "Forbidden"}, "Forbidden\n"), USUAL, "403", returns_http_errors=True)
    assert is_accused(faulty({"raw": "error: Forbidden"}, "Forbidden\n"), USUAL, "403", returns_http_errors=True)


def test_a_redirect_without_a_body_is_no_news_for_a_write_on_a_host_that_hands_bodies_back():
    done = faulty({"state": "done"}, method="POST")
    assert not is_accused(done, USUAL, REDIRECT, returns_http_errors=True)
    assert is_accused(done, USUAL, REDIRECT, returns_http_errors=False)


def test_damaged_bodies_are_tried_on_requests_that_read_something():
    assert is_fair(CUT, entry())
    assert not is_fair(CUT, entry(method="PUT"))
    assert not is_fair(CUT, entry(""))
    assert not is_fair(EMPTY, entry("ZGlmZg=="))
    assert is_fair("403", entry("", method="DELETE"))


def test_a_body_is_found_in_a_result_whole_in_part_and_parsed():
    raw = json.dumps(CHANGE)
    assert embeds(call({"raw": f"Change 1: {raw}"}), entry())
    assert embeds(call({"raw": raw[:60]}), entry())
    assert not embeds(USUAL, entry())
    assert hands_on(call({"change": CHANGE}), entry())
    assert not hands_on(call({"change": {}}), entry())


def test_a_body_without_its_beginning_is_told_from_one_that_is_whole():
    assert is_beheaded(call({"raw": json.dumps(CHANGE)[5:]}), entry())
    assert not is_beheaded(call({"raw": json.dumps(CHANGE)}), entry())
    assert not is_beheaded(USUAL, entry())


def test_the_guarding_line_makes_no_difference_to_a_body_that_is_handed_on():
    assert without_line(call({"raw": f"{GUARDED}\n"})) == without_line(call({"raw": json.dumps(CHANGE)}))
    assert without_line(call({"change": None})) != without_line(call({"change": CHANGE}))


def test_what_the_caller_said_is_not_told_by_gerrit():
    assert told_by_gerrit(call({"subject": "Count the leaves", "number": 1, "note": "mine"}, entry())) == {
        "Count the leaves"
    }


def test_what_was_left_out_is_named():
    lean = entry(json.dumps({"_number": 1, "subject": "Count", "owner": {}}))
    assert left_out(USUAL, call(None, lean)) == ["_account_id", "topic"]


@pytest.mark.parametrize(
    ("arguments", "path", "named"),
    [
        ({"change_id": "1"}, "/a/changes/", True),
        ({"request": {"change_number": 1}}, "/a/accounts/self", True),
        ({}, "/a/changes/1/detail", True),
        ({"query": "status:open"}, "/a/changes/", False),
        ({"project": "demo"}, "/a/projects/demo", False),
    ],
)
def test_a_call_that_names_a_change_is_told_from_one_that_searches(arguments, path, named):
    assert names_a_change(call({}, entry(path=path, target=path), arguments=arguments)) is named


@pytest.mark.parametrize("missing", LEAN)
def test_a_lean_world_is_a_world_like_others(missing):
    world = build_world(Surroundings(plugins=("task", "depends-on", "code-owners")), Credentials())
    LEAN[missing](world)
    assert all(not account.name for account in world.hosts[0].accounts.values()) or not world.hosts[0].changes


def stumble_over_a_key() -> None:
    _ = {}["topic"]


def stumble_in_a_library() -> None:
    json.loads("")


def refuse() -> None:
    raise LookupError("change 1 has no topic")


def refuse_within_a_group() -> None:
    raise ExceptionGroup("two", [failure(refuse)])


def failure(what) -> Exception:
    try:
        what()
    except Exception as problem:  # noqa: BLE001 - each is looked at
        return problem
    raise AssertionError("it did not fail")


@pytest.mark.parametrize(
    ("what", "crash"),
    [(stumble_over_a_key, True), (stumble_in_a_library, True), (refuse, False), (refuse_within_a_group, False)],
)
def test_a_crash_is_told_from_an_error_that_was_raised_on_purpose(what, crash):
    assert how_it_failed(failure(what))["crash"] is crash


async def judged(path: str, clause: str, host: str = "reference"):
    target = fixtures_root() / "extensions" / path
    async with Examination(resolve_target(str(target), cwd=target.parent), settings=Settings(host=host)) as examination:
        return await examination.judge(catalogue()[clause])


async def test_a_tool_that_asks_nothing_of_gerrit_is_not_judged():
    for clause in ("TOOL-FAULTS", "TOOL-OPTIONAL", "TOOL-XSSI", "TOOL-XSSI-BARE"):
        assert (await judged("good/sync_tool.py", clause)).outcome is Outcome.NOT_APPLICABLE


async def test_a_finding_about_optional_data_names_the_crash_and_what_gerrit_left_out():
    [finding] = (await judged("bad/TOOL-OPTIONAL/expects_a_topic.py", "TOOL-OPTIONAL")).findings
    assert finding.saw.startswith("KeyError")
    assert "topic" in finding.evidence[0].text


async def test_a_finding_about_the_next_call_names_the_fault_before_it():
    [finding] = (await judged("bad/TOOL-FAULTS/gives_up_for_good.py", "TOOL-FAULTS")).findings
    assert finding.expected == "an answer without isError in the call after 403"


async def test_a_plain_call_that_fails_for_the_missing_line_is_blamed_on_that():
    judgement = await judged("bad/TOOL-XSSI/cuts_five_characters.py", "TOOL-WORKS")
    assert (judgement.outcome, judgement.blocked_by) == (Outcome.BLOCKED, "TOOL-XSSI")


async def test_a_call_that_fails_on_both_kinds_of_host_says_nothing_about_the_line():
    judgement = await judged("bad/TOOL-WORKS/expects_a_list.py", "TOOL-XSSI")
    assert (judgement.outcome, judgement.blocked_by) == (Outcome.BLOCKED, "TOOL-WORKS")


async def test_a_host_that_cannot_be_told_to_keep_the_line_decides_it_itself():
    host = "factory:tests.conformance.faulty_hosts:talkative"
    assert (await judged("good/two_requests.py", "TOOL-XSSI-BARE", host)).outcome is Outcome.NOT_APPLICABLE


ASKS_OTHERS = """
import json
from urllib.parse import quote

def register(ctx):
    @ctx.mcp.tool()
    async def find(change_id: str, gerrit_base_url: str | None = None) -> dict[str, str]:
        {words!r}
        async def subject(base_url, last=""):
            body = await ctx.run_curl([base_url + f"/changes/{{quote(change_id, safe='')}}" + last], base_url)
            return {{"subject": json.loads(body)["subject"], **({{"host": base_url}} if {tells} else {{}})}}

        given, usual = ctx.get_base_url(gerrit_base_url), ctx.get_base_url(None)
        before = await subject(usual) if {always} and gerrit_base_url else None
        try:
            return await subject(given)
        except Exception:
            if gerrit_base_url is None:
                raise
        return before or await subject(*({others}))
"""


@pytest.mark.parametrize(
    ("facts", "outcome"),
    [
        ({}, Outcome.FAIL),
        ({"words": "Find a change.\n\n    gerrit_base_url: any other host than the default one."}, Outcome.FAIL),
        ({"words": "Find a change on one of several Gerrit hosts."}, Outcome.PASS),
        ({"words": "Find a change; falls back to the default host where the one named fails."}, Outcome.PASS),
        ({"tells": True}, Outcome.PASS),
        ({"always": True, "others": "usual,"}, Outcome.PASS),
        ({"others": "given, '/detail'"}, Outcome.PASS),
    ],
)
async def test_an_answer_of_another_host_than_the_one_named_is_none_unless_the_tool_says_so(tmp_path, facts, outcome):
    usual = {"words": "Find a change.", "tells": False, "always": False, "others": "usual,"}
    (tmp_path / "ext.py").write_text(ASKS_OTHERS.format(**{**usual, **facts}))
    async with Examination(resolve_target(f"path:{tmp_path / 'ext.py'}", cwd=tmp_path)) as examination:
        assert (await examination.judge(catalogue()["TOOL-RAISES"])).outcome is outcome
