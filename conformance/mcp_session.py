"""The fixture `gerrit_mcp`: an MCP session with an extension loaded, against a simulated world, for ordinary tests.

It judges nothing. The server is the reference server in a contained child, forked from a process that is kept warm for
the whole test session; calls are plain functions, so that synchronous and asynchronous tests use them alike.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import ExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

from conformance.bridge import Bridge
from conformance.preparing import prepare
from conformance.programs import require_curl
from conformance.rig.limits import Limits
from conformance.rig.order import Order
from conformance.rig.rig import Rig
from conformance.rig.warm import Child
from conformance.settings import Settings
from conformance.subject import Subject
from conformance.targets import resolve_target
from conformance.wire.client import Client
from conformance.wire.reply import Reply, ToolReply
from mock_gerrit.offered import GerritWorld
from mock_gerrit.serving.gateway import Gateway, Refused

LOAD_SECONDS = 30.0
CALL_SECONDS = 30.0
SESSION_SECONDS = 3600.0
"""How long one test may keep its session, breakpoints included."""
_FAILURES = ("import_failed", "register_raised")


class ExtensionNotLoadedError(Exception):
    """The extension could not be imported, or its `register` raised; the text tells which, with the traceback."""


class McpSession:
    """An open session; valid while its test runs."""

    def __init__(
        self, *, bridge: Bridge, client: Client, tools: list[dict[str, Any]], log_path: Path, gateway: Gateway
    ) -> None:
        """Take over what `McpHost.session` has opened."""
        self._bridge = bridge
        self._client = client
        self._log_path = log_path
        self._gateway = gateway
        self.tools = tools
        """The first answer to `tools/list`, all pages: the core tools and the extension's."""

    def tool(self, name: str) -> dict[str, Any]:
        """Give one tool's entry in `tools/list`.

        Raises:
            LookupError: there is no such tool; the names that there are stand in the text.
        """
        for one in self.tools:
            if one["name"] == name:
                return one
        raise LookupError(f"no tool {name!r}; there are {', '.join(sorted(str(one['name']) for one in self.tools))}")

    def call(self, tool: str, /, **arguments: Any) -> ToolReply:  # noqa: ANN401 - what the tool takes
        """Call a tool; an error of the tool is a reply with `is_error`, not an exception.

        Raises:
            WireTrouble: no proper answer came, because of a time-out or the end of the server.
        """
        return self._bridge.run(self._client.call_tool(tool, arguments, timeout=CALL_SECONDS))

    def request(self, method: str, params: Mapping[str, Any] | None = None) -> Reply:
        """Send any request of the protocol; raises what `call` raises."""
        return self._bridge.run(self._client.request(method, params, timeout=CALL_SECONDS))

    @property
    def log(self) -> str:
        """What the server and the extension have written to server.log."""
        return self._log_path.read_text(encoding="utf-8", errors="replace") if self._log_path.exists() else ""

    @property
    def refused(self) -> list[Refused]:
        """Requests to anything that is no host of the world."""
        return list(self._gateway.refused)


class McpHost:
    """Opens sessions, all from one warm process; close it when the last test is done."""

    def __init__(self) -> None:
        """Start the warm process.

        Raises:
            UsageError: a program that the host needs is not installed.
        """
        require_curl(Settings())
        self._open = ExitStack()
        self._bridge = Bridge()
        self._open.callback(self._bridge.close)
        try:
            self._rig = self._open.enter_context(self._bridge.held(Rig(Settings(), import_path=sys.path)))
        except BaseException:
            self._open.close()
            raise

    def close(self) -> None:
        """End the warm process."""
        self._open.close()

    @contextmanager
    def session(self, target: str, world: GerritWorld, *, extensions: Mapping[str, Any]) -> Iterator[McpSession]:
        """Open a session for the length of a `with` block.

        Args:
            target: the extension, as for `--conformance`: a module, a distribution, a project folder or a wheel.
            world: the hosts that the server is configured for, in their order; the first one is the default.
            extensions: what stands under `extensions` in the server's configuration.

        Raises:
            UsageError: the target is nothing that can be loaded.
            ExtensionNotLoadedError: it is, and fails to load.
            LookupError: a host has no account with a password.
        """
        subject = resolve_target(target, cwd=Path.cwd())
        with self._bridge.held(_session(self._rig, subject, world, extensions, self._bridge)) as session:
            yield session


@asynccontextmanager
async def _session(
    rig: Rig, subject: Subject, world: GerritWorld, extensions: Mapping[str, Any], bridge: Bridge
) -> AsyncIterator[McpSession]:
    subject = await prepare(subject, rig)
    with tempfile.TemporaryDirectory(prefix="gerrit-mcp-") as name:
        home = Path(name)
        (home / "gerrit_config.json").write_text(json.dumps(_configuration(world, extensions)), encoding="utf-8")
        async with Gateway(world.world, authority=rig.authority, listener=await rig.warm.listen()) as gateway:
            child = await rig.warm.start(_order(subject, home, gateway))
            try:
                await _loaded(child)
                async with Client(child.protocol) as client:
                    await client.initialize()
                    tools = await client.list_tools()
                    yield McpSession(
                        bridge=bridge, client=client, tools=tools, log_path=home / "server.log", gateway=gateway
                    )
            finally:
                await child.close()


def _configuration(world: GerritWorld, extensions: Mapping[str, Any]) -> dict[str, Any]:
    hosts = []
    for host in world:
        user, password = host.credentials
        signing_in = {"type": "http_basic", "username": user, "auth_token": password}
        internal = host.host.internal_url or host.url
        hosts.append(
            {"name": host.name, "external_url": host.url, "internal_url": internal, "authentication": signing_in}
        )
    return {"default_gerrit_base_url": hosts[0]["external_url"], "gerrit_hosts": hosts, "extensions": dict(extensions)}


def _order(subject: Subject, home: Path, gateway: Gateway) -> Order:
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL", "TZ") if name in os.environ}
    environment = {
        **kept,
        **gateway.environment(),
        "HOME": str(home),
        "TMPDIR": str(home),
        "GERRIT_CONFIG_PATH": str(home / "gerrit_config.json"),
        "GERRIT_MCP_LOG_PATH": str(home / "server.log"),
    }
    if subject.kind == "module":
        environment["GERRIT_MCP_EXTENSIONS"] = ",".join(subject.modules)
    return Order(
        entry="conformance.rig.hosting:serve",
        environment=environment,
        folder=str(home),
        payload={
            "modules": list(subject.modules),
            "import_path": [str(one) for one in subject.import_path],
            "metadata": str(subject.metadata) if subject.metadata else None,
            "host": None,
            "instructions": {},
        },
        limits=Limits(seconds=SESSION_SECONDS),
    )


async def _loaded(child: Child) -> None:
    """Wait until the child has loaded the extension; a failure of it is raised here, with its cause."""
    while told := await child.next_fact(LOAD_SECONDS):
        kind, about = told
        if kind in _FAILURES:
            where = "importing" if kind == "import_failed" else "register() of"
            raise ExtensionNotLoadedError(
                f"{where} {about['module']} failed: {about['type']}: {about['text']}\n{about['traceback']}"
            )
        if kind == "loaded":
            return
    raise ExtensionNotLoadedError(f"the server ended, or did not come up in {LOAD_SECONDS:g} s\n{child.stderr.text}")
