"""Clauses about what an operator relies on: nothing secret in the open, clear words, bounded growth."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from conformance.contracts.registry import clause, field_sense
from conformance.outcomes import Evidence, Finding, Inconclusive, Level
from conformance.rig import libc
from conformance.scenes import server_care as scenes
from conformance.scenes.server_care import COUNTS, MEBIBYTE, Misled, Start, least

if TYPE_CHECKING:
    from conformance.rig.masking import Masking
    from conformance.scenes.server_care import Shown
    from conformance.server_observations import ServerObservations

MUST, SHOULD = Level.MUST, Level.SHOULD


@clause(
    "SRV-SECRETS",
    level=MUST,
    source=field_sense("logs are read by people, results by models, and lists of processes by everybody on a machine"),
    needs=("SRV-ENTRY",),
    fix="Hand credentials to curl in a file that only it can read, and log methods, URLs and statuses alone.",
    example="""
        with os.fdopen(writing, "w") as options:  # curl --config /dev/fd/N: not in the list of processes
            options.write(f'user = "{user}:{token}"\\n')
    """,
    neighbours=("SRV-ERRORS", "SRV-CONFIG-BAD"),
)
async def credentials_stay_out_of_sight(observed: ServerObservations) -> None:
    """No configured credential stands in server.log, on stderr, in a result, or in the arguments of a process.

    The server's own tools and a probe's `run_curl` are called while all is well, while Gerrit refuses, fails or drops
    the connection, and while it keeps a request waiting; then the list of processes is read. What curl is given counts
    although it hides that as soon as it can.
    """
    await observed.bare()
    seen, masking = await observed.of(scenes.shown), observed.rig.masking
    for place, host, around in _leaks(seen, masking):
        raise Finding(
            expected="no credential outside the configuration",
            saw=f"the token of host {host} in {place}",
            evidence=(Evidence(kind="process" if place.startswith("the arguments") else place, text=around),),
        )
    if not (seen.held and libc.ON_LINUX) and not seen.served.overheard:
        why = (
            "none of its tools asked Gerrit for anything" if libc.ON_LINUX else "this system shows no list of processes"
        )
        raise Inconclusive(
            f"the arguments of its processes during a request were not seen: {why}",
            supply="run on Linux, with arguments for one of its tools in [tools.NAME] of the profile",
            evidence=seen.served.evidence(),
        )


def _leaks(seen: Shown, masking: Masking) -> Iterator[tuple[str, str, str]]:
    for call in seen.calls:
        if call.reply is not None:
            yield from masking.leaks_in({f"the result of {call.tool}": call.reply.everything})
    yield from masking.leaks_in(seen.served.let_out())
    for line in (*seen.processes, *seen.served.overheard):
        yield from masking.leaks_in({"the arguments of a process": line})


ABOUT_CONFIGURATION = re.compile(r"config|gerrit_hosts|json", re.IGNORECASE)
TRACEBACK = "Traceback (most recent call last)"


@clause(
    "SRV-CONFIG-BAD",
    level=MUST,
    source=field_sense("the first thing that goes wrong for a newcomer is the configuration, often a pasted example"),
    needs=("SRV-ENTRY",),
    fix="Catch what reading and parsing the file raises; say which file, what is wrong, and end or answer with that.",
    example="""
        try:
            return json.loads(path.read_bytes())
        except (OSError, ValueError) as problem:
            raise ConfigError(f"{path} cannot be used: {problem}") from None
    """,
    neighbours=("SRV-SECRETS",),
)
async def a_bad_configuration_is_told_in_words(observed: ServerObservations) -> None:
    """With a configuration file that is missing or malformed, the server says so in words that name the configuration.

    It may end with an exit code other than 0, or serve and answer calls of those of its tools with errors that ask
    Gerrit; it neither ends in a traceback nor carries on as if all were well. Tried without a file, with an empty and a
    torn one, with a list in place of an object, and with the guide's example pasted as it stands, dots included.
    """
    await observed.bare()
    for how, seen in (await observed.of(scenes.all_misled)).items():
        _judge_misled(how, seen)


def _judge_misled(how: str, seen: Misled) -> None:
    trial, record = seen.served, seen.served.record
    expected = f"clear words, and an exit code or tool errors, for a configuration file that is {how}"
    said = "\n".join(trial.let_out().values())
    if not trial.in_session:
        if record is None or record.ended_by != "itself":
            raise Finding(expected=expected, saw=trial.session_trouble, evidence=trial.evidence())
        if TRACEBACK in said:
            raise Finding(expected=expected, saw="an end in a traceback", evidence=trial.evidence())
        if record.exit_code == 0:
            raise Finding(expected=expected, saw="an end with exit code 0", evidence=trial.evidence())
    elif not seen.calls:
        raise Inconclusive(
            "it starts with such a configuration, and none of its own tools is known to ask Gerrit",
            supply="arguments for one that does, in [tools.NAME] of the profile",
            evidence=trial.evidence(),
        )
    for call in seen.calls:
        if call.succeeded:
            raise Finding(expected=expected, saw=f"{call.tool}: {call.saw()}", evidence=call.evidence())
        if TRACEBACK in call.text:
            raise Finding(expected=expected, saw=f"a traceback as the answer of {call.tool}", evidence=call.evidence())
    if not ABOUT_CONFIGURATION.search("\n".join([said, *(call.text for call in seen.calls)])):
        evidence = [*trial.evidence(), *(one for call in seen.calls[:1] for one in call.evidence())]
        raise Finding(expected=expected, saw="no word of the configuration anywhere", evidence=tuple(evidence))


MOST_TIMES = 3.2
"""How much more a hundred extensions may take than fifty; twice as much is linear, four times is quadratic."""
CPU_SECONDS, MEMORY_BYTES = 0.5, 48 * MEBIBYTE
"""What has to lie beyond a straight line before anybody would notice."""
LOOKS = 3


@clause(
    "SRV-START",
    level=SHOULD,
    source=field_sense("a server with many extensions is started anew for every session of every user"),
    needs=("SRV-ENV",),
    fix="Do for each extension what that one needs: do not scan, list or register all of them again for each.",
    example="""
        points = entry_points(group=GROUP)  # once, ahead of the loop
        for name in modules_of(points):
            load(name)
    """,
    neighbours=("SRV-FIRST", "SRV-DEDUP"),
)
async def starting_takes_no_more_than_a_straight_line(observed: ServerObservations) -> None:
    """What a start takes grows in proportion to the number of extensions: of processor time, and of memory.

    Measured with 0, 10, 50 and 100 extensions of one tool each; the figures stand in the report. Whoever seems to be
    above the line is measured twice more, and the least of each counts.
    """
    looks = [await observed.of(scenes.started_with_many)]
    _require_loaded(looks[0])
    for number in range(1, LOOKS):
        if not _above(looks):
            return
        looks.append(await observed.of(scenes.started_again, number))
    if what := _above(looks):
        raise Finding(
            expected=f"{COUNTS[-1]} extensions to take about twice as much beyond none as {COUNTS[-2]}",
            saw=what,
            evidence=tuple(Evidence(kind="fact", text=_in_a_line(one)) for one in looks[0]),
        )


def _in_a_line(one: Start) -> str:
    memory = one.memory_bytes // MEBIBYTE
    return f"{one.extensions} extensions: {one.cpu_seconds:.2f} s of processor time, {memory} MiB"


def _require_loaded(starts: list[Start]) -> None:
    """Raise unless every extension of every start was loaded: a start without them tells nothing."""
    for one in starts:
        if one.loaded < one.extensions:
            raise Inconclusive(
                f"of {one.extensions} extensions {one.loaded} were loaded",
                supply="a longer --conformance-limit-seconds, if the server needs that",
                evidence=one.served.evidence(),
            )


def _above(looks: list[list[Start]]) -> str:
    """Say which figure lies above a straight line in all looks together; empty where none does."""
    (time_0, memory_0), *_, (time_50, memory_50), (time_100, memory_100) = least(looks)
    if _bends(time_50 - time_0, time_100 - time_0, least_excess=CPU_SECONDS):
        return f"{time_100 - time_0:.2f} s of processor time beyond none, against {time_50 - time_0:.2f} s"
    if _bends(memory_50 - memory_0, memory_100 - memory_0, least_excess=MEMORY_BYTES):
        return f"{(memory_100 - memory_0) >> 20} MiB beyond none, against {(memory_50 - memory_0) >> 20} MiB"
    return ""


def _bends(half: float, whole: float, *, least_excess: float) -> bool:
    return whole > MOST_TIMES * max(half, 0) and whole - 2 * max(half, 0) > least_excess
