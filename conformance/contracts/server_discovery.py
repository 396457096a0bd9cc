"""Clauses about how a server finds extensions and loads each of them once."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING

from conformance.contracts.registry import GUIDE, clause, field_sense
from conformance.contracts.server_log import told_log
from conformance.outcomes import Evidence, Finding, Level
from conformance.probes import tool_of
from conformance.rig.scenarios import LATE_SECONDS
from conformance.scenes import serving

if TYPE_CHECKING:
    from conformance.rig.served import Served
    from conformance.server_observations import ServerObservations

MUST, SHOULD = Level.MUST, Level.SHOULD


@clause(
    "SRV-ENTRY",
    level=MUST,
    source=GUIDE.section("Registering via an entry point"),
    fix="Walk the entry points of the group gerrit_mcp_server.extensions and import the module part of each value.",
    example="""
        for point in entry_points(group="gerrit_mcp_server.extensions"):
            load(point.module)  # the part before the colon, if there is one
    """,
    neighbours=("SRV-COSMETIC", "SRV-FIRST"),
)
async def advertised_modules_are_loaded(observed: ServerObservations) -> None:
    """A server loads the module of every distribution that advertises one, as `module` and as `module:register`.

    One that opens no session even without extensions fails here, and here alone.
    """
    alone = await observed.alone()
    if not alone.in_session:
        raise Finding(
            expected="a server that answers initialize and tools/list over stdin and stdout",
            saw=f"{alone.session_trouble}, without any extension",
            evidence=alone.evidence(),
            hint=f"Start it by hand: {shlex.join(observed.subject.command) or observed.subject.target}",
        )
    trial = await observed.of(serving.advertised)
    _judge_loaded(trial, (serving.PLAIN, serving.NAMED), "advertised by an entry point")


@clause(
    "SRV-COSMETIC",
    level=MUST,
    source=GUIDE.section("How extensions are discovered"),
    needs=("SRV-ENTRY",),
    fix="Keep what was found by the module it names; the name on the left of an entry point is for people.",
    example="""
        modules = dict.fromkeys(point.module for point in points)  # not {point.name: point.module}
    """,
    neighbours=("SRV-DEDUP",),
)
async def the_left_name_does_not_matter(observed: ServerObservations) -> None:
    """What an entry point is called has no bearing on loading: only the module that it names has.

    Tried with one left name in two distributions, two entry points in one, and a name with dots, capitals and hyphens.
    """
    trial = await observed.of(serving.advertised)
    _judge_loaded(trial, serving.COSMETIC, "advertised under a name that others bear, or an odd one")


@clause(
    "SRV-ENV",
    level=MUST,
    source=GUIDE.section("Registering via the environment variable"),
    fix="Split GERRIT_MCP_EXTENSIONS at commas, strip each item, leave empty ones out, and import every dotted name.",
    example="""
        items = os.environ.get("GERRIT_MCP_EXTENSIONS", "").split(",")
        modules = [item.strip() for item in items if item.strip()]
    """,
    neighbours=("SRV-BOTH", "SRV-FIRST"),
)
async def modules_in_the_variable_are_loaded(observed: ServerObservations) -> None:
    """A server loads every module in `GERRIT_MCP_EXTENSIONS`, whatever blanks and empty items stand between commas."""
    await observed.bare()
    trial = await observed.of(serving.by_variable)
    _judge_loaded(trial, serving.IN_VARIABLE, f"in GERRIT_MCP_EXTENSIONS={trial.setup.variable!r}")


@clause(
    "SRV-BOTH",
    level=MUST,
    source=GUIDE.section("How extensions are discovered"),
    needs=("SRV-ENTRY", "SRV-ENV"),
    fix="Look in both places and put together what you find; neither replaces the other.",
    example="""
        found = [*modules_of_entry_points(), *modules_in_the_variable()]
    """,
    neighbours=("SRV-DEDUP",),
)
async def both_sources_count(observed: ServerObservations) -> None:
    """Where one extension is advertised and another stands in the variable, both are loaded."""
    trial = await observed.of(serving.by_both)
    _judge_loaded(trial, (serving.PLAIN, serving.IN_VARIABLE[0]), "one in each of the two sources")


def _judge_loaded(trial: Served, modules: Sequence[str], where: str) -> None:
    """Raise unless each of the modules has its tool, sooner or later: SRV-FIRST asks when."""
    names = {*trial.names, *(trial.tools_after or ())}
    missing = [module for module in modules if tool_of(module) not in names]
    if missing:
        registered = [module for module in missing if trial.times("registered", module)]
        how = "registered, but without their tools" if registered == missing else "not loaded"
        raise Finding(
            expected=f"{len(modules)} modules loaded, {where}",
            saw=f"{' and '.join(missing)} {how}",
            evidence=(Evidence(kind="reply", text=f"tools/list: {', '.join(sorted(names)) or '(no session)'}"),
                      *trial.evidence()),
        )  # fmt: skip


@clause(
    "SRV-DEDUP",
    level=MUST,
    source=GUIDE.section("How extensions are discovered"),
    needs=("SRV-BOTH",),
    fix="Count how often each module was found; load it once, and log a WARNING with its name where that was not once.",
    example="""
        for module, times in Counter(found).items():
            if times > 1:
                log(f"extension {module}: WARNING: discovered {times} times; loading once")
            load(module)
    """,
    neighbours=("SRV-COSMETIC", "SRV-BOTH"),
)
async def a_module_found_twice_is_loaded_once_and_told(observed: ServerObservations) -> None:
    """A module that is found more than once is loaded once, with a WARNING that names it in server.log.

    Found twice in four ways: by two distributions, in both forms of one entry point, in both sources, twice in the
    variable. One that was found once draws no WARNING.
    """
    trial = await observed.of(serving.found_twice)
    _judge_loaded(trial, [serving.ONCE, *serving.TWICE], "some of them found twice")
    for module, where in serving.TWICE.items():
        times = trial.times("registered", module)
        if times != 1:
            raise Finding(
                expected="one load of a module that is found twice",
                saw=f"{module}, found in {where}, registered {times} times",
                evidence=trial.evidence(),
            )
    log = await told_log(observed, trial)
    for module, where in serving.TWICE.items():
        if not _warnings(log, module):
            raise Finding(
                expected="a line in server.log that says WARNING and names the module",
                saw=f"none for {module}, which was found in {where}",
                evidence=trial.evidence(),
            )
    if unasked := _warnings(log, serving.ONCE):
        raise Finding(
            expected="no WARNING about a module that was found once",
            saw=f"one about {serving.ONCE}",
            evidence=(Evidence(kind="log", text=unasked[0]),),
        )


def _warnings(log: str, *words: str) -> list[str]:
    """Give the lines of a log that warn and hold all of the words as words."""
    lines = [line for line in log.splitlines() if re.search("warn", line, re.IGNORECASE)]
    return [line for line in lines if all(re.search(rf"(?<![\w.]){re.escape(one)}(?![\w.]*\w)", line) for one in words)]


@clause(
    "SRV-FIRST",
    level=MUST,
    source=GUIDE.section("How extensions are discovered"),
    needs=("SRV-ENTRY",),
    fix="Load all extensions before the first request is answered, not in a thread or a task beside it.",
    example="""
        application.load()  # returns when every register(ctx) has
        application.serve_stdio()
    """,
    neighbours=("SRV-ENV",),
)
async def extension_tools_are_in_the_first_list(observed: ServerObservations) -> None:
    """The tools of all extensions are in the first answer to `tools/list`; clients need not ask again.

    That holds in a session, and without one where the server offers the protocol that knows none (2026-07-28).
    """
    for trial in (await observed.of(serving.advertised), await observed.of(serving.by_variable)):
        late = [one for one in trial.tools_after or () if one not in trial.names and one.startswith("probe_")]
        if late:
            raise Finding(
                expected="all tools of extensions in the first tools/list",
                saw=f"{', '.join(late)} only {LATE_SECONDS:g} s later",
                evidence=trial.evidence(),
            )
    sessionless = await observed.of(serving.without_a_session)
    missing = [tool for module in serving.IN_VARIABLE if (tool := tool_of(module)) not in sessionless.names]
    if sessionless.in_session and missing:
        raise Finding(
            expected="the tools of all extensions without a session, too (protocol 2026-07-28)",
            saw=f"{', '.join(missing)} missing there",
            evidence=sessionless.evidence(),
        )


@clause(
    "SRV-NAMES",
    level=SHOULD,
    source=field_sense("of two tools with one name clients see one, and nobody is told that the other is gone"),
    needs=("SRV-ENV",),
    fix="Before a tool is added, look whether its name is taken; log a WARNING with the tool and both extensions.",
    example="""
        log(f"extension {name}: WARNING: tool {tool!r} is already registered by {owner}; the first one stays")
    """,
    neighbours=("SRV-DEDUP",),
)
async def two_tools_of_one_name_are_told(observed: ServerObservations) -> None:
    """Where two extensions register a tool of one name, server.log has a WARNING with the tool and both extensions."""
    trial = await observed.of(serving.namesakes)
    log = await told_log(observed, trial)
    if not _warnings(log, serving.CLAIMED, *serving.NAMESAKES):
        raise Finding(
            expected=f"a WARNING that names {serving.CLAIMED}, {' and '.join(serving.NAMESAKES)}",
            saw="no such line in server.log",
            evidence=trial.evidence(),
        )
