"""Family EXT, continued: what loading an extension asks of Gerrit, takes from others, and can be done twice."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import EntryPoint
from typing import TYPE_CHECKING, Any

from conformance.contracts.registry import GUIDE, clause, field_sense
from conformance.outcomes import Blocked, Evidence, Finding, Inconclusive, Level, NotApplicable
from conformance.rig.rehearsing import AGAIN, REFUSED, UNREGISTER
from conformance.rig.surroundings import IMPORT_SECONDS
from conformance.rig.trial import asks_for_plugins
from conformance.scenes import loading as scenes
from conformance.subject import ENTRY_POINT_GROUP, REFERENCE, advertised, misspelt

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.observations import Observations
    from conformance.rig.trial import Trial

MUST, SHOULD = Level.MUST, Level.SHOULD
ONE_SERVER = "a host that is built on FastMCP or MCPServer of the MCP SDK"


@clause(
    "EXT-LAZY",
    level=SHOULD,
    source=field_sense(
        "a host loads every extension that is installed, used or not: one that asks Gerrit while loading delays the "
        "start of them all, and fails it where Gerrit is down or the credentials have run out"
    ),
    fix="Ask Gerrit inside the tool that needs the answer, and keep the answer from the first call on if you like.",
    example="""
    def register(ctx):
        projects = []

        @ctx.mcp.tool()
        async def get_projects() -> Projects:
            if not projects:
                projects.extend(await ask_for_projects(ctx))
            return {"projects": projects}
    """,
    neighbours=("EXT-RETURNS", "EXT-NAMES", "EXT-VISIBLE"),
)
async def gerrit_is_not_asked_before_the_first_call(observed: Observations) -> None:
    """No request goes to a Gerrit host before the first call of a tool.

    Judged on what arrives at the simulated hosts while the extension is loaded, its tools are listed, and a while after
    that. Asking which plugins a host has is ROUTE-LAZY's to judge.
    """
    for trial in await observed.of(scenes.without_calls):
        asked = [entry for entry in trial.world.journal if not asks_for_plugins(entry)]
        if asked:
            lines = tuple(
                Evidence(kind="request", text=f"{one.method} {one.scheme}://{one.authority}{one.target} → {one.status}")
                for one in asked[:5]
            )
            first = f"{asked[0].method} {asked[0].gerrit_path} on {asked[0].host}"
            saw = f"{first} before any" if len(asked) == 1 else f"{len(asked)} before any, the first of them {first}"
            raise Finding(expected="no request before the first call", saw=saw, evidence=lines)
    _not_unless_loaded(await observed.survey())


def _not_unless_loaded(survey: Trial) -> None:
    """Refuse to pass what was not seen to the end of loading."""
    if survey.told("import_failed"):
        raise Blocked("the module does not import", by="EXT-IMPORT")
    if survey.told("register_raised"):
        raise Blocked("register raised before it was done", by="EXT-RETURNS")
    if not survey.told("register_returned"):
        raise Blocked("register did not return", by="EXT-EXIT" if survey.told("register_called") else "EXT-REGISTER")


@clause(
    "EXT-NAMES",
    level=MUST,
    source=field_sense(
        "names are shared by the host and all its extensions: the SDK keeps the first tool of a name and only logs "
        "that the second is lost, and whoever removes a name takes a tool from agents that rely on it"
    ),
    fix="Give your tools names of your own, such as with your extension's name in front, and leave all others alone.",
    example="""
    @ctx.mcp.tool(name="my_extension_query_changes")
    async def query_changes(query: str) -> Changes:
        ...
    """,
    neighbours=("EXT-VISIBLE", "EXT-LAZY", "EXT-RETURNS"),
)
async def names_of_others_are_left_alone(observed: Observations) -> None:
    """Nothing is registered under a name that is taken, and no name that the host had is removed or given new content.

    It holds for tools, resources, templates and prompts, while loading and later. A name that the extension itself has
    taken already counts as well; registering the very same function again under its name does not, as nothing is lost.
    """
    survey = await observed.survey()
    trials = [survey]
    if survey.in_session:
        trials += [*(await observed.plain()).trials, *(await observed.aftermath()).trials]
    for trial in trials:
        trial.gather()
        for fact in trial.told("name_taken"):
            saw = f"{fact['what']} registered although {fact['owner']} has one of that name already"
            raise Finding(expected="only names that are free", saw=saw)
        for fact in trial.told("names"):
            _judge_names_of_the_host(fact)
    _not_unless_loaded(survey)
    seen = survey.told("names")
    if not seen or not seen[0]["watched"]:
        raise Inconclusive("the host keeps its tools where the suite cannot look", supply=ONE_SERVER)
    listed = {str(tool["name"]) for tool in survey.tools}
    hidden = [name for name in seen[0]["host_tools"] if name not in listed]
    if survey.in_session and hidden:
        raise Finding(expected="every tool of the host in tools/list", saw=f"{', '.join(hidden)} not in it")


def _judge_names_of_the_host(fact: Mapping[str, Any]) -> None:
    when = "after loading" if fact["when"] == "loaded" else "after its tools were called"
    for word in ("removed", "replaced"):
        if fact[word]:
            more = f" and {len(fact[word]) - 3} more" if len(fact[word]) > 3 else ""
            saw = f"{', '.join(fact[word][:3])}{more} {word} {when}"
            raise Finding(expected="everything that the host had registered, as it was", saw=saw)


@clause(
    "EXT-TWICE",
    level=SHOULD,
    source=field_sense(
        "a host may be built more than once in a process, as test suites and servers that reload do: what is kept in "
        "the module must not keep the second one from getting its tools"
    ),
    needs=("EXT-NONEMPTY",),
    fix="Register everything on every call of register, and keep what belongs to a context in it, not in the module.",
    example="""
    def register(ctx):
        cache = {}          # one for each context

        @ctx.mcp.tool()
        async def get_change_state(change_id: str) -> ChangeState:
            ...
    """,
    neighbours=("EXT-NAMES", "EXT-UNREGISTER", "EXT-VISIBLE"),
)
async def a_second_context_gets_the_same_tools(observed: Observations) -> None:
    """Registering in two fresh contexts of one process gives each of them the complete set of tools.

    The host loads the extension as usual; then a second application of the same host, built in the same process, loads
    it again. Names of tools, resources, templates and prompts are compared, those of the first once more at the end.
    """
    trial = await observed.of(scenes.registered_again)
    facts = trial.told("registered_again")
    if not facts:
        _judge_end_of(trial, AGAIN, "register to return in a second context")
        raise Inconclusive(f"the subject did not load again: {_trouble(trial)}", supply="run again")
    if facts[0]["trouble"]:
        raise Inconclusive(
            f"a second application cannot be had in one process: {facts[0]['trouble']}",
            supply="a host factory that builds a new application on every call",
        )
    for fact in trial.told("register_raised"):
        raise Finding(
            expected="register to return in a second context",
            saw=f"{fact['type']}: {fact['text']}",
            evidence=(_traceback_of(fact),),
        )
    first, second, then = (list(facts[0][one]) for one in ("first", "second", "first_then"))
    sets = Evidence(
        kind="fact", text=f"first: {_listed(first)}; second: {_listed(second)}; first then: {_listed(then)}"
    )
    for missing, where in ((_less(first, second), "the second context"), (_less(second, first), "the first context")):
        if missing:
            raise Finding(
                expected="the same set in both contexts", saw=f"{_listed(missing)} missing in {where}", evidence=(sets,)
            )
    if changed := _less(first, then) + _less(then, first):
        saw = f"{_listed(changed)} changed in the first context while the second was registered"
        raise Finding(expected="the first context left alone", saw=saw, evidence=(sets,))


def _less(names: list[str], others: list[str]) -> list[str]:
    return [name for name in names if name not in others]


def _listed(names: list[str]) -> str:
    return ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "") or "nothing"


def _judge_end_of(trial: Trial, phase: str, expected: str) -> None:
    """Hold it against the subject that a phase did not come to its end."""
    if trial.stage == phase:
        limit = f"no return within {IMPORT_SECONDS:.0f} s"
        ended = f"the process {trial.record.describe()}" if trial.record is not None else "the process ended"
        raise Finding(expected=expected, saw=limit if trial.hung else ended)


def _trouble(trial: Trial) -> str:
    return trial.session_trouble or f"it came as far as {trial.stage}"


def _traceback_of(fact: Mapping[str, Any]) -> Evidence:
    return Evidence(kind="traceback", text=f"{fact['traceback']}{fact['type']}: {fact['text']}")


@clause(
    "EXT-UNREGISTER",
    level=MUST,
    source=GUIDE.section("Lifecycle"),
    needs=("EXT-RETURNS",),
    fix=(
        "Define `def unregister(ctx):` as a plain function that undoes what register has set up, and catches what may "
        "go wrong with that."
    ),
    example="""
    def unregister(ctx):
        if _pool is not None:
            _pool.shutdown(wait=False)
    """,
    neighbours=("EXT-UNREGISTER-FAILED", "EXT-TWICE", "EXT-EXIT"),
)
async def unregister_accepts_the_context(observed: Observations) -> None:
    """An `unregister` at the top level of the module takes the context as its one argument, and does its work.

    It neither raises, nor ends or blocks the process, nor gives back something to await: nobody would. It is called
    after a register that returned, in a trial of its own; and where the host calls it at the end of a session, that is
    looked at, too, in sessions in which the tools were called.
    """
    survey = await observed.survey()
    if not survey.told("unregister"):
        raise NotApplicable("it defines no unregister")
    for fact in survey.told("unregister"):
        expected = f"a callable unregister(ctx) in {fact['module']}"
        if not fact["callable"]:
            raise Finding(expected=expected, saw=f"unregister is of type {fact['made_of']}, which cannot be called")
        if fact["refuses"]:
            raise Finding(expected=expected, saw=f"unregister(ctx) refused: {fact['refuses']}")
    trial = await observed.of(scenes.unregistered)
    _judge_unregistered(trial.told("unregistered"), "after a register that returned")
    _judge_end_of(trial, UNREGISTER, "unregister to return in a process that goes on")
    if len(trial.told("unregistered")) < len(survey.told("unregister")):
        raise Inconclusive(f"the subject did not load again: {_trouble(trial)}", supply="run again")
    for later in [*(await observed.plain()).trials, *(await observed.aftermath()).trials]:
        later.gather()
        _judge_unregistered(later.told("unregistered_by_host"), "after its tools had been called")


def _judge_unregistered(facts: list[Mapping[str, Any]], when: str, known: tuple[Evidence, ...] = ()) -> None:
    for fact in facts:
        if raised := fact["raised"]:
            raise Finding(
                expected=f"unregister to return {when}",
                saw=f"{raised['type']}: {raised['text']}",
                evidence=(_traceback_of(raised), *known),
            )
        if fact["deferred"]:
            saw = f"{fact['deferred']}, whose body has not run"
            raise Finding(expected="unregister to have done its work when it returns", saw=saw, evidence=known)


@clause(
    "EXT-UNREGISTER-FAILED",
    level=SHOULD,
    source=GUIDE.section("Lifecycle"),
    needs=("EXT-UNREGISTER",),
    fix="Undo only what is there: begin with empty names at the top of the module, and expect a tool not to be there.",
    example="""
    _pool = None

    def unregister(ctx):
        if _pool is not None:
            _pool.shutdown(wait=False)
    """,
    neighbours=("EXT-UNREGISTER", "EXT-TWICE"),
)
async def unregister_is_fit_for_a_failed_register(observed: Observations) -> None:
    """`unregister` accepts being called after a register that failed: what was not set up need not be undone.

    The server is made to refuse a registration, as an SDK does that can make no tool of a function: once the first that
    register asks for, once the last. Where register raises for it, `unregister` is called at once, with everything as
    register has left it: tools that came before the refused one are still there.
    """
    survey = await observed.survey()
    if not survey.told("unregister"):
        raise NotApplicable("it defines no unregister")
    failed = 0
    for trial in await observed.of(scenes.unregistered_after_failure):
        modules = {fact["module"] for fact in trial.told("register_raised")}
        failed += len(modules)
        facts = [fact for fact in trial.told("unregistered") if fact["module"] in modules]
        refused = trial.told(REFUSED)
        what = f", as {refused[0]['what']} was refused" if refused else ""
        _judge_unregistered(facts, f"after a register that failed{what}", _refused_before(refused))
        if modules:
            _judge_end_of(trial, UNREGISTER, "unregister to return after a register that failed")
        if not trial.in_session:
            raise Inconclusive(f"the subject did not load again: {_trouble(trial)}", supply="run again")
    if not failed:
        raise NotApplicable("its register did not fail, whichever registration was refused")


def _refused_before(refused: list[Mapping[str, Any]]) -> tuple[Evidence, ...]:
    """Quote the registration that the server refused first."""
    told = [Evidence(kind="fact", text=f"the server refused {one['what']}, and so register failed") for one in refused]
    lines = [Evidence(kind="line", text=f"{one['line']}: {one['what']} was refused") for one in refused if one["line"]]
    return (*told[:1], *lines[:1])


@clause(
    "EXT-ENTRY",
    level=MUST,
    source=GUIDE.section("Registering via an entry point"),
    fix="Have the entry point name the module that defines `register(ctx)`; the name on the left is yours to choose.",
    example="""
    [project.entry-points."gerrit_mcp_server.extensions"]
    my_extension = "my_extension"
    """,
    neighbours=("EXT-IMPORT", "EXT-REGISTER", "EXT-ENTRY-ATTRIBUTE"),
)
async def the_entry_point_names_the_module_with_register(observed: Observations) -> None:
    """The entry points of a distribution in `gerrit_mcp_server.extensions` name the modules that define `register`.

    Each module has to be there, and to have a `register`; what that is and does is for other clauses. A value is read
    as the standard library reads it: MODULE or MODULE:ATTRIBUTE. A group that is only almost the right one is not
    looked up by any host.
    """
    points = _entry_points(observed)
    for point in () if points else misspelt(_metadata(observed)):
        raise Finding(
            expected=f"an entry point in the group {ENTRY_POINT_GROUP}",
            saw=f"one in {point.group}",
            evidence=(_quoted(point),),
        )
    for point in points:
        if not _is_well_formed(point.value):
            raise Finding(
                expected="an entry point of the form MODULE or MODULE:ATTRIBUTE",
                saw=f"{point.value!r}",
                evidence=(_quoted(point),),
            )
    survey = await observed.survey()
    for fact in survey.told("import_failed"):
        if not fact["unfound"]:
            raise Blocked("the module that the entry point names does not import", by="EXT-IMPORT")
        raise Finding(
            expected=f"a module {fact['module']}, as the entry point says",
            saw=fact["text"],
            evidence=tuple(_quoted(point) for point in points),
        )
    for fact in survey.told("register"):
        if not fact["exists"]:
            raise Finding(
                expected="an entry point that names the module with register(ctx)",
                saw=f"{fact['module']}, which has no register",
                evidence=tuple(_quoted(point) for point in points),
            )
    if not survey.told("register"):
        raise Blocked("the module that the entry point names was not seen to import", by="EXT-IMPORT")


def _entry_points(observed: Observations) -> list[EntryPoint]:
    return advertised(_metadata(observed))


def _metadata(observed: Observations) -> Path:
    metadata = observed.bench.subject.metadata
    if metadata is None:
        raise NotApplicable("it is a module, and no distribution")
    return metadata


def _is_well_formed(value: str) -> bool:
    found = REFERENCE.match(value)
    return found is not None and all(found["module"].split("."))


def _quoted(point: EntryPoint) -> Evidence:
    return Evidence(kind="fact", text=f"[{point.group}] {point.name} = {point.value}")


@clause(
    "EXT-ENTRY-ATTRIBUTE",
    level=SHOULD,
    source=GUIDE.section("Registering via an entry point"),
    needs=("EXT-ENTRY",),
    fix="Leave the attribute out, or name `register`: hosts take the module and call its register in any case.",
    example="""
    [project.entry-points."gerrit_mcp_server.extensions"]
    my_extension = "my_extension"          # or "my_extension:register"
    """,
    neighbours=("EXT-ENTRY", "EXT-REGISTER"),
)
async def the_entry_point_names_no_other_attribute(observed: Observations) -> None:
    """An attribute that the entry point names after its module is `register`.

    Hosts look up `register` in the module; another attribute promises a call that nobody makes.
    """
    for point in _entry_points(observed):
        found = REFERENCE.match(point.value)
        if found is not None and found["attribute"] not in {None, "register"}:
            raise Finding(
                expected="the module alone, or with :register", saw=f":{found['attribute']}", evidence=(_quoted(point),)
            )
