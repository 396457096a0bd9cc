"""Loading again, unloading, and growth: what is said of servers that the specimens do not show."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from conformance.contracts import server_care, server_lifecycle
from conformance.outcomes import Finding, Inconclusive
from conformance.report.figures import figures
from conformance.report.model import MeasurementRecord
from conformance.scenes.server_care import Start
from conformance.scenes.server_lifecycle import BADLY, FIRST, LAST, STEPS, Played

ALL = (FIRST, BADLY, LAST)


def events(kind: str, *modules: str) -> list[dict[str, Any]]:
    return [{"event": kind, "module": module} for module in modules]


class Observed:
    """A server that has been played with: what was noted in each step, and at its end."""

    def __init__(
        self,
        *during: list[dict[str, Any]],
        at_the_end: list[dict[str, Any]] | None = None,
        raised: dict[str, str] | None = None,
    ) -> None:
        noted = events("registered", *ALL)
        for step, several in zip(STEPS, during, strict=False):
            noted += [*events("step", step), *several]
        told = {"raised": "RuntimeError", "text": "no"}
        ends = [raised] if raised else [{"step": step, **(told if step in self.raising else {})} for step in STEPS]
        served = SimpleNamespace(noted=[*noted, *events("step", "done")], evidence=tuple)
        self._played = Played(served=served, call=None, ends=ends)  # type: ignore[arg-type]
        self._ended = SimpleNamespace(noted=events("registered", *ALL) + (at_the_end or []), evidence=tuple)

    raising: tuple[str, ...] = ()

    async def of(self, scene: object) -> object:
        return self._played if scene is server_lifecycle.scenes.played else self._ended


NO_LOADER = {"step": "ExtensionLoader", "raised": "ModuleNotFoundError", "text": "No module named 'gerrit_mcp_server'"}


async def test_taking_all_back_and_registering_it_anew_is_not_twice() -> None:
    anew = [*events("unregistered", *ALL), *events("registered", *ALL)]
    await server_lifecycle.loading_again_registers_nothing_twice(Observed([], events("registered", *ALL), anew))


async def test_registering_what_is_still_there_is_twice() -> None:
    seen = Observed([], events("registered", *ALL), [*events("unregistered", LAST), *events("registered", *ALL)])
    with pytest.raises(Finding) as found:
        await server_lifecycle.loading_again_registers_nothing_twice(seen)
    assert found.value.saw == f"{FIRST}, {BADLY} again"


async def test_a_server_without_a_loader_is_judged_by_its_end() -> None:
    good = Observed(raised=NO_LOADER, at_the_end=events("unregistered", *reversed(ALL)))
    await server_lifecycle.unloading_never_raises(good)
    await server_lifecycle.what_was_registered_is_unregistered_backwards(good)
    forwards = Observed(raised=NO_LOADER, at_the_end=events("unregistered", *ALL))
    with pytest.raises(Finding, match="at its end"):
        await server_lifecycle.what_was_registered_is_unregistered_backwards(forwards)


async def test_a_server_that_shows_neither_a_loader_nor_its_end_is_left_open() -> None:
    silent = Observed(raised=NO_LOADER)
    for clause in (
        server_lifecycle.unloading_never_raises,
        server_lifecycle.what_was_registered_is_unregistered_backwards,
        server_lifecycle.loading_again_registers_nothing_twice,
    ):
        with pytest.raises(Inconclusive) as told:
            await clause(silent)
        assert "ExtensionLoader" in told.value.supply


async def test_the_order_of_unloading_is_that_in_which_this_server_loads() -> None:
    turned = (LAST, BADLY, FIRST)
    unload = events("unregistered", *reversed(turned))
    await server_lifecycle.what_was_registered_is_unregistered_backwards(
        Observed([], events("registered", *turned), [], unload)
    )


def starts(*cpu_seconds: float, memory: tuple[int, ...] = (0, 0, 0, 0)) -> list[Start]:
    return [
        Start(extensions=count, seconds=1, cpu_seconds=cpu, memory_bytes=size << 20, loaded=count, served=None)  # type: ignore[arg-type]
        for count, cpu, size in zip((0, 10, 50, 100), cpu_seconds, memory, strict=True)
    ]


@pytest.mark.parametrize(
    "measured",
    [
        starts(1, 1.1, 1.5, 2.0),
        starts(1, 1, 1, 1),
        starts(1, 1.3, 0.9, 1.2),
        starts(0.2, 0.21, 0.22, 0.4),
        starts(1, 1, 1, 1, memory=(60, 61, 65, 70)),
    ],
    ids=["linear", "flat", "noisy", "curved, and too little to notice", "memory, linear"],
)
def test_what_grows_no_faster_than_a_line_is_left_alone(measured: list[Start]) -> None:
    assert server_care._above([measured]) == ""


def test_what_grows_with_the_square_is_noticed_unless_a_second_look_explains_it() -> None:
    square = starts(1, 1.1, 3.5, 11)
    assert "10.00 s of processor time" in server_care._above([square, square])
    assert server_care._above([square, starts(1, 1.1, 1.5, 2)]) == ""
    assert "160 MiB" in server_care._above([starts(1, 1, 1, 1, memory=(60, 61, 100, 220))])


def test_figures_are_a_table_with_a_bar_beside_each_row() -> None:
    measured = MeasurementRecord(
        clause="SRV-START", title="a start", columns=("extensions", "seconds"), rows=((0, 0.25), (100, 1.0))
    )
    assert list(figures(measured)) == [
        "SRV-START: a start",
        "  extensions  seconds",
        f"           0     0.25  {'█' * 6}",
        f"         100        1  {'█' * 24}",
    ]
