"""The committed table of what the simulated Gerrit answers as the recorded one did: `recordings.toml`."""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass
from pathlib import Path

FILE = Path(__file__).with_name("recordings.toml")
_HEAD = """\
# How far the simulated Gerrit agrees with the recordings of a real one; kept by test_recordings.py.
#
# `identical` is a floor: so many steps of a scenario are answered as recorded. It only goes up.
# `differs` lists the steps that are simulated and answered in another way, each with the reason. It only shrinks:
# an entry that no longer differs fails the tests. `python -m tests.mock_gerrit.replay --tighten` does both.
"""


@dataclass
class Table:
    """What `recordings.toml` says.

    Attributes:
        identical: the floor of each scenario.
        differs: reason by step (`INDEX what it tries`) by scenario.
    """

    identical: dict[str, int]
    differs: dict[str, dict[str, str]]

    @classmethod
    def read(cls) -> Table:
        """The table as it is committed; empty where there is none yet."""
        data = tomllib.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}
        return cls(identical=dict(data.get("identical", {})), differs=dict(data.get("differs", {})))

    def tighten(self, scenario: str, identical: int, differing: list[str], reason: str | None) -> None:
        """Raise a floor, drop what no longer differs and, given a reason, list what does."""
        self.identical[scenario] = max(identical, self.identical.get(scenario, 0))
        known = self.differs.get(scenario, {})
        listed = {step: known.get(step, reason) for step in differing}
        self.differs[scenario] = {step: why for step, why in listed.items() if why}

    def write(self) -> None:
        """Write the table to its file."""
        lines = [_HEAD, "[identical]"]
        lines += [f"{scenario} = {floor}" for scenario, floor in sorted(self.identical.items())]
        for scenario, steps in sorted(self.differs.items()):
            if steps:
                lines += ["", f"[differs.{scenario}]"]
                lines += [f"{_quoted(step)} = {_quoted(why)}" for step, why in steps.items()]
        FILE.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
