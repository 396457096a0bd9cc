"""Fixed answers of plugins without a simulator."""

from __future__ import annotations

from typing import Any

import pytest

from mock_gerrit.exchange import Response
from mock_gerrit.host import Host
from tests.mock_gerrit.plugin_asking import a_host, ask, refusal, told


def host_with(canned: dict[str, Any]) -> Host:
    host = a_host()
    host.add_plugin("weather", canned=canned)
    host.change("demo")
    return host


def test_a_json_answer_is_given_as_gerrit_gives_json() -> None:
    answer = ask(host_with({"GET /plugins/weather/today": {"json": {"sky": "blue"}}}), "/plugins/weather/today")
    assert told(answer) == {"sky": "blue"}
    assert answer.body.startswith(b")]}'\n")


def test_a_text_answer_is_given_as_it_is() -> None:
    host = host_with({"GET /plugins/weather/today": {"text": "sunny", "status": 418}})
    assert refusal(ask(host, "/plugins/weather/today")) == (418, "sunny")


@pytest.mark.parametrize("path", ["/changes/1/weather~today", "/changes/demo~1/weather~today"])
def test_a_star_stands_for_one_segment(path: str) -> None:
    assert told(ask(host_with({"GET /changes/*/weather~today": {"json": 1}}), path)) == 1


def test_a_star_stands_for_no_more_than_one_segment() -> None:
    answer = ask(host_with({"GET /changes/*/today": {"json": 1}}), "/changes/1/weather/today")
    assert answer.status == 404


@pytest.mark.parametrize("query", ["weather--all&q=change:1", "q=change:1&--weather--all"])
def test_a_key_with_a_query_answers_requests_that_have_it(query: str) -> None:
    host = host_with({"GET /changes/?weather--all": {"json": [{"plugins": []}]}})
    assert told(ask(host, f"/changes/?{query}")) == [{"plugins": []}]


def test_a_request_without_the_query_is_answered_by_gerrit() -> None:
    host = host_with({"GET /changes/?weather--all": {"json": []}})
    assert [change["_number"] for change in told(ask(host, "/changes/?q=change:1"))] == [1]


def test_head_is_answered_without_a_body() -> None:
    answer: Response = ask(host_with({"GET /plugins/weather/x": {"json": 1}}), "/plugins/weather/x", method="HEAD")
    assert (answer.status, answer.body) == (200, b"")


def test_another_method_is_another_request() -> None:
    host = host_with({"POST /plugins/weather/x": {"json": "done"}})
    assert told(ask(host, "/plugins/weather/x", method="POST", body={})) == "done"
    assert ask(host, "/plugins/weather/x").status == 404


def test_a_plugin_that_is_switched_off_answers_nothing() -> None:
    host = host_with({"GET /plugins/weather/x": {"json": 1}})
    host.plugins["weather"].disabled = True
    assert ask(host, "/plugins/weather/x").status == 404
