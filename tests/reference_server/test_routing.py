"""`requires_plugin` between a caller and a plugin-backed tool."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import pytest
from typing_extensions import TypedDict

from reference_server import sdk
from reference_server.errors import RoutingError
from reference_server.extensions import PluginRegistry, requires_plugin

from .conftest import Configure, basic
from .scripted_gerrit import Answer, ScriptedGerrit, plugins

Tool = Callable[..., Any]


class Where(TypedDict):
    """Where the tool ran."""

    url: str | None


class Hosts:
    """Three hosts: `one` (the default) lacks the plugin, `two` and `three` have it."""

    def __init__(self, one: ScriptedGerrit, two: ScriptedGerrit, three: ScriptedGerrit, configure: Configure) -> None:
        self.one, self.two, self.three = one, two, three
        one.respond = lambda asked: plugins("other", disabled=("task",))
        two.respond = three.respond = lambda asked: plugins("task")
        configure(basic(one, "review-one"), basic(two, "review-two"), basic(three, "review-three"))

    def asked(self) -> tuple[int, int, int]:
        return tuple(host.plugin_list_requests() for host in (self.one, self.two, self.three))  # type: ignore[return-value]


@pytest.fixture
def hosts(
    gerrit: ScriptedGerrit, another_gerrit: ScriptedGerrit, third_gerrit: ScriptedGerrit, configure: Configure
) -> Hosts:
    return Hosts(gerrit, another_gerrit, third_gerrit, configure)


def backed_tool(registry: PluginRegistry, ran: list[str | None] | None = None) -> Tool:
    @requires_plugin("task", registry)
    async def get_task_tree(change_id: str, gerrit_base_url: str | None = None) -> Where:
        """Return the task tree."""
        if ran is not None:
            ran.append(gerrit_base_url)
        return {"url": gerrit_base_url}

    return get_task_tree


@pytest.mark.parametrize("arguments", [{}, {"gerrit_base_url": None}, {"gerrit_base_url": ""}])
async def test_without_a_url_the_first_host_that_has_the_plugin_wins(hosts: Hosts, arguments: dict[str, Any]) -> None:
    assert await backed_tool(PluginRegistry())("1", **arguments) == {"url": hosts.two.url + "/a"}
    assert hosts.asked() == (1, 1, 0), "the search must stop at the first hit"


async def test_a_named_host_that_has_the_plugin_is_the_only_one_asked(hosts: Hosts) -> None:
    tool = backed_tool(PluginRegistry())
    assert await tool("1", gerrit_base_url=hosts.three.url) == {"url": hosts.three.url + "/a"}
    assert hosts.asked() == (0, 0, 1)


async def test_a_host_given_by_position_is_honoured(hosts: Hosts) -> None:
    assert await backed_tool(PluginRegistry())("1", hosts.three.internal_url) == {"url": hosts.three.url + "/a"}


async def test_a_named_host_without_the_plugin_is_asked_once_more_and_the_others_are_named(hosts: Hosts) -> None:
    ran: list[str | None] = []
    registry = PluginRegistry(clock=lambda: 0.0)
    tool = backed_tool(registry, ran)
    for requests in (1, 2, 3):
        with pytest.raises(RuntimeError) as refused:
            await tool("1", gerrit_base_url=hosts.one.url)
        assert hosts.one.plugin_list_requests() == requests, "one reading a failing call"
    assert hosts.two.url in str(refused.value)
    assert hosts.three.url in str(refused.value)
    assert str(refused.value).count(hosts.one.url) == 1
    assert (hosts.two.plugin_list_requests(), hosts.three.plugin_list_requests()) == (1, 1)
    assert ran == []


async def test_a_plugin_that_appeared_meanwhile_lets_the_call_go_on(hosts: Hosts) -> None:
    registry = PluginRegistry()
    tool = backed_tool(registry)
    assert not await registry.host_has_plugin(hosts.one.url, "task")
    hosts.one.respond = lambda asked: plugins("task")
    assert await tool("1", gerrit_base_url=hosts.one.url) == {"url": hosts.one.url + "/a"}


async def test_no_host_with_the_plugin_is_an_error_and_the_tool_is_not_run(hosts: Hosts) -> None:
    ran: list[str | None] = []
    hosts.two.respond = hosts.three.respond = lambda asked: plugins()
    with pytest.raises(RuntimeError, match="no configured Gerrit host has the plugin 'task'"):
        await backed_tool(PluginRegistry(), ran)("1")
    assert ran == []


async def test_no_other_host_with_the_plugin_is_said(hosts: Hosts) -> None:
    hosts.two.respond = hosts.three.respond = lambda asked: plugins()
    with pytest.raises(RoutingError, match=r"no other configured host has it$"):
        await backed_tool(PluginRegistry())("1", gerrit_base_url=hosts.one.url)


async def test_a_host_that_cannot_be_read_does_not_hide_the_others(hosts: Hosts) -> None:
    hosts.one.respond = lambda asked: Answer(status=500)
    hosts.two.respond = lambda asked: Answer(status=403, body="view plugins not permitted")
    assert await backed_tool(PluginRegistry())("1") == {"url": hosts.three.url + "/a"}


async def test_hosts_that_cannot_be_read_are_told_when_none_is_left(hosts: Hosts) -> None:
    for host in (hosts.one, hosts.two, hosts.three):
        host.respond = lambda asked: Answer(status=403, body="view plugins not permitted")
    with pytest.raises(RoutingError, match=r"could not be read: .*403: view plugins not permitted"):
        await backed_tool(PluginRegistry())("1")


async def test_a_named_host_that_cannot_be_read_is_not_called_without_the_plugin(hosts: Hosts) -> None:
    hosts.one.respond = lambda asked: Answer(status=403, body="view plugins not permitted")
    with pytest.raises(
        RoutingError, match=r"cannot tell whether review-one .*403: view plugins not permitted"
    ) as refused:
        await backed_tool(PluginRegistry())("1", gerrit_base_url=hosts.one.url)
    assert "does not have" not in str(refused.value)


async def test_a_host_that_is_not_configured_gets_no_request_at_all(hosts: Hosts, configure: Configure) -> None:
    configure(basic(hosts.two, "review-two"))
    with pytest.raises(RoutingError, match="is not a configured Gerrit host"):
        await backed_tool(PluginRegistry())("1", gerrit_base_url=hosts.three.url)
    assert hosts.three.asked == []


async def test_another_parameter_can_name_the_host(hosts: Hosts) -> None:
    @requires_plugin("task", PluginRegistry(), param_name="host")
    async def tool(*, host: str | None = None) -> str | None:
        return host

    assert await tool(host=hosts.three.url) == hosts.three.url + "/a"


def test_decorating_keeps_name_words_signature_and_annotations() -> None:
    wrapped = backed_tool(PluginRegistry())
    assert (wrapped.__name__, wrapped.__doc__) == ("get_task_tree", "Return the task tree.")
    assert list(inspect.signature(wrapped).parameters) == ["change_id", "gerrit_base_url"]
    assert wrapped.__annotations__["return"] == "Where"
    assert inspect.iscoroutinefunction(wrapped)


async def test_the_sdk_derives_the_same_schemas_from_the_decorated_tool() -> None:
    async def get_task_tree(change_id: str, gerrit_base_url: str | None = None) -> Where:
        """Return the task tree."""
        return {"url": None}

    plain, routed = sdk.new_server("plain", instructions=""), sdk.new_server("routed", instructions="")
    plain.add_tool(get_task_tree)
    routed.add_tool(requires_plugin("task", PluginRegistry())(get_task_tree))
    described = [[tool.model_dump() for tool in await server.list_tools()] for server in (plain, routed)]
    assert described[0] == described[1]


@pytest.mark.parametrize(
    "odd",
    [
        lambda: None,
        functools.partial(print, end=""),
        print,
        7,
        "text",
        type("Callable", (), {"__call__": lambda self: 1})(),
    ],
    ids=["lambda", "partial", "builtin", "number", "text", "object"],
)
def test_decorating_refuses_nothing(odd: Any) -> None:
    assert callable(requires_plugin("task", PluginRegistry())(odd))


async def test_a_tool_without_the_parameter_fails_when_it_is_called(hosts: Hosts) -> None:
    @requires_plugin("task", PluginRegistry())
    async def tool(change_id: str) -> str:
        return change_id

    with pytest.raises(TypeError, match="gerrit_base_url"):
        await tool("1")


async def test_a_plain_function_is_routed_too(hosts: Hosts) -> None:
    @requires_plugin("task", PluginRegistry())
    def tool(gerrit_base_url: str | None = None) -> str | None:
        return gerrit_base_url

    assert await tool() == hosts.two.url + "/a"
