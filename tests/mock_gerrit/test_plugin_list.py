"""/plugins/ in all its forms."""

from __future__ import annotations

import pytest

from mock_gerrit.host import Host
from tests.mock_gerrit.plugin_asking import a_host, ask, refusal, told


@pytest.fixture
def host() -> Host:
    host = a_host()
    host.add_plugin("alpha", version="v1.2")
    host.add_plugin("beta", version="v2", disabled=True)
    host.add_plugin("script", content=b"Gerrit.install(plugin => {});\n")
    return host


def test_the_list_has_what_is_switched_on(host: Host) -> None:
    listed = told(ask(host, "/plugins/", user="admin"))
    assert list(listed) == ["alpha", "script"]
    assert listed["alpha"] == {
        "id": "alpha",
        "version": "v1.2",
        "api_version": "3.13.0",
        "index_url": "plugins/alpha/",
        "filename": "alpha.jar",
    }


def test_all_lists_those_switched_off_too(host: Host) -> None:
    listed = told(ask(host, "/plugins/?all", user="admin"))
    assert (listed["beta"]["disabled"], listed["beta"]["filename"]) == (True, "beta.jar.disabled")
    assert "disabled" not in listed["alpha"]


def test_a_script_has_no_api_version(host: Host) -> None:
    assert "api_version" not in told(ask(host, "/plugins/", user="admin"))["script"]


@pytest.mark.parametrize("query", ["", "?all", "?nosuch"])
def test_plain_users_may_not_see_the_list(host: Host, query: str) -> None:
    assert refusal(ask(host, f"/plugins/{query}")) == (403, "view plugins not permitted")


def test_somebody_who_was_granted_the_right_may(host: Host) -> None:
    host.account_of("alice").may_view_plugins = True
    assert ask(host, "/plugins/").status == 200


def test_a_host_may_forbid_the_list_to_everybody(host: Host) -> None:
    host.forbid_plugin_list = True
    assert ask(host, "/plugins/", user="admin").status == 403


def test_one_plugins_status_is_for_everybody(host: Host) -> None:
    assert told(ask(host, "/plugins/beta/gerrit~status"))["disabled"] is True
    assert refusal(ask(host, "/plugins/nosuch/gerrit~status")) == (404, "nosuch")


def test_the_path_without_its_slash_is_nothing(host: Host) -> None:
    assert refusal(ask(host, "/plugins", user="admin")) == (404, "Not Found")


def test_an_administrator_switches_plugins_on_and_off(host: Host) -> None:
    assert ask(host, "/plugins/alpha/gerrit~disable", method="POST").status == 403
    told(ask(host, "/plugins/alpha/gerrit~disable", method="POST", user="admin"))
    assert host.plugins["alpha"].disabled
    told(ask(host, "/plugins/alpha/gerrit~enable", method="POST", user="admin"))
    assert not host.plugins["alpha"].disabled


def test_filters_exclude_each_other(host: Host) -> None:
    assert list(told(ask(host, "/plugins/?all&p=be", user="admin"))) == ["beta"]
    assert refusal(ask(host, "/plugins/?p=a&m=b", user="admin")) == (400, "specify exactly one of p/m/r")


def test_the_file_of_a_script_is_served(host: Host) -> None:
    assert ask(host, "/plugins/script/static/script.js").body.startswith(b"Gerrit.install")
