"""Which plugins hosts have: when they are asked, and what is remembered."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from reference_server.errors import ConfigError
from reference_server.plugin_registry import PluginRegistry

from .conftest import Configure, basic
from .scripted_gerrit import Answer, Asked, ScriptedGerrit, json_answer, plugins


class HandClock:
    """A clock that goes when it is told to."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


async def test_a_host_is_asked_once_within_the_time_to_live_and_again_at_its_end(
    gerrit: ScriptedGerrit, configure: Configure
) -> None:
    configure(basic(gerrit))
    gerrit.respond = lambda asked: plugins("task")
    clock = HandClock()
    registry = PluginRegistry(clock=clock)
    for seconds, requests in [(0, 1), (0, 1), (3599.9, 1), (0.1, 2), (0, 2)]:
        clock.now += seconds
        assert await registry.host_has_plugin(gerrit.url, "task")
        assert gerrit.plugin_list_requests() == requests, f"at {clock.now - 1000} s"
    assert gerrit.paths()[0] == "/a/plugins/?all"


async def test_the_time_to_live_comes_from_the_configuration(gerrit: ScriptedGerrit, configure: Configure) -> None:
    configure(basic(gerrit), plugin_list_ttl_seconds=5)
    clock = HandClock()
    registry = PluginRegistry(clock=clock)
    await registry.host_has_plugin(gerrit.url, "task")
    clock.now += 5
    await registry.host_has_plugin(gerrit.url, "task")
    assert gerrit.plugin_list_requests() == 2


async def test_all_forms_of_one_host_share_one_entry(gerrit: ScriptedGerrit, configure: Configure) -> None:
    configure(basic(gerrit))
    gerrit.respond = lambda asked: plugins("task")
    registry = PluginRegistry()
    bare = gerrit.url.removeprefix("https://")
    for form in (gerrit.url, gerrit.url + "/", bare, gerrit.url + "/a", f"http://{bare}", gerrit.internal_url):
        assert await registry.host_has_plugin(form, "task"), form
    assert gerrit.plugin_list_requests() == 1


async def test_a_disabled_plugin_is_absent_and_an_explicit_false_is_present(
    gerrit: ScriptedGerrit, configure: Configure
) -> None:
    configure(basic(gerrit))
    gerrit.respond = lambda asked: json_answer(
        '{"off":{"id":"off","version":"1","disabled":true},"on":{"id":"on","version":"2","disabled":false},"js":{"id":"js"}}'
    )
    registry = PluginRegistry()
    assert [await registry.plugin_version(gerrit.url, name) for name in ("off", "on", "js")] == [None, "2", ""]


@pytest.mark.parametrize(
    "answer",
    [
        Answer(status=403, body="view plugins not permitted\n"),
        Answer(status=500, body="Internal server error"),
        Answer(body="<html>sign in</html>"),
        Answer(status=302, headers={"Location": "/login"}),
        json_answer("[]"),
        json_answer('{"task":null}'),
        json_answer('{"task":'),
        Answer(body=""),
    ],
    ids=["403", "500", "html", "redirect", "array", "null entry", "truncated", "empty"],
)
async def test_a_list_that_cannot_be_read_is_asked_for_again(
    gerrit: ScriptedGerrit, another_gerrit: ScriptedGerrit, configure: Configure, answer: Answer
) -> None:
    configure(basic(gerrit), basic(another_gerrit, "two"))
    gerrit.respond = lambda asked: answer
    another_gerrit.respond = lambda asked: plugins("task")
    registry = PluginRegistry()
    assert await registry.hosts_with_plugin("task") == [another_gerrit.url + "/a"]
    assert (await registry.listing(gerrit.url)).problem
    gerrit.respond = lambda asked: plugins("task")
    assert await registry.hosts_with_plugin("task") == [gerrit.url + "/a", another_gerrit.url + "/a"]
    assert another_gerrit.plugin_list_requests() == 1


async def test_concurrent_questions_ask_a_host_once(gerrit: ScriptedGerrit, configure: Configure) -> None:
    configure(basic(gerrit))
    gerrit.respond = lambda asked: plugins("task")
    registry = PluginRegistry()
    assert all(await asyncio.gather(*(registry.host_has_plugin(gerrit.url, "task") for _ in range(20))))
    assert gerrit.plugin_list_requests() == 1


async def test_concurrent_questions_share_a_failure_too(gerrit: ScriptedGerrit, configure: Configure) -> None:
    configure(basic(gerrit))
    gerrit.respond = lambda asked: Answer(status=500)
    registry = PluginRegistry()
    await asyncio.gather(*(registry.listing(gerrit.url) for _ in range(20)))
    assert gerrit.plugin_list_requests() == 1


async def test_a_cancelled_question_leaves_the_next_one_to_ask(gerrit: ScriptedGerrit, configure: Configure) -> None:
    configure(basic(gerrit))
    arrived, never = asyncio.Event(), asyncio.Event()

    async def silent(asked: Asked) -> Answer:
        arrived.set()
        await never.wait()
        return Answer()

    gerrit.respond = silent
    registry = PluginRegistry()
    first = asyncio.create_task(registry.listing(gerrit.url))
    await arrived.wait()
    gerrit.respond = lambda asked: plugins("task")
    second = asyncio.create_task(registry.listing(gerrit.url))
    await asyncio.sleep(0)
    first.cancel()
    assert (await second).plugins == {"task": "v1"}


async def test_forgetting_one_host_asks_that_one_again(
    gerrit: ScriptedGerrit, another_gerrit: ScriptedGerrit, configure: Configure
) -> None:
    configure(basic(gerrit), basic(another_gerrit, "two"))
    registry = PluginRegistry()
    await registry.hosts_with_plugin("task")
    registry.invalidate(gerrit.internal_url)
    await registry.hosts_with_plugin("task")
    assert (gerrit.plugin_list_requests(), another_gerrit.plugin_list_requests()) == (2, 1)
    registry.invalidate()
    await registry.hosts_with_plugin("task")
    assert (gerrit.plugin_list_requests(), another_gerrit.plugin_list_requests()) == (3, 2)


async def test_a_host_that_is_not_configured_is_refused_unasked(
    gerrit: ScriptedGerrit, another_gerrit: ScriptedGerrit, configure: Configure
) -> None:
    configure(basic(gerrit))
    with pytest.raises(ConfigError, match="not a configured Gerrit host"):
        await PluginRegistry().listing(another_gerrit.url)
    assert another_gerrit.asked == []


def test_making_a_registry_and_naming_hosts_asks_nobody(
    gerrit: ScriptedGerrit, another_gerrit: ScriptedGerrit, configure: Configure
) -> None:
    configure(basic(gerrit), basic(another_gerrit, "two"))
    assert PluginRegistry().configured_hosts() == [gerrit.url + "/a", another_gerrit.url + "/a"]
    assert gerrit.asked == another_gerrit.asked == []


async def test_a_list_that_cannot_be_read_is_a_warning_without_secrets(
    gerrit: ScriptedGerrit, configure: Configure, tmp_path: Path
) -> None:
    configure(basic(gerrit))
    gerrit.respond = lambda asked: Answer(status=403, body="view plugins not permitted\n")
    await PluginRegistry().listing(gerrit.url)
    log = (tmp_path / "server.log").read_text()
    assert "WARNING" in log
    assert "403: view plugins not permitted" in log
    assert "s3cret" not in log
