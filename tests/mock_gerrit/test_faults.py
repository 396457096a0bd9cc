"""Which requests a rule hits, what an impossible rule says, and what the client gets."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mock_gerrit.exchange import Response
from mock_gerrit.faults import KINDS, SPOILING, Fault, Faults, invent, spoil


def struck(faults, *, host="review-a", method="GET", path="/plugins/"):
    fault = faults.strike(host=host, method=method, path=path)
    return fault.kind if fault else None


def in_force(*rules):
    faults = Faults()
    for rule in rules:
        faults.add(rule)
    return faults


def test_a_rule_without_conditions_hits_everything():
    assert struck(in_force(Fault(kind="empty"))) == "empty"


@pytest.mark.parametrize(
    ("condition", "request_", "hit"),
    [
        ({"host": "review-a"}, {}, True),
        ({"host": "review-b"}, {}, False),
        ({"method": "post"}, {"method": "POST"}, True),
        ({"method": "POST"}, {"method": "GET"}, False),
        ({"path": "plug"}, {}, True),
        ({"path": "^/changes/"}, {}, False),
        ({"not_path": "^/plugins/"}, {}, False),
        ({"not_path": "^/plugins/"}, {"path": "/changes/"}, True),
        ({"path": "a%2Fb"}, {"path": "/projects/a%2Fb"}, True),
    ],
)
def test_all_conditions_of_a_rule_must_hold(condition, request_, hit):
    assert (struck(in_force(Fault(kind="empty", **condition)), **request_) == "empty") is hit


def test_the_nth_request_is_counted_among_those_that_match():
    faults = in_force(Fault(kind="reset", path="plugins", nth=2))
    asked = ["/plugins/", "/changes/", "/plugins/", "/plugins/"]
    assert [struck(faults, path=path) for path in asked] == [None, None, "reset", None]


def test_a_rule_stops_after_so_many_times():
    faults = in_force(Fault(kind="reset", times=2))
    assert [struck(faults) for _ in range(3)] == ["reset", "reset", None]


def test_the_first_rule_that_is_due_decides_and_the_others_count_along():
    faults = in_force(Fault(kind="reset", nth=1), Fault(kind="empty", nth=2))
    assert [struck(faults) for _ in range(3)] == ["reset", "empty", None]


def test_a_copy_counts_from_the_beginning():
    faults = in_force(Fault(kind="reset", nth=1))
    assert struck(faults) == "reset"
    assert struck(faults.copy()) == "reset"


def test_clearing_lets_everything_go_right():
    faults = in_force(Fault(kind="reset"))
    faults.clear()
    assert (struck(faults), len(faults), list(faults)) == (None, 0, [])


def test_the_login_page_is_there_once_somebody_was_sent_to_it():
    faults = in_force(Fault(kind="redirect", path="^/plugins/", host="review-a"))
    assert struck(faults, path="/login/%2F") is None
    assert struck(faults) == "redirect"
    assert struck(faults, path="/login/%2Fplugins%2F") == "redirect"
    assert struck(faults, path="/login/%2F", host="review-b") is None


@pytest.mark.parametrize(
    ("facts", "complaint"),
    [
        ({"kind": "tmeout"}, "kind='tmeout': expected one of status, html"),
        ({"kind": "reset", "nth": 0}, "nth=0: expected 1 or more"),
        ({"kind": "reset", "times": 0}, "times=0: expected 1 or more"),
        ({"kind": "slow", "delay": -1}, "delay=-1: expected seconds"),
        ({"kind": "slow"}, "expected a delay"),
        ({"kind": "reset", "status": 500}, "for status and html only"),
        ({"kind": "status", "status": 200}, "400 to 599"),
        ({"kind": "empty", "body": "x"}, "for html, redirect, status only"),
        ({"kind": "reset", "path": "("}, "path='\\(': not a regular expression"),
    ],
)
def test_a_rule_that_could_never_happen_is_refused(facts, complaint):
    with pytest.raises(ValueError, match=complaint):
        Fault(**facts)


def invented(path="/plugins/", **facts):
    return invent(Fault(**facts), base="https://review-a.example.com", path=path)


def test_errors_have_gerrits_words_unless_others_are_given():
    assert invented(kind="status", status=404).body == b"Not found\n"
    assert invented(kind="status", status=409, body="change is closed").body == b"change is closed\n"
    assert invented(kind="status", status=418).status == 418


def test_html_of_a_proxy_escapes_nothing_it_was_given():
    assert invented(kind="html", status=504).status == 504
    assert invented(kind="html", body="<p>away</p>").body == b"<p>away</p>"


def answer(value):
    return Response(status=200, reason="OK", body=f")]}}'\n{json.dumps(value)}\n".encode())


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@settings(max_examples=50)
@given(json_values)
def test_the_wrong_type_is_always_another_type(value):
    wrong = json.loads(spoil(Fault(kind="wrong-type"), answer(value)).body.removeprefix(b")]}'\n"))
    assert type(wrong) is not type(value)


@settings(max_examples=50)
@given(json_values)
def test_truncated_json_never_parses(value):
    body = spoil(Fault(kind="truncated"), answer(value)).body.removeprefix(b")]}'\n")
    with pytest.raises(ValueError):  # noqa: PT011 - json's and the decoder's errors have no more in common
        json.loads(body)


def test_text_can_be_of_the_wrong_type_too():
    spoilt = spoil(Fault(kind="wrong-type"), Response(status=404, reason="Not Found", body=b"Not found: x\n"))
    assert json.loads(spoilt.body.removeprefix(b")]}'\n")) == ["Not found: x\n"]


@pytest.mark.parametrize("kind", sorted(SPOILING))
def test_spoiling_keeps_the_status(kind):
    assert spoil(Fault(kind=kind, delay=0.1), answer({})).status == 200


def test_every_kind_is_told_in_the_documentation_of_the_rule():
    assert [kind for kind in KINDS if f"`{kind}`" not in (Fault.__doc__ or "")] == []
