"""Family TOOL, continued: what a tool makes of the bodies that it is given, whatever form they have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.contracts.registry import GUIDE, clause, field_sense
from conformance.outcomes import Blocked, Evidence, Finding, Level, NotApplicable
from conformance.rig.answers import is_beheaded, left_out, told_by_gerrit, without_line
from conformance.scenes import bodies

if TYPE_CHECKING:
    from conformance.observations import Observations
    from conformance.rig.scenarios import Seen
    from conformance.rig.trial import Call

MUST, SHOULD = Level.MUST, Level.SHOULD
REFUSED = 400


@clause(
    "TOOL-XSSI",
    level=MUST,
    source=GUIDE.section("The ExtensionContext"),
    needs=("EXT-NONEMPTY",),
    excused_by=("TOOL-EXIT",),
    fix="Take the line )]}' away only where it is there: body.removeprefix(\")]}'\"); run_curl has done so already.",
    example="""
        body = await ctx.run_curl([f"{base_url}/changes/{quote(change_id, safe='')}/detail"], base_url)
        change = json.loads(body.removeprefix(")]}'"))
    """,
    per_tool=True,
    neighbours=("TOOL-WORKS", "TOOL-XSSI-BARE"),
)
async def bodies_without_the_guarding_line_are_left_whole(observed: Observations, tool: str) -> None:
    """The tool works on a host that strips the line `)]}'`, and takes nothing from a body that begins with `[` or `{`.

    Where the plain call fails, it is made again on a host that does not strip: if it succeeds there, the tool takes
    something away that is not there. The same is concluded where the call succeeds on both, gives back less of what
    Gerrit told where the line was stripped, and does so each time; and where a result has a body without its beginning.
    """
    call = (await observed.plain()).call(tool)
    if not call.entries:
        raise NotApplicable("it asked Gerrit for nothing")
    bare = await _on_a_host_that_keeps_the_line(observed, tool)
    if not call.succeeded:
        if bare is None or not bare.succeeded:
            raise Blocked("it does not answer, whether the host strips the line or not", by="TOOL-WORKS")
        raise Finding(
            expected="an answer without isError on a host that strips the line )]}'",
            saw=f"{call.saw()}; on a host that does not strip it, the same call succeeds",
            evidence=call.evidence(),
        )
    beheaded = next((entry for entry in call.own if is_beheaded(call, entry)), None)
    if beheaded is not None:
        raise Finding(
            expected="a body as it came", saw=f"a body without its beginning: {call.saw()}", evidence=call.evidence()
        )
    if bare is not None and bare.succeeded and await _tells_less(observed, tool, call, bare):
        raise Finding(
            expected="the same result whether the host strips the line )]}' or not",
            saw=f"{call.saw()}; where it is not stripped: {bare.saw()}",
            evidence=call.evidence(),
        )


@clause(
    "TOOL-XSSI-BARE",
    level=SHOULD,
    source=GUIDE.section("The ExtensionContext"),
    needs=("TOOL-WORKS",),
    excused_by=("TOOL-EXIT", "TOOL-XSSI"),
    fix="Take the line )]}' away where it is there: json.loads(body.removeprefix(\")]}'\")).",
    example="""
        change = json.loads((await ctx.run_curl([url], base_url)).removeprefix(")]}'"))
    """,
    per_tool=True,
    neighbours=("TOOL-WORKS", "TOOL-XSSI"),
)
async def bodies_with_the_guarding_line_are_read_too(observed: Observations, tool: str) -> None:
    """The tool also works on a host whose `run_curl` leaves the line `)]}'` in front of a body.

    Gerrit guards every JSON answer with that line, and not every host takes it away. The result has to be the same as
    where the host does, but for the line itself in a body that is handed on unread.
    """
    call = (await observed.plain()).call(tool)
    if not call.entries:
        raise NotApplicable("it asked Gerrit for nothing")
    bare = await _on_a_host_that_keeps_the_line(observed, tool)
    if bare is None:
        raise NotApplicable("whether the line is stripped is for this host to decide")
    expected = "an answer without isError where the line )]}' stands in front of a body"
    if not bare.succeeded:
        raise Finding(expected=expected, saw=bare.saw(), evidence=bare.evidence())
    if without_line(bare) != without_line(call):
        both = await observed.of(bodies.compared, tool)
        if both.differ and not await _tells_less(observed, tool, call, bare):
            raise Finding(
                expected="the same result as on a host that strips the line )]}'",
                saw=f"{bare.saw()}; where it is stripped: {call.saw()}",
                evidence=bare.evidence(),
            )


async def _on_a_host_that_keeps_the_line(observed: Observations, tool: str) -> Call | None:
    """Give the plain call on a host that strips nothing; None where the host cannot be told to."""
    if observed.rig.settings.host_kind != "reference":
        return None
    return (await observed.of(bodies.unstripped)).call(tool)


async def _tells_less(observed: Observations, tool: str, call: Call, bare: Call) -> bool:
    """Tell whether a call lacks, each time anew, something of Gerrit's that it gives back where nothing is stripped."""
    fewer, more = told_by_gerrit(call), told_by_gerrit(bare)
    return fewer < more and (await observed.of(bodies.compared, tool)).differ


@clause(
    "TOOL-OPTIONAL",
    level=MUST,
    source=field_sense(
        "Gerrit leaves out what it has no value for: most changes have no topic, many people no name, some answers are "
        "empty lists"
    ),
    needs=("TOOL-WORKS",),
    excused_by=("TOOL-EXIT",),
    fix=(
        "Read what Gerrit's documentation calls optional with .get() and a default, and give every key of your result "
        "a value, such as None."
    ),
    example="""
        return {"subject": change["subject"], "topic": change.get("topic"), "votes": labels.get("all", [])}
    """,
    per_tool=True,
    neighbours=("TOOL-WORKS", "TOOL-VALID"),
)
async def what_gerrit_leaves_out_is_no_mishap(observed: Observations, tool: str) -> None:
    """The tool also works where Gerrit leaves optional data out: fields, entries of lists, the data of plugins.

    It is called where the change has no topic, reviewers, votes or comments, people have no name and plugins no data;
    where comments have no line, messages no author and tasks no hint; and, if it names no change, where there are none.
    All of these are answers that a real Gerrit gives.

    An error that the tool raises itself, in words of its own, is taken for its answer: perhaps what is missing is what
    it was asked for. So is an error after a refusal of Gerrit. What it must not do is stumble: over a key that is not
    there, over a list that is empty, or by a result that the SDK refuses.
    """
    usual = (await observed.plain()).call(tool)
    if not usual.own:
        raise NotApplicable("it asked Gerrit for nothing")
    seen = await observed.of(bodies.lean)
    for missing, call in _lean_calls(seen, tool):
        if call.succeeded or any(entry.status >= REFUSED for entry in call.own):
            continue
        if how := _stumbled(call):
            absent = ", ".join(left_out(usual, call)) or "nothing but entries of lists"
            raise Finding(
                expected=f"an answer without isError where Gerrit has {missing} to tell",
                saw=f"{how}: {call.saw()}",
                evidence=(Evidence(kind="fact", text=f"left out of Gerrit's answers: {absent}"), *call.evidence()),
            )


def _stumbled(call: Call) -> str:
    """Say how a call came to an end that nobody meant; empty where the tool raised its error itself."""
    if call.reply is None:
        return "no answer"
    crashes = [str(fact["type"]) for fact in call.told("tool_failed") if fact["crash"]]
    if crashes:
        return crashes[0]
    returned = call.told("tool_returned")
    return "a result that the SDK refuses" if returned and not any(fact["error"] for fact in returned) else ""


def _lean_calls(seen: Seen, tool: str) -> list[tuple[str, Call]]:
    if tool in seen.unknown:
        raise seen.unknown[tool]
    return [(step, call) for (name, step), call in seen.calls.items() if name == tool]
