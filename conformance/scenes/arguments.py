"""Calls with unusual arguments: names to be encoded, values to be refused, an id of two changes, hostile values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from conformance.outcomes import Inconclusive
from conformance.rig import content
from conformance.rig.curling import INSTRUCTION
from conformance.rig.refusals import refused_arguments
from conformance.rig.scenarios import Bench, Seen, Step, play
from conformance.rig.slots import Slot, slots_of

if TYPE_CHECKING:
    from conformance.observations import Observations
    from conformance.rig.trial import Call

ToolEntry = Mapping[str, Any]

SEARCH = f'project:{content.PROJECT} file:"{content.NESTED_FILE}"'
ODD_TRIPLET = f"{content.PROJECT}~{content.BRANCH}~{content.ODD_CHANGE_ID}"

ROUNDS: Mapping[str, Mapping[str, tuple[Any, ...]]] = {
    "odd names": {
        "change_id": (f"{content.PROJECT}~{content.ODD_NUMBER}", content.ODD_NUMBER),
        "project": (content.PROJECT,),
        "branch": (content.BRANCH,),
        "dest_branch": (content.BRANCH,),
        "path": (content.NESTED_FILE,),
        "email": (content.IVY,),
        "reviewer": (content.IVY,),
        "topic": (content.TOPIC,),
        "hashtag": (content.TOPIC,),
        "query": (SEARCH,),
    },
    "odder names": {
        "change_id": (ODD_TRIPLET, content.ODD_NUMBER),
        "project": (content.PROJECT,),
        "branch": (f"refs/heads/{content.BRANCH}", content.BRANCH),
        "dest_branch": (f"refs/heads/{content.BRANCH}", content.BRANCH),
        "path": (content.BLANK_FILE,),
    },
    "a change by number": {
        "change_id": (str(content.ODD_NUMBER), content.ODD_NUMBER),
        "project": (content.PROJECT,),
        "branch": (content.BRANCH,),
        "path": (content.NESTED_FILE,),
        "email": (content.IVY,),
        "topic": (content.TOPIC,),
    },
}
"""What is put under the first name of each meaning, the first that the schema admits; always of one odd change."""

SINGULAR = {
    "change_ids": "change_id", "projects": "project", "paths": "path", "reviewers": "reviewer", "hashtags": "hashtag",
}  # fmt: skip
"""Meanings of lists, and of which meaning an element is."""


NUMBERED = frozenset({"change_number", "change_num", "change_numbers", "cl", "cl_number"})
"""Parameters of this kind that are for numbers, whatever type they have."""
NUMBER, NUMBERS = "a number", (str(content.ODD_NUMBER), content.ODD_NUMBER)


def kind_of(slot: Slot) -> str:
    """Name the meaning of a place by its first name, that of an element for a list; empty where it has none."""
    meaning = slot.meaning
    return "" if meaning is None else SINGULAR.get(meaning.names[0], meaning.names[0])


@dataclass(frozen=True, kw_only=True)
class Put:
    """One value in one place of a call's arguments."""

    slot: Slot
    value: Any


async def unusual(observed: Observations) -> Seen:
    """Call each tool with names that have to be encoded, with arguments that its schema refuses, and with a twin id."""
    tools = list((await observed.answering()).values())
    steps = [
        *(step for tool in tools for step in _refusals(observed.bench, tool)),
        *(step for tool in tools for step in _odd_names(observed.bench, tool)),
        *(step for tool in tools for step in _twins(observed.bench, tool)),
    ]
    return await play(observed.bench, steps, instructions={INSTRUCTION: True})


REFUSED, TWIN = "refused: ", "an id of two changes"


def _refusals(bench: Bench, tool: ToolEntry) -> Iterator[Step]:
    with suppress(Inconclusive):
        for name, arguments in refused_arguments(tool, bench.arguments(tool)).items():
            yield Step(tool=tool, name=f"{REFUSED}{name}", instead=arguments, odd=_is_no_plain_refusal)


def _is_no_plain_refusal(call: Call) -> bool:
    return call.succeeded or bool(call.own)


def _odd_names(bench: Bench, tool: ToolEntry) -> Iterator[Step]:
    for name in ROUNDS:
        with suppress(Inconclusive):
            arguments, put = with_odd_names(tool, bench.arguments(tool), name)
            if put:
                yield Step(tool=tool, name=name, instead=arguments, odd=None)


def with_odd_names(tool: ToolEntry, plain: Mapping[str, Any], name: str) -> tuple[dict[str, Any], list[Put]]:
    """Put the values of a round into a tool's arguments; give them, and what was put where.

    The last round leaves out what may be left out, so that an argument that a tool wants nothing of does not hide
    what it does with the others; it is worth a call only where there is something to encode beside the change.
    """
    values, optional = ROUNDS[name], name != "a change by number"
    arguments, put = dict(plain), []
    for slot in slots_of(tool):
        if not optional and slot.keys[0] not in plain:
            continue
        if len(slot.keys) > 1 and slot.keys[0] not in plain and not isinstance(slot.keys[1], int):
            continue  # a model that is left out may have other parts that nobody knows
        kind = NUMBER if kind_of(slot) == "change_id" and slot.name.lower() in NUMBERED else kind_of(slot)
        value = next((one for one in values.get(kind, NUMBERS if kind == NUMBER else ()) if slot.admits(one)), None)
        if value is not None:
            arguments = slot.put(value, arguments)
            put.append(Put(slot=slot, value=value))
    is_odd = [one for one in put if isinstance(one.value, str) and not one.value.isdecimal()]
    return arguments, (put if is_odd else [])


def _twins(bench: Bench, tool: ToolEntry) -> Iterator[Step]:
    slot = change_slot(tool)
    if slot is None:
        return
    with suppress(Inconclusive):
        plain = bench.arguments(tool)
        yield Step(tool=tool, name=TWIN, instead=slot.put(content.TWIN_CHANGE_ID, plain), odd=_succeeded)


async def each_twin(observed: Observations, tool: str) -> Seen:
    """Call one tool with the number of each of the two changes that share an id."""
    entry = await observed.tool(tool)
    slot, plain = change_slot(entry), observed.bench.arguments(entry)
    steps = [
        Step(tool=entry, name=str(number), instead=slot.put(str(number), plain), odd=None)
        for number in content.TWIN_NUMBERS
        if slot is not None
    ]
    return await play(observed.bench, steps)


def _succeeded(call: Call) -> bool:
    return call.succeeded


def change_slot(tool: ToolEntry) -> Slot | None:
    """Give the parameter that takes the id of one change as a text; None for a tool without one."""
    for slot in slots_of(tool):
        is_id = kind_of(slot) == "change_id" and slot.name.lower() not in NUMBERED
        if len(slot.keys) == 1 and is_id and slot.admits(content.TWIN_CHANGE_ID):
            return slot
    return None
