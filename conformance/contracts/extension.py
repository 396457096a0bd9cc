"""Family EXT: what a module or distribution has to be before any of its tools is called."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from conformance.contracts.registry import GUIDE, MCP_SPEC, clause, field_sense, tells_of_an_end
from conformance.outcomes import Blocked, Evidence, Finding, Inconclusive, Level
from conformance.rig.surroundings import IMPORT_SECONDS

if TYPE_CHECKING:
    from conformance.observations import Observations
    from conformance.rig.record import Record
    from conformance.rig.trial import Trial

MUST, SHOULD = Level.MUST, Level.SHOULD

ENDINGS = frozenset({"SystemExit", "KeyboardInterrupt", "GeneratorExit"})
"""Exceptions that mean to end the process, not to report a problem."""


async def _loading_came_to_its_end(observed: Observations) -> None:
    trial = await observed.survey()
    _not_for_broken_limits(trial)
    evidence = _surroundings_of_an_end(trial)
    doing = "importing" if trial.stage in {"start", "import"} else "registering"
    expected = f"{doing} to return within {IMPORT_SECONDS:.0f} s in a process that goes on"
    for fact in (*trial.told("import_failed"), *trial.told("register_raised")):
        if ENDINGS & set(str(fact["bases"]).split()):
            raise Finding(
                expected=expected, saw=f"{fact['type']} raised while {doing}", evidence=(_traceback(fact), *evidence)
            )
    if trial.child.stdin_read:
        raise Finding(
            expected="the standard input left alone",
            saw=f"{trial.child.stdin_read} bytes read from it while {doing}",
            evidence=evidence,
        )
    if trial.hung:
        raise Finding(
            expected=expected, saw=f"no return within {IMPORT_SECONDS:.0f} s while {doing}", evidence=evidence
        )
    if not (trial.told("loaded") or trial.told("import_failed")):
        raise Finding(expected=expected, saw=f"the process {_ending(trial.record)} while {doing}", evidence=evidence)
    if trial.record is not None and trial.record.parent_attacked:
        raise Finding(
            expected="its parent left alone", saw=f"a signal sent to its parent while {doing}", evidence=evidence
        )


@clause(
    "EXT-EXIT",
    level=MUST,
    source=field_sense(
        'the guide\'s "one broken extension never aborts server startup" holds only if none can end or '
        "block the process"
    ),
    fix=(
        "Let import and register return at once: raise an ordinary exception for what is wrong, and leave "
        "waiting, reading and exiting to the host."
    ),
    example="""
        def register(ctx):
            if shutil.which("dot") is None:
                raise RuntimeError("the program dot is missing")  # not sys.exit()
    """,
    gate=_loading_came_to_its_end,
    explains=tells_of_an_end,
    neighbours=("EXT-IMPORT", "EXT-RESOURCES", "EXT-QUIET"),
)
async def importing_and_registering_leave_the_process_running(observed: Observations) -> None:
    """Importing the module and calling `register` neither end the process nor block it, then or later.

    Each may take ten seconds. SystemExit and its like, `os._exit`, a signal to itself and reading the standard input
    count as ending or blocking; a limit that was broken on the way is EXT-RESOURCES' to judge.
    """
    await _loading_came_to_its_end(observed)
    trial = await observed.survey()
    if trial.in_session:
        for later in [trial, *(await observed.aftermath()).trials]:
            _judge_end_without_a_call(later)


def _judge_end_without_a_call(trial: Trial) -> None:
    _not_for_broken_limits(trial)
    record = trial.record
    if record is None or any(call.died for call in trial.calls):
        return  # what happens in a call is TOOL-EXIT's to judge
    if record.ended_by == "itself" or record.guardian_killed:
        saw = (
            "the process that watches over it killed"
            if record.guardian_killed
            else f"the process {_ending(record)} unasked"
        )
        raise Finding(expected="a process that goes on after loading", saw=saw, evidence=_surroundings_of_an_end(trial))


def _not_for_broken_limits(trial: Trial) -> None:
    if trial.record is not None and set(trial.record.exceeded) - {"seconds"}:
        raise Blocked("a limit was broken, and the process was ended for it", by="EXT-RESOURCES")


def _surroundings_of_an_end(trial: Trial) -> tuple[Evidence, ...]:
    quoted = [Evidence(kind="stderr", text=text[-1500:])] if (text := trial.stderr().strip()) else []
    if trial.record is not None:
        quoted.append(Evidence(kind="process", text=f"it {_ending(trial.record)} after {trial.record.seconds:.1f} s"))
    return tuple(quoted)


def _ending(record: Record | None) -> str:
    if record is None:
        return "ended"
    if record.ended_by == "us":
        return "was ended by the suite"
    return f"was ended by {record.signal_name}" if record.signal else f"exited with code {record.exit_code}"


def _traceback(fact: Mapping[str, Any]) -> Evidence:
    return Evidence(kind="traceback", text=f"{fact['traceback']}{fact['type']}: {fact['text']}")


@clause(
    "EXT-RESOURCES",
    level=MUST,
    source=field_sense("a host shares its machine with its extensions and outlives their calls"),
    fix=(
        "Start no process that outlives its call, bound what you keep in memory, and write diagnostics in "
        "lines, not in floods."
    ),
    example="""
        process = await asyncio.create_subprocess_exec("dot", path)
        try:
            await process.wait()
        finally:
            if process.returncode is None:
                process.kill()
    """,
    excused_by=("EXT-EXIT",),  # an abrupt end may leave a request behind
    neighbours=("EXT-EXIT",),
)
async def nothing_is_left_behind_and_limits_are_kept(observed: Observations) -> None:
    """Importing, registering and calling leave no process behind and keep the limits of memory, processes and output.

    Output is what goes to stdout, to stderr, to the protocol, and into any one file.

    Judged from the record of the process that guards the child, never from an exception that the subject could catch.
    """
    survey = await observed.survey()
    _judge_record(survey, "importing and registering", observed)
    if survey.in_session:
        async for trial in observed.trials_with_calls():
            _judge_record(trial, "calling its tools", observed)


def _judge_record(trial: Trial, doing: str, observed: Observations) -> None:
    record = trial.record
    if record is None:
        return
    limit = f"{observed.rig.settings.limit_memory // 1024**2} MiB"
    peak = Evidence(
        kind="process",
        text=(
            f"resident up to {record.peak_memory_bytes // 1024**2} MiB, reserved up to "
            f"{record.peak_reserved_bytes // 1024**2} MiB, limit {limit}; it {_ending(record)}"
        ),
    )
    exceeded = [one for one in record.exceeded if one != "seconds"]
    if exceeded:
        raise Finding(
            expected="the limits to be kept",
            saw=f"the limit of {' and '.join(exceeded)} broken while {doing}",
            evidence=(peak,),
        )
    if record.ended_by == "us" and record.signal and trial.in_session and all(call.reply for call in trial.calls):
        evidence = (Evidence(kind="process", text=f"it {_ending(record)}, {record.signal_name}, as it went on"), peak)
        raise Finding(
            expected="a process that ends when its client has gone", saw="one that had to be killed", evidence=evidence
        )
    if record.left_behind:
        seen = tuple(Evidence(kind="process", text=str(one)) for one in record.left_behind[:5])
        count = len(record.left_behind)
        raise Finding(expected="no process left behind", saw=f"{count} left after {doing}", evidence=seen)


@clause(
    "EXT-IMPORT",
    level=MUST,
    source=GUIDE.section("How extensions are discovered"),
    needs=("EXT-EXIT",),
    excused_by=("EXT-ENTRY", "EXT-SURFACE"),
    fix="Mend what the traceback shows; declare in your project's dependencies everything that you import.",
    example="""
        [project]
        dependencies = ["jinja2>=3"]  # everything that the module imports
    """,
    neighbours=("EXT-QUIET", "EXT-RESOURCES"),
)
async def the_module_imports(observed: Observations) -> None:
    """The module imports in a fresh interpreter; a distribution does so with only the dependencies that it declares."""
    trial = await observed.survey()
    for fact in trial.told("import_failed"):
        raise Finding(
            expected=f"import {fact['module']} to succeed",
            saw=f"{fact['type']}: {fact['text'].splitlines()[0] if fact['text'] else '(no text)'}",
            evidence=(_traceback(fact),),
        )
    if not trial.told("imported"):
        _not_for_broken_limits(trial)
        raise Inconclusive("the import was not seen to end", supply="run again with --conformance-limit-seconds raised")


@clause(
    "EXT-QUIET",
    level=MUST,
    source=MCP_SPEC.section("Transports: stdio"),
    fix="Write diagnostics to ctx.log_path or to sys.stderr; standard output carries the protocol.",
    example="""
        print("loaded", file=sys.stderr)
        with open(ctx.log_path, "a") as log:
            log.write("loaded\\n")
    """,
    neighbours=("EXT-IMPORT", "EXT-EXIT", "EXT-VISIBLE"),
)
async def standard_output_is_left_to_the_protocol(observed: Observations) -> None:
    """Nothing is written to standard output at import, at registration or during a call.

    Judged on the raw bytes of the child's descriptor 1, which the suite owns; the protocol runs elsewhere.
    """
    survey = await observed.survey()
    _judge_silence(survey)
    if survey.in_session:
        async for trial in observed.trials_with_calls():
            _judge_silence(trial)


def _judge_silence(trial: Trial) -> None:
    _not_for_broken_limits(trial)
    written = trial.child.stdout
    if written.total:
        phases = {"import": "at import", "register": "at registration", "calls": "during a call"}
        when = sorted({phases.get(chunk.phase, chunk.phase) for chunk in written.chunks})
        raise Finding(
            expected="no byte on standard output",
            saw=f"{written.total} bytes {' and '.join(when)}",
            evidence=tuple(
                Evidence(kind="stdout", text=f"{phases.get(one.phase, one.phase)}: {one.data[:300]!r}")
                for one in written.chunks[:5]
            ),
        )


@clause(
    "EXT-REGISTER",
    level=MUST,
    source=GUIDE.section("Writing an extension"),
    needs=("EXT-IMPORT",),
    excused_by=("EXT-ENTRY",),
    fix="Define `def register(ctx):` at the top level of the module that the entry point or the variable names.",
    example="""
        def register(ctx):
            ctx.mcp.tool()(get_state)
    """,
    neighbours=("EXT-QUIET",),
)
async def register_accepts_the_context(observed: Observations) -> None:
    """The module has a top-level callable `register` that takes the context as its one positional argument."""
    trial = await observed.survey()
    facts = trial.told("register")
    if not facts:
        raise Inconclusive("what register is was not seen", supply="run again with --conformance-limit-seconds raised")
    for fact in facts:
        expected = f"a top-level callable register(ctx) in {fact['module']}"
        if not fact["exists"]:
            raise Finding(expected=expected, saw="no attribute of that name")
        if not fact["callable"]:
            raise Finding(expected=expected, saw=f"register is of type {fact['made_of']}, which cannot be called")
        if fact["refuses"]:
            raise Finding(expected=expected, saw=f"register(ctx) refused: {fact['refuses']}")


@clause(
    "EXT-SYNC",
    level=MUST,
    source=field_sense(
        "a host calls register and never awaits it: the body of a coroutine function would not run, and "
        "its tools would silently be missing"
    ),
    needs=("EXT-REGISTER",),
    fix="Make it a plain `def register(ctx):`; tools may be coroutine functions, register may not.",
    example="""
        def register(ctx):  # not async def
            @ctx.mcp.tool()
            async def get_state(change_id: str) -> State: ...
    """,
    neighbours=("EXT-QUIET", "EXT-VISIBLE"),
)
async def register_needs_no_await(observed: Observations) -> None:
    """Calling `register` does the registering: it gives back nothing that would have to be awaited."""
    for fact in (await observed.survey()).told("register_returned"):
        if fact["deferred"]:
            saw = f"{fact['deferred']}, whose body has not run"
            raise Finding(expected="register to have registered when it returns", saw=saw)


async def _register_returned(observed: Observations) -> None:
    _judge_return("the usual settings", await observed.survey(), required=[])


@clause(
    "EXT-RETURNS",
    level=MUST,
    source=GUIDE.section("Namespaced configuration"),
    needs=("EXT-REGISTER", "EXT-SYNC"),
    excused_by=("EXT-SURFACE",),
    fix=(
        'Read every option with a default, as in `ctx.extension_config("NAME").get("option", default)`; '
        "list what cannot have one under required_options in the profile."
    ),
    example="""
        def register(ctx):
            settings = ctx.extension_config("my-extension")
            limit = settings.get("limit", 25)
    """,
    gate=_register_returned,
    explains=lambda _: False,  # all else is seen under the usual settings, with which it did return
    neighbours=("EXT-QUIET", "EXT-NONEMPTY"),
)
async def register_returns_under_every_form_of_settings(observed: Observations) -> None:
    """`register` returns without raising, whatever form the settings have.

    The forms: no key `extensions`, null, empty, its own block, that block with an unknown key.

    With `required_options` in the profile, the forms without a block may raise, if the text names a missing option.
    """
    await _register_returned(observed)
    required = observed.profile.extension.required_options
    for form, trial in (await observed.configured()).items():
        _judge_return(form, trial, required=required if "extensions" in form else [])


def _judge_return(form: str, trial: Trial, *, required: list[str]) -> None:
    for fact in trial.told("register_raised"):
        if "typing_extensions.TypedDict" in str(fact["text"]):
            raise Blocked(
                "pydantic refuses a nested typing.TypedDict before Python 3.12: use Python 3.12, or typing_extensions",
                by="python",
            )
        if required and any(option in str(fact["text"]) for option in required):
            continue
        saw = f"{fact['type']}: {fact['text']}" + (", which names no required option" if required else "")
        raise Finding(expected=f"register to return with {form}", saw=saw, evidence=(_traceback(fact),))
    if not trial.told("register_returned") and not trial.told("register_raised"):
        _not_for_broken_limits(trial)
        raise Finding(
            expected=f"register to return with {form}", saw="it did not", evidence=_surroundings_of_an_end(trial)
        )


@clause(
    "EXT-VISIBLE",
    level=MUST,
    source=GUIDE.section("How extensions are discovered"),
    needs=("EXT-RETURNS",),
    fix="Register everything before register returns; nothing tells clients of tools that come later.",
    example="""
        def register(ctx):
            for name in ("open", "merged"):
                ctx.mcp.tool(name=f"list_{name}")(listing(name))  # here, not in a task
    """,
    neighbours=("EXT-NONEMPTY", "TOOL-WORKS"),
)
async def the_first_list_of_tools_is_complete(observed: Observations) -> None:
    """Whatever the extension registers is in the answer to the first `tools/list`, and stays there.

    The list is asked for again after a while, and after every tool has been called.
    """
    survey = await observed.survey()
    if not survey.in_session:
        raise Blocked(f"the session with the host did not open: {survey.session_trouble}", by="host")
    for seen in (await observed.plain(), await observed.aftermath()):
        for trial in seen.trials:
            if trial.tools_after is not None:
                _judge_lists([str(tool["name"]) for tool in trial.tools], trial.tools_after)
    listed = {str(tool["name"]) for tool in survey.tools}
    missing = [str(about["name"]) for about in survey.told("tool") if about["name"] not in listed]
    if missing:
        raise Finding(expected=f"{', '.join(missing)} in the first tools/list", saw="registered, and not listed")


def _judge_lists(first: list[str], later: list[str]) -> None:
    came, went = sorted(set(later) - set(first)), sorted(set(first) - set(later))
    if came:
        raise Finding(expected="every tool in the first tools/list", saw=f"{', '.join(came)} only later")
    if went:
        raise Finding(expected="every tool of the first tools/list to stay", saw=f"{', '.join(went)} gone later")


@clause(
    "EXT-NONEMPTY",
    level=SHOULD,
    source=field_sense("an extension that registers nothing is installed for nothing, and most often by mistake"),
    needs=("EXT-RETURNS",),
    excused_by=("EXT-NAMES",),
    fix="Register a tool, a resource or a prompt in register; one that a setting switches off may stay off.",
    example="""
        def register(ctx):
            @ctx.mcp.tool()
            async def get_state(change_id: str) -> State: ...
    """,
    neighbours=("EXT-VISIBLE",),
)
async def something_is_registered(observed: Observations) -> None:
    """The extension registers at least one tool, resource or prompt."""
    survey = await observed.survey()
    counts = survey.told("registered")
    if not counts:
        raise Inconclusive(
            "what was registered was not seen", supply="a host that loads extensions in the suite's child"
        )
    if not any(int(counts[-1][kind]) for kind in ("tools", "resources", "prompts")):
        late = [trial for trial in (await observed.aftermath()).trials if trial.tools_after is not None]
        if all(set(trial.tools_after or ()) <= {tool["name"] for tool in trial.tools} for trial in late):
            raise Finding(expected="a tool, a resource or a prompt", saw="none of them after register returned")
