"""Replays the recordings of a real Gerrit against the simulated one, and says where the two part.

    python -m tests.mock_gerrit.replay                       a line for each scenario
    python -m tests.mock_gerrit.replay 12-files --show       every difference of one scenario, step by step
    python -m tests.mock_gerrit.replay 12-files --show --step 14
    python -m tests.mock_gerrit.replay 30-task --show --where plugins
    python -m tests.mock_gerrit.replay --scope               the steps that no endpoint of ours answers
    python -m tests.mock_gerrit.replay --tighten             raise the floors, drop what no longer differs
    python -m tests.mock_gerrit.replay --allow "WHY"         list what differs now, with that reason

The scenarios were recorded one after the other on one server; so a replay begins with an empty host each time, and
goes through all scenarios up to the last one asked for.
"""

from __future__ import annotations

import argparse
import base64
import binascii
import re
import traceback
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from typing import Literal

from mock_gerrit import gerrit
from mock_gerrit.exchange import Request
from mock_gerrit.host import Host
from mock_gerrit.world import World
from tests.mock_gerrit.comparison import Difference, Names, compare
from tests.mock_gerrit.coverage_table import Table
from tests.mock_gerrit.recordings import Recorded, scenario, scenario_names
from tests.mock_gerrit.stand_ins import push, restored_file, stand_in, unrecorded_edit

Verdict = Literal["identical", "differs", "out of scope", "set up"]
AUTHORITY = "127.0.0.1:8481"


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """How our answer to one step compares.

    Attributes:
        verdict: `out of scope` where no endpoint is simulated for what was asked, `set up` where nothing was asked.
        differences: what is not as recorded.
        nearest: the nearest simulated route, where the step is out of scope.
    """

    step: Recorded
    verdict: Verdict
    differences: tuple[Difference, ...] = ()
    nearest: str = ""


class RecordedClock:
    """A clock that stands where the server's stood when the step was recorded."""

    def __init__(self) -> None:
        self.now = datetime(2026, 11, 30, 14, 16, 50, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def go_to(self, moment: datetime | None) -> None:
        """Go to a later moment; None and earlier ones change nothing."""
        self.now = max(self.now, moment or self.now)


class Twin:
    """A simulated host that is asked what a real one was asked, and whose answers are compared with the real ones.

    Attributes:
        clock: stands where the real server's stood; what is asked next is answered at that moment.
        host: the simulated host.
        names: which drawn name of the real server stands for which of ours.
    """

    def __init__(self, url: str, *, name: str) -> None:
        self.clock = RecordedClock()
        self.world = World(clock=self.clock)
        self.host: Host = self.world.host(url, name=name)
        self.names = Names()

    def exchange(self, step: Recorded, varies: tuple[str, ...] = ()) -> Outcome:
        """How our answer to what a step asked compares; `varies` are places that differ from run to run."""
        self.clock.go_to(step.moment)
        try:
            response = gerrit.answer(self.host, self._request(step))
        except Exception:  # noqa: BLE001 - a crash is one difference among others, not the end of the replay
            self._catch_up(step)
            crash = Difference("crash", step.status, traceback.format_exc(limit=-4))
            return Outcome(step=step, verdict="differs", differences=(crash,))
        differences = tuple(compare(step, response, self.names, varies))
        if response.unsimulated or response.status >= 400:
            self._catch_up(step)
        if not differences:
            return Outcome(step=step, verdict="identical")
        if response.unsimulated:
            return Outcome(step=step, verdict="out of scope", differences=differences, nearest=response.unsimulated)
        return Outcome(step=step, verdict="differs", differences=differences)

    def _catch_up(self, step: Recorded) -> None:
        """Do what the step did there and not here, so that the steps that follow are judged by themselves."""
        if step.status < 400:
            stand_in(self.host, step)

    def _request(self, step: Recorded) -> Request:
        body = step.request_body
        with suppress(UnicodeDecodeError):
            body = self.names.translate(body.decode()).encode()
        headers = {name: self._header(name, value) for name, value in step.request_headers.items()}
        return Request(
            method=step.method,
            target=self.names.translate(step.target),
            headers=(("Host", self.host.authority), *headers.items()),
            body=body,
            scheme=self.host.url.partition(":")[0],
            authority=self.host.authority,
        )

    def _header(self, name: str, value: str) -> str:
        """A recorded header; a password that the server drew becomes the one ours drew."""
        if name != "Authorization":
            return value
        scheme, _, sent = value.partition(" ")
        try:
            user, colon, password = base64.b64decode(sent, validate=True).decode().partition(":")
        except (binascii.Error, UnicodeDecodeError):
            return value
        own = self.names.ours.get(password)
        return f"{scheme} {base64.b64encode(f'{user}{colon}{own}'.encode()).decode()}" if own else value


class Replay:
    """One simulated host, going through the recorded scenarios in order."""

    def __init__(self) -> None:
        self.twin = Twin(f"http://{AUTHORITY}", name="recorded")
        self.host = self.twin.host
        for entry in scenario(scenario_names()[0]).plugins:
            id_, _, version = entry.partition(" ")
            self.host.add_plugin(id_, version=version)
        self._as_set_up()

    def _as_set_up(self) -> None:
        """What the recorded server was configured to, without the defaults that simulators give to an empty host."""
        configuration = self.host.projects["All-Projects"].settings
        configuration.clear()
        configuration["code-owners.config"] = "[codeOwners]\n\tdisabled = true\n"
        self.host.plugin_state("depends-on").clear()
        self.host.operator_aliases.update(independson="in_depends-on", hasdependson="has_depends-on")

    def scenario(self, name: str) -> Iterator[Outcome]:
        """The outcome of each step of the next scenario."""
        told = scenario(name)
        for step in told.steps:
            self.twin.clock.go_to(step.moment)
            yield self._step(step, told.varies.get(step.index, ()))

    def _step(self, step: Recorded, varies: tuple[str, ...]) -> Outcome:
        file = step.file or restored_file(step)
        if file:
            self.host.projects[file["project"]].settings[file["path"]] = file["text"]
        if step.push:
            push(self.host, step)
        if step.request is None:
            return Outcome(step=step, verdict="set up")
        unrecorded_edit(self.host, step)
        return self.twin.exchange(step, varies)


@cache
def outcomes() -> dict[str, tuple[Outcome, ...]]:
    """The outcome of every step of every scenario."""
    replay = Replay()
    return {name: tuple(replay.scenario(name)) for name in scenario_names()}


def counts(found: Iterable[Outcome]) -> Counter[Verdict]:
    """How many steps have each verdict."""
    return Counter(outcome.verdict for outcome in found)


def _summary(name: str, found: tuple[Outcome, ...]) -> str:
    number = counts(found)
    asked = len(found) - number["set up"]
    return (
        f"{name:22} {number['identical']:4} of {asked:4} identical   {number['differs']:4} differ   "
        f"{number['out of scope']:4} out of scope"
    )


def _show(found: Iterable[Outcome], asked: argparse.Namespace) -> None:
    for outcome in found:
        step = outcome.step
        shown = [item for item in outcome.differences if re.search(asked.where, item.where)]
        if outcome.verdict != "differs" or asked.step not in {None, step.index} or not shown:
            continue
        print(f"\n{step.scenario} {step.name}: {step.user} {step.method} {step.target}")
        if step.request_body:
            print(f"    body {step.request_body[:200]!r}")
        for difference in shown[: asked.limit]:
            print(f"    {difference}")
        if len(shown) > asked.limit:
            print(f"    … and {len(shown) - asked.limit} more")


def _scope(found: Iterable[Outcome]) -> None:
    for outcome in found:
        if outcome.verdict == "out of scope":
            step = outcome.step
            print(f"{step.scenario} {step.name}: {step.method} {step.target} (nearest: {outcome.nearest})")


def main(arguments: list[str] | None = None) -> None:
    """The command described above."""
    parser = argparse.ArgumentParser(description="Replay the recordings of a real Gerrit.")
    parser.add_argument("scenarios", nargs="*", choices=[[], *scenario_names()], metavar="SCENARIO")
    parser.add_argument("--show", action="store_true", help="print what differs")
    parser.add_argument("--step", type=int, help="with --show: this step only")
    parser.add_argument("--limit", type=int, default=12, help="with --show: differences of one step to print")
    parser.add_argument("--where", default="", metavar="REGEX", help="with --show: differences in these places only")
    parser.add_argument("--scope", action="store_true", help="print the steps that are out of scope")
    parser.add_argument("--tighten", action="store_true", help="raise floors and drop stale entries of the table")
    parser.add_argument("--allow", metavar="WHY", help="list what differs now in the table, with this reason")
    asked = parser.parse_args(arguments)
    for name in asked.scenarios or scenario_names():
        found = outcomes()[name]
        print(_summary(name, found))
        if asked.show:
            _show(found, asked)
        if asked.scope:
            _scope(found)
    if asked.tighten or asked.allow:
        table = Table.read()
        for name, found in outcomes().items():
            identical = counts(found)["identical"]
            differing = [outcome.step.name for outcome in found if outcome.verdict == "differs"]
            table.tighten(name, identical, differing, asked.allow)
        table.write()


if __name__ == "__main__":
    main()
