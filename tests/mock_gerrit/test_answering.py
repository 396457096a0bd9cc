"""The HTTP face: prefix, escaping, authentication, context paths, and what is not there."""

from __future__ import annotations

import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mock_gerrit.exchange import Request, Response
from mock_gerrit.gerrit import answer
from mock_gerrit.host import Host
from mock_gerrit.world import World
from tests.mock_gerrit.plugin_asking import a_host, ask, refusal, told


def get(host: Host, target: str, *headers: tuple[str, str], method: str = "GET", body: bytes = b"") -> Response:
    return answer(host, Request(method=method, target=target, headers=headers, body=body))


def basic(username: str, password: str) -> tuple[str, str]:
    return "Authorization", "Basic " + base64.b64encode(f"{username}:{password}".encode()).decode()


def test_json_is_prefixed_compact_safe_in_html_and_ends_in_a_newline() -> None:
    host = a_host()
    host.change("demo", subject="a=1 <b> & 'c'")
    body = get(host, "/changes/1").body.decode()
    assert body.startswith(")]}'\n{")
    assert body.endswith("}\n")
    assert r'"subject":"a\u003d1 \u003cb\u003e \u0026 \u0027c\u0027"' in body


def test_pretty_printing_is_for_the_asking() -> None:
    assert get(a_host(), "/config/server/version?verbose&pp=1").body.startswith(b')]}\'\n{\n  "gerrit_version"')


def test_head_answers_like_get_without_a_body() -> None:
    response = get(a_host(), "/config/server/version", method="HEAD")
    assert (response.status, response.body) == (200, b"")


def test_an_error_is_plain_text_with_a_newline() -> None:
    response = get(a_host(), "/changes/99")
    assert response.status == 404
    assert response.body == b"Not found: 99\n"
    assert ("Content-Type", "text/plain;charset=utf-8") in response.headers


class TestAuthentication:
    """Who asks."""

    @pytest.fixture
    def host(self) -> Host:
        host = a_host()
        host.account("carol", cookie="o=git-carol.abc", http_password="pw")
        return host

    def test_below_a_everything_needs_credentials(self, host: Host) -> None:
        response = get(host, "/a/config/server/version")
        assert (response.status, response.body) == (401, b"Unauthorized")

    @pytest.mark.parametrize("who", [("alice", "wrong"), ("nobody", "x"), ("alice", ""), ("ALICE", "alice-pw")])
    def test_wrong_credentials_are_refused(self, host: Host, who: tuple[str, str]) -> None:
        assert get(host, "/a/accounts/self", basic(*who)).status == 401

    def test_basic_is_not_looked_at_outside_a(self, host: Host) -> None:
        assert get(host, "/accounts/self", basic("alice", "alice-pw")).status == 403

    def test_a_cookie_signs_in(self, host: Host) -> None:
        response = get(host, "/a/accounts/self", ("Cookie", "x=y; o=git-carol.abc"))
        assert told(response)["username"] == "carol"
        assert response.user == "carol"

    def test_a_cookie_outside_a_may_read_and_not_write(self, host: Host) -> None:
        cookie = ("Cookie", "o=git-carol.abc")
        assert get(host, "/accounts/self", cookie).status == 200
        refused = get(host, "/accounts/self/status", cookie, method="PUT", body=b"{}")
        assert refusal(refused)[1].startswith("Invalid authentication method.")

    def test_an_anonymous_write_is_refused_before_the_change_is_looked_up(self, host: Host) -> None:
        assert refusal(get(host, "/changes/99/abandon", method="POST")) == (403, "Authentication required")

    def test_credentials_that_are_no_base64_break_gerrit(self, host: Host) -> None:
        assert get(host, "/a/accounts/self", ("Authorization", "Basic ???")).status == 500

    def test_somebody_inactive_cannot_sign_in(self, host: Host) -> None:
        host.account_of("carol").active = False
        assert get(host, "/a/accounts/self", basic("carol", "pw")).status == 401


class TestContextPath:
    """A host below a path."""

    @pytest.fixture
    def host(self) -> Host:
        host = World().host("https://review.example.com/r")
        host.account("alice", http_password="alice-pw")
        return host

    def test_paths_begin_with_it(self, host: Host) -> None:
        assert get(host, "/r/config/server/version").status == 200
        assert get(host, "/r/a/accounts/self", basic("alice", "alice-pw")).status == 200

    @pytest.mark.parametrize(
        "target", ["/config/server/version", "/rr/config/server/version", "/a/r/config/server/version"]
    )
    def test_nothing_is_beside_it(self, host: Host, target: str) -> None:
        assert get(host, target, basic("alice", "alice-pw")).status == 404


class TestUnsimulated:
    """What the simulation lacks is told apart from what is not there in Gerrit either."""

    def test_an_unknown_view_names_the_nearest_route(self) -> None:
        host = a_host()
        host.change("demo")
        response = get(host, "/changes/1/detailed")
        assert (response.status, response.body) == (404, b"Not found: detailed\n")
        assert response.unsimulated is not None
        assert response.unsimulated.startswith("GET /changes/{change}/")

    def test_an_unknown_collection_is_reported(self) -> None:
        assert get(a_host(), "/groups/").unsimulated is not None

    def test_a_change_that_is_not_there_is_gerrits_answer(self) -> None:
        assert get(a_host(), "/changes/9/detail").unsimulated is None

    def test_a_view_of_a_plugin_that_is_not_installed_is_gerrits_answer(self) -> None:
        host = a_host()
        host.change("demo")
        response = get(host, "/changes/1/nosuch~view")
        assert (response.status, response.unsimulated) == (404, None)

    def test_a_view_of_an_installed_plugin_without_a_simulator_is_reported(self) -> None:
        host = a_host("own-plugin")
        host.change("demo")
        assert get(host, "/changes/1/own-plugin~view").unsimulated is not None

    def test_a_path_that_gerrit_has_not_is_gerrits_answer(self) -> None:
        response = get(a_host(), "/nosuch")
        assert (response.status, response.unsimulated) == (404, None)


def test_a_wrong_method_is_404_on_a_view_and_405_on_a_collection() -> None:
    host = a_host()
    host.change("demo")
    assert refusal(ask(host, "/changes/1/detail", method="DELETE")) == (404, "Not Found")
    assert refusal(ask(host, "/changes/", method="PUT")) == (405, "Not implemented: PUT /changes/")


def test_what_follows_a_view_is_not_looked_at() -> None:
    host = a_host()
    host.change("demo")
    assert get(host, "/changes/1/topic/and/more").status == 200


@pytest.mark.parametrize("target", ["/changes/%zz", "/changes/%", "/changes/%00"])
def test_a_path_with_broken_escapes_is_a_bad_message(target: str) -> None:
    assert get(a_host(), target).status == 400


@pytest.mark.parametrize(
    ("sent", "topic"),
    [
        ('{"topic": "x"}', "x"),
        ("{'topic': 'x'}", "x"),
        ("{topic: x}", "x"),
        ('{"topic": "x"} trailing', "x"),
        (')]}\'\n{"topic": "x"}', "x"),
        ('{"topic": 7}', "7"),
        ('{"topic": true}', "true"),
        ('"x"', "x"),
        ('{"topic": "x", "nosuch": [1, {"a": null}]}', "x"),
    ],
)
def test_json_is_read_leniently(sent: str, topic: str) -> None:
    host = a_host()
    host.change("demo")
    headers = (basic("alice", "alice-pw"), ("Content-Type", "application/json"))
    assert told(get(host, "/a/changes/1/topic", *headers, method="PUT", body=sent.encode())) == topic


@pytest.mark.parametrize("sent", ['{"topic": "x",}', '{"topic": ["x"]}', '{"topic":', "[]", '{"topic" "x"}'])
def test_json_that_makes_no_sense_is_refused(sent: str) -> None:
    host = a_host()
    host.change("demo")
    headers = (basic("alice", "alice-pw"), ("Content-Type", "application/json"))
    response = get(host, "/a/changes/1/topic", *headers, method="PUT", body=sent.encode())
    assert refusal(response) == (400, "Invalid application/json in request")


@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=60))
def test_any_query_is_answered_or_refused(query: str) -> None:
    host = a_host()
    response = get(host, "/changes/?q=" + "".join(f"%{byte:02x}" for byte in query.encode()))
    assert response.status in {200, 400, 403}


@given(
    st.lists(
        st.sampled_from(
            ["changes", "1", "~", "revisions", "current", "files", "a", "", "..", "projects", "demo", "%2F"]
        ),
        max_size=7,
    )
)
def test_any_path_is_answered(segments: list[str]) -> None:
    host = a_host()
    host.change("demo")
    response = get(host, "/" + "/".join(segments))
    assert 200 <= response.status < 500
    if response.status == 200 and response.body.startswith(b")]}'"):
        json.loads(response.body[5:])
