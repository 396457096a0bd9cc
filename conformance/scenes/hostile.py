"""Hostile values in every place for a text: what would act on a URL, on curl, on a shell, on JSON or on a file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote_plus

from conformance.outcomes import Inconclusive
from conformance.rig.curling import EXPANDING, INSTRUCTION
from conformance.rig.hostility import CANARY, HEAD, LETTERS, TAIL, VALUES, planted_files
from conformance.rig.scenarios import Seen
from conformance.rig.slots import Slot, slots_of

if TYPE_CHECKING:
    from conformance.observations import Observations
    from conformance.rig.trial import Call

ToolEntry = Mapping[str, Any]

PATIENCE = 6.0
"""Seconds to wait for an answer; curl gives up after five."""
MOST_TRIALS = 4
"""A tool that hangs or ends on every hostile value has shown what it does with them."""


@dataclass(frozen=True, kw_only=True)
class Attack:
    """One call with hostile values."""

    kind: str
    values: Mapping[str, str]
    """By the label of their place."""
    letters: Mapping[str, str]
    """The letter of each place, behind its words."""

    @property
    def name(self) -> str:
        """The step's name: what is hostile, and where it stands."""
        return f"{self.kind} in {', '.join(self.values)}"

    def place(self, letter: str) -> str:
        """Name the place of a letter, or all of them where there is no such letter."""
        return next((label for label, own in self.letters.items() if own == letter), ", ".join(self.values))

    def visible(self, call: Call) -> set[str]:
        """Tell which places' values turn up in what was handed to curl or in what was sent."""
        told = [str(one) for fact in call.told("curl") for one in fact["args"]]
        told += [f"{entry.target}\n{entry.body.decode(errors='replace')}" for entry in call.entries]
        text = "\n".join(f"{one}\n{unquote_plus(one)}" for one in told)
        if self.kind == "an option":
            return set(self.values) if VALUES[self.kind] in text else set()
        return {
            label
            for label, letter in self.letters.items()
            if any(f"{word}{letter}" in text for word in (HEAD, TAIL, CANARY))
        }


@dataclass(kw_only=True)
class Attacked(Seen):
    """What became of hostile values."""

    attacks: dict[tuple[str, str], Attack] = field(default_factory=dict)
    """By tool and step."""
    appeared: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    """Names of files that a call left behind and that its values name."""
    left_over: set[str] = field(default_factory=set)
    """Tools that could not be tried with every value."""


async def attacked(observed: Observations) -> Attacked:
    """Put hostile values into every place for a text, of all places of a tool at once; what did not show, alone.

    An id that nobody knows ends most calls at their first request, so that other arguments of the tool are never sent.
    On the suite's own host curl also expands URLs, as upstream's does.
    """
    seen, bench = Attacked(), observed.bench
    known = observed.rig.settings.host_kind == "reference"
    surroundings = bench.surroundings(instructions={INSTRUCTION: EXPANDING if known else True})
    longest = observed.rig.settings.limit_seconds / 2
    todo = _Plan(observed, list((await observed.answering()).values()))
    while todo.left and len(seen.trials) < MOST_TRIALS:
        async with bench.rig.trial(bench.subject, surroundings) as trial:
            seen.trials.append(trial)
            while todo.left and trial.in_session and trial.alive and trial.age < longest:
                tool, attack, arguments = todo.next()
                trial.enter(bench.rig.world(surroundings), ())
                _lay_files(trial.home / "work")
                call = await trial.call(str(tool["name"]), arguments, seconds=PATIENCE)
                key = str(tool["name"]), attack.name
                seen.calls[key], seen.attacks[key] = call, attack
                seen.appeared[key] = _taken_away(trial.home, attack.kind)
                todo.learn(tool, attack, call)
                if call.reply is None:
                    break
        if not trial.in_session:
            break
    seen.left_over = {str(tool["name"]) for tool, _, _ in todo.left}
    return seen


def _lay_files(folder: Path) -> None:
    """Lay the planted files, but for those that are there from the call before."""
    for name, text in planted_files().items():
        with suppress(OSError):  # a subject may have made away with its folder
            if not (folder / name).exists():
                (folder / name).write_text(text, encoding="utf-8")


def _taken_away(home: Path, kind: str) -> list[str]:
    """Remove the files that bear a word of ours, so that the next call is not blamed; name those that tell something.

    A file that has the value for its name, or lies where the value points, is what a tool for saving files makes.
    """
    found = [path for folder in (home, home / "work") for path in folder.glob(f"*{TAIL}*")]
    for path in found:
        with suppress(OSError):
            path.unlink()
    return sorted(path.name for path in found if path.name[:-1] == TAIL and not kind.startswith("steps upwards"))


class _Plan:
    """Which calls are still to be made: a group of places first, and then alone what the group did not show."""

    def __init__(self, observed: Observations, tools: Sequence[ToolEntry]) -> None:
        self._bench = observed.bench
        self._slots: dict[str, list[Slot]] = {}
        self.left: list[tuple[ToolEntry, Attack, dict[str, Any]]] = []
        for tool in tools:
            with suppress(Inconclusive):
                plain = self._bench.arguments(tool)
                places = [slot for slot in slots_of(tool) if _takes_strange_texts(slot, plain)]
                self._slots[str(tool["name"])] = places[: len(LETTERS)]
                self.left += self._groups(tool)

    def next(self) -> tuple[ToolEntry, Attack, dict[str, Any]]:
        """Take the next call off the list."""
        return self.left.pop(0)

    def learn(self, tool: ToolEntry, attack: Attack, call: Call) -> None:
        """Put the places that did not show on the list, each by itself."""
        if len(attack.values) == 1:
            return
        hidden = set(attack.values) - attack.visible(call)
        alone = [self._attack(tool, attack.kind, [slot]) for slot in self._of(tool) if slot.label in hidden]
        self.left[:0] = [one for one in alone if one is not None]

    def _of(self, tool: ToolEntry) -> list[Slot]:
        return self._slots[str(tool["name"])]

    def _groups(self, tool: ToolEntry) -> Iterator[tuple[ToolEntry, Attack, dict[str, Any]]]:
        for kind in VALUES:
            made = self._attack(tool, kind, self._of(tool))
            if made is not None:
                yield made

    def _attack(
        self, tool: ToolEntry, kind: str, slots: Sequence[Slot]
    ) -> tuple[ToolEntry, Attack, dict[str, Any]] | None:
        """Make a call with one hostile value in each place that admits it; None where none does."""
        plain = self._bench.arguments(tool)
        arguments, values, letters = dict(plain), {}, {}
        for letter, slot in zip(LETTERS, self._of(tool), strict=False):
            words = {"head": HEAD + letter, "tail": TAIL + letter, "canary": CANARY + letter}
            valid = _valid_value(slot, plain)
            if slot not in slots or (valid is None and "{valid}" in VALUES[kind]):
                continue
            value = VALUES[kind].format(**words, valid=valid)
            if slot.admits(value) and slot.can_stand_in(plain):
                arguments = slot.put(value, arguments)
                values[slot.label], letters[slot.label] = value, letter
        return (tool, Attack(kind=kind, values=values, letters=letters), arguments) if values else None


def _valid_value(slot: Slot, plain: dict[str, Any]) -> str | None:
    """Give a text that is right for a place: what stands there in a plain call, or else what its name means."""
    known = [slot.value_in(plain), *(slot.meaning.values if slot.meaning is not None else ())]
    single = [one[0] if isinstance(one, list) and one else one for one in known]
    texts = [str(one) for one in single if one and isinstance(one, str | int)]
    return next((text for text in texts if slot.admits(text)), None)


def _takes_strange_texts(slot: Slot, plain: dict[str, Any]) -> bool:
    """Tell whether a place admits a word of ours, by itself or behind what is right for it."""
    return slot.admits(HEAD) or slot.admits(f"{_valid_value(slot, plain) or ''}{HEAD}")
