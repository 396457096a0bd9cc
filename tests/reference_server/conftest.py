from __future__ import annotations

import json
import ssl
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
import trustme

from .scripted_gerrit import ScriptedGerrit

TOKEN = "s3cret-T0ken"


@pytest.fixture(scope="session")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> tuple[ssl.SSLContext, Path]:
    authority = trustme.CA()
    pem = tmp_path_factory.mktemp("authority") / "ca.pem"
    authority.cert_pem.write_to_path(str(pem))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("localhost", "127.0.0.1").configure_cert(context)
    return context, pem


@pytest.fixture(autouse=True)
def clean_environment(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, certificates: tuple[ssl.SSLContext, Path]
) -> None:
    for name in ("GERRIT_BASE_URL", "GERRIT_MCP_EXTENSIONS", "GERRIT_MCP_LOG_PATH", "GERRIT_MCP_RETURN_HTTP_ERRORS"):
        monkeypatch.delenv(name, raising=False)
    for name in ("https_proxy", "HTTPS_PROXY", "http_proxy", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("GERRIT_CONFIG_PATH", str(tmp_path / "gerrit_config.json"))
    monkeypatch.setenv("CURL_CA_BUNDLE", str(certificates[1]))


@pytest.fixture
def server_log(tmp_path: Path) -> Callable[[], str]:
    log = tmp_path / "server.log"
    return lambda: log.read_text() if log.exists() else ""


Configure = Callable[..., Path]


@pytest.fixture
def configure(tmp_path: Path) -> Configure:
    def write(*hosts: dict[str, Any], **keys: Any) -> Path:
        path = tmp_path / "gerrit_config.json"
        document = {"gerrit_hosts": list(hosts), **keys}
        if hosts:
            document.setdefault("default_gerrit_base_url", hosts[0]["external_url"])
        path.write_text(json.dumps(document))
        return path

    return write


def basic(gerrit: ScriptedGerrit, name: str = "one", **keys: Any) -> dict[str, Any]:
    """A configuration entry for a scripted host, with a name and password."""
    return {
        "name": name,
        "external_url": gerrit.url + "/",
        "internal_url": gerrit.internal_url,
        "authentication": {"type": "http_basic", "username": "ada", "auth_token": TOKEN},
        **keys,
    }


@pytest.fixture
async def gerrit(certificates: tuple[ssl.SSLContext, Path]) -> AsyncIterator[ScriptedGerrit]:
    async with ScriptedGerrit(certificates[0]) as one:
        yield one


@pytest.fixture
async def another_gerrit(certificates: tuple[ssl.SSLContext, Path]) -> AsyncIterator[ScriptedGerrit]:
    async with ScriptedGerrit(certificates[0]) as another:
        yield another


@pytest.fixture
async def third_gerrit(certificates: tuple[ssl.SSLContext, Path]) -> AsyncIterator[ScriptedGerrit]:
    async with ScriptedGerrit(certificates[0]) as third:
        yield third
