"""What a plugin simulator may declare, and how it is found."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from importlib.metadata import EntryPoint
from typing import Any

import pytest

from mock_gerrit.changes import Change
from mock_gerrit.plugins import api, code_owners, depends_on, task
from mock_gerrit.plugins.api import Asked, PluginFailure, Routes, Simulator, SubmitVerdict
from mock_gerrit.plugins.options import OptionKind, read_options
from mock_gerrit.query import Predicate, Search
from mock_gerrit.rest.call import Call
from mock_gerrit.rest.options import text
from tests.mock_gerrit.plugin_asking import a_host, ask, refusal, told


def routes_of(method: str, pattern: str) -> Routes:
    routes = Routes()

    @routes.add(method, pattern)
    def view(call: Call, **resources: Any) -> str:
        return "hello"

    return routes


@pytest.mark.parametrize("id_", ["", "with space", "a/b", "a~b", "-dash", "gerrit"])
def test_an_id_that_no_plugin_could_have_is_refused(id_: str) -> None:
    with pytest.raises(ValueError, match="expected the id of a plugin"):
        Simulator(id=id_, version="v1")


def test_a_simulator_says_its_version() -> None:
    with pytest.raises(ValueError, match="what its jar would say"):
        Simulator(id="greeter", version="")


@pytest.mark.parametrize(
    ("pattern", "complaint"),
    [
        ("/changes/{change}/detail", "a path of Gerrit's own; a plugin's view is named greeter~VIEW"),
        ("/config/server/version", "a path of Gerrit's own"),
        ("/changes/{change}/task~roots", "is named for task, not for greeter"),
        ("/changes/{change}/gerrit~detail", "is named for gerrit, not for greeter"),
        ("/plugins/task/roots", "below another plugin's path; its own is /plugins/greeter/"),
        ("/plugins/", "below another plugin's path"),
        ("/plugins/greeter/gerrit~status", "a view of Gerrit's own"),
    ],
)
def test_a_path_that_a_plugin_could_not_add_is_refused(pattern: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        Simulator(id="greeter", version="v1", routes=routes_of("GET", pattern))


@pytest.mark.parametrize("what", ["change_options", "query_operators", "has_operands"])
@pytest.mark.parametrize("name", ["", "In", "in_greeter", "--all", "a:b"])
def test_a_name_that_cannot_be_written_in_a_query_is_refused(what: str, name: str) -> None:
    with pytest.raises(ValueError, match=f"{what} has {name!r}"):
        Simulator(id="greeter", version="v1", **{what: {name: "flag"}})


def test_options_without_anything_that_answers_them_are_refused() -> None:
    with pytest.raises(ValueError, match="change_attributes to answer them are not"):
        Simulator(id="greeter", version="v1", change_options={"all": "flag"})


def test_a_simulator_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        task.simulator.version = "v2"  # type: ignore[misc]


@pytest.mark.parametrize("simulator", [task.simulator, depends_on.simulator, code_owners.simulator])
def test_the_bundled_simulators_are_found_by_their_ids(simulator: Simulator) -> None:
    assert api.discover(simulator.id) is simulator


def test_a_plugin_that_nobody_simulates_is_found_by_nobody() -> None:
    assert api.discover("nobody-simulates-this") is None


@pytest.fixture
def offered(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Offers an object of this module under an id, as an installed package would."""

    def offer(id_: str, name: str) -> None:
        found = EntryPoint(name=id_, value=f"{__name__}:{name}", group=api.ENTRY_POINT_GROUP)
        monkeypatch.setattr(api, "entry_points", lambda group: [found])

    api._offered.cache_clear()
    yield offer
    api._offered.cache_clear()


def greeting(asked: Asked, change: Change) -> dict[str, Any] | None:
    if asked.options.get("fail"):
        raise PluginFailure
    viewer = asked.viewer.username if asked.viewer else "stranger"
    return {"greeting": f"Hello {viewer}, this is {change.number}"} if asked.options.get("all") else None


def numbered(search: Search, value: str) -> Predicate:
    return lambda change: str(change.number) == value


greeter = Simulator(
    id="greeter",
    version="v7",
    routes=routes_of("GET", "/changes/{change}/greeter~greeting"),
    change_options={"all": "flag", "fail": "flag", "size": "number"},
    change_attributes=greeting,
    query_operators={"is": numbered},
    has_operands={"a": numbered},
    submit_rule=lambda host, change: SubmitVerdict(
        rule="greeter~Polite", status="NOT_READY", requirement=("polite", "Say hello")
    ),
    install=lambda host: host.plugin_state("greeter").update(installed=True),
)
not_a_simulator = {"id": "greeter"}


def test_a_simulator_of_an_installed_package_is_found(offered: Any) -> None:
    offered("greeter", "greeter")
    host = a_host("greeter")
    assert host.plugins["greeter"].version == "v7"
    assert host.plugins["greeter"].simulator is greeter


def test_an_entry_point_that_leads_elsewhere_is_an_error(offered: Any) -> None:
    offered("greeter", "not_a_simulator")
    with pytest.raises(TypeError, match="expected a Simulator, got dict"):
        api.discover("greeter")


def test_an_entry_point_that_leads_to_another_plugin_is_an_error(offered: Any) -> None:
    offered("other", "greeter")
    with pytest.raises(ValueError, match="leads to the simulator of 'greeter'"):
        api.discover("other")


def host_with_greeter() -> Any:
    host = a_host()
    host.add_plugin("greeter", simulator=greeter)
    host.change("demo")
    return host


def test_a_view_is_reached_by_its_full_and_by_its_bare_name() -> None:
    host = host_with_greeter()
    assert told(ask(host, "/changes/1/greeter~greeting")) == "hello"
    assert told(ask(host, "/changes/1/greeting")) == "hello"


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_a_plugin_answers_below_its_own_path(method: str) -> None:
    routes = Routes()

    @routes.get("/plugins/greeter/people/{name}/greeting", options=(text("tone"),))
    def greet(call: Call, *, name: str) -> str:
        return f"Hello {name}, {call.options.text('tone')}"

    host = a_host()
    host.add_plugin("greeter", simulator=Simulator(id="greeter", version="v1", routes=routes))
    answer = ask(host, "/plugins/greeter/people/Ada%20Example/greeting?tone=softly", method=method)
    assert answer.status == 200
    assert method == "HEAD" or told(answer) == "Hello Ada Example, softly"
    assert ask(host, "/plugins/greeter/people/").status == 404


def test_a_view_of_a_plugin_that_is_switched_off_is_gone() -> None:
    host = host_with_greeter()
    host.plugins["greeter"].disabled = True
    assert refusal(ask(host, "/changes/1/greeter~greeting"))[0] == 404


def test_an_option_brings_the_entry_of_the_plugin() -> None:
    host = host_with_greeter()
    [change] = told(ask(host, "/changes/?q=change:1&greeter--all"))
    assert change["plugins"] == [{"name": "greeter", "greeting": "Hello alice, this is 1"}]


def test_without_an_option_a_change_has_no_plugins() -> None:
    [change] = told(ask(host_with_greeter(), "/changes/?q=change:1"))
    assert "plugins" not in change


def test_a_plugin_that_breaks_shows_an_entry_that_says_so() -> None:
    [change] = told(ask(host_with_greeter(), "/changes/?q=change:1&--greeter--fail"))
    assert change["plugins"] == [{"name": "greeter", "message": "Something went wrong in plugin: greeter"}]


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("greeter--nosuch", '"--greeter--nosuch" is not a valid option'),
        ("--greeter--nosuch", '"--greeter--nosuch" is not a valid option'),
        ("nosuch--all", '"--nosuch--all" is not a valid option'),
        ("greeter--all=x", 'invalid boolean "greeter--all=x"'),
        ("greeter--size=x", '"x" is not a valid value for "--greeter--size"'),
    ],
)
def test_an_option_that_there_is_not_answers_400(query: str, text: str) -> None:
    assert refusal(ask(host_with_greeter(), f"/changes/?q=change:1&{query}")) == (400, text)


def test_an_operator_is_reached_by_its_name_and_the_plugins() -> None:
    host = host_with_greeter()
    host.change("demo")
    assert [change["_number"] for change in told(ask(host, "/changes/?q=is_greeter:2"))] == [2]


def test_an_operator_of_a_plugin_that_is_switched_off_answers_400() -> None:
    host = host_with_greeter()
    host.plugins["greeter"].disabled = True
    assert refusal(ask(host, "/changes/?q=is_greeter:2")) == (400, "Unsupported operator is_greeter:2")


def test_a_submit_rule_shows_in_the_submit_records() -> None:
    records = told(ask(host_with_greeter(), "/changes/1"))["submit_records"]
    assert records[-1] == {
        "rule_name": "greeter~Polite",
        "status": "NOT_READY",
        "requirements": [{"status": "NOT_READY", "fallback_text": "Say hello", "type": "polite"}],
    }


def test_what_a_simulator_keeps_is_copied_with_the_world() -> None:
    host = host_with_greeter()
    twin = host.world.copy().hosts[0]
    twin.plugin_state("greeter")["installed"] = "changed"
    assert host.plugin_state("greeter") == {"installed": True}


def test_options_are_read_by_their_kinds() -> None:
    declared: dict[str, dict[str, OptionKind]] = {"greeter": {"tone": "text", "of": "texts", "size": "number"}}
    given = [("greeter--tone", "soft"), ("--greeter--of", "a"), ("greeter--of", "b"), ("greeter--size", "3")]
    assert read_options(declared, given) == {"greeter": {"tone": "soft", "of": ("a", "b"), "size": 3}}


@pytest.mark.parametrize("query", ["has:a_nobody", "has:b_greeter"])
def test_an_operand_that_no_plugin_has_answers_400(query: str) -> None:
    assert ask(host_with_greeter(), f"/changes/?q={query}").status == 400
