"""Requests through real curl to a scripted host."""

from __future__ import annotations

import asyncio
import base64
import os
from contextlib import suppress
from pathlib import Path

import pytest

from reference_server import gerrit as client
from reference_server.errors import ConfigError, GerritError

from .conftest import TOKEN, Configure, basic
from .scripted_gerrit import Answer, ScriptedGerrit, json_answer


def command_lines() -> list[bytes]:
    """The command lines of all processes, as `ps` shows them to everybody."""
    lines = []
    for process in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            lines.append(process.read_bytes())
    return lines


BASIC = "Basic " + base64.b64encode(f"ada:{TOKEN}".encode()).decode()


async def test_the_body_comes_without_prefix_and_with_the_credentials_of_the_host(
    gerrit: ScriptedGerrit, configure: Configure
) -> None:
    configure(basic(gerrit))
    gerrit.respond = lambda asked: json_answer('{"a":1}')
    base_url = client.get_base_url()
    assert await client.run_curl_for_extension([f"{base_url}/changes/1"], base_url) == '{"a":1}'
    assert gerrit.asked[0].target == "/a/changes/1"
    assert gerrit.asked[0].headers["authorization"] == BASIC


@pytest.mark.parametrize(
    ("sent", "got"),
    [
        (")]}'\n[1]\n", "[1]"),
        ("[1]", "[1]"),
        ('{"a":")]}\'"}', '{"a":")]}\'"}'),
        (")]}'\n)]}'\n1", ")]}'\n1"),
        ("", ""),
    ],
)
async def test_the_prefix_is_taken_away_once_and_only_at_the_start(
    gerrit: ScriptedGerrit, configure: Configure, sent: str, got: str
) -> None:
    configure(basic(gerrit))
    gerrit.respond = lambda asked: Answer(body=sent)
    assert await client.run_curl_for_extension([gerrit.url + "/a/x"], gerrit.url) == got


async def test_a_cookie_host_gets_its_cookie(gerrit: ScriptedGerrit, configure: Configure, tmp_path: Path) -> None:
    (tmp_path / "cookies").write_text("localhost\tFALSE\t/\tTRUE\t0\to\tgit-ada=1\n")
    cookies = {"type": "git_cookies", "gitcookies_path": str(tmp_path / "cookies")}
    configure(basic(gerrit, authentication=cookies))
    await client.run_curl_for_extension([client.get_base_url() + "/x"], gerrit.url)
    assert gerrit.asked[0].target == "/a/x"
    assert gerrit.asked[0].headers["cookie"] == "o=git-ada=1"


async def test_gob_curl_runs_in_place_of_curl(
    gerrit: ScriptedGerrit, configure: Configure, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrapper = tmp_path / "bin" / "gob-curl"
    wrapper.parent.mkdir()
    wrapper.write_text('#!/bin/sh\nexec curl --header "X-Corporate: yes" "$@"\n')
    wrapper.chmod(0o755)
    monkeypatch.setenv("PATH", f"{wrapper.parent}:{os.environ['PATH']}")
    configure(basic(gerrit, authentication={"type": "gob_curl"}))
    await client.run_curl_for_extension([client.get_base_url() + "/x"], gerrit.url)
    assert gerrit.asked[0].target == "/x"
    assert gerrit.asked[0].headers["x-corporate"] == "yes"


async def test_the_base_url_decides_whose_credentials_are_used(
    gerrit: ScriptedGerrit, another_gerrit: ScriptedGerrit, configure: Configure
) -> None:
    other = {"type": "http_basic", "username": "bob", "auth_token": "other"}
    configure(basic(gerrit), basic(another_gerrit, "two", authentication=other))
    base_url = client.get_base_url(another_gerrit.internal_url)
    await client.run_curl_for_extension([f"{base_url}/x"], base_url)
    expected = "Basic " + base64.b64encode(b"bob:other").decode()
    assert another_gerrit.asked[0].headers["authorization"] == expected


async def test_credentials_do_not_go_to_another_place_than_their_own(
    gerrit: ScriptedGerrit, another_gerrit: ScriptedGerrit, configure: Configure
) -> None:
    configure(basic(gerrit))
    await client.run_curl_for_extension([another_gerrit.url + "/x"], gerrit.url)
    assert "authorization" not in another_gerrit.asked[0].headers


async def test_credentials_do_not_follow_a_redirect(
    gerrit: ScriptedGerrit, another_gerrit: ScriptedGerrit, configure: Configure
) -> None:
    configure(basic(gerrit))
    gerrit.respond = lambda asked: Answer(status=302, headers={"Location": another_gerrit.url + "/login"})
    with pytest.raises(GerritError, match=r"answered 302 and points to .*/login.*credentials"):
        await client.run_curl_for_extension([gerrit.url + "/a/x"], gerrit.url)
    assert another_gerrit.asked == []


@pytest.mark.parametrize("kind", ["http_basic", "git_cookies"])
async def test_credentials_stay_even_where_the_extension_asks_to_follow(
    gerrit: ScriptedGerrit, another_gerrit: ScriptedGerrit, configure: Configure, tmp_path: Path, kind: str
) -> None:
    (tmp_path / "cookies").write_text("localhost\tFALSE\t/\tTRUE\t0\to\tgit-ada=1\n")
    login = {"username": "ada", "auth_token": TOKEN, "gitcookies_path": str(tmp_path / "cookies")}
    configure(basic(gerrit, authentication={"type": kind, **login}))
    elsewhere = another_gerrit.internal_url + "/landing"
    gerrit.respond = lambda asked: Answer(status=302, headers={"Location": elsewhere})
    await client.run_curl_for_extension(["--location", gerrit.url + "/a/x"], gerrit.url)
    assert gerrit.asked[0].headers.keys() & {"authorization", "cookie"}
    assert not another_gerrit.asked[0].headers.keys() & {"authorization", "cookie"}


async def test_a_host_that_is_not_configured_is_not_asked(
    gerrit: ScriptedGerrit, another_gerrit: ScriptedGerrit, configure: Configure
) -> None:
    configure(basic(gerrit))
    with pytest.raises(ConfigError, match="is not a configured Gerrit host"):
        await client.run_curl_for_extension([another_gerrit.url + "/x"], another_gerrit.url)
    assert another_gerrit.asked == []


async def test_an_http_error_raises_with_status_and_words(gerrit: ScriptedGerrit, configure: Configure) -> None:
    configure(basic(gerrit))
    gerrit.respond = lambda asked: Answer(status=404, body="Not found: 99\n")
    with pytest.raises(GerritError, match="404: Not found: 99") as refused:
        await client.run_curl_for_extension([gerrit.url + "/a/changes/99"], gerrit.url)
    assert refused.value.status == 404


async def test_an_http_error_comes_as_a_body_where_the_environment_says_so(
    gerrit: ScriptedGerrit, configure: Configure, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(basic(gerrit))
    monkeypatch.setenv("GERRIT_MCP_RETURN_HTTP_ERRORS", "1")
    gerrit.respond = lambda asked: Answer(status=404, body="Not found: 99\n")
    assert await client.run_curl_for_extension([gerrit.url + "/a/x"], gerrit.url) == "Not found: 99"
    with pytest.raises(GerritError):
        await client.request("GET", client.get_base_url(), "/x")


async def test_a_silent_host_is_given_up_in_time(gerrit: ScriptedGerrit, configure: Configure) -> None:
    configure(basic(gerrit), curl_timeout_seconds=0.3)
    never = asyncio.Event()

    async def silent() -> Answer:
        await never.wait()
        return Answer()

    gerrit.respond = lambda asked: silent()
    async with asyncio.timeout(5):
        with pytest.raises(GerritError, match="timed out"):
            await client.run_curl_for_extension([gerrit.url + "/a/x"], gerrit.url)


async def test_a_refused_connection_is_an_error_that_names_the_host(
    gerrit: ScriptedGerrit, configure: Configure
) -> None:
    configure(basic(gerrit, "the one"))
    await gerrit.__aexit__()
    with pytest.raises(GerritError, match=r"the one \(https://localhost:\d+\): curl failed with exit code 7"):
        await client.run_curl_for_extension([gerrit.url + "/a/x"], gerrit.url)


async def test_a_machine_without_curl_is_told_so(
    gerrit: ScriptedGerrit, configure: Configure, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(basic(gerrit))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(GerritError, match="`curl` was not found in PATH: install it"):
        await client.run_curl_for_extension([gerrit.url + "/a/x"], gerrit.url)


async def test_an_argument_with_a_nul_is_an_error(gerrit: ScriptedGerrit, configure: Configure) -> None:
    configure(basic(gerrit))
    with pytest.raises(GerritError, match="cannot be passed on"):
        await client.run_curl_for_extension([gerrit.url + "/a/\0"], gerrit.url)


async def test_brackets_and_braces_in_a_url_are_one_request(gerrit: ScriptedGerrit, configure: Configure) -> None:
    configure(basic(gerrit))
    await client.run_curl_for_extension([gerrit.url + "/a/[1-3]{x,y}"], gerrit.url)
    assert gerrit.paths() == ["/a/[1-3]{x,y}"]


async def test_no_secret_stands_in_a_command_line_while_curl_waits(
    gerrit: ScriptedGerrit, configure: Configure
) -> None:
    configure(basic(gerrit))
    lines: list[bytes] = []

    def look(asked: object) -> Answer:
        lines.extend(command_lines())
        return json_answer("{}")

    gerrit.respond = look
    await client.run_curl_for_extension([gerrit.url + "/a/x"], gerrit.url)
    assert any(gerrit.url.encode() in line for line in lines), "the running curl was not seen at all"
    assert not any(TOKEN.encode() in line for line in lines)
    assert not any(BASIC.removeprefix("Basic ").encode() in line for line in lines)


async def test_the_curlrc_of_the_user_adds_nothing(
    gerrit: ScriptedGerrit, configure: Configure, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".curlrc").write_text('header = "X-Surprise: yes"\n')
    monkeypatch.setenv("HOME", str(tmp_path))
    configure(basic(gerrit))
    await client.run_curl_for_extension([gerrit.url + "/a/x"], gerrit.url)
    assert "x-surprise" not in gerrit.asked[0].headers


async def test_a_cancelled_request_leaves_no_curl_behind(gerrit: ScriptedGerrit, configure: Configure) -> None:
    configure(basic(gerrit))
    arrived, never = asyncio.Event(), asyncio.Event()

    async def silent() -> Answer:
        arrived.set()
        await never.wait()
        return Answer()

    gerrit.respond = lambda asked: silent()
    request = asyncio.create_task(client.run_curl_for_extension([gerrit.url + "/a/gone"], gerrit.url))
    await arrived.wait()
    request.cancel()
    with pytest.raises(asyncio.CancelledError):
        await request
    assert not any(f"{gerrit.url}/a/gone".encode() in line for line in command_lines())


async def test_a_rest_call_sends_and_reads_json(gerrit: ScriptedGerrit, configure: Configure) -> None:
    configure(basic(gerrit))
    gerrit.respond = lambda asked: json_answer('{"ok":true}')
    answer = await client.request("POST", client.get_base_url(), "/x", query=[("o", "A B")], body={"m": "é@file"})
    assert answer == {"ok": True}
    asked = gerrit.asked[0]
    assert (asked.method, asked.target) == ("POST", "/a/x?o=A%20B")
    assert asked.headers["content-type"].startswith("application/json")
    assert asked.body == b'{"m": "\\u00e9@file"}'


@pytest.mark.parametrize(
    ("answer", "complaint"),
    [
        (Answer(body="<html>login</html>"), "expected JSON, saw <html>"),
        (Answer(body=""), r"expected JSON, saw \(no text\)"),
        (json_answer('{"a":'), "expected JSON, saw"),
        (json_answer("[]"), "expected JSON with an object, saw list"),
        (Answer(status=502, body="<html>" + "x" * 2000), "502: <html>x+…"),
    ],
    ids=["html", "empty", "truncated", "wrong type", "long page"],
)
async def test_an_answer_that_is_not_what_was_expected_is_an_error(
    gerrit: ScriptedGerrit, configure: Configure, answer: Answer, complaint: str
) -> None:
    configure(basic(gerrit))
    gerrit.respond = lambda asked: answer
    with pytest.raises(GerritError, match=complaint):
        await client.request("GET", client.get_base_url(), "/x")


@pytest.mark.parametrize(
    ("segments", "path"),
    [
        (("a b", "x/y"), "/a%20b/x%2Fy"),
        (("a/../../x",), "/a%2F..%2F..%2Fx"),
        (('"\n#?[1-3]{a,b}',), "/%22%0A%23%3F%5B1-3%5D%7Ba%2Cb%7D"),
        (("100%",), "/100%25"),
        (("\0",), "/%00"),
    ],
)
def test_a_segment_stays_one_segment_whatever_it_holds(segments: tuple[str, ...], path: str) -> None:
    assert client.rest_path(*segments) == path


@pytest.mark.parametrize("segment", ["", ".", ".."])
def test_a_segment_that_would_climb_is_refused(segment: str) -> None:
    with pytest.raises(GerritError, match="cannot stand in a path"):
        client.rest_path("changes", segment)


def test_an_encoded_change_id_is_not_encoded_twice() -> None:
    assert (
        client.change_path("plugins%2Ftask~12") == client.change_path("plugins/task~12") == "/changes/plugins%2Ftask~12"
    )


def test_the_environment_overrides_the_default_and_an_argument_overrides_both(
    configure: Configure, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure({"external_url": "https://one"}, {"external_url": "https://two"}, {"external_url": "https://three"})
    assert client.get_base_url() == "https://one"
    monkeypatch.setenv("GERRIT_BASE_URL", "http://two/")
    assert client.get_base_url() == "https://two"
    assert client.get_base_url("three/") == "https://three"
