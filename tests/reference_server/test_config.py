"""The configuration file: what is accepted, and what is said of the rest."""

from __future__ import annotations

from pathlib import Path

import pytest

from reference_server import config
from reference_server.errors import ConfigError

from .conftest import Configure

GUIDE_SNIPPET = """{
  "default_gerrit_base_url": "https://gerrit.example.com/",
  "gerrit_hosts": [ ... ],
  "extensions": {"my_extension": {"some_option": true}}
}"""


def test_a_missing_file_is_named_with_the_remedy(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"no configuration at .*gerrit_config\.json.*GERRIT_CONFIG_PATH"):
        config.load_document()


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (GUIDE_SNIPPET, r"line 3, column 21: expected JSON"),
        ("", r"line 1, column 1: expected JSON"),
        ("[]", r"expected a JSON object at the top, saw list"),
        ("\udcff", r"expected JSON in UTF-8"),
    ],
    ids=["the guide's snippet", "empty", "array", "not UTF-8"],
)
def test_a_malformed_file_is_refused_with_its_place(tmp_path: Path, text: str, complaint: str) -> None:
    (tmp_path / "gerrit_config.json").write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(ConfigError, match=complaint):
        config.load_document()


def test_a_folder_in_place_of_the_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "gerrit_config.json").mkdir()
    with pytest.raises(ConfigError, match="cannot read the configuration"):
        config.load_document()


@pytest.mark.parametrize(
    ("host", "complaint"),
    [
        ({}, r"gerrit_hosts\.0.*external_url"),
        ({"external_url": "https://h", "authentication": {"type": "basic"}}, r"gerrit_hosts\.0\.authentication\.type"),
        ({"external_url": "https://h", "authentication": {"type": "http_basic"}}, "needs `username` and `auth_token`"),
        ({"external_url": "https://h", "authentication": {"type": "git_cookies"}}, "needs `gitcookies_path`"),
    ],
)
def test_a_host_that_cannot_be_used_is_refused(configure: Configure, host: dict[str, object], complaint: str) -> None:
    configure(default_gerrit_base_url="https://h", gerrit_hosts=[host])
    with pytest.raises(ConfigError, match=complaint):
        config.load_configuration()


def test_a_refusal_does_not_quote_the_secret_beside_it(configure: Configure) -> None:
    secret = {"type": "http_basic", "username": ["ada"], "auth_token": "do-not-tell"}
    configure({"external_url": "https://h", "authentication": secret})
    with pytest.raises(ConfigError) as refused:
        config.load_configuration()
    assert "do-not-tell" not in str(refused.value)


def test_own_keys_have_defaults_and_foreign_keys_are_left_alone(configure: Configure) -> None:
    configure({"external_url": "https://h", "internal_url": None, "authentication": None}, somebody_elses={"x": 1})
    loaded = config.load_configuration()
    assert (loaded.plugin_list_ttl_seconds, loaded.curl_timeout_seconds) == (3600, 30)
    assert loaded.gerrit_hosts[0].authentication.type == "none"
    assert config.load_document()["somebody_elses"] == {"x": 1}


def test_changing_a_loaded_document_does_not_change_the_next(configure: Configure) -> None:
    configure(extensions={"mine": {}})
    config.load_document()["extensions"]["mine"]["poison"] = True
    assert config.load_document()["extensions"] == {"mine": {}}
