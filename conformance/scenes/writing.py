"""What becomes of tools that write when Gerrit refuses, when its answer is lost, and a while after they answered."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from conformance.outcomes import Inconclusive
from conformance.rig.scenarios import PLAINLY, Seen, Step, ToolEntry, fault_on, is_no_refusal, play
from conformance.rig.slots import choices_of
from conformance.rig.traces import late_writes, writes

if TYPE_CHECKING:
    from conformance.observations import Observations
    from conformance.rig.trial import Call
    from mock_gerrit.journal import Entry

LATE_SECONDS = 0.5
"""How long a write may come after the answer and still be noticed."""

NO_PERMISSION = "nothing was done: labels, topic, hashtags, reviewers, drafts and status stay; not permitted"
"""A refusal that holds words which careless tools take for success."""
NOBODY = "nobody does not identify a registered user or group"
"""Why Gerrit refuses a reviewer."""


@dataclass(frozen=True, kw_only=True)
class Trouble:
    """One way in which the first write of a call goes wrong."""

    name: str
    fault: Mapping[str, Any]
    """The attributes of a `Fault` but method and path."""
    done: bool = False
    """Gerrit did what it was asked; only its answer is lost or spoiled."""
    answered_well: bool = False
    """The status was still one of success."""
    in_json: bool = False
    """Gerrit refuses in the form of an answer, which it does for what names a reviewer, and for little else."""

    def befalls(self, entry: Entry) -> bool:
        """Tell whether a request can meet this trouble."""
        return not self.in_json or refusal_in_json(entry) is not None


TROUBLES: Mapping[bool, tuple[Trouble, ...]] = {
    False: (
        Trouble(name="answered by 403", fault={"kind": "status", "status": 403, "body": NO_PERMISSION}),
        Trouble(name="answered by a proxy's 502", fault={"kind": "html", "status": 502}),
        Trouble(
            name="done, and the connection then reset", fault={"kind": "reset", "applied": True, "times": 1}, done=True
        ),
        Trouble(
            name="done, and the answer cut short",
            fault={"kind": "truncated", "times": 1},
            done=True,
            answered_well=True,
        ),
    ),
    True: (
        Trouble(name="answered by 403", fault={"kind": "status", "status": 403, "body": NO_PERMISSION}),
        Trouble(name="answered by a proxy's 502", fault={"kind": "html", "status": 502}),
        Trouble(
            name="answered by 400 with an error in JSON",
            fault={"kind": "status", "status": 400},
            in_json=True,
        ),
        Trouble(
            name="done, and answered by a proxy's 504",
            fault={"kind": "html", "status": 504, "applied": True, "times": 1},
            done=True,
        ),
    ),
}
"""By whether `run_curl` hands the bodies of HTTP errors back."""


def refusal_in_json(entry: Entry) -> str | None:
    """Give the body in the form of an answer with which Gerrit refuses a request; None where it refuses in plain text.

    So it refuses a reviewer, alone or within a review, and a review that is to be ready and in progress at once.
    """
    path, sent = entry.gerrit_path.rstrip("/"), _sent(entry)
    if entry.method != "POST":
        return None
    if path.endswith("/reviewers"):
        return _as_gerrit_writes({"input": str(sent.get("reviewer", "")), "error": NOBODY})
    if path.endswith("/review") and sent.get("reviewers"):
        given = sent["reviewers"] if isinstance(sent["reviewers"], list) else []
        names = [str(one.get("reviewer", "")) for one in given if isinstance(one, Mapping)]
        refused = {name: {"input": name, "error": NOBODY} for name in names}
        return _as_gerrit_writes({"reviewers": refused, "error": "error adding reviewer"})
    if path.endswith("/review") and sent.get("ready") and sent.get("work_in_progress"):
        return _as_gerrit_writes({"error": "work_in_progress and ready are mutually exclusive"})
    return None


def _sent(entry: Entry) -> Mapping[str, Any]:
    try:
        sent = json.loads(entry.body)
    except (ValueError, RecursionError):
        return {}
    return sent if isinstance(sent, Mapping) else {}


def _as_gerrit_writes(value: Mapping[str, Any]) -> str:
    return f")]}}'\n{json.dumps(value)}\n"


async def writes_on_a_raising_host(observed: Observations) -> Seen:
    """Call each writing tool while its first write goes wrong, where `run_curl` raises on HTTP errors."""
    return await _with_troubles(observed, returns_http_errors=False)


async def writes_on_a_returning_host(observed: Observations) -> Seen:
    """Call each writing tool while its first write goes wrong, where `run_curl` hands the bodies of errors back."""
    return await _with_troubles(observed, returns_http_errors=True)


async def _with_troubles(observed: Observations, *, returns_http_errors: bool) -> Seen:
    steps: list[Step] = []
    for name, tool in (await observed.answering()).items():
        usual = (await observed.plain()).call(name)
        if usual.succeeded and (first := next(iter(writes(usual)), None)):
            steps += [_step(tool, one, first) for one in TROUBLES[returns_http_errors] if one.befalls(first)]
    return await play(observed.bench, steps, returns_http_errors=returns_http_errors) if steps else Seen()


def _step(tool: ToolEntry, trouble: Trouble, first: Entry) -> Step:
    told = {**trouble.fault, "body": refusal_in_json(first)} if trouble.in_json else trouble.fault
    fault = fault_on(first, method=first.method, **told)
    return Step(tool=tool, name=trouble.name, faults=(fault,), odd=None if trouble.done else is_no_refusal)


MOST_CHOICES = 64
"""How many values of its parameters a tool is tried with at most."""


def claims_to_read(tool: ToolEntry) -> bool:
    """Tell whether the annotations of a tool claim that it changes nothing."""
    return (tool.get("annotations") or {}).get("readOnlyHint") is True


async def each_choice(observed: Observations) -> Seen:
    """Call each tool that claims `readOnlyHint` with every value that its schema lists and the plainest call leaves.

    One value at a time, and the first of each parameter together, as one may count only beside another. A call that
    writes is made again alone, so that it is not blamed for what another one left to be done later.
    """
    steps: list[Step] = []
    for tool in (await observed.answering()).values():
        with suppress(Inconclusive):
            made = _chosen(tool, observed.bench.arguments(tool)) if claims_to_read(tool) else {}
            steps += [Step(tool=tool, name=name, instead=one, odd=_writes) for name, one in made.items()]
    return await play(observed.bench, steps, **PLAINLY) if steps else Seen()


def _writes(call: Call) -> bool:
    return bool(writes(call))


def _chosen(tool: ToolEntry, plain: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Give the plainest arguments with one listed value in the place of another, and with all first ones, by what."""
    made: dict[str, dict[str, Any]] = {}
    places, together = 0, plain
    for slot in choices_of(tool):
        usual = repr(slot.value_in(plain))
        others = [one for one in slot.choices if one is not None and repr(one) != usual]
        if others and slot.can_stand_in(plain):
            places, together = places + 1, slot.put(others[0], together)
            made |= {f"{slot.label} = {one!r}": slot.put(one, plain) for one in others}
    several = {"all at once": together} if places > 1 else {}
    return dict(islice({**several, **made}.items(), MOST_CHOICES))


async def alone(observed: Observations, tool: str) -> Call:
    """Call one tool plainly in a process of its own, and leave it some time for what it does after its answer."""
    bench = observed.bench
    surroundings = bench.surroundings(**PLAINLY)
    async with bench.rig.trial(bench.subject, surroundings) as trial:
        call = await trial.call(tool, bench.arguments(await observed.tool(tool)))
        if call.reply is not None:
            await bench.rig.rest(trial, LATE_SECONDS)
    return call


async def somebody_writes_late(observed: Observations) -> bool:
    """Tell whether a write reached Gerrit that no call had made before it was answered."""
    seen = [await observed.plain(), await observed.aftermath()]
    return any(late_writes(call) for one in seen for call in one.calls.values())


async def who_writes_late(observed: Observations) -> dict[str, str]:
    """Tell which tool makes a write (`METHOD path`) after its answer: it may seem to be of another tool's call."""
    found: dict[str, str] = {}
    for name in await observed.answering():
        late = late_writes(await observed.of(alone, name))
        found |= {f"{entry.method} {entry.gerrit_path}": name for entry in late}
    return found
