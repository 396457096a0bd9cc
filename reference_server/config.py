"""`gerrit_config.json`: where it lies, what it must hold, and clear words when it does not."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, field_validator, model_validator

from reference_server.errors import ConfigError

AuthenticationType = Literal["http_basic", "git_cookies", "gob_curl", "none"]


class Authentication(BaseModel):
    """How requests to one host are authenticated."""

    model_config = ConfigDict(frozen=True)

    type: AuthenticationType = "none"
    username: str | None = None
    auth_token: SecretStr | None = None
    gitcookies_path: str | None = None

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if self.type == "http_basic" and not (self.username and self.auth_token):
            raise ValueError("http_basic needs `username` and `auth_token`")
        if self.type == "git_cookies" and not self.gitcookies_path:
            raise ValueError("git_cookies needs `gitcookies_path`")
        return self


class GerritHost(BaseModel):
    """One entry of `gerrit_hosts`; at least one of its two URLs is given."""

    model_config = ConfigDict(frozen=True)

    name: str = ""
    external_url: str | None = None
    internal_url: str | None = None
    authentication: Authentication = Authentication()

    @field_validator("authentication", mode="before")
    @classmethod
    def _null_means_none(cls, value: object) -> object:
        return {} if value is None else value

    @model_validator(mode="after")
    def _reachable(self) -> Self:
        if not (self.external_url or self.internal_url):
            raise ValueError("needs `external_url` or `internal_url`")
        return self


class Configuration(BaseModel):
    """What this server reads of the file; other keys belong to extensions and are left alone."""

    model_config = ConfigDict(frozen=True)

    default_gerrit_base_url: str | None = None
    gerrit_hosts: tuple[GerritHost, ...] = ()
    plugin_list_ttl_seconds: float = Field(default=3600.0, ge=0)
    curl_timeout_seconds: float = Field(default=30.0, gt=0)
    extension_load_seconds: float = Field(default=10.0, gt=0)


def config_path() -> Path:
    """The file in force: `GERRIT_CONFIG_PATH`, else `gerrit_config.json` in the current folder."""
    return Path(os.environ.get("GERRIT_CONFIG_PATH") or "gerrit_config.json").absolute()


def load_document() -> dict[str, Any]:
    """The whole file as parsed JSON, read anew each time.

    Raises:
        ConfigError: the file is missing, unreadable, no JSON, or no JSON object.
    """
    path = config_path()
    try:
        document = json.loads(path.read_bytes())
    except FileNotFoundError:
        raise ConfigError(
            f"no configuration at {path}: create it, or name another file in GERRIT_CONFIG_PATH"
        ) from None
    except OSError as problem:
        raise ConfigError(f"cannot read the configuration {path}: {problem.strerror}") from None
    except json.JSONDecodeError as problem:
        raise ConfigError(
            f"{path}, line {problem.lineno}, column {problem.colno}: expected JSON, but {_lowered(problem.msg)}"
        ) from None
    except (UnicodeDecodeError, RecursionError) as problem:
        raise ConfigError(f"{path}: expected JSON in UTF-8, but {problem}") from None
    if not isinstance(document, dict):
        raise ConfigError(f"{path}: expected a JSON object at the top, saw {type(document).__name__}")
    return document


def load_configuration() -> Configuration:
    """The part of the file that this server understands, checked.

    Raises:
        ConfigError: as for `load_document`, or a value is not what it must be; values are never quoted.
    """
    document = load_document()
    try:
        return Configuration.model_validate(document)
    except ValidationError as refusal:
        complaints = [
            f"`{'.'.join(map(str, error['loc'])) or '(top)'}`: {_lowered(error['msg'].removeprefix('Value error, '))}"
            for error in refusal.errors(include_input=False, include_url=False, include_context=False)
        ]
        raise ConfigError(f"{config_path()}: " + "; ".join(complaints)) from None


def _lowered(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]
