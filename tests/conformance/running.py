"""Runs pytest on a small extension with the clauses of `stand_in`, in a process of its own, and reads what it left."""

import json
import os
from dataclasses import dataclass, field
from pathlib import Path

import pytest

EXTENSION = "def register(ctx): ...\n"


@dataclass(kw_only=True)
class Certifying:
    """A folder with the extension `my_ext`, and the ways to run pytest there."""

    pytester: pytest.Pytester
    monkeypatch: pytest.MonkeyPatch
    report: Path = field(init=False)

    def __post_init__(self) -> None:
        self.report = self.pytester.path / "out"
        self.pytester.makepyfile(my_ext=EXTENSION)
        self.monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent), prepend=os.pathsep)
        self.monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")

    def command(self, *arguments: str, target: str = "my_ext") -> list[str]:
        loaded = ("stand_in", "conformance.plugin", "xdist")
        plugins = [word for name in loaded for word in ("-p", name)]
        return [*plugins, f"--conformance={target}", "--conformance-report=out", *arguments]

    def run(self, *arguments: str, target: str = "my_ext", **outcomes: str) -> pytest.RunResult:
        """Run; `EXT_QUIET="fail"` sets the outcome of EXT-QUIET."""
        self.choose(**outcomes)
        return self.pytester.runpytest_subprocess(*self.command(*arguments, target=target), timeout=60)

    def choose(self, **outcomes: str) -> None:
        chosen = {name.replace("_", "-"): word for name, word in outcomes.items()}
        self.monkeypatch.setenv("STAND_IN", json.dumps(chosen))

    def certificate(self, *folders: str) -> dict:
        return json.loads(Path(self.report, *folders, "certificate.json").read_text())

    def outcomes(self) -> dict[str, str]:
        return {clause["id"]: clause["outcome"] for clause in self.certificate()["clauses"]}
