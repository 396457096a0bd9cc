"""What an extension asks of Gerrit by itself is no tool's request, and a call that met no fault is no proof."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from conformance.contracts.results import a_404_becomes_an_error
from conformance.contracts.tools import every_form_of_an_address_reaches_its_host
from conformance.outcomes import Finding, Inconclusive, NotApplicable
from conformance.rig.scenarios import Seen, is_no_refusal
from conformance.rig.surroundings import BASE_FORMS, Surroundings
from conformance.rig.trial import Call, Fact
from conformance.rig.unbidden import asked_while_loading, is_unbidden, written_for_others
from conformance.wire.reply import ToolReply
from mock_gerrit.journal import Entry

VERSION, DETAIL = "/config/server/version", "/changes/1/detail"
LOADING = frozenset({("GET", VERSION)})


def entry(endpoint: str = DETAIL, *, method: str = "GET", **facts: Any) -> Entry:
    about = {"number": 0, "host": "cedar", "authority": "cedar.example.com", "scheme": "https", "status": 200}
    return Entry(
        **{**about, "target": f"/a{endpoint}", "path": f"/a{endpoint}", **facts}, method=method, started=0, finished=0
    )


def asked(path: str, tool: str) -> Fact:
    url = f"https://cedar.example.com/a{path}?v"
    return Fact(kind="run_curl", about={"tool": tool, "urls": [url], "line": ""})


def call(*entries: Entry, facts: tuple[Fact, ...] = (), error: bool = False) -> Call:
    answer = ToolReply(raw=b"{}", is_error=error, content=({"type": "text", "text": "it"},), structured={})
    around = Surroundings(unbidden=LOADING)
    return Call(
        tool="t", arguments={}, reply=answer, trouble="", entries=entries, facts=facts, seconds=0.1, surroundings=around
    )


class Observed:
    """Stands for the observations of a subject with one tool."""

    def __init__(self, usual: Call, other: Call) -> None:
        """Answer for the plain call with `usual`, for all others with `other`."""
        self._usual, self._other = usual, other

    async def plain(self) -> Seen:
        return Seen(calls={("t", ""): self._usual})

    async def not_found(self, **_: Any) -> Seen:
        return Seen(calls={("t", ""): self._other})

    async def typed_addresses(self) -> Seen:
        return Seen(calls={("t", form): self._other for form in BASE_FORMS})

    async def tool(self, _: str) -> dict[str, Any]:
        return {"name": "t", "inputSchema": {"properties": {"gerrit_base_url": {}}}}


def test_what_arrived_while_nothing_was_called_is_remembered_by_method_and_path():
    trial: Any = SimpleNamespace(world=SimpleNamespace(journal=[entry(VERSION), entry(VERSION)]))
    assert asked_while_loading([trial]) == LOADING


def test_a_request_of_a_thread_is_no_request_of_the_call_in_which_it_arrives():
    mixed = call(entry(VERSION), entry(), facts=(asked(VERSION, ""), asked(DETAIL, "t")))
    assert [one.gerrit_path for one in mixed.own] == [DETAIL]
    assert not call(entry(VERSION)).own


def test_a_tool_that_asks_for_the_same_is_known_by_the_tool_that_asked():
    assert call(entry(VERSION), facts=(asked(VERSION, ""), asked(VERSION, "t"))).own


def test_another_method_or_path_is_never_taken_for_it():
    assert not is_unbidden(entry(VERSION, method="PUT"), LOADING, ())
    assert not is_unbidden(entry(f"{VERSION}s"), LOADING, ())


def test_a_call_that_met_no_fault_has_not_refused_anything():
    assert is_no_refusal(call(entry(), error=True))
    assert not is_no_refusal(call(entry(fault="status", status=404), error=True))


async def test_a_call_that_asked_for_something_else_leaves_the_question_open():
    observed: Any = Observed(usual=call(entry()), other=call(entry("/changes/2/detail")))
    with pytest.raises(
        Inconclusive, match=r"refused GET /changes/1/detail, .* asked for GET /changes/2/detail instead"
    ):
        await a_404_becomes_an_error(observed, "t")


async def test_only_a_tool_that_never_asks_is_said_to_ask_for_nothing():
    observed: Any = Observed(usual=call(entry(VERSION)), other=call(entry(VERSION)))
    with pytest.raises(NotApplicable, match="asked Gerrit for nothing"):
        await a_404_becomes_an_error(observed, "t")


@pytest.mark.parametrize("facts", [{"scheme": "http"}, {"path": DETAIL, "target": DETAIL}])
async def test_an_address_that_reaches_its_host_as_it_was_typed_is_told_by_scheme_and_path(facts):
    form, (host, _) = next(iter(BASE_FORMS.items()))
    raw = entry(**{"host": host, "authority": f"{host}.example.com", **facts})
    observed: Any = Observed(usual=call(entry()), other=call(raw))
    with pytest.raises(Finding) as raised:
        await every_form_of_an_address_reaches_its_host(observed, "t")
    assert form in raised.value.expected
    assert raised.value.expected.endswith(f"https://{host}.example.com/a")
    assert raised.value.saw.endswith(f"as it was typed: GET {raw.url}")


def run_of(number: int, url: str) -> dict[str, Any]:
    return {"call": number, "urls": [url]}


def test_a_write_that_an_earlier_call_left_is_not_of_this_one_and_what_it_reads_is() -> None:
    url = "https://cedar.example.com/a/changes/1"
    written = entry("/changes/1", method="POST")
    told = [run_of(1, url)]
    assert written_for_others([written], told, 2) == [written]
    assert written_for_others([written], [*told, run_of(2, url)], 2) == [], "this call writes there as well"
    assert written_for_others([written], [run_of(1, url.replace("cedar", "elm"))], 2) == [], "at another host"
    assert written_for_others([entry("/changes/1")], told, 2) == []
    assert written_for_others([written], [run_of(0, url)], 2) == [], "of no call: what the extension does by itself"
