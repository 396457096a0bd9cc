"""Starts of a server under test: with extensions found in every way, and with broken ones among good ones."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance.probes import Advertisement, Probe
from conformance.probes.broken import HALF, HALF_EXITS, KINDS, MALFORMED, NAMESAKE, PRINTING
from conformance.rig.scenarios import LATE_SECONDS
from conformance.rig.served import Served, Setup

if TYPE_CHECKING:
    from conformance.rig.trial import Call
    from conformance.server_observations import ServerObservations


def _probes(*modules: str) -> tuple[Probe, ...]:
    return tuple(Probe(module=one) for one in modules)


def _one(name: str, *points: tuple[str, str]) -> Advertisement:
    return Advertisement(name=name, points=points)


PLAIN, NAMED = "probe_plain", "probe_named"
COSMETIC = ("probe_left_a", "probe_left_b", "probe_entry_a", "probe_entry_b", "probe_parts.within")


async def advertised(observed: ServerObservations) -> Served:
    """Start with distributions that advertise modules in every form, and wait for tools that come late."""
    points = (
        _one("conformance-plain", ("plain", PLAIN)),
        _one("conformance-named", ("named", f"{NAMED}:register")),
        _one("conformance-left-a", ("same", COSMETIC[0])),
        _one("conformance-left-b", ("same", COSMETIC[1])),
        _one("conformance-entries", ("first", COSMETIC[2]), ("second", COSMETIC[3])),
        _one("conformance-parts", ("My.Extension-Name", COSMETIC[4])),
    )
    return await observed.start(
        Setup(probes=_probes(PLAIN, NAMED, *COSMETIC), advertised=points, linger_seconds=LATE_SECONDS)
    )


IN_VARIABLE = ("probe_env", "probe_env_parts.within", "probe_env_last")


async def by_variable(observed: ServerObservations) -> Served:
    """Start with modules that the variable names, with blanks and empty items between them."""
    text = f" {IN_VARIABLE[0]} ,, {IN_VARIABLE[1]}\t, ,{IN_VARIABLE[2]},"
    return await observed.start(Setup(probes=_probes(*IN_VARIABLE), variable=text, linger_seconds=LATE_SECONDS))


async def without_a_session(observed: ServerObservations) -> Served:
    """Start with modules that the variable names, and speak the protocol that knows no sessions."""
    return await observed.start(Setup(probes=_probes(*IN_VARIABLE), variable=",".join(IN_VARIABLE), stateless=True))


async def by_both(observed: ServerObservations) -> Served:
    """Start with one module from each source."""
    return await observed.start(
        Setup(
            probes=_probes(PLAIN, IN_VARIABLE[0]),
            advertised=(_one("conformance-plain", ("plain", PLAIN)),),
            variable=IN_VARIABLE[0],
        )
    )


ONCE = "probe_only_here"
TWICE = {
    "probe_of_two": "two distributions",
    "probe_of_forms": "`module` and `module:register`",
    "probe_of_sources": "a distribution and the variable",
    "probe_of_variable": "the variable twice",
}
"""Modules that are found twice, with where."""


async def found_twice(observed: ServerObservations) -> Served:
    """Start with modules that are found twice in every way, and one that is found once."""
    points = (
        _one("conformance-once", ("once", ONCE)),
        _one("conformance-two-a", ("a", "probe_of_two")),
        _one("conformance-two-b", ("b", "probe_of_two")),
        _one("conformance-forms", ("plain", "probe_of_forms"), ("named", "probe_of_forms:register")),
        _one("conformance-sources", ("sources", "probe_of_sources")),
    )
    variable = "probe_of_variable,probe_of_sources, probe_of_variable"
    return await observed.start(Setup(probes=_probes(ONCE, *TWICE), advertised=points, variable=variable))


BEFORE, AFTER = "probe_before", "probe_after"


@dataclass(frozen=True, kw_only=True)
class Amid:
    """A broken extension, alone and between two good ones."""

    names: tuple[str, ...]
    """What it can be called: its module, or of an entry point that cannot be read its name, value or distribution."""
    alone: Served
    between: Served
    answers: dict[str, Call]
    """Calls of the tools of the good ones, by module."""


async def broken(observed: ServerObservations, kind: str) -> Amid:
    """Start with one kind of broken extension, named by the variable."""
    about, module = KINDS[kind], f"probe_number_{list(KINDS).index(kind)}"  # tells nothing of what is wrong with it
    bad = () if about.source is None else (Probe(module=module, source=about.source),)
    settings = {"extension_load_seconds": 2}  # a key of the reference server; any other has a limit of its own
    alone = Setup(probes=bad, advertised=(_one("conformance-broken", ("broken", module)),), settings=settings)
    between = Setup(probes=(*bad, *_probes(BEFORE, AFTER)), variable=f"{BEFORE},{module},{AFTER}", settings=settings)
    return await _amid(observed, (module,), alone, between)


async def malformed(observed: ServerObservations) -> Amid:
    """Start with an entry point whose value nobody can read, beside good ones in other distributions."""
    bad = _one("conformance-torn", ("torn_point", MALFORMED))
    good = (_one("a-conformance-before", ("before", BEFORE)), _one("z-conformance-after", ("after", AFTER)))
    alone = Setup(advertised=(bad,))
    between = Setup(probes=_probes(BEFORE, AFTER), advertised=(bad, *good))
    return await _amid(observed, ("conformance-torn", "conformance_torn", "torn_point", MALFORMED), alone, between)


async def _amid(observed: ServerObservations, names: tuple[str, ...], alone: Setup, between: Setup) -> Amid:
    by_itself, (amid, answers) = await asyncio.gather(
        observed.start(alone), _called(observed, between, {one: Probe(module=one).tool for one in (BEFORE, AFTER)})
    )
    return Amid(names=names, alone=by_itself, between=amid, answers=answers)


async def _called(observed: ServerObservations, setup: Setup, tools: dict[str, str]) -> tuple[Served, dict[str, Call]]:
    """Start, and call tools without arguments, as far as they are there; gives the calls by the keys of `tools`."""
    answers: dict[str, Call] = {}
    async with observed.serving(setup) as trial:
        for key, tool in tools.items():
            if trial.in_session and tool in trial.names:
                answers[key] = await trial.call(tool, {})
    return trial, answers


async def half_registered(observed: ServerObservations) -> Served:
    """Start with an extension that registers one tool and then fails."""
    probes = (Probe(module="probe_half", source=HALF), Probe(module="probe_half_exits", source=HALF_EXITS))
    return await observed.start(Setup(probes=probes, variable=",".join(one.module for one in probes)))


async def printing(observed: ServerObservations) -> tuple[Served, dict[str, Call]]:
    """Start with an extension that prints at import, in register and in a call, and call it and a good one after it."""
    module = "probe_talks"
    setup = Setup(probes=(Probe(module=module, source=PRINTING), *_probes(AFTER)), variable=f"{module},{AFTER}")
    return await _called(observed, setup, {"prints": "probe_prints", "after": Probe(module=AFTER).tool})


NAMESAKES = ("probe_first_owner", "probe_second_owner")
CLAIMED = "probe_of_two_masters"


async def namesakes(observed: ServerObservations) -> Served:
    """Start with two extensions that register a tool of one name."""
    return await observed.start(
        Setup(probes=tuple(Probe(module=one, source=NAMESAKE) for one in NAMESAKES), variable=",".join(NAMESAKES))
    )


FORESEEN = (
    advertised,
    by_variable,
    without_a_session,
    by_both,
    found_twice,
    malformed,
    half_registered,
    printing,
    namesakes,
)
"""Scenes that a full run begins beside each other, ahead of the clauses that ask for them."""
