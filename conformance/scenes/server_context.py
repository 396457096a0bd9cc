"""What the members of a server's context do, asked through a probe."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conformance.rig.served import Served, Setup
from conformance.rig.surroundings import (
    BASE_FORMS,
    HOSTS,
    NO_EXTENSIONS_KEY,
    USER,
    HostPlan,
    Surroundings,
    configuration,
)
from conformance.scenes import server_requests as requests
from conformance.scenes.server_asking import APPENDS, ECHOES, HAS_PLUGIN, PROBES, REPEATS, WITNESS, Asked
from mock_gerrit.faults import Fault

if TYPE_CHECKING:
    from conformance.server_observations import ServerObservations

MARK = "a line that the conformance probe has appended"
ROWAN, SYCAMORE, CEDAR, ELM = HOSTS

BLOCKS: Mapping[str, Any] = {
    "leaves": {"color": "green", "deep": {"depths": [1, 2.5, None, True, "Blätter"]}},
    "a-block.of-others": {"dashed": True},
    "empty": {},
    "nothing": None,
    "listed": ["a", "b"],
    "worded": "text",
    "numbered": 3,
    "switched": True,
}
"""What stands under `extensions`: blocks, and what is none."""
ABSENT = ("absent", "gerrit_hosts")
"""Names that have nothing there; the second is a key at the top of the file."""
OWN_KEY = {"conformance": {"a key": ["that no server", {"knows": None}]}}


async def usual(observed: ServerObservations) -> Asked:
    """Ask every member, with the hosts as they always are, blocks for extensions, and a default with a slash."""
    setup = Setup(
        probes=PROBES, variable=WITNESS,
        surroundings=Surroundings(plugins=("task",), placement="some", extensions=BLOCKS),
        settings={**OWN_KEY, "default_gerrit_base_url": f"{CEDAR.url}/"},
    )  # fmt: skip
    async with observed.serving(setup) as trial:
        seen = Asked(served=trial, document=_document(trial))
        await seen.call("repeated", REPEATS, {"word": "leaf", "times": 3})
        await seen.call("repeated by default", REPEATS, {"word": "leaf"})
        await seen.call("echoed", ECHOES, {"change_id": "demo~1"})
        await _ask_addresses(seen)
        await seen.ask("load_config")
        for member in ("log_path", "plugin_registry"):
            await seen.ask(member, key=member)
        for name in (*BLOCKS, *ABSENT):
            await seen.ask("extension_config", name)
        await seen.call("appended", APPENDS, {"text": MARK})
        await seen.call("without a host", HAS_PLUGIN, {})
        for plan in (ELM, ROWAN):
            await seen.call(plan.name, HAS_PLUGIN, {"gerrit_base_url": plan.url})
        await requests.ask_all(seen)
        await requests.ask_amiss(observed, seen)
    return seen


async def _ask_addresses(seen: Asked) -> None:
    for arguments in ((), (None,)):
        await seen.ask("get_base_url", *arguments)
    for _, text in BASE_FORMS.values():
        for member in ("get_base_url", "normalize_url"):
            await seen.ask(member, text)
    for plan in HOSTS:
        for text in (plan.url, plan.internal_url, f"{plan.url}/a"):
            for member in ("get_base_url", "normalize_url"):
                await seen.ask(member, text)


SIGNING = {"rowan": "http_basic", "sycamore": "git_cookies", "cedar": "http_basic", "elm": "git_cookies"}
"""How each host wants requests signed where not all want the same."""
FROM_VARIABLE = f"{SYCAMORE.internal_url}/"
"""What stands in `GERRIT_BASE_URL` there."""


async def signed(observed: ServerObservations) -> Asked:
    """Ask where two hosts want cookies and two passwords, `GERRIT_BASE_URL` is set, and no extension has a block."""
    surroundings = Surroundings(extensions=NO_EXTENSIONS_KEY)
    with tempfile.TemporaryDirectory(dir=observed.rig.folder) as folder:
        cookies = Path(folder, "gitcookies")
        cookies.write_text(_cookies(observed), encoding="utf-8")
        setup = Setup(
            probes=PROBES, variable=WITNESS, surroundings=surroundings, environment={"GERRIT_BASE_URL": FROM_VARIABLE},
            settings={"gerrit_hosts": _hosts(observed, {"type": "git_cookies", "gitcookies_path": str(cookies)})},
        )  # fmt: skip
        async with observed.serving(setup) as trial:
            for plan in HOSTS:
                trial.world.host_named(plan.name).account_of(USER).cookies.add(f"o={_cookie(observed, plan)}")
            seen = Asked(served=trial, document=_document(trial))
            for arguments in ((), (None,), (ROWAN.url,)):
                await seen.ask("get_base_url", *arguments)
            for plan in HOSTS:
                await seen.ask("normalize_url", plan.internal_url)
            for name in ("leaves", *ABSENT):
                await seen.ask("extension_config", name)
            await requests.ask_all(seen)
    return seen


def _cookie(observed: ServerObservations, plan: HostPlan) -> str:
    return f"git-{USER}.example.com=1//{observed.rig.credentials.tokens[plan.name]}"


def _cookies(observed: ServerObservations) -> str:
    """Write a cookie file as git reads it; the first and the last cookie are those of hosts that nobody asks."""
    values = {plan.url.split("/")[2]: _cookie(observed, plan) for plan in (ELM, SYCAMORE)}
    values = {"alder.example.com": "git-of-alder", **values, "birch.example.com": "git-of-birch"}
    lines = [f"{name}\tFALSE\t/\tTRUE\t2147483647\to\t{value}" for name, value in values.items()]
    return "\n".join(["# HTTP Cookie File", *lines, ""])


def _hosts(observed: ServerObservations, other: Mapping[str, str] | None, *names: str) -> list[dict[str, Any]]:
    """Write `gerrit_hosts` with another authentication for those that want cookies, or for these names."""
    hosts: list[dict[str, Any]] = configuration(Surroundings(), observed.rig.credentials)["gerrit_hosts"]
    chosen = names or [name for name, kind in SIGNING.items() if kind == "git_cookies"]
    for host in hosts:
        if host["name"] in chosen:
            del host["authentication"]
            if other is not None:
                host["authentication"] = other
    return hosts


async def unsigned(observed: ServerObservations) -> Asked:
    """Ask where one host wants no authentication and the log is to lie in a folder that is not there yet.

    Not every server takes such hosts, so one that does not start here has not done anything wrong.
    """
    setup = Setup(
        probes=PROBES, variable=WITNESS, settings={"gerrit_hosts": _hosts(observed, None, ELM.name)},
        environment={"GERRIT_MCP_LOG_PATH": "{home}/kept/logs/server.log"},
    )  # fmt: skip
    async with observed.serving(setup) as trial:
        seen = Asked(served=trial, document=_document(trial))
        await seen.call("appended", APPENDS, {"text": MARK})
        for member in ("get_base_url", "normalize_url"):
            for plan in (ELM, ROWAN):
                await seen.ask(member, plan.url)
        await seen.ask("normalize_url", ELM.internal_url)
        await requests.ask_unsigned(seen)
    return seen


PATIENCE_SECONDS = 60.0
"""How long run_curl may wait for a host that says nothing."""


async def silent(observed: ServerObservations) -> Asked:
    """Ask a host that takes a request and never answers; the reference server is told to wait for a second."""
    setup = Setup(probes=PROBES, variable=WITNESS, surroundings=Surroundings(curl_timeout_seconds=1))
    async with observed.serving(setup) as trial:
        seen = Asked(served=trial)
        base = await seen.base(ROWAN)
        trial.enter(observed.rig.world(trial.surroundings), [Fault(kind="timeout")])
        patience = min(PATIENCE_SECONDS, observed.rig.settings.limit_seconds)
        url = base.rstrip("/") + requests.CHANGE
        await seen.ask("run_curl", [url], base, key="silent", seconds=patience)
    return seen


def _document(trial: Served) -> Mapping[str, Any]:
    read: Mapping[str, Any] = json.loads((trial.home / "gerrit_config.json").read_text(encoding="utf-8"))
    return read


FORESEEN: tuple[Callable[..., Awaitable[Any]], ...] = (usual, signed, unsigned, silent)
"""Scenes that a full run begins beside each other, ahead of the clauses that ask for them."""
