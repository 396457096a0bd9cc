"""The fixtures that users get, in their hands: inner pytest runs, and our own tests."""

from __future__ import annotations

import subprocess
import sys

import httpx
import pytest

from mock_gerrit.faults import Fault
from mock_gerrit.offered import UnsimulatedWarning
from tests.mock_gerrit.serving.clients import curl

INNER = ("-p", "no:cacheprovider", "-p", "no:asyncio", "-p", "no:faker", "-p", "no:respx", "-p", "no:hypothesispytest")


@pytest.fixture
def gerrit_host_plugins():
    return ("replication",)


def test_a_host_is_ready_to_use_without_a_loop(gerrit_host):
    with httpx.Client(verify=gerrit_host.ssl_context, trust_env=False, auth=gerrit_host.credentials) as client:
        assert client.get(f"{gerrit_host.url}/a/plugins/?all").status_code == 200
    assert [(entry.user, entry.is_plugin_list) for entry in gerrit_host.requests] == [("alice", True)]
    assert "replication" in gerrit_host.host.plugins


async def test_a_host_is_ready_to_use_in_a_loop(gerrit_host):
    gerrit_host.faults.add(Fault(kind="html", times=1))
    assert gerrit_host.requests == [], "each test has a fresh one"
    replies = [await curl(gerrit_host.environment, f"{gerrit_host.url}/changes/") for _ in range(2)]
    assert [reply.status for reply in replies] == [502, 200]


async def test_a_world_is_reached_by_real_names(gerrit_world):
    (having,) = gerrit_world.with_plugin("task")
    assert having.url == "https://review-a.example.com"
    assert (await curl(gerrit_world.environment, f"{having.url}/changes/")).status == 200
    assert [entry.host for entry in gerrit_world.journal] == ["review-a"]


def test_a_world_is_fresh_for_each_test(gerrit_world):
    assert len(gerrit_world.journal) == 0
    gerrit_world["review-b"].host.project("another")
    with httpx.Client(proxy=gerrit_world.proxy_url, verify=gerrit_world.ssl_context, trust_env=False) as client:
        assert client.get("https://review-b.example.com/changes/").status_code == 200
        with pytest.raises(httpx.ProxyError):
            client.get("https://elsewhere.example.org/")
    assert [one.target for one in gerrit_world.refused] == ["elsewhere.example.org:443"]


def test_an_unknown_host_name_is_told_with_the_right_ones(gerrit_world):
    with pytest.raises(KeyError, match="review-a, review-b"):
        gerrit_world["review-c"]
    assert [host.name for host in gerrit_world] == ["review-a", "review-b"]
    assert len(gerrit_world.faults) == 0


def test_a_host_nobody_can_sign_in_to_says_so(gerrit_world):
    served = gerrit_world["review-a"]
    for account in served.host.accounts.values():
        account.passwords.clear()
    with pytest.raises(LookupError, match="nobody on host 'review-a' has a password"):
        _ = served.credentials


def test_options_are_overridden_in_a_conftest(pytester):
    pytester.makefile(".toml", w='[[hosts]]\nurl = "https://mine.example.com"\nname = "mine"\n')
    pytester.makeconftest(
        """
        import pathlib, pytest
        @pytest.fixture(scope="session")
        def gerrit_world_file():
            return pathlib.Path(__file__).with_name("w.toml")
        """
    )
    pytester.makepyfile("def test_mine(gerrit_world): assert [host.name for host in gerrit_world] == ['mine']")
    pytester.runpytest_subprocess(*INNER).assert_outcomes(passed=1)


def test_something_not_simulated_is_told_at_the_end_of_the_test(pytester):
    pytester.makepyfile(
        """
        import httpx
        def test_it(gerrit_host):
            with httpx.Client(verify=gerrit_host.ssl_context, trust_env=False) as client:
                client.get(gerrit_host.url + "/config/server/nothing")
        """
    )
    result = pytester.runpytest_subprocess(*INNER)
    result.assert_outcomes(passed=1, warnings=1)
    result.stdout.fnmatch_lines([f"*{UnsimulatedWarning.__name__}: GET /config/server/nothing: *"])


def test_the_plugin_costs_nothing_until_a_fixture_is_used():
    program = (
        "import sys, pytest; before = set(sys.modules); import mock_gerrit.pytest_plugin;"
        "print(*sorted(name for name in set(sys.modules) - before if '.' not in name or 'mock_gerrit.' in name))"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["mock_gerrit", "mock_gerrit.pytest_plugin"]
