"""Asks a real Gerrit and the simulated one the same, and says where the two part.

python -m tests.real_gerrit.side_by_side                     a real Gerrit is started and stopped
python -m tests.real_gerrit.side_by_side --site DIR          the one that `fixtures/real_gerrit/gerrit.py` runs there
python -m tests.real_gerrit.side_by_side --only review --limit 5
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.mock_gerrit.recordings import Recorded
from tests.mock_gerrit.replay import Outcome, Twin
from tests.real_gerrit.asking import RealServer, Scenario
from tests.real_gerrit.scenarios.catalogue import SCENARIOS

STARTER = Path(__file__).parents[2] / "fixtures" / "real_gerrit" / "gerrit.py"

_EVERYBODY = "global:Registered-Users"
PERMISSIONS = {
    "label-Code-Review": {"label": "Code-Review", "rules": {_EVERYBODY: {"action": "ALLOW", "min": -2, "max": 2}}},
    "submit": {"rules": {_EVERYBODY: {"action": "ALLOW"}}},
    "revert": {"rules": {_EVERYBODY: {"action": "ALLOW"}}},
}


@contextmanager
def real_gerrit() -> Iterator[Path]:
    """The folder of a fresh real Gerrit on a free port of 127.0.0.1; the server and the folder are gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="real-gerrit-") as folder:
        site = Path(folder) / "site"
        command = [sys.executable, str(STARTER)]
        try:
            start = [*command, "start", "--dir", str(site), "--heap", "700m", "--tls"]
            subprocess.run(start, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            yield site
        finally:
            subprocess.run([*command, "stop", "--dir", str(site), "--wipe"], check=True, stdout=subprocess.DEVNULL)


class SideBySide:
    """A real server and its simulated twin.

    Args:
        site: the folder of the real one, as its starter keeps it; with nothing in it yet but what every Gerrit has.
    """

    def __init__(self, site: Path) -> None:
        self.url = str(json.loads((site / "real-gerrit.json").read_text())["url"]).rstrip("/")
        self.trusted = site / "etc" / "cert.pem"
        self.real = RealServer(self.url, trusted=str(self.trusted))
        self.real.permit(PERMISSIONS)
        self.twin = Twin(self.url, name="gerrit")

    def scenario(self, name: str, scenario: Scenario) -> Iterator[Outcome]:
        """The outcome of each request of a scenario; the answers are sent back into it."""
        asking = scenario()
        index = 0
        answered: Recorded | None = None
        while True:
            try:
                asked = asking.send(answered) if answered else next(asking)
            except StopIteration:
                return
            answered = self.real.answer(name, index, asked)
            yield self.twin.exchange(answered)
            index += 1


def _compare(site: Path, asked: argparse.Namespace) -> None:
    side_by_side = SideBySide(site)
    for name, scenario in SCENARIOS.items():
        found = list(side_by_side.scenario(name, scenario))
        unlike = [outcome for outcome in found if outcome.verdict != "identical"]
        print(f"{name:22} {len(found):4} asked, {len(unlike):4} not alike")
        for outcome in unlike if asked.only in {None, name} else ():
            print(f"\n  {outcome.verdict}: {outcome.step.step}")
            for difference in outcome.differences[: asked.limit]:
                print(f"    {difference}")
    side_by_side.real.close()


def main() -> None:
    """The command described above."""
    parser = argparse.ArgumentParser(description="Compare the simulated Gerrit with a real one.")
    parser.add_argument("--site", type=Path, help="the folder of a running and empty real Gerrit")
    parser.add_argument("--only", help="print the differences of this scenario only")
    parser.add_argument("--limit", type=int, default=6, help="differences of one request to print")
    asked = parser.parse_args()
    if asked.site:
        _compare(asked.site, asked)
        return
    with real_gerrit() as site:
        _compare(site, asked)


if __name__ == "__main__":
    main()
