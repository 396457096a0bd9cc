"""Find the call of a crowd that was given what belongs to another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from conformance.outcomes import Evidence
from conformance.rig.mixing import foreign, keys, leaves, never_asked

if TYPE_CHECKING:
    from conformance.rig.crowd import Answered
    from conformance.rig.mixing import Leaves
    from conformance.scenes.crowds import Crowd, Round

ERRORS = 400


@dataclass(frozen=True, kw_only=True)
class MixUp:
    """What one call should have got, and what it did get."""

    expected: str
    saw: str
    evidence: tuple[Evidence, ...]


def mixed_up(crowd: Crowd, *, errors: bool = True) -> MixUp | None:
    """Give the first mix-up of a crowd; `errors` says whether an error counts, where the same call alone had none."""
    alone = {
        which: [leaves(call.reply) for call in calls if call.reply is not None and call.succeeded]
        for which, calls in enumerate(crowd.alone)
    }
    for one in crowd.rounds:
        for answer in one.answers:
            if not answer.succeeded and errors and not (crowd.writes and _refused(one)):
                return _error(crowd, answer)
            found = _another(crowd, answer, alone) if answer.succeeded else None
            if found is not None:
                return found
        if (missing := _missing(crowd, one)) is not None:
            return missing
    return None


def _refused(one: Round) -> bool:
    """Gerrit itself refused something: writes may well get into each other's way there."""
    return any(entry.status >= ERRORS for entry in one.entries)


def _error(crowd: Crowd, answer: Answered) -> MixUp:
    text = answer.reply.text if answer.reply is not None else answer.trouble
    return MixUp(
        expected="an answer, as the same call gets alone",
        saw=f"an error among {_company(crowd)}: {_short(text)}",
        evidence=_calls(crowd, answer.which),
    )


def _another(crowd: Crowd, answer: Answered, alone: dict[int, list[Leaves]]) -> MixUp | None:
    if answer.reply is None or not alone[answer.which]:
        return None
    found = foreign(leaves(answer.reply), answer.which, {which: runs for which, runs in alone.items() if runs})
    if found is None:
        return None
    place = found.where or "the answer"
    return MixUp(
        expected=f"{place} to be {_short(found.expected)} for {_short(crowd.choices[answer.which])}",
        saw=f"{_short(found.saw)} among {_company(crowd)}, which belongs to {_short(crowd.choices[found.of])}",
        evidence=(*_calls(crowd, answer.which), Evidence(kind="reply", text=_short(answer.reply.text, 800))),
    )


def _missing(crowd: Crowd, one: Round) -> MixUp | None:
    if not all(answer.succeeded for answer in one.answers):
        return None
    order = [answer.which for answer in one.answers]
    alone = {which: [keys(call.own) for call in calls if call.succeeded] for which, calls in enumerate(crowd.alone)}
    asked = keys(one.entries)
    found = never_asked(asked, order, {which: runs for which, runs in alone.items() if runs})
    if found is None:
        return None
    which, key = found
    shown = tuple(
        Evidence(kind="request", text=f"{count} times {method} {target} on {host}")
        for (host, method, target, _), count in asked.items()
    )
    return MixUp(
        expected=f"{key[1]} {key[2]} on {key[0]} to be asked for, as for {_short(crowd.choices[which])} alone",
        saw=f"no such request among {_company(crowd)}",
        evidence=(*_calls(crowd, which), *shown[:10]),
    )


def _company(crowd: Crowd) -> str:
    return f"{sum(len(one.answers) for one in crowd.rounds)} calls with {len(crowd.choices)} different arguments"


def _calls(crowd: Crowd, which: int) -> tuple[Evidence, ...]:
    return (Evidence(kind="call", text=f"{crowd.alone[0][0].tool} {dict(crowd.choices[which])}"),)


def _short(value: Any, limit: int = 160) -> str:  # noqa: ANN401 - any JSON value
    flat = " ".join(str(value).split()) if isinstance(value, str) else repr(value)
    return flat if len(flat) <= limit else f"{flat[:limit]}…"
