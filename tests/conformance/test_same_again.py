"""The same subject examined again gives the same certificate, but for times."""

import asyncio
import os
from collections.abc import Iterator
from typing import Any

import pytest

from conformance.contracts.registry import catalogue
from conformance.examine import Examination
from conformance.families import about
from conformance.profile import profile_from
from conformance.report.certificate import issue
from conformance.report.model import record_of
from conformance.selftest import sdk_major
from conformance.specimens import Specimen, bad_specimens, good_specimens
from conformance.targets import resolve_target

TIMES = int(os.environ.get("SAME_AGAIN", "2"))
"""How often each subject is examined; `make matrix` raises it."""

CHOSEN = ("good/task", "ROUTE-NAMES/", *(("good/own_routing", "TOOL-RAISES/") if TIMES > 2 else ()))
"""One subject for each of these: the first specimen whose label begins so."""


def subjects() -> list[Specimen]:
    known = [one for one in (*good_specimens(), *bad_specimens()) if one.only_on in {None, sdk_major()}]
    return [next(one for one in known if one.label.startswith(begin)) for begin in CHOSEN]


async def certificate(specimen: Specimen) -> dict[str, Any]:
    subject = resolve_target(f"path:{specimen.path}", cwd=specimen.path.parent)
    profile = profile_from(specimen.profile, where=specimen.label)
    async with Examination(subject, profile=profile) as examination:
        await examination.foresee()
        records = [record_of(one, await examination.judge(one)) for one in about(catalogue(), "extension")]
        told = issue(about=examination.about(), records=records, waivers={}, strict=False).model_dump(mode="json")
    return without_times(told)


def without_times(told: Any) -> Any:
    if isinstance(told, dict):
        return {key: without_times(value) for key, value in told.items() if key != "seconds"}
    return [without_times(one) for one in told] if isinstance(told, list) else told


def differences(one: Any, other: Any, where: str = "") -> Iterator[str]:
    """Name each place in which two certificates differ, with what stands there."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in one.keys() | other.keys():
            yield from differences(one.get(key), other.get(key), f"{where}.{key}")
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for number, pair in enumerate(zip(one, other, strict=True)):
            yield from differences(*pair, f"{where}[{number}]")
    elif one != other:
        yield f"{where}: {one!r} and {other!r}"


@pytest.mark.parametrize("specimen", subjects(), ids=lambda one: one.label)
def test_a_second_look_gives_the_same_certificate(specimen: Specimen) -> None:
    first = asyncio.run(certificate(specimen))
    for _ in range(TIMES - 1):
        assert not list(differences(first, asyncio.run(certificate(specimen))))
