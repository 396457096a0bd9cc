"""What the kill matrix does not show of the clauses about lists of plugins: words, clocks, and whose fault it is."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from conformance.contracts.registry import catalogue
from conformance.contracts.routing_lists import _kept
from conformance.contracts.routing_trouble import calls_it_absent
from conformance.examine import Examination
from conformance.known_good import known_good
from conformance.outcomes import Outcome
from conformance.rig import clock
from conformance.settings import Settings
from conformance.specimens import SpecimenError, bad_specimens, read
from conformance.targets import resolve_target

GOOD = Path(__file__).parents[2] / "fixtures" / "extensions" / "good"
OF_OWN_ROUTING = (
    "ROUTE-CACHE", "ROUTE-SAMEHOST", "ROUTE-APPEARS", "ROUTE-FAULTY", "ROUTE-UNREADABLE",
)  # fmt: skip
OF_ALL = ("ROUTE-LAZY", "ROUTE-LAZY-STOP", "ROUTE-UNCONFIGURED")
OF_THE_HOST = ("ROUTE-ERROR", "ROUTE-SCHEMA")


@pytest.mark.parametrize(
    "text",
    [
        "The plugin task is not installed on https://h. Hosts that have it: none",
        "https://h does not have the plugin task",
        "https://h doesn\N{RIGHT SINGLE QUOTATION MARK}t have task",
        "h lacks task; try elm",
        "h has no plugin task",
        "Error executing tool get_it: Plugin task not found on h",
        "No such plugin: task",
        "cannot run: the task plugin is missing on h",
        "routing failed: task isn't available on h",
        "no configured Gerrit host has the plugin task",
        "h cannot serve this call without the task plugin",
        "task not enabled at h",
    ],
)
def test_an_error_that_calls_the_plugin_absent_is_told(text):
    assert calls_it_absent(text)


@pytest.mark.parametrize(
    "text",
    [
        "h is not known to have the plugin task; hosts that have it: elm",
        "the plugin list of h does not show task, or cannot be read; hosts that have it: elm",
        "h does not tell that it has the plugin task; hosts that do: elm",
        "cannot tell whether h has the plugin task: its plugin list could not be read",
        "h does not have task, or you are not permitted to see its plugins",
        "h answered 403: view plugins not permitted",
        "task not found on h (HTTP 403)",
        "Unable to determine whether task is not installed or just hidden",
        "the plugin list of h is not available",
        "plugin list missing for h",
        "h may not have the plugin task",
        "failed to read the plugins of h, so it is taken to lack task",
        "h did not answer, so task is not available",
        "Expecting value: line 1 column 1 (char 0)",
        "curl failed with exit code 28; h has no plugins",
        "Error executing tool get_it",
    ],
)
def test_an_error_that_leaves_it_open_or_says_why_it_is_not_known_is_fair(text):
    assert not calls_it_absent(text)


CLOCKED = """
    import os, sys, threading, time
    from datetime import datetime, date, timezone
    from pathlib import Path
    from conformance.rig import clock

    class Registry:
        def __init__(self, *, clock=time.monotonic):
            self.clock = clock

    class Channel:
        def tell(self, kind, **about): print(kind, about.get("seconds", ""))

    registry, today = Registry(), date.today()
    places = clock.install(Channel())
    clock.reach(registry, places)
    ask = [
        time.time, time.monotonic, time.perf_counter, lambda: time.time_ns() / 1e9, lambda: time.monotonic_ns() / 1e9,
        lambda: datetime.now().timestamp(), lambda: datetime.now(timezone.utc).timestamp(),
        lambda: datetime.today().timestamp(), lambda: time.mktime(time.localtime()),
        lambda: time.clock_gettime(time.CLOCK_MONOTONIC), registry.clock, Registry().clock,
    ]
    before = [one() for one in ask]
    assert clock.put_forward(Path(os.environ["HOME"]), 100_000.0)
    ahead = [one() - seen for one, seen in zip(ask, before)]
    assert all(99_990 < one < 100_030 for one in ahead), ahead
    assert type(datetime.now()) is datetime
    assert datetime.now(timezone.utc).tzinfo is timezone.utc
    assert (date.today() - today).days in (1, 2)
    assert type(time.time_ns()) is int
    threading.Event().wait(0.001)
    thread = threading.Timer(3600, print)
    thread.daemon = True
    thread.start()
    time.sleep(0.05)
"""


def test_a_clock_that_is_put_forward_moves_whatever_tells_the_time(tmp_path):
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", dedent(CLOCKED)],
        env={"HOME": str(tmp_path)}, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.split("\n")[:2] == ["clock ", "long_wait 3600"]


def test_a_child_without_a_clock_of_its_own_cannot_be_put_forward(tmp_path):
    assert not clock.put_forward(tmp_path, 3600.0)


async def test_an_honest_extension_passes_and_what_the_host_decides_is_not_held_for_or_against_it():
    async with Examination(known_good()) as examination:
        judged = {name: await examination.judge(catalogue()[name]) for name in (*OF_OWN_ROUTING, *OF_ALL, *OF_THE_HOST)}
        reason = [await observed_reason(examination, name, "known_good_routed") for name in OF_OWN_ROUTING]
    for name in OF_OWN_ROUTING:
        outcomes = judged[name].per_tool
        assert outcomes["known_good_own_routing"] is Outcome.PASS, judged[name]
        assert outcomes["known_good_routed"] is Outcome.NOT_APPLICABLE, name
        assert outcomes["known_good_plain"] is Outcome.NOT_APPLICABLE, name
    assert set(reason) == {"decided by the host: requires_plugin wraps it"}
    for name in (*OF_ALL, *OF_THE_HOST):
        assert judged[name].outcome is Outcome.PASS, judged[name]
    for name in OF_ALL:
        assert judged[name].per_tool["known_good_routed"] is Outcome.PASS, judged[name]


async def observed_reason(examination: Examination, name: str, tool: str) -> str:
    with pytest.raises(Exception, match=r".") as caught:
        await catalogue()[name].check(examination.observed, tool)
    return str(caught.value)


async def judged_of(target: Path, *clauses: str, host: str = "reference"):
    subject = resolve_target(f"path:{target}", cwd=target.parent)
    async with Examination(subject, settings=Settings(host=host)) as examination:
        return [await examination.judge(catalogue()[name]) for name in clauses]


async def test_a_registry_that_forgets_is_the_fault_of_the_host():
    host = "factory:tests.conformance.faulty_hosts:oblivious"
    [judgement] = await judged_of(GOOD / "own_routing.py", "ROUTE-CACHE", host=host)
    assert (judgement.outcome, judgement.blocked_by) == (Outcome.BLOCKED, "host")


async def test_an_hour_that_is_waited_for_in_a_thread_is_left_open(tmp_path):
    text = (GOOD / "forgets_by_the_event_loop.py").read_text()
    by_loop = "asyncio.get_running_loop().call_later(HOUR, self._kept.pop, host, None)"
    assert by_loop in text
    by_thread = "self._forget_later(host)"
    method = dedent(
        """\
        def _forget_later(self, host):
            timer = threading.Timer(HOUR, self._kept.pop, (host, None))
            timer.daemon = True
            timer.start()

        async def find(self):
        """
    )
    text = text.replace(by_loop, by_thread).replace("import json\n", "import json\nimport threading\n")
    text = text.replace("    async def find(self):\n", "".join(f"    {line}\n" for line in method.splitlines()))
    target = tmp_path / "forgets_in_a_thread.py"
    target.write_text(text)
    cached, same = await judged_of(target, "ROUTE-CACHE", "ROUTE-SAMEHOST")
    assert cached.outcome is Outcome.INCONCLUSIVE
    assert "time.monotonic()" in cached.supply
    assert same.outcome is Outcome.PASS


def test_clauses_that_judge_the_host_say_so():
    assert {one.id for one in catalogue() if one.judges_host} >= set(OF_THE_HOST)
    assert all("host" in catalogue()[name].fix for name in OF_THE_HOST)


def test_a_specimen_names_a_host_that_lies_beside_it():
    hosts = [one for one in bad_specimens() if one.clause in OF_THE_HOST]
    assert len(hosts) >= 4
    for one in hosts:
        module = str(one.host).split(":")[1]
        assert (one.settings.host_path[0] / f"{module}.py").is_file(), one.label
    others = [one for one in bad_specimens() if one.clause in OF_OWN_ROUTING]
    assert {one.settings for one in others} == {Settings()}


def test_a_host_that_is_no_factory_is_refused(tmp_path):
    file = tmp_path / "lies.py"
    file.write_text('HOST = "reference"\n')
    with pytest.raises(SpecimenError, match=r"lies\.py: HOST is 'reference'"):
        read(file, clause="ROUTE-ERROR")


@pytest.mark.parametrize(("wall", "steady"), [(7199.0, 0.0), (1200.0, 599.5), (599.0, 1.0), (1000.0, 520.0)])
def test_a_trial_begins_where_no_full_hour_comes_in_between(monkeypatch, wall, steady):
    with monkeypatch.context() as changed:
        changed.setattr(clock.time, "time", lambda: wall)
        changed.setattr(clock.time, "monotonic", lambda: steady)
        ahead = clock.amid_a_period()
    assert all(30 <= (now + ahead) % 600 <= 500 for now in (wall, steady))


@pytest.mark.parametrize(
    ("asked", "again", "kept"),
    [
        ({"rowan", "sycamore"}, {"rowan", "sycamore"}, None),
        ({"rowan", "sycamore"}, {"sycamore"}, "rowan"),
        ({"rowan", "sycamore"}, set(), "rowan"),
        ({"cedar", "elm"}, {"cedar", "elm"}, None),
        ({"cedar", "elm"}, {"cedar"}, None),
        ({"cedar", "elm"}, set(), "cedar"),
        ({"sycamore"}, {"sycamore"}, None),
    ],
)
def test_a_list_counts_as_kept_too_long_only_where_it_was_asked_for_at_first(asked, again, kept):
    found = _kept(asked, again)
    assert (found and found.name) == kept
