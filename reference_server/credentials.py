"""Credentials of one host as lines of a curl configuration, which curl reads from a pipe and nobody else sees."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

from reference_server.config import Authentication, GerritHost
from reference_server.errors import ConfigError
from reference_server.urls import places


def curl_configuration(host: GerritHost) -> str:
    """The curl configuration that authenticates as `host` asks; empty where nothing is needed.

    Raises:
        ConfigError: the cookie file cannot be read, or holds no valid cookie for the host.
    """
    authentication = host.authentication
    if authentication.type == "http_basic":
        return f"user = {_quoted(_basic(authentication))}\n"
    if authentication.type == "git_cookies":
        # Not curl's option `cookie`: what that sends goes along with a redirect to any host.
        return f"header = {_quoted(f'Cookie: {_cookie(host)}')}\n"
    return ""


def _basic(authentication: Authentication) -> str:
    token = authentication.auth_token.get_secret_value() if authentication.auth_token else ""
    return f"{authentication.username}:{token}"


def _quoted(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + escaped.replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t") + '"'


def _cookie(host: GerritHost) -> str:
    path = Path(host.authentication.gitcookies_path or "").expanduser()
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError as problem:
        raise ConfigError(f"cannot read the cookie file {path}: {problem.strerror}") from None
    wanted = [where.authority.partition(":")[0] for where in places(host)]
    for name in wanted:
        fitting = [cookie for domain, cookie in _valid_cookies(lines) if _covers(domain, name)]
        if fitting:
            return fitting[-1]
    raise ConfigError(f"{path} holds no valid cookie for {' or '.join(wanted)}: get a new one from the host")


def _valid_cookies(lines: list[str]) -> Iterator[tuple[str, str]]:
    for line in lines:
        fields = line.removeprefix("#HttpOnly_").split("\t")
        if line.startswith("#") and not line.startswith("#HttpOnly_"):
            continue
        if len(fields) != 7:  # domain, subdomains, path, secure, expiry, name, value
            continue
        domain, _, _, _, expiry, name, value = fields
        if expiry == "0" or not expiry.isdigit() or int(expiry) > time.time():
            yield domain.lower(), f"{name}={value.strip()}"


def _covers(domain: str, name: str) -> bool:
    return name == domain.removeprefix(".") or (domain.startswith(".") and name.endswith(domain))
