"""Several calls at the same time: whose answer is whose, what can be varied, and what is said where nobody can tell."""

from __future__ import annotations

import asyncio
import json
import math
from collections import Counter
from types import SimpleNamespace

import pytest

from conformance.contracts import concurrency
from conformance.outcomes import Finding, Inconclusive, NotApplicable
from conformance.rig import crowd
from conformance.rig.crowd import Answered, Asked, Gate, astray
from conformance.rig.mixing import foreign, leaves, never_asked
from conformance.rig.variants import one_by_one, variants
from conformance.rig.watching import Watch
from conformance.scenes.concurrency import FirstCalls, Watched
from conformance.scenes.crowds import (
    FEWEST_CALLS,
    IN_TURN,
    TOGETHER,
    Crowd,
    Round,
    _so_many,
    crowded,
    gone_astray,
    second_values,
)
from conformance.scenes.other_hosts import answered_for_another
from conformance.wire.errors import NoAnswer
from conformance.wire.reply import ToolReply
from mock_gerrit.journal import Entry


def reply(structured=None, text=None):
    content = () if text is None else ({"type": "text", "text": text},)
    return ToolReply(
        raw=b"", is_error=False, content=content, structured=structured, has_structured=structured is not None
    )


def first_foreign(answer, which, *alone):
    runs = {number: [leaves(reply(one)) for one in several] for number, several in enumerate(alone)}
    return foreign(leaves(reply(answer)), which, runs)


ONE, TWO = {"number": 1, "subject": "Count the leaves"}, {"number": 2, "subject": "Water the roots"}


def test_an_answer_of_other_arguments_is_known_by_their_value():
    found = first_foreign(TWO, 0, [ONE], [TWO])
    assert (found.where, found.saw, found.expected, found.of) == ("number", 2, 1, 1)


def test_ones_own_answer_is_nobody_elses():
    assert first_foreign(ONE, 0, [ONE], [TWO]) is None


def test_a_counter_and_what_is_the_same_for_all_arguments_say_nothing():
    assert first_foreign({**ONE, "count": 7}, 0, [{**ONE, "count": 1}], [{**TWO, "count": 1}]) is None


def test_a_value_that_moves_from_run_to_run_says_nothing_even_if_it_is_anothers():
    runs = [{**ONE, "at": 10}, {**ONE, "at": 12}], [{**TWO, "at": 11}, {**TWO, "at": 11}]
    assert first_foreign({**ONE, "at": 11}, 0, *runs) is None


def test_a_list_counts_by_what_is_in_it_and_not_by_its_order():
    assert first_foreign({"files": ["b", "a"]}, 0, [{"files": ["a", "b"]}], [{"files": ["b", "c"]}]) is None


def test_more_than_ones_own_is_anothers():
    found = first_foreign(
        {"files": ["leaves.py", "roots.py"]}, 1, [{"files": ["leaves.py"]}], [{"files": ["roots.py"]}]
    )
    assert found.saw == "leaves.py"


def test_a_text_that_holds_anothers_is_not_ones_own():
    alone = [{"text": "Count the leaves"}], [{"text": "Water the roots"}]
    assert first_foreign({"text": "Count the leaves, Water the roots"}, 0, *alone).of == 1


@pytest.mark.parametrize("text", [json.dumps(ONE), "Change 1\nCount the leaves"])
def test_texts_are_compared_by_their_values_or_line_by_line(text):
    other = text.replace("1", "2").replace("Count the leaves", "Water the roots")
    runs = {0: [leaves(reply(text=text))], 1: [leaves(reply(text=other))]}
    assert foreign(leaves(reply(text=other)), 0, runs).of == 1
    assert foreign(leaves(reply(text=text)), 0, runs) is None


def get(number):
    return ("elm", "GET", f"/changes/{number}", b"")


def put(number):
    return ("elm", "PUT", f"/changes/{number}/topic", b"")


READS = {number: [Counter([get(number)])] for number in (1, 2)}
WRITES = {number: [Counter([get(number), put(number)])] for number in (1, 2)}


def test_what_a_cache_answers_is_not_missed():
    assert never_asked(Counter(), [1, 2, 1, 2], READS) is None


def test_a_question_that_serves_several_calls_is_not_missed():
    assert never_asked(Counter([("elm", "GET", "/changes/?q=1+OR+2", b"")]), [1, 2], READS) is None


def test_asking_for_one_again_and_for_the_other_never_is_a_mix_up():
    assert never_asked(Counter({get(1): 2}), [1, 2], READS) == (2, get(2))


def test_a_write_that_is_never_made_is_missed_in_any_case():
    assert never_asked(Counter([get(1), put(1), get(2)]), [1, 2], WRITES) == (2, put(2))


def test_a_write_that_is_another_one_in_every_run_is_not_missed():
    nonces = {number: [Counter([put(f"{number}?{run}")]) for run in "ab"] for number in (1, 2)}
    assert never_asked(Counter([put("1?c"), put("2?c")]), [1, 2], nonces) is None


CHANGE, COMMENTS = (("GET", f"/changes/1{view}", b"") for view in ("", "/comments"))
EACH_ALONE = {which: Asked({(host, CHANGE): 1, (host, COMMENTS): 1}) for which, host in enumerate(("elm", "cedar"))}
NAMED = {0: "elm", 1: "cedar"}


def strays(asked, *, order=(0, 1), alone=EACH_ALONE, named=NAMED, fresh=True):
    return astray(Asked(asked), list(order), {which: [one] for which, one in alone.items()}, named, fresh=fresh)


def test_a_second_request_that_goes_to_the_host_of_another_call_is_astray():
    found = strays({("elm", CHANGE): 1, ("cedar", CHANGE): 1, ("cedar", COMMENTS): 2}, fresh=False)
    assert (found.which, found.host, found.question, found.elsewhere) == (0, "elm", COMMENTS, "cedar")


def test_what_each_call_asks_of_its_host_is_not_astray():
    assert strays(EACH_ALONE[0] + EACH_ALONE[1]) is None


def test_a_host_that_is_not_asked_is_missed_where_nothing_can_be_remembered():
    assert strays(EACH_ALONE[1]).host == "elm"
    assert strays(EACH_ALONE[1], fresh=False) is None


def test_a_host_that_is_asked_for_several_calls_in_one_is_not_missed():
    both = ("elm", ("GET", "/changes/?q=change:1+OR+change:2", b""))
    assert strays(EACH_ALONE[1] + Asked({both: 1})) is None


def test_what_is_kept_for_all_hosts_beside_what_is_asked_of_each_is_not_missed():
    assert strays({("elm", CHANGE): 1, ("cedar", CHANGE): 1, ("cedar", COMMENTS): 1}) is None


def test_calls_that_name_no_host_or_ask_others_as_well_are_left_aside():
    assert strays(EACH_ALONE[1], named={1: "cedar"}) is None
    assert strays(EACH_ALONE[1], alone={**EACH_ALONE, 0: EACH_ALONE[0] + EACH_ALONE[1]}) is None


def test_a_host_that_no_call_named_is_not_missed():
    assert strays(EACH_ALONE[1], order=(1,)) is None


def test_what_one_run_alone_did_without_is_not_asked_too_often():
    runs = {0: [EACH_ALONE[0]], 1: [EACH_ALONE[1], Asked({("cedar", CHANGE): 1})]}
    assert astray(EACH_ALONE[1] + Asked({("elm", CHANGE): 1}), [0, 1], runs, NAMED, fresh=False) is None


def test_a_tool_that_asks_nothing_has_nothing_gone_astray():
    assert strays({}, alone={0: Asked(), 1: Asked()}) is None


def entry(host, path, context_path=""):
    target = f"{context_path}/a{path}"
    return Entry(
        number=0, host=host, authority=host, scheme="https", method="GET", target=target, path=target, status=200,
        started=0, finished=0, context_path=context_path,
    )  # fmt: skip


ELM, CEDAR = entry("elm", "/changes/1", "/r"), entry("cedar", "/changes/1")


def crowd_of_hosts(*asked, change="1", fails=False, unbidden=frozenset()):
    """Two calls that differ in the host, which asked this in company."""
    surroundings = SimpleNamespace(unbidden=unbidden)
    alone = [[SimpleNamespace(own=[one], succeeded=True, surroundings=surroundings)] for one in (CEDAR, ELM)]
    answers = [Answered(which=which, reply=None if fails else reply(ONE)) for which in (0, 1)]
    choices = [{"change_id": change}, {"change_id": change, "gerrit_base_url": URL}]
    return Crowd(choices=choices, alone=alone, rounds=[Round(answers=answers, entries=list(asked))])


def test_the_path_of_a_host_is_no_part_of_what_is_asked_of_it():
    found, _ = gone_astray(crowd_of_hosts(CEDAR, CEDAR), fresh=False)
    assert (found.host, found.question[1], found.elsewhere) == ("elm", "/changes/1", "cedar")
    assert gone_astray(crowd_of_hosts(CEDAR, ELM), fresh=True) is None


@pytest.mark.parametrize(
    "told", [{"fails": True}, {"change": "7" * 40}, {"unbidden": frozenset({("GET", "/changes/1")})}]
)
def test_where_a_call_failed_or_no_host_is_meant_nothing_is_astray(told):
    assert gone_astray(crowd_of_hosts(CEDAR, CEDAR, **told), fresh=True) is None


def tool(required=(), **properties):
    return {"name": "t", "inputSchema": {"properties": properties, "required": list(required)}}


TEXT, URL = {"type": "string"}, "https://elm.example.com/r"


@pytest.mark.parametrize(
    ("plain", "first", "second"),
    [
        ({"change_id": "1"}, {"change_id": "2"}, {"change_id": "3"}),
        ({"change": 1, "path": "leaves.py"}, {"change": 2, "path": "roots.py"}, {"change": 3, "path": "twigs.py"}),
        ({"changes": [1, 2]}, {"changes": [2, 3]}, {"changes": [3, 1]}),
        ({"changes": [{"id": "1"}]}, {"changes": [{"id": "2"}]}, {"changes": [{"id": "3"}]}),
        ({"email": "alice@example.com"}, {"email": "bob@example.com"}, {"email": "conformance@example.com"}),
        ({"query": "status:open"}, {"query": "change:2"}, {"query": "change:3"}),
        ({"limit": 5}, {"limit": 6}, {"limit": 7}),
        ({"words": "a"}, {"words": "a 2"}, {"words": "a 3"}),
    ],
)
def test_arguments_are_varied_within_what_the_world_has(plain, first, second):
    assert next(variants(tool(), plain, asks=True)) == [first, second]


def test_one_argument_is_varied_at_a_time_within_the_same_change():
    plain = {"change_id": "1", "path": "leaves.py"}
    other = {"change_id": "2", "path": "roots.py", "gerrit_base_url": URL}
    assert one_by_one(plain, other) == [{**plain, "change_id": "2"}, {**plain, "path": "docs/guide.md"}]


def test_what_all_arguments_together_show_is_not_shown_once_more():
    assert one_by_one({"change_id": "1"}, {"change_id": "2"}) == []


@pytest.mark.parametrize(
    ("plain", "second"),
    [
        ({"project": "demo", "branch": "master"}, {"project": "leaf/litter", "branch": "stable"}),
        ({"ref": "x", "branch": "refs/heads/master"}, {"branch": "refs/heads/stable"}),
        ({"limit": 5, "start": "0"}, {"limit": 1, "start": "1"}),
        ({"change_id": "1", "words": "a"}, {}),
    ],
)
def test_of_each_argument_another_value_is_known_only_if_it_exists(plain, second):
    schemas = {name: {"type": "integer" if isinstance(value, int) else "string"} for name, value in plain.items()}
    assert second_values(tool(**schemas), plain) == second


def test_what_is_left_out_is_given_another_value_than_its_default():
    schemas = {
        "gerrit_base_url": {**TEXT, "default": None},
        "max_results": {"type": "integer", "default": 1},
        "topic": {"anyOf": [TEXT, {"type": "null"}], "default": None},
        "details": {"type": "boolean", "default": False},
        "order": {"$ref": "#/$defs/Order", "default": "up"},
        "depth": {"type": "integer", "default": 3, "maximum": 3},
    }
    entry = tool(**schemas)
    entry["inputSchema"]["$defs"] = {"Order": {"enum": ["up", "down"], "type": "string"}}
    assert second_values(entry, {}) == {"max_results": 2, "topic": "leaves", "details": True, "order": "down"}


def test_another_host_is_asked_where_a_tool_takes_an_address():
    [[first, second], *_] = variants(tool(gerrit_base_url=TEXT), {"change_id": "1"}, asks=True)
    assert (first["change_id"], first["gerrit_base_url"]) == ("2", URL)
    assert second["gerrit_base_url"] != URL


def test_a_file_is_not_varied_without_its_change():
    assert next(variants(tool(gerrit_base_url=TEXT), {"path": "leaves.py"}, asks=True))[0]["path"] == "leaves.py"


def test_an_optional_argument_is_filled_in_where_no_other_can_be_varied():
    optional = {"anyOf": [TEXT, {"type": "null"}], "default": None}
    assert next(variants(tool(change_id=optional), {}, asks=True)) == [{"change_id": "2"}, {"change_id": "3"}]


def test_a_tool_without_arguments_has_no_variants():
    assert list(variants(tool(), {}, asks=True)) == []


def test_a_tool_that_asks_nobody_is_given_ids_of_other_forms():
    [[first, second], *_] = variants(tool(), {"change_id": "1"}, asks=False)
    assert first == {"change_id": "demo~2"}
    assert second["change_id"].startswith("demo~master~I")


def test_twenty_calls_are_made_unless_there_are_many_tools_or_each_takes_long():
    assert _so_many(tools=1, seconds=0.02) == TOGETHER + IN_TURN == 20
    assert _so_many(tools=50, seconds=0.02) == FEWEST_CALLS
    assert _so_many(tools=1, seconds=4) == 2


def gated_trial(*, pong_seconds, running=0):
    async def request(method, *, timeout):  # noqa: ASYNC109 - as the wire client has it
        await asyncio.sleep(min(pong_seconds, timeout))
        if pong_seconds > timeout:
            raise NoAnswer(method, timeout)

    return SimpleNamespace(
        gateway=SimpleNamespace(gate=None), world=SimpleNamespace(host_for=lambda _: None),
        client=SimpleNamespace(request=request), told=lambda kind: [{}] * running if kind == "run_curl" else [],
    )  # fmt: skip


@pytest.mark.parametrize("busy", [{"pong_seconds": 0.1}, {"pong_seconds": 0, "running": 1}], ids=["slow", "curl runs"])
async def test_a_gate_waits_on_for_a_child_that_has_not_had_its_time(busy):
    trial = gated_trial(**busy)
    with Gate(trial) as gate:
        filling = asyncio.ensure_future(gate.filled(1, quiet=0.01))
        await asyncio.sleep(0.2)
        assert not filling.done()
        asking = asyncio.ensure_future(trial.gateway.gate({"extensions": {}}))
        async with asyncio.timeout(5):
            await filling
        gate.open()
        await asking


async def test_a_gate_does_not_wait_for_a_child_that_is_held_up_by_it(monkeypatch):
    monkeypatch.setattr(crowd, "BLOCKED_SECONDS", 0.05)
    with Gate(gated_trial(pong_seconds=9)) as gate:
        async with asyncio.timeout(1):
            await gate.filled(1, quiet=0.01)


async def test_a_gate_holds_until_all_have_come_or_no_more_do_and_then_lets_go_in_reverse():
    trial = gated_trial(pong_seconds=0)
    passed = []

    async def ask(name):
        await trial.gateway.gate({"extensions": {}})
        passed.append(name)

    with Gate(trial) as gate:
        asking = [asyncio.ensure_future(ask(name)) for name in "abc"]
        await gate.filled(3, quiet=10)
        assert len(gate.waiting) == 3
        await gate.filled(4, quiet=0.01)
        assert passed == []
        gate.open()
        await asyncio.gather(*asking)
    assert passed == ["c", "b", "a"]
    assert trial.gateway.gate is None


class Observed:
    """What scenes would have shown."""

    def __init__(self, found, *, lists=(), by_host=False):
        self._found, self._lists, self._by_host = found, lists, by_host

    async def of(self, scene, *_):
        if scene is answered_for_another:
            return None
        return self._found if scene is not crowded else {"t": self._found}

    async def plain(self):
        lists = [SimpleNamespace(host=host, is_plugin_list=True) for host in self._lists]
        return SimpleNamespace(call=lambda _: SimpleNamespace(lists=lists))

    async def backing(self, _):
        return SimpleNamespace(by_host=self._by_host)


async def test_a_late_answer_on_a_machine_that_is_too_busy_is_no_finding():
    late = Watched(worst=Watch(seconds=math.inf, too_late=True), step="x", certain=False)
    with pytest.raises(Inconclusive, match="too busy") as opened:
        await concurrency.others_are_answered_while_a_call_is_on_its_way(Observed({"t": late}), "t")
    assert "less to do" in opened.value.supply


async def test_a_finding_names_what_the_tool_was_waiting_for():
    late = Watched(worst=Watch(seconds=1.44, asking="/changes/1/detail of elm", too_late=True), step="while slow")
    with pytest.raises(Finding) as found:
        await concurrency.others_are_answered_while_a_call_is_on_its_way(Observed({"t": late}), "t")
    assert found.value.saw == "an answer after 1.4 s while it waited for /changes/1/detail of elm"


async def test_a_tool_whose_arguments_cannot_be_varied_has_nothing_to_mix_up():
    with pytest.raises(NotApplicable, match="varied"):
        await concurrency.each_of_many_calls_gets_its_own_answer(Observed(Crowd()), "t")


async def test_calls_that_could_not_be_made_leave_it_open():
    crowd = Crowd(choices=[{"change_id": "1"}, {"change_id": "2"}])
    with pytest.raises(Inconclusive, match="could not be called again"):
        await concurrency.each_of_many_calls_gets_its_own_answer(Observed(crowd), "t")


async def test_a_host_that_was_named_and_not_asked_is_a_finding(monkeypatch):
    monkeypatch.setattr(concurrency, "mixed_up", lambda *_, **__: None)
    crowd = crowd_of_hosts(CEDAR, CEDAR)
    for one in crowd.alone:
        one[0].tool = "t"
    with pytest.raises(Finding, match="instead, among 2 calls for several hosts") as found:
        await concurrency.each_of_many_calls_gets_its_own_answer(Observed(crowd), "t")
    assert found.value.expected == "GET /changes/1 to be asked of elm, which the call names"
    assert found.value.evidence[-1].text == "2 times GET /changes/1 on cedar"


@pytest.mark.parametrize(
    ("observed", "reason"),
    [
        (Observed(None, by_host=True), "decided by the host"),
        (Observed(None), "routes without lists of plugins"),
    ],
)
async def test_only_a_tool_with_lists_of_its_own_is_asked_for_single_flights(observed, reason):
    with pytest.raises(NotApplicable, match=reason):
        await concurrency.first_calls_at_once_ask_each_host_for_its_list_once(observed, "t")


async def test_a_tool_may_ask_at_once_as_often_as_it_does_in_a_single_call():
    twice = FirstCalls(answers=[None] * 5, at_the_same_time=Counter(rowan=2))
    check = concurrency.first_calls_at_once_ask_each_host_for_its_list_once
    await check(Observed(twice, lists=("rowan", "rowan")), "t")
    with pytest.raises(Finding, match="2 on their way at the same time"):
        await check(Observed(twice, lists=("rowan",)), "t")
