"""The forms of a host's URL, and the one that comes of them."""

from __future__ import annotations

import pytest

from reference_server.config import Configuration
from reference_server.errors import ConfigError
from reference_server.urls import Hosts

BASIC = {"type": "http_basic", "username": "ada", "auth_token": "x"}
HOSTS = Hosts(
    configuration=Configuration.model_validate(
        {
            "default_gerrit_base_url": "review-a.example.com",
            "gerrit_hosts": [
                {
                    "name": "review-a",
                    "external_url": "https://review-a.example.com/",
                    "internal_url": "http://a.internal:8080",
                    "authentication": BASIC,
                },
                {"external_url": "https://example.org/r/", "authentication": BASIC},
                {"external_url": "https://open.example.com"},
                {"internal_url": "https://only.internal/", "authentication": {"type": "gob_curl"}},
            ],
        }
    )
)


@pytest.mark.parametrize(
    ("typed", "base_url"),
    [
        ("https://review-a.example.com", "https://review-a.example.com/a"),
        ("https://review-a.example.com/", "https://review-a.example.com/a"),
        ("https://review-a.example.com/a", "https://review-a.example.com/a"),
        ("https://review-a.example.com/a/", "https://review-a.example.com/a"),
        ("http://review-a.example.com", "https://review-a.example.com/a"),
        ("review-a.example.com", "https://review-a.example.com/a"),
        (" Review-A.Example.com/ ", "https://review-a.example.com/a"),
        ("https://review-a.example.com:443", "https://review-a.example.com/a"),
        ("http://a.internal:8080/", "https://review-a.example.com/a"),
        ("a.internal:8080/a", "https://review-a.example.com/a"),
        ("example.org/r", "https://example.org/r/a"),
        ("https://example.org/r/a/", "https://example.org/r/a"),
        ("http://open.example.com/", "https://open.example.com"),
        ("open.example.com/a", "https://open.example.com"),
        ("only.internal", "https://only.internal"),
        ("http://stranger.example.com/", "https://stranger.example.com"),
        ("stranger.example.com/a", "https://stranger.example.com/a"),
    ],
)
def test_every_form_becomes_one_and_stays_it(typed: str, base_url: str) -> None:
    assert HOSTS.normalise(typed) == base_url
    assert HOSTS.normalise(base_url) == base_url


@pytest.mark.parametrize("typed", ["example.org", "example.org/other", "a.internal", "review-a.example.com.evil.org"])
def test_what_only_looks_alike_is_another_host(typed: str) -> None:
    assert HOSTS.find(typed) is None


def test_an_unknown_host_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(
        ConfigError, match=r"stranger.*review-a \(https://review-a\.example\.com\), https://example\.org/r"
    ):
        HOSTS.require("stranger")


def test_a_default_that_is_no_configured_host_is_refused() -> None:
    astray = Configuration.model_validate({"default_gerrit_base_url": "https://elsewhere", "gerrit_hosts": []})
    with pytest.raises(ConfigError, match="elsewhere is not a configured Gerrit host"):
        Hosts(configuration=astray).default()


def test_without_a_default_the_ways_to_name_a_host_are_told() -> None:
    with pytest.raises(ConfigError, match="GERRIT_BASE_URL"):
        Hosts(configuration=Configuration()).default()
