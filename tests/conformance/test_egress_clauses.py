"""Whom a tool speaks to and by what means: how requests are accounted for, and what a finding or an open end says."""

from __future__ import annotations

import base64
import json
import socket
from types import SimpleNamespace
from urllib.parse import quote

import pytest

from conformance.contracts.egress import _forms, _has_type, _judge_run_curl
from conformance.contracts.registry import catalogue
from conformance.examine import Examination
from conformance.observations import Observations
from conformance.outcomes import Finding, Outcome
from conformance.profile import plain_host_name, profile_from
from conformance.rig.accounting import unexplained
from conformance.rig.contacts import missing_host, past_the_proxy
from conformance.rig.describing import bare_parameters
from conformance.rig.masking import Masking
from conformance.rig.rig import Rig
from conformance.rig.surroundings import Credentials, Surroundings, third_party_answers
from conformance.rig.targets import places_asked
from conformance.rig.trial import Call, Fact
from conformance.targets import resolve_target
from conformance.usage import UsageError
from mock_gerrit.journal import Headers, Journal
from mock_gerrit.serving.elsewhere import StrangeRequest

CEDAR = "https://cedar.example.com/a/changes/1/detail"


# --- what run_curl accounts for


def entry(*, at: float, host: str = "cedar", path: str = "/a/changes/1/detail", status: int = 200):
    return Journal().record(
        host=host, authority=f"{host}.example.com", scheme="https", method="GET", target=path, path=path,
        status=status, started=at,
    )  # fmt: skip


def trial(*facts: Fact):
    return SimpleNamespace(told=lambda kind: [fact.about for fact in facts if fact.kind == kind])


def curl(number: int, begins: float, ends: float, *urls: str, several: bool = False) -> list[Fact]:
    about = {"number": number, "at": begins, "urls": list(urls), "base_urls": [], "several": several}
    return [
        Fact(kind="run_curl", about=about),
        Fact(kind="run_curl_over", about={"number": number, "at": ends}),
    ]


def test_a_request_while_run_curl_runs_is_its_own():
    assert unexplained([entry(at=1.5)], trial(*curl(0, 1, 2, CEDAR))) == []


@pytest.mark.parametrize("at", [0.5, 2.5])
def test_the_same_request_before_or_after_is_not(at):
    assert len(unexplained([entry(at=at)], trial(*curl(0, 1, 2, CEDAR)))) == 1


def test_one_address_accounts_for_one_request():
    entries = [entry(at=1.2), entry(at=1.4)]
    assert len(unexplained(entries, trial(*curl(0, 1, 2, CEDAR)))) == 1
    assert unexplained(entries, trial(*curl(0, 1, 2, CEDAR, CEDAR))) == []


def test_of_two_requests_the_one_with_another_address_is_blamed():
    strange = entry(at=1.2, path="/a/accounts/self")
    assert unexplained([strange, entry(at=1.4)], trial(*curl(0, 1, 2, CEDAR))) == [strange]


def test_a_call_that_may_ask_more_often_accounts_for_any_number():
    entries = [entry(at=1 + part / 10, host="elm") for part in range(5)]
    assert unexplained(entries, trial(*curl(0, 1, 2, CEDAR, several=True))) == []


def test_a_redirect_may_be_followed_wherever_it_leads():
    entries = [entry(at=1.2, status=302), entry(at=1.3, host="elm", path="/login/")]
    assert unexplained(entries, trial(*curl(0, 1, 2, CEDAR))) == []


def test_a_request_to_another_host_is_not_accounted_for():
    assert len(unexplained([entry(at=1.5, host="elm")], trial(*curl(0, 1, 2, CEDAR)))) == 1


def test_a_call_that_never_came_back_is_still_running():
    begun, _ = curl(0, 1, 2, CEDAR)
    assert unexplained([entry(at=9)], trial(begun)) == []


def test_the_lists_that_the_host_asks_for_are_its_own():
    url = "https://cedar.example.com/a/plugins/?all"
    asked = trial(Fact(kind="host_asked", about={"urls": [url], "at": 1}))
    path = "/a/plugins/?all"
    assert unexplained([entry(at=1.5, path=path)], asked) == []
    assert len(unexplained([entry(at=1.5, path=path), entry(at=1.6, path=path)], asked)) == 1
    inside = trial(Fact(kind="host_asked", about={"urls": [], "at": 1}))
    assert unexplained([entry(at=1.5, path="/a/plugins/")], inside) == []
    assert len(unexplained([entry(at=1.5)], inside)) == 1, "a host that asks by itself asks for lists only"


def test_nobody_is_blamed_where_there_was_too_much_to_tell():
    assert unexplained([entry(at=1.5)], trial(Fact(kind="too_much", about={"of": "run_curl", "at": 1}))) == []


# --- who was reached


@pytest.mark.parametrize(
    ("command", "hosts"),
    [
        ("curl --noproxy * https://ping.example.net/x", ["ping.example.net"]),
        ("sh -c curl -s 'https://cedar.example.com/x'|head", ["cedar.example.com"]),
        ("/usr/bin/ssh -p 29418 me@cedar.example.com gerrit version", ["cedar.example.com"]),
        ("nc collector.example.net 80", ["collector.example.net"]),
        ("git fetch https://git.example.net/x.git", ["git.example.net"]),
        ("git commit -m see https://cedar.example.com/c/1", []),
        ("echo https://cedar.example.com", []),
        ("curl --data @body.json https://ping.example.net/", ["ping.example.net"]),
        ("scp notes.txt ./key.pem", []),
        ("wc -w", []),
    ],
)
def test_a_command_reaches_the_hosts_that_its_program_is_for(command, hosts):
    fact = Fact(kind="spawned", about={"command": command, "tool": "t", "line": "x.py:1 in t"})
    assert [contact.host for contact in past_the_proxy([fact])] == hosts


def strange(answered_by: str) -> StrangeRequest:
    return StrangeRequest(
        authority="api.example.org", scheme="https", method="GET", target="/v1?x=1", headers=Headers(), body=b"",
        status=200, answered_by=answered_by, at=1.0,
    )  # fmt: skip


def call(**changes: object) -> Call:
    usual = {"tool": "t", "arguments": {}, "reply": None, "trouble": "", "entries": (), "facts": (), "seconds": 0.1}
    return Call(**{**usual, **changes})


def test_a_call_that_asked_a_stranger_needs_its_name_in_the_profile():
    lacking = missing_host(call(refused=["api.example.org:443"]))
    assert lacking is not None
    assert "api.example.org:443" in lacking.reason
    assert lacking.supply == '[tool.gerrit-conformance.extension]\nthird_party_hosts = ["api.example.org"]'


def test_a_call_that_asked_a_named_host_needs_its_answer():
    lacking = missing_host(call(elsewhere=[strange("default")]))
    assert lacking is not None
    assert 'host = "api.example.org"\nmethod = "GET"\npath = "/v1"' in lacking.supply
    assert missing_host(call(elsewhere=[strange("answer")])) is None


def test_a_call_that_went_past_the_proxy_needs_a_client_that_does_not():
    about = {"host": "api.example.org", "how": "looked up", "tool": "t", "line": ""}
    lacking = missing_host(call(facts=[Fact(kind="reached_out", about=about)]))
    assert lacking is not None
    assert "honours https_proxy" in lacking.supply
    assert missing_host(call(facts=[Fact(kind="reached_out", about={**about, "host": "cedar.example.com"})])) is None


def test_another_port_of_gerrit_is_nothing_to_name_in_a_profile():
    lacking = missing_host(call(refused=["cedar.example.com:8443"]))
    assert lacking is not None
    assert "third_party_hosts" not in lacking.supply


# --- the profile


@pytest.mark.parametrize(
    "text", ["api.example.org", "API.example.org.", "https://api.example.org/v1", "api.example.org:8443"]
)
def test_a_host_is_named_in_whatever_form_people_write_it(text):
    assert plain_host_name(text) == "api.example.org"


def test_what_is_no_host_at_all_is_left_as_it_is():
    assert plain_host_name("http://[") == "http://["


def test_a_host_with_a_canned_answer_is_named_by_it():
    told = {
        "extension": {"third_party_hosts": ["one.example.org"]},
        "canned": [
            {"host": "https://two.example.org", "path": "/x", "json": {"a": 1}},
            {"plugin": "p", "path": "/y"},
        ],
    }
    profile = profile_from(told, where="x")
    assert profile.third_parties() == ("one.example.org", "two.example.org")
    surroundings = Surroundings(canned=tuple(profile.canned), third_parties=profile.third_parties())
    answers = third_party_answers(surroundings)
    assert answers == {"one.example.org": {}, "two.example.org": {"GET /x": {"status": 200, "json": {"a": 1}}}}


@pytest.mark.parametrize("names", [{}, {"plugin": "p", "host": "h"}])
def test_an_answer_is_that_of_a_plugin_or_of_a_host(names):
    with pytest.raises(UsageError, match="either plugin or host"):
        profile_from({"canned": [{**names, "path": "/x"}]}, where="x")


# --- what a tool tells about itself


@pytest.mark.parametrize(
    ("schema", "typed"),
    [
        ({"type": "string"}, True),
        ({"enum": ["a"]}, True),
        ({"const": 1}, True),
        ({"$ref": "#/$defs/X"}, True),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, True),
        ({"anyOf": [{}, {"type": "null"}]}, False),
        ({"title": "X"}, False),
        ({"default": None}, False),
        ({}, False),
        (True, False),
    ],
)
def test_a_schema_says_of_what_type_a_parameter_is(schema, typed):
    assert _has_type(schema) is typed


def test_parameters_without_an_annotation_are_known_by_the_signature():
    def tool(one: str, two, three=3): ...

    assert bare_parameters(tool) == ["two", "three"]
    assert bare_parameters(type.__call__) is not None, "what has no signature that Python can read is no complaint"


# --- all of it together

EXTENSION = '''"""An extension for one test."""
import json, socket, urllib.request
from urllib.parse import quote
from typing_extensions import TypedDict

class Number(TypedDict):
    """A number."""
    number: int

def look_up(name):
    try:
        socket.getaddrinfo(name, 443)
    except OSError:
        pass

def register(ctx):
    async def read(change_id, gerrit_base_url):
        base_url = ctx.get_base_url(gerrit_base_url)
        body = await ctx.run_curl([f"{base_url}/changes/{quote(change_id, safe='')}/detail"], base_url)
        return json.loads(body.removeprefix(")]}'"))

    @ctx.mcp.tool()
    async def get_number(change_id: str, gerrit_base_url: str | None = None) -> Number:
        """Get a number."""
        change = await read(change_id, gerrit_base_url)
        ACTION
        return {"number": change["_number"]}
'''


async def judged(tmp_path, rig: Rig, action: str, *clauses: str, profile: dict | None = None):
    file = tmp_path / "made_for_a_test.py"
    file.write_text(EXTENSION.replace("ACTION", action))
    subject = resolve_target(f"path:{file}", cwd=tmp_path)
    told = profile_from(profile or {}, where="test")
    async with Examination(subject, profile=told, rig=rig) as examination:
        return [await examination.judge(catalogue()[clause]) for clause in clauses]


@pytest.fixture
def plain_calls_only(monkeypatch):
    """Look at the plain calls alone: what every other scene would show as well need not be played for a test."""

    async def everything(observed):
        yield await observed.plain()

    async def configured(observed):
        return {}

    monkeypatch.setattr(Observations, "everything", everything)
    monkeypatch.setattr(Observations, "configured", configured)


@pytest.mark.usefixtures("plain_calls_only")
async def test_a_finding_shows_where_in_the_subject_it_happened(tmp_path):
    action = 'look_up("cedar.example.com"); look_up("t.example.net"); change["no_such_key"]'
    async with Rig() as rig:
        auth, egress = await judged(tmp_path, rig, action, "TOOL-AUTH", "TOOL-EGRESS")
    lines = [one.text for one in auth.findings[0].evidence if one.kind == "line"]
    assert "cedar.example.com looked up, during a call of get_number" in auth.findings[0].saw
    assert lines == [
        "made_for_a_test.py:12 in look_up: cedar.example.com looked up",
        "made_for_a_test.py:12 in look_up: t.example.net looked up",
        "made_for_a_test.py:19 in read asked Gerrit",
        "made_for_a_test.py:26 in get_number raised KeyError: 'no_such_key'",
    ]
    assert egress.findings[0].saw == "t.example.net looked up (during get_number)", "a Gerrit host is no stranger"


async def test_a_stranger_that_does_not_answer_leaves_the_tool_open_and_says_what_to_supply(tmp_path):
    action = 'json.load(urllib.request.urlopen("https://api.example.org/v1"))["state"]'
    name = {"third_party_hosts": ["api.example.org"]}
    canned = [{"host": "api.example.org", "path": "/v1", "json": {"state": 1}}]
    async with Rig() as rig:
        [works] = await judged(tmp_path, rig, action, "TOOL-WORKS")
        assert works.outcome is Outcome.INCONCLUSIVE
        assert works.supply == '[tool.gerrit-conformance.extension]\nthird_party_hosts = ["api.example.org"]'
        [works] = await judged(tmp_path, rig, action, "TOOL-WORKS", profile={"extension": name})
        assert works.outcome is Outcome.INCONCLUSIVE
        assert 'path = "/v1"' in works.supply
        [works] = await judged(tmp_path, rig, action, "TOOL-WORKS", profile={"extension": name, "canned": canned})
        assert works.outcome is Outcome.PASS


def test_the_name_of_this_machine_is_not_told():
    from conformance.rig.egress import _is_here

    assert all(map(_is_here, ["", "localhost", "127.0.0.1", "::1", "0.0.0.0", socket.gethostname()]))
    assert not any(map(_is_here, ["192.0.2.1", "cedar.example.com", "2001:db8::1"]))


# --- what is sent


@pytest.mark.parametrize(
    "wrap",
    [
        lambda token: f"k={token}",
        lambda token: "https://x.example/k/" + base64.b64encode(f"bob:{token}".encode()).decode(),
        lambda token: "k=" + quote(base64.urlsafe_b64encode(f"whoever:{token}".encode()), safe=""),
        lambda token: "Basic " + base64.b64encode(f"a:{token}".encode()).decode(),
        lambda token: json.dumps({"settings": {"token": token}}),
    ],
)
def test_a_credential_is_seen_through_its_wrapping(wrap):
    masking = Masking(Credentials(tokens={"cedar": "tok-0123456789abcdef01234567"}))
    assert any(masking.leaks(form) for form in _forms(wrap("tok-0123456789abcdef01234567")))
    assert not any(masking.leaks(form) for form in _forms(wrap("tok-0000000000abcdef01234567")))


# --- whom run_curl is to ask


@pytest.mark.parametrize(
    ("words", "places"),
    [
        (["-sS", "https://A.example.org/x?y", "https://b.example.org"], ["https://a.example.org", "https://b.example.org"]),
        (["--url", "https://a.example.org/x", "--url=http://b.example.org"], ["https://a.example.org", "http://b.example.org"]),
        (["-XPOST", "https://me:secret@a.example.org:8443/x"], ["https://a.example.org:8443"]),
        (["--compressed", "--no-keepalive", "https://a.example.org"], ["https://a.example.org"]),
        (["--data-raw", "https://b.example.org", "https://a.example.org/1"], ["https://a.example.org"]),
        (["-sXPUT", "-sd", "https://b.example.org", "https://a.example.org/1"], ["https://a.example.org"]),
        (["-e", "https://b.example.org", "-x", "http://proxy.example.org"], []),
        (["-H", "-o", "https://a.example.org"], ["https://a.example.org"]),
    ],
)  # fmt: skip
def test_curl_asks_the_urls_that_are_no_values_of_options(words, places):
    assert places_asked(words) == places


@pytest.mark.parametrize(
    ("asked", "base_url", "is_leak"),
    [
        ("https://cedar.example.com", "https://cedar.example.com/a", False),
        ("https://cedar.example.com:443", "cedar.example.com", False),
        ("https://cedar.example.com", "http://cedar.internal.example", False),
        ("http://cedar.internal.example", "https://cedar.example.com/a", False),
        ("https://{cedar,elm}.example.com", "https://cedar.example.com/a", False),
        ("https://ci.example.org", "https://ci.example.org", False),
        ("https://ci.example.org", "https://cedar.example.com/a", True),
        ("https://elm.example.com", "https://cedar.example.com/a", True),
        ("https://cedar.example.com.example.org", "https://cedar.example.com/a", True),
        ("https://cedar.example.com:9090", "https://cedar.example.com/a", True),
    ],
)
def test_the_base_url_decides_whose_credentials_are_sent(asked, base_url, is_leak):
    about = {"asked": [asked], "base_urls": [base_url], "line": "x.py:1 in t", "tool": "t"}
    told = trial(Fact(kind="run_curl", about=about))
    masking = Masking(Credentials(tokens={}))
    if is_leak:
        with pytest.raises(Finding, match="would be sent them"):
            _judge_run_curl(masking, told)
    else:
        _judge_run_curl(masking, told)
