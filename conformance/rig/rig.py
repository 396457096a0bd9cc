"""The rig: one warm process, and trials forked from it, each amid its own simulated hosts."""

from __future__ import annotations

import asyncio
import copy
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from conformance.rig.limits import Limits
from conformance.rig.masking import Masking
from conformance.rig.surroundings import (
    IMPORT_SECONDS,
    Credentials,
    Surroundings,
    build_world,
    configuration,
    third_party_answers,
)
from conformance.rig.trial import Fact, Trial
from conformance.rig.warm import Order, WarmProcess
from conformance.settings import Settings
from conformance.subject import Subject
from conformance.wire.client import Client, WireTrouble
from mock_gerrit.serving.authority import CertificateAuthority
from mock_gerrit.serving.elsewhere import Elsewhere
from mock_gerrit.serving.gateway import Gateway

if TYPE_CHECKING:
    from mock_gerrit.world import World

TRIALS_AT_ONCE = 4
"""More would only make children wait for a processor while their time limits run."""

_FACT_ENDS = frozenset({"loaded", "import_failed"})


class Rig:
    """Makes trials; one rig serves any number of subjects.

    Use it as an async context manager. Everything it starts ends with it: the warm process, the children, the hosts,
    and the temporary folder.
    """

    def __init__(self, settings: Settings | None = None, *, import_path: Sequence[str] | None = None) -> None:
        """Prepare to start; children search `import_path` (by default the caller's) after the subject's own."""
        self.settings = settings or Settings()
        self.credentials = Credentials()
        self.masking = Masking(self.credentials)
        self.trials = 0
        self.gerrit_calls = 0
        self.control: Any = None
        """The examination of the extension that is known to be good, once somebody needed it."""
        self.fixed_port = asyncio.Lock()
        """Held while a server listens on a port that its command fixes."""
        self.control_turn = asyncio.Lock()
        self._import_path = [one for one in (import_path if import_path is not None else sys.path) if one]
        self._worlds: dict[str, World] = {}
        self._stack = AsyncExitStack()
        self._places = asyncio.Semaphore(TRIALS_AT_ONCE)

    async def __aenter__(self) -> Self:
        """Start the warm process."""
        self.folder = Path(tempfile.mkdtemp(prefix="gerrit-conformance-"))
        self._stack.callback(shutil.rmtree, self.folder, ignore_errors=True)
        try:
            self.authority = CertificateAuthority(self.folder)
            self.warm = await self._stack.enter_async_context(
                WarmProcess(preload=("conformance.rig.hosting:warm",), import_path=self._import_path)
            )
        except BaseException:
            await self._stack.aclose()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        """End everything that was started."""
        await self._stack.aclose()

    async def keep(self, resource: AbstractAsyncContextManager[Any]) -> None:
        """Enter a resource that lives as long as the rig."""
        await self._stack.enter_async_context(resource)

    def with_host(self, settings: Settings) -> Rig:
        """Give a rig on the same warm process whose trials are on the host that other settings name."""
        other = copy.copy(self)
        other.settings, other.control, other.control_turn = settings, None, asyncio.Lock()
        return other

    def world(self, surroundings: Surroundings) -> World:
        """Give a world of one's own for these surroundings; the first of a kind is built, the others are copied."""
        kind = repr((surroundings.plugins, surroundings.placement, surroundings.canned))  # all that `build_world` reads
        if kind not in self._worlds:
            self._worlds[kind] = build_world(surroundings, self.credentials)
        return self._worlds[kind].copy()

    @asynccontextmanager
    async def trial(self, subject: Subject, surroundings: Surroundings) -> AsyncIterator[Trial]:
        """Fork a child, load the subject in it, and open a session; close all of it afterwards.

        A subject that cannot be loaded gives a trial without a session: see `Trial.stage`.
        """
        world = self.world(surroundings)
        async with AsyncExitStack() as stack:
            home = await stack.enter_async_context(self.place())
            listener = stack.enter_context(await self.warm.listen())  # to be closed whatever comes between
            gateway = Gateway(
                world,
                authority=self.authority,
                listener=listener,
                elsewhere=Elsewhere(third_party_answers(surroundings)),
            )
            await stack.enter_async_context(gateway)
            child = await self.warm.start(self._order(subject, surroundings, home, gateway))
            trial = Trial(
                surroundings=surroundings,
                child=child, client=Client(child.protocol), world=world, gateway=gateway, home=home,
                log_path=home / "server.log", masking=self.masking,
            )  # fmt: skip
            self.trials += 1
            try:
                await self._open(trial)
                yield trial
            finally:
                await asyncio.shield(self.end(trial, grace=0.0 if trial.hung else 2.0))

    @asynccontextmanager
    async def place(self) -> AsyncIterator[Path]:
        """Take one of the few places for children that run at once, and a folder; both end with the block."""
        async with self._places:
            home = Path(tempfile.mkdtemp(prefix="trial-", dir=self.folder))
            try:
                yield home
            finally:
                shutil.rmtree(home, ignore_errors=True)

    async def rest(self, trial: Trial, seconds: float) -> None:
        """Wait while nobody asks anything of a trial, or until its child ends, and leave its place to others."""
        self._places.release()
        try:
            await trial.child.wait_ended(seconds)
        finally:
            await self._places.acquire()

    async def run(
        self, command: Sequence[str], *, folder: Path, import_path: Sequence[str] = (), seconds: float
    ) -> tuple[int | None, str]:
        """Run a command in a contained child without any network; give its exit code and all that it wrote.

        The exit code is None where the command was ended for a limit; the text then says which.
        """
        home = Path(tempfile.mkdtemp(prefix="run-", dir=self.folder))
        environment = {
            **kept_environment(),
            "HOME": str(home),
            "TMPDIR": str(home),
            "PYTHONPATH": os.pathsep.join(import_path),
        }
        limits = Limits(memory_bytes=self.settings.limit_memory, seconds=seconds)
        child = await self.warm.start(
            Order(kind="command", command=command, environment=environment, folder=str(folder), limits=limits)
        )
        try:
            await child.wait_ended(seconds + 1.0)
        finally:
            record = await child.close(grace=0.0)
            shutil.rmtree(home, ignore_errors=True)
        text = b"".join(chunk.data for stream in (child.stdout, child.stderr) for chunk in stream.chunks)
        told = text.decode(errors="replace")
        return (record.exit_code, told) if record.ended_by == "itself" else (None, f"{told}\n{record.describe()}")

    async def _open(self, trial: Trial) -> None:
        """Wait until the subject is loaded, then initialise the session and ask for the tools."""
        deadline = time.monotonic() + IMPORT_SECONDS
        while (fact := await self._next_fact(trial, deadline)) is not None and fact.kind not in _FACT_ENDS:
            if fact.kind == "phase":
                trial.stage = fact.about["name"]
                deadline = time.monotonic() + IMPORT_SECONDS
        if fact is None:
            if time.monotonic() < deadline:  # it can tell nothing more: it has closed its channel, or is about to end
                await trial.child.wait_ended(max(1.0, deadline - time.monotonic()))
            trial.hung = not trial.child.ended
            return
        if fact.kind == "import_failed":
            return
        trial.stage = "calls"
        try:
            await trial.client.initialize(timeout=self.settings.limit_seconds)
            trial.tools = list(await trial.client.list_tools())
            trial.in_session = True
        except WireTrouble as problem:
            trial.session_trouble = str(problem)

    async def _next_fact(self, trial: Trial, deadline: float) -> Fact | None:
        """Give the child's next fact and keep it; None when it ended or hangs."""
        told = await trial.child.next_fact(max(0.0, deadline - time.monotonic()))
        if told is None:
            return None
        trial.gather()
        return Fact(kind=told[0], about=told[1])

    async def end(self, trial: Trial, *, grace: float, patience: float | None = None) -> None:
        """Close the session and end the child, as `Child.close` does; keep what both have left behind."""
        with suppress(WireTrouble):
            await trial.client.close()
        trial.record = await trial.child.close(grace, patience=patience)
        trial.gather()
        trial.last_words = trial.let_out()
        self.gerrit_calls += trial.requests + trial.world.journal.mark()

    def _order(self, subject: Subject, surroundings: Surroundings, home: Path, gateway: Gateway) -> Order:
        config = home / "gerrit_config.json"
        config.write_text(json.dumps(configuration(surroundings, self.credentials)), encoding="utf-8")
        work = home / "work"
        work.mkdir()
        return Order(
            kind="entry",
            entry="conformance.rig.hosting:serve",
            environment=self._environment(subject, surroundings, home, gateway),
            folder=str(work),
            watched=[str(home)],
            payload={
                "modules": list(subject.modules),
                "import_path": [str(one) for one in (*subject.import_path, *self.settings.host_path)],
                "metadata": str(subject.metadata) if subject.metadata else None,
                "host": self._factory(),
                "instructions": dict(surroundings.instructions),
            },
            limits=Limits(
                memory_bytes=self.settings.limit_memory, seconds=self.settings.limit_seconds + IMPORT_SECONDS
            ),
        )

    def _factory(self) -> str | None:
        kind, _, rest = self.settings.host.partition(":")
        return rest if kind == "factory" else None

    def _environment(
        self, subject: Subject, surroundings: Surroundings, home: Path, gateway: Gateway
    ) -> dict[str, str]:
        """Write the child's whole environment: nothing of the caller's but what `kept_environment` gives."""
        made = environment_amid(home, gateway)
        if surroundings.masks_errors:
            made["GERRIT_MCP_MASK_ERRORS"] = "1"
        if surroundings.returns_http_errors:
            made["GERRIT_MCP_RETURN_HTTP_ERRORS"] = "1"
        if surroundings.keeps_prefix:
            made["GERRIT_MCP_KEEP_PREFIX"] = "1"
        if subject.kind == "module":
            made["GERRIT_MCP_EXTENSIONS"] = ",".join(subject.modules)
        return made


def environment_amid(home: Path, gateway: Gateway) -> dict[str, str]:
    """Write the environment of a child that has this folder, and this gateway to reach Gerrit by."""
    pem = str(gateway.authority.pem)
    return {
        **kept_environment(),
        "HOME": str(home),
        "TMPDIR": str(home),
        "GERRIT_CONFIG_PATH": str(home / "gerrit_config.json"),
        "GERRIT_MCP_LOG_PATH": str(home / "server.log"),
        "https_proxy": gateway.proxy_url,
        "http_proxy": gateway.proxy_url,
        "CURL_CA_BUNDLE": pem,
        "SSL_CERT_FILE": pem,
        "REQUESTS_CA_BUNDLE": pem,
    }


def kept_environment() -> dict[str, str]:
    """Give what a child may know of the caller: where programs are, the language, the time zone."""
    kept = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ")
    return {name: os.environ[name] for name in kept if name in os.environ}
