"""Credentials as curl reads them."""

from __future__ import annotations

from pathlib import Path

import pytest

from reference_server.config import GerritHost
from reference_server.credentials import curl_configuration
from reference_server.errors import ConfigError


def cookie_host(path: Path, url: str = "https://review.example.com") -> GerritHost:
    authentication = {"type": "git_cookies", "gitcookies_path": str(path)}
    return GerritHost.model_validate({"external_url": url, "authentication": authentication})


def test_a_password_with_quotes_and_backslashes_is_escaped() -> None:
    authentication = {"type": "http_basic", "username": "ada", "auth_token": 'a"b\\c\nd'}
    host = GerritHost.model_validate({"external_url": "https://h", "authentication": authentication})
    assert curl_configuration(host) == 'user = "ada:a\\"b\\\\c\\nd"\n'


def test_a_host_without_authentication_needs_nothing() -> None:
    assert curl_configuration(GerritHost(external_url="https://h")) == ""


@pytest.mark.parametrize(
    ("line", "fits"),
    [
        ("review.example.com\tFALSE\t/\tTRUE\t0\to\tgit-ada=1", True),
        (".example.com\tTRUE\t/\tTRUE\t4102444800\to\tgit-ada=1", True),
        ("#HttpOnly_review.example.com\tFALSE\t/\tTRUE\t0\to\tgit-ada=1", True),
        ("review.example.com\tFALSE\t/\tTRUE\t1000000000\to\tgit-ada=1", False),
        ("# review.example.com\tFALSE\t/\tTRUE\t0\to\tgit-ada=1", False),
        ("other.example.com\tFALSE\t/\tTRUE\t0\to\tgit-ada=1", False),
        ("xreview.example.com\tFALSE\t/\tTRUE\t0\to\tgit-ada=1", False),
        ("review.example.com o git-ada=1", False),
    ],
    ids=["exact", "subdomain", "http only", "expired", "comment", "another host", "a longer name", "not tabs"],
)
def test_only_a_valid_cookie_of_the_host_is_taken(tmp_path: Path, line: str, fits: bool) -> None:
    file = tmp_path / "gitcookies"
    file.write_text(f"# a comment\n\n{line}\n")
    if fits:
        assert curl_configuration(cookie_host(file)) == 'header = "Cookie: o=git-ada=1"\n'
    else:
        with pytest.raises(ConfigError, match=r"holds no valid cookie for review\.example\.com"):
            curl_configuration(cookie_host(file))


def test_a_cookie_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"cannot read the cookie file .*absent"):
        curl_configuration(cookie_host(tmp_path / "absent"))
