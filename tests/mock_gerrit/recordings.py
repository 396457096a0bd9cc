"""The recordings of a real Gerrit, read from `fixtures/recordings`: what was asked, and what it answered."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache, cached_property
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[2] / "fixtures" / "recordings"
TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{9}")
_CHANGE_URL = re.compile(r"/\+/(\d+) .*\[NEW\]")


def _bytes(message: dict[str, Any]) -> bytes:
    body = message.get("body") or ""
    return base64.b64decode(body) if message.get("body_encoding") == "base64" else body.encode()


@dataclass(frozen=True, kw_only=True)
class Recorded:
    """One step of a scenario: an HTTP exchange, a git push, or a configuration file that came into force."""

    scenario: str
    index: int
    step: str
    user: str
    request: dict[str, Any] | None
    response: dict[str, Any]
    push: dict[str, Any] | None
    file: dict[str, Any] | None

    @property
    def name(self) -> str:
        """How the tables of the tests call the step: its number and what it tries."""
        return f"{self.index} {self.step}"

    @property
    def method(self) -> str:
        return str(self.request["method"]) if self.request else ""

    @property
    def target(self) -> str:
        return str(self.request["target"]) if self.request else ""

    @cached_property
    def request_body(self) -> bytes:
        return _bytes(self.request or {})

    @cached_property
    def request_json(self) -> dict[str, Any]:
        """The JSON object of the request; empty where there is none."""
        try:
            parsed = json.loads(self.request_body)
        except ValueError:
            return {}
        return parsed if isinstance(parsed, dict) else {}

    @property
    def request_headers(self) -> dict[str, str]:
        return dict((self.request or {}).get("headers") or {})

    @property
    def status(self) -> int:
        return int(self.response.get("status", 0))

    @cached_property
    def response_body(self) -> bytes:
        return _bytes(self.response)

    def response_header(self, name: str) -> str | None:
        headers = {key.lower(): value for key, value in self.response.get("headers", {}).items()}
        return headers.get(name.lower())

    @cached_property
    def moment(self) -> datetime | None:
        """When the server got the request, by its trace id; for a push, when what it made was created."""
        if self.push:
            return self._pushed_at(self.push)
        trace = self.response_header("X-Gerrit-Trace") or ""
        milliseconds = trace.partition("-")[0]
        return datetime.fromtimestamp(int(milliseconds) / 1000, tz=UTC) if milliseconds.isdigit() else None

    def _pushed_at(self, push: dict[str, Any]) -> datetime | None:
        times = _times()
        if push["exit"]:
            return None
        pushed = (_CHANGE_URL.search(line) for line in push["remote_says"])
        names = [push["commits"][0][:40], *(found[1] for found in pushed if found)]
        return next((times[name] for name in names if name in times), None)


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """One file of recordings."""

    name: str
    about: str
    plugins: tuple[str, ...]
    steps: tuple[Recorded, ...]
    varies: dict[int, tuple[str, ...]]


@cache
def scenario_names() -> tuple[str, ...]:
    """The scenarios in the order in which they were recorded on one server."""
    return tuple(sorted(path.stem for path in FOLDER.glob("[0-9]*.json")))


@cache
def _varies() -> dict[str, dict[int, tuple[str, ...]]]:
    listed: dict[str, list[list[Any]]] = json.loads((FOLDER / "varies.json").read_text(encoding="utf-8"))
    found: dict[str, dict[int, tuple[str, ...]]] = {}
    for scenario, entries in listed.items():
        steps = found.setdefault(scenario, {})
        for index, path in entries:
            steps[index] = (*steps.get(index, ()), path)
    return found


@cache
def _times() -> dict[str, datetime]:
    """When changes (by number) and patch sets (by commit) were created, as the answers tell."""
    found: dict[str, datetime] = {}
    for name in scenario_names():
        for step in scenario(name).steps:
            for info in _change_infos(step.response.get("json")):
                found.setdefault(str(info["_number"]), _moment(info["created"]))
                for commit, revision in info.get("revisions", {}).items():
                    found.setdefault(commit, _moment(revision["created"]))
    return found


def _moment(written: str) -> datetime:
    return datetime.fromisoformat(written[:19] + "+00:00")


def _change_infos(value: Any) -> Iterator[dict[str, Any]]:
    """The changes in an answer."""
    if isinstance(value, list):
        for item in value:
            yield from _change_infos(item)
    elif isinstance(value, dict) and {"_number", "created", "change_id"} <= value.keys():
        yield value


@cache
def scenario(name: str) -> Scenario:
    """A scenario by the stem of its file."""
    data = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    steps = tuple(
        Recorded(
            scenario=name,
            index=index,
            step=entry["step"],
            user=entry["as"],
            request=entry.get("request"),
            response=entry.get("response", {}),
            push=entry.get("git_push"),
            file=entry.get("file"),
        )
        for index, entry in enumerate(data["exchanges"])
    )
    return Scenario(
        name=name,
        about=data["about"],
        plugins=tuple(data["server"]["plugins"]),
        steps=steps,
        varies=_varies().get(name, {}),
    )
