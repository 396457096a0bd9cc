"""One server under test: started with the extensions that a scene wants, and a session with it opened.

What an operator can reach is all that is used: the command, the environment, the configuration file, the distributions
on the import path, `server.log`, stderr, and the session.
"""

from __future__ import annotations

import asyncio
import json
import os
import sysconfig
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from conformance.outcomes import Evidence
from conformance.probes import LEDGER_FILE, Advertisement, Probe, write_probes
from conformance.profile import ServerTable
from conformance.rig.limits import Limits
from conformance.rig.order import Order
from conformance.rig.overhearing import PROGRAMS, overhear, overheard
from conformance.rig.rig import Rig, environment_amid
from conformance.rig.surroundings import Surroundings, configuration
from conformance.rig.trial import Trial
from conformance.rig.ways import Way, way_to
from conformance.subject import Subject
from conformance.wire.client import Client, WireTrouble
from mock_gerrit.serving.gateway import Gateway

START_SECONDS = 30.0
"""How long a server may take until it has answered the first two requests."""
CLOSE_SECONDS = 2.0
"""How long it may take to end once its input has."""


@dataclass(frozen=True, kw_only=True)
class Setup:
    """All that makes one start of a server differ from another."""

    probes: tuple[Probe, ...] = ()
    """The modules on its import path."""
    advertised: tuple[Advertisement, ...] = ()
    """The distributions that advertise them."""
    variable: str | None = None
    """The text of `GERRIT_MCP_EXTENSIONS`; None leaves the variable unset."""
    surroundings: Surroundings = field(default_factory=Surroundings)
    """The Gerrit hosts around it."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Keys at the top of the configuration file, in place of the usual ones."""
    configuration: str | None = ""
    """The whole text of the configuration file, or None for no file; empty for the usual one."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables beside the usual ones; `{home}` stands for the folder of the start."""
    stateless: bool = False
    """Speak the protocol without a session (2026-07-28), in place of the one that begins with `initialize`."""
    overheard: tuple[str, ...] = ()
    """Programs whose arguments are written down whenever the server runs one of them by its name."""
    linger_seconds: float = 0.0
    """How long to go on after the first list of tools, for what comes late."""


@dataclass(kw_only=True)
class Served(Trial):
    """A start of the server, and what was seen of it."""

    setup: Setup = field(default_factory=Setup)

    @property
    def names(self) -> list[str]:
        """The names in the first list of tools."""
        return [str(tool["name"]) for tool in self.tools]

    opened_after: float = 0.0
    """Seconds from the start until the first list of tools was there; 0 where there was none."""
    noted: list[dict[str, Any]] = field(default_factory=list)
    """What the probes noted, in order; known once the server has ended."""

    def times(self, event: str, module: str) -> int:
        """Tell how often a probe noted an event."""
        return sum(one["event"] == event and one["module"] == module for one in self.noted)

    overheard: list[str] = field(default_factory=list)
    """The arguments of each run of the programs that the setup wants to have overheard; known at the end."""

    log_is_known: bool = False
    """The file that is read as server.log is the right one: the profile names it, or the server has written it."""

    def evidence(self) -> tuple[Evidence, ...]:
        """Quote how the start ended, and the last that it wrote."""
        how = "a session was opened" if self.in_session else self.session_trouble
        quoted = [Evidence(kind="process", text=how)]
        if self.record is not None and not self.in_session:
            quoted.append(Evidence(kind="process", text=f"the server {self.record.describe()}"))
        quoted += [Evidence(kind="stdout", text=repr(one[:300])) for one in self.client.stray[:3]]
        for place, text in self.let_out().items():
            if text.strip():
                quoted.append(Evidence(kind=place, text=text.strip()[-1500:]))
        return tuple(quoted)


@asynccontextmanager
async def served(rig: Rig, subject: Subject, setup: Setup, told: ServerTable) -> AsyncIterator[Served]:
    """Start the server, open a session and list the tools; end all of it afterwards."""
    world = rig.world(setup.surroundings)
    async with AsyncExitStack() as stack:
        home = await stack.enter_async_context(rig.place())
        listener = stack.enter_context(await rig.warm.listen())  # to be closed whatever comes between
        gateway = Gateway(world, authority=rig.authority, listener=listener)
        await stack.enter_async_context(gateway)
        named = rig.settings.log or told.log
        log_path = Path((named or "{home}/server.log").replace("{home}", str(home)))
        environment = _environment(setup, told, home, gateway)
        way = await way_to(rig, subject, stack)
        child = await rig.warm.start(_order(rig, subject, setup, home=home, environment=environment, port=way.port))
        trial = Served(
            surroundings=setup.surroundings, child=child, client=Client(way.stream(child)), world=world,
            gateway=gateway, home=home, log_path=log_path, masking=rig.masking, setup=setup,
        )  # fmt: skip
        rig.trials += 1
        try:
            await _open(trial, way, min(START_SECONDS, rig.settings.limit_seconds))
            yield trial
        finally:
            grace = CLOSE_SECONDS if trial.in_session and not subject.url else 0.0
            patience = CLOSE_SECONDS if trial.in_session else None
            await asyncio.shield(rig.end(trial, grace=grace, patience=patience))
            trial.log_is_known = bool(named) or log_path.is_file()
            trial.noted, trial.overheard = _events(home), overheard(home)


async def _open(trial: Served, way: Way, seconds: float) -> None:
    try:
        seconds -= await way.open(trial.child, seconds)
        await (trial.client.discover if trial.setup.stateless else trial.client.initialize)(timeout=seconds)
        trial.tools = list(await trial.client.list_tools(timeout=seconds))
        trial.in_session, trial.opened_after = True, trial.age
    except WireTrouble as problem:
        trial.session_trouble = str(problem)
        if trial.client.gone:
            await trial.child.wait_ended(CLOSE_SECONDS)  # how it ends by itself is to be seen
    if trial.in_session and trial.setup.linger_seconds:
        await trial.child.wait_ended(trial.setup.linger_seconds)
        trial.tools_after = await trial.names_now()


def _environment(setup: Setup, told: ServerTable, home: Path, gateway: Gateway) -> dict[str, str]:
    """Write the whole environment of the server."""
    made = {**environment_amid(home, gateway), LEDGER_FILE: str(home / "ledger")}
    made[told.config_variable] = made["GERRIT_CONFIG_PATH"]
    for name, value in (*told.environment.items(), *setup.environment.items()):
        made[name] = value.replace("{home}", str(home))
    if setup.overheard:
        made["PATH"] = f"{home / PROGRAMS}{os.pathsep}{made.get('PATH', os.defpath)}"
    if setup.variable is not None:
        made["GERRIT_MCP_EXTENSIONS"] = setup.variable
    return made


def _order(rig: Rig, subject: Subject, setup: Setup, *, home: Path, environment: dict[str, str], port: int) -> Order:
    """Write the configuration and the probes, and say how the server is started amid them."""
    document = {**configuration(setup.surroundings, rig.credentials), **setup.settings}
    text = json.dumps(document) if setup.configuration == "" else setup.configuration
    if text is not None:
        (home / "gerrit_config.json").write_text(text, encoding="utf-8")
    overhear(home, setup.overheard)
    site, work = home / "site", home / "work"
    write_probes(site, setup.probes, setup.advertised)
    work.mkdir()
    limits = Limits(memory_bytes=rig.settings.limit_memory, seconds=rig.settings.limit_seconds + START_SECONDS)
    place: dict[str, Any] = {"folder": str(work), "watched": [str(home)], "limits": limits}
    entry: dict[str, Any] = {"kind": "program", "entry": "conformance.rig.serving:serve", "environment": environment}
    command = tuple(word.replace("{port}", str(port)) for word in subject.command)
    if command and is_own_command(command[0]):  # it is at hand already, in the warm process
        return Order(**entry, payload={"arguments": [*command[1:]], "import_path": [str(site)]}, **place)
    if command:  # the suite's own import path is no affair of a stranger's command
        paths = {"PYTHONPATH": str(site)}
        return Order(kind="command", command=command, environment={**environment, **paths}, **place)
    payload = {"factory": subject.factory, "import_path": [str(site), *map(os.fspath, subject.import_path)]}
    return Order(**entry, payload=payload, **place)


def is_own_command(program: str) -> bool:
    """Tell whether a program is the command of the reference server that is installed beside this package."""
    own = Path(sysconfig.get_path("scripts"), "gerrit-mcp-reference")
    return own.is_file() and Path(program).is_file() and own.samefile(program)


def _events(home: Path) -> list[dict[str, Any]]:
    try:
        lines = (home / "ledger").read_text(encoding="utf-8").splitlines()
    except OSError:
        return []
    events: list[dict[str, Any]] = []
    for line in lines:
        with suppress(ValueError):
            events.append(json.loads(line))
    return events
