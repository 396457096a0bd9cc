"""Clauses about broken extensions: a server names each one with its cause, leaves it out, and goes on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.contracts.registry import GUIDE, MCP_SPEC, clause, field_sense
from conformance.contracts.server_log import told_log
from conformance.outcomes import Blocked, Evidence, Finding, Level, NotApplicable
from conformance.probes import tool_of
from conformance.probes.broken import KINDS, MALFORMED_CAUSES
from conformance.scenes import serving

if TYPE_CHECKING:
    from conformance.rig.served import Served
    from conformance.scenes.serving import Amid
    from conformance.server_observations import ServerObservations

MUST, SHOULD = Level.MUST, Level.SHOULD
_SOURCE = GUIDE.section("How extensions are discovered")
_FIX = (
    "Load each extension in a try of its own that catches BaseException; log the module and the exception, and go on "
    "with the next."
)
_EXAMPLE = """
    try:
        import_module(name).register(context)
    except BaseException as problem:
        log(f"extension {name}: ERROR: {type(problem).__name__}: {problem}")
"""
_NEEDS = ("SRV-ENTRY", "SRV-ENV")


@clause(
    "SRV-ISOLATE-IMPORT", level=MUST, source=_SOURCE, needs=_NEEDS, fix=_FIX, example=_EXAMPLE,
    neighbours=("SRV-ISOLATE-SYNTAX", "SRV-ISOLATE-RAISES"),
)  # fmt: skip
async def one_that_raises_at_import_is_left_out(observed: ServerObservations) -> None:
    """An extension that raises at import is told in server.log and on stderr and left out; all else goes on."""
    await _judge(observed, "import")


@clause(
    "SRV-ISOLATE-SYNTAX", level=MUST, source=_SOURCE, needs=_NEEDS, fix=_FIX, example=_EXAMPLE,
    neighbours=("SRV-ISOLATE-IMPORT",),
)  # fmt: skip
async def one_that_does_not_parse_is_left_out(observed: ServerObservations) -> None:
    """An extension with a syntax error is told in server.log and on stderr and left out; all else goes on."""
    await _judge(observed, "syntax")


@clause(
    "SRV-ISOLATE-MISSING", level=MUST, source=_SOURCE, needs=_NEEDS, fix=_FIX, example=_EXAMPLE,
    neighbours=("SRV-ISOLATE-IMPORT",),
)  # fmt: skip
async def one_that_is_not_there_is_left_out(observed: ServerObservations) -> None:
    """An extension that is named and not installed is told in server.log and on stderr; all else goes on."""
    await _judge(observed, "missing")


@clause(
    "SRV-ISOLATE-NOREGISTER", level=MUST, source=_SOURCE, needs=_NEEDS, fix=_FIX, example=_EXAMPLE,
    neighbours=("SRV-ISOLATE-NOTCALLABLE",),
)  # fmt: skip
async def one_without_register_is_left_out(observed: ServerObservations) -> None:
    """An extension that defines no `register` is told in server.log and on stderr and left out; all else goes on."""
    await _judge(observed, "no register")


@clause(
    "SRV-ISOLATE-NOTCALLABLE", level=MUST, source=_SOURCE, needs=_NEEDS, fix=_FIX, example=_EXAMPLE,
    neighbours=("SRV-ISOLATE-NOREGISTER",),
)  # fmt: skip
async def one_whose_register_is_no_function_is_left_out(observed: ServerObservations) -> None:
    """An extension whose `register` cannot be called is told in server.log and on stderr and left out."""
    await _judge(observed, "not callable")


@clause(
    "SRV-ISOLATE-RAISES", level=MUST, source=_SOURCE, needs=_NEEDS, fix=_FIX, example=_EXAMPLE,
    neighbours=("SRV-ISOLATE-IMPORT", "SRV-PARTIAL"),
)  # fmt: skip
async def one_that_raises_in_register_is_left_out(observed: ServerObservations) -> None:
    """An extension whose `register` raises is told in server.log and on stderr and left out; all else goes on."""
    await _judge(observed, "raises")


@clause(
    "SRV-ISOLATE-EXIT", level=MUST, source=_SOURCE, needs=_NEEDS, fix=_FIX, example=_EXAMPLE,
    neighbours=("SRV-ISOLATE-INTERRUPT",),
)  # fmt: skip
async def one_that_exits_is_left_out(observed: ServerObservations) -> None:
    """An extension that calls `sys.exit` at import or in `register` does not take the server with it.

    SystemExit is no Exception: a loader that catches Exception only ends here.
    """
    await _judge(observed, "exits at import")
    await _judge(observed, "exits in register")


@clause(
    "SRV-ISOLATE-INTERRUPT", level=SHOULD, source=_SOURCE, needs=_NEEDS, fix=_FIX, example=_EXAMPLE,
    neighbours=("SRV-ISOLATE-EXIT",),
)  # fmt: skip
async def one_that_raises_an_interrupt_is_left_out(observed: ServerObservations) -> None:
    """An extension that raises KeyboardInterrupt by itself is left out like any other; nobody has pressed a key."""
    await _judge(observed, "interrupts at import")


@clause(
    "SRV-ISOLATE-ARITY", level=MUST, source=_SOURCE, needs=_NEEDS, fix=_FIX, example=_EXAMPLE,
    neighbours=("SRV-ISOLATE-RAISES",),
)  # fmt: skip
async def one_whose_register_takes_nothing_is_left_out(observed: ServerObservations) -> None:
    """An extension whose `register` does not take the context is told in server.log and on stderr and left out."""
    await _judge(observed, "arity")


@clause(
    "SRV-ISOLATE-HANG", level=MUST,
    source=field_sense("one extension that waits for a lock or a host must not keep all others from their users"),
    needs=_NEEDS,
    fix="Give importing and registering a limit of some seconds, and go on without what has not come back by then.",
    example="""
        signal.setitimer(signal.ITIMER_REAL, 10)  # the handler raises
        try:
            import_module(name)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    """,
    neighbours=("SRV-ISOLATE-IMPORT",),
)  # fmt: skip
async def one_that_never_comes_back_is_left_out(observed: ServerObservations) -> None:
    """An extension that hangs at import or in `register` is told and left out within thirty seconds."""
    await _judge(observed, "hangs at import")
    await _judge(observed, "hangs in register")


@clause(
    "SRV-ISOLATE-ENTRYPOINT", level=MUST, source=_SOURCE, needs=("SRV-ENTRY",),
    fix="Read the module of each entry point in a try of its own: a malformed value raises.",
    example="""
        try:
            module = point.module
        except Exception as problem:  # AttributeError up to Python 3.12, AssertionError from 3.13 on
            log(f"entry point {point.name}: ERROR: cannot be read: {point.value!r}")
    """,
    neighbours=("SRV-ENTRY",),
)  # fmt: skip
async def a_malformed_entry_point_loses_no_other(observed: ServerObservations) -> None:
    """An entry point that cannot be read is told in server.log and on stderr; those of others are loaded."""
    amid = await observed.of(serving.malformed)
    bare = await observed.bare()
    _judge_going_on(amid, bare, "a malformed entry point")
    await _judge_told(observed, amid, MALFORMED_CAUSES, "a malformed entry point")


async def _judge(observed: ServerObservations, kind: str) -> None:
    bare = await observed.bare()
    amid = await observed.of(serving.broken, kind)
    what = f"an extension of the kind `{kind}`"
    _judge_going_on(amid, bare, what)
    await _judge_told(observed, amid, KINDS[kind].causes, what)


def _judge_going_on(amid: Amid, bare: Served, what: str) -> None:
    """Raise unless the server serves, with its own tools and those of the good extensions, which answer."""
    for trial, company in ((amid.alone, "alone"), (amid.between, "between two good ones")):
        if not trial.in_session:
            raise Finding(
                expected=f"a server that goes on without {what}",
                saw=f"no session with it {company}: {trial.session_trouble}",
                evidence=trial.evidence(),
            )
        lost = [one for one in bare.names if one not in trial.names]
        if lost:
            raise Finding(
                expected=f"the server's own tools beside {what}",
                saw=f"{len(lost)} of them gone, with it {company}: {', '.join(lost[:5])}",
                evidence=trial.evidence(),
            )
    for module in (serving.BEFORE, serving.AFTER):
        call = amid.answers.get(module)
        if call is None or not call.succeeded:
            saw = f"{module} without its tool" if call is None else f"{tool_of(module)} with {call.saw()}"
            evidence = amid.between.evidence() if call is None else call.evidence()
            raise Finding(expected=f"good extensions beside {what} loaded and at work", saw=saw, evidence=evidence)


async def _judge_told(observed: ServerObservations, amid: Amid, causes: tuple[str, ...], what: str) -> None:
    """Raise unless stderr and server.log name the extension and a cause, whichever company it was in."""
    for trial in (amid.alone, amid.between):
        for place, text in (("stderr", trial.let_out()["stderr"]), ("server.log", await told_log(observed, trial))):
            lower = text.lower()
            if not any(name in lower for name in amid.names):
                raise Finding(
                    expected=f"{what} named in {place}", saw=f"no {amid.names[0]} there", evidence=trial.evidence()
                )
            if trial is amid.alone and not any(cause in _without(lower, amid.names) for cause in causes):
                raise Finding(
                    expected=f"the cause in {place}: one of {', '.join(causes)}",
                    saw=f"none of them, although it names {amid.names[0]}",
                    evidence=trial.evidence(),
                )


def _without(text: str, names: tuple[str, ...]) -> str:
    """Take the names away, and the word for success, so that only what is said of the extension is left."""
    for name in (*names, "registered"):
        text = text.replace(name, "")
    return text


@clause(
    "SRV-PARTIAL",
    level=SHOULD,
    source=field_sense("a tool whose extension has failed to set itself up works by chance, if at all"),
    needs=("SRV-ISOLATE-RAISES",),
    fix="Remember what was registered before an extension, and take away what it has added when its register fails.",
    example="""
        before = set(tools())
        try:
            module.register(context)
        except BaseException:
            for name in set(tools()) - before:
                remove_tool(name)
    """,
    neighbours=("SRV-ISOLATE-RAISES",),
)
async def what_half_registers_leaves_nothing(observed: ServerObservations) -> None:
    """An extension whose `register` fails half-way leaves none of its tools behind."""
    trial = await observed.of(serving.half_registered)
    if not trial.in_session:
        raise Blocked(f"no session beside one that exits half-way: {trial.session_trouble}", by="SRV-ISOLATE-EXIT")
    if left := [name for name in trial.names if name.startswith("probe_half_registered")]:
        raise Finding(
            expected="no tool of an extension whose register has failed",
            saw=f"{' and '.join(left)}, registered before the extension failed",
            evidence=trial.evidence(),
        )


@clause(
    "SRV-STDOUT",
    level=MUST,
    source=MCP_SPEC.section("Transports: stdio"),
    needs=("SRV-ENV",),
    fix="Before extensions load, keep a copy of descriptor 1 for the protocol and point descriptor 1 to stderr.",
    example="""
        protocol = os.dup(1)
        os.dup2(2, 1)  # from here on print() goes to stderr
    """,
    neighbours=("SRV-ENV",),
)
async def printing_extensions_do_not_reach_the_client(observed: ServerObservations) -> None:
    """What an extension prints, at import, in `register` or in a call, never stands between protocol messages."""
    if observed.subject.url:
        raise NotApplicable("it speaks over HTTP, and nothing over its stdout")
    trial, answers = await observed.of(serving.printing)
    if trial.client.stray:
        raise Finding(
            expected="nothing but protocol messages on stdout",
            saw=f"{trial.client.stray[0][:80]!r}",
            evidence=tuple(Evidence(kind="stdout", text=repr(one[:300])) for one in trial.client.stray[:5]),
        )
    if not trial.in_session:
        raise Finding(
            expected="a session beside an extension that prints",
            saw=trial.session_trouble,
            evidence=trial.evidence(),
        )
    for key in ("prints", "after"):
        call = answers.get(key)
        if call is None:
            raise Finding(
                expected="tools of an extension that prints, and of one after it",
                saw=f"none of the one that {'prints' if key == 'prints' else 'comes after it'}",
                evidence=trial.evidence(),
            )
        if not call.succeeded:
            raise Finding(
                expected="answers beside an extension that prints", saw=f"{key}: {call.saw()}", evidence=call.evidence()
            )
