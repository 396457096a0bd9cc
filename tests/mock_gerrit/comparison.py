"""What a recorded answer and ours differ in, once everything is set aside that differs from run to run."""

from __future__ import annotations

import base64
import binascii
import io
import json
import re
import tarfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from mock_gerrit.exchange import XSSI_PREFIX, Response
from tests.mock_gerrit.recordings import TIMESTAMP, Recorded

DRAWN = re.compile(r"\bI?[0-9a-f]{40}\b|\b[0-9a-f]{8}_[0-9a-f]{8}\b")
"""Names that a server draws or derives: SHA-1s, Change-Ids, ids of comments."""

_LOOSE = (
    (TIMESTAMP, "<time>"),
    (re.compile(r"\b[A-Z][a-z]{2}, \d\d? [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d [+-]\d{4}\b"), "<time>"),
    (re.compile(r"\b[A-Z][a-z]{2} [A-Z][a-z]{2} \d\d \d\d:\d\d:\d\d [A-Z]+ \d{4}\b"), "<time>"),
    (re.compile(r"\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\d [+-]\d{4}\b"), "<time>"),
    (DRAWN, "<drawn>"),
    (re.compile(r"(?<=_new-)[0-9a-f]{32}\b"), "<random>"),
    (re.compile(r"\b(revert-[\w-]+-)[A-Z]{10}\b"), r"\1<random>"),
    (re.compile(r"\b(?=[0-9]*[a-f])(?=[a-f]*[0-9])[0-9a-f]{7,12}\b"), "<short sha>"),
)
_SETS = re.compile(r".*\.(?:hashtags|all|removable_reviewers|REVIEWER|CC|REMOVED|submit_requirements)")
"""Lists that Gerrit makes of sets, in whatever order its hash tables have."""

_DURATIONS = re.compile(r".*\.evaluation_milli_seconds")
_HEADERS = (
    "Content-Type",
    "Content-Disposition",
    "Content-Encoding",
    "Location",
    "WWW-Authenticate",
    "X-FYI-Content-Encoding",
    "X-FYI-Content-Type",
)


@dataclass(frozen=True)
class Difference:
    """One thing that is not as recorded."""

    where: str
    recorded: object
    ours: object

    def __str__(self) -> str:
        if self.where == "crash":
            return f"crash where {self.recorded} was recorded:\n{self.ours}"
        return f"{self.where}: recorded {_short(self.recorded)}, ours {_short(self.ours)}"


class _Absent:
    def __repr__(self) -> str:
        return "nothing"


ABSENT = _Absent()


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 300 else f"{text[:297]}…"


def without_what_varies(text: str) -> str:
    """A text in which every moment and every drawn name is replaced by what it is."""
    for pattern, word in _LOOSE:
        text = pattern.sub(word, text)
    return text


@dataclass
class Names:
    """Which drawn name of the recording stands for which of ours, as learnt from answers so far."""

    ours: dict[str, str] = field(default_factory=dict)

    def learn(self, recorded: str, ours: str) -> None:
        """Remember the drawn names of two texts that are alike in all else."""
        for theirs, own in zip(DRAWN.findall(recorded), DRAWN.findall(ours), strict=False):
            self.ours[theirs] = own

    def translate(self, text: str) -> str:
        """A recorded request in our names; a unique beginning of a known SHA-1 counts as its name."""
        text = DRAWN.sub(lambda found: self.ours.get(found[0], found[0]), text)
        return re.sub(r"(?<=/)[0-9a-f]{4,39}(?=[/?]|$)|(?<=commit:)[0-9a-f]{4,39}\b", self._shortened, text)

    def _shortened(self, found: re.Match[str]) -> str:
        beginning = found[0]
        if beginning.isdigit():
            return beginning
        names = {own for theirs, own in self.ours.items() if theirs.startswith(beginning)}
        return names.pop()[: len(beginning)] if len(names) == 1 else beginning


def compare(step: Recorded, response: Response, names: Names, varies: tuple[str, ...]) -> list[Difference]:
    """Everything in which our answer to a step is not the recorded one."""
    return list(_Comparison(names, varies).answers(step, response))


class _Comparison:
    """The comparison of one answer."""

    def __init__(self, names: Names, varies: tuple[str, ...]) -> None:
        self.names = names
        self.varies = [*(re.compile(_path_pattern(path)) for path in varies), _DURATIONS]
        self.seen: dict[str, str] = {}

    def answers(self, step: Recorded, response: Response) -> Iterator[Difference]:
        if step.status != response.status:
            yield Difference("status", step.status, response.status)
        headers = {name.lower(): value for name, value in response.headers}
        for name in _HEADERS:
            recorded, ours = step.response_header(name), headers.get(name.lower())
            if without_what_varies(recorded or "") != without_what_varies(ours or ""):
                yield Difference(name, recorded, ours)
        yield from self._bodies(step, response.body)

    def _bodies(self, step: Recorded, body: bytes) -> Iterator[Difference]:
        recorded = step.response.get("json", ABSENT)
        if recorded is not ABSENT:
            ours = _parsed(body)
            if ours is ABSENT:
                yield Difference("body", step.response["body"], body.decode(errors="replace"))
            else:
                yield from self.values("body", recorded, ours)
        else:
            yield from self._strings("body", _plain(step.response_body), _plain(body))

    def values(self, where: str, recorded: Any, ours: Any) -> Iterator[Difference]:
        """Compare two JSON values."""
        if any(pattern.fullmatch(where) for pattern in self.varies):
            if type(recorded) is not type(ours):
                yield Difference(where, recorded, ours)
            elif isinstance(recorded, str):
                self.names.ours[recorded] = ours
        elif isinstance(recorded, dict) and isinstance(ours, dict):
            yield from self._objects(where, recorded, ours)
        elif isinstance(recorded, list) and isinstance(ours, list):
            yield from self._arrays(where, recorded, ours)
        elif isinstance(recorded, str) and isinstance(ours, str):
            yield from self._strings(where, recorded, ours)
        elif recorded != ours or type(recorded) is not type(ours):
            yield Difference(where, recorded, ours)

    def _strings(self, where: str, recorded: str, ours: str) -> Iterator[Difference]:
        if without_what_varies(recorded) != without_what_varies(ours):
            yield Difference(where, recorded, ours)
            return
        for theirs, own in zip(DRAWN.findall(recorded), DRAWN.findall(ours), strict=False):
            if self.seen.setdefault(theirs, own) != own:
                yield Difference(where, f"{theirs}, which is {self.seen[theirs]} elsewhere in the answer", own)
        self.names.learn(recorded, ours)

    def _objects(self, where: str, recorded: dict[str, Any], ours: dict[str, Any]) -> Iterator[Difference]:
        pairs = self._paired_keys(recorded, ours)
        for key, own in pairs:
            inner = f"{where}.{without_what_varies(key)}"
            if own is None:
                yield Difference(inner, recorded[key], ABSENT)
                continue
            self.names.learn(key, own)
            yield from self.values(inner, recorded[key], ours[own])
        paired = {own for _, own in pairs}
        for key in ours:
            if key not in paired:
                yield Difference(f"{where}.{key}", ABSENT, ours[key])

    def _paired_keys(self, recorded: dict[str, Any], ours: dict[str, Any]) -> list[tuple[str, str | None]]:
        """Our key for each recorded one; drawn keys by what is known of them, else by patch set, else in order."""
        free = [key for key in ours if DRAWN.fullmatch(key) and key not in recorded]
        pairs: list[tuple[str, str | None]] = []
        for key in recorded:
            own: str | None = key if key in ours else None
            if own is None and DRAWN.fullmatch(key):
                own = self._counterpart(key, recorded[key], free, ours)
                if own:
                    free.remove(own)
            pairs.append((key, own))
        return pairs

    def _counterpart(self, key: str, value: Any, free: list[str], ours: dict[str, Any]) -> str | None:
        if self.names.ours.get(key) in free:
            return self.names.ours[key]
        number = value.get("_number") if isinstance(value, dict) else None
        same = [own for own in free if isinstance(ours[own], dict) and ours[own].get("_number") == number]
        return next(iter(same or free), None)

    def _arrays(self, where: str, recorded: list[Any], ours: list[Any]) -> Iterator[Difference]:
        if len(recorded) != len(ours):
            yield Difference(f"{where} (length)", _outline(recorded), _outline(ours))
        if _numbered(recorded) and _numbered(ours):
            recorded, ours = _by_number(recorded, ours)
        elif self._order_varies(where) or _are_reviewers(recorded):
            ours = self._nearest(where, recorded, ours)
        for index, (theirs, own) in enumerate(zip(recorded, ours, strict=False)):
            yield from self.values(f"{where}[{index}]", theirs, own)

    def _order_varies(self, where: str) -> bool:
        inside = re.escape(f"{where}[")
        return bool(_SETS.fullmatch(where)) or any(pattern.pattern.startswith(inside) for pattern in self.varies)

    def _nearest(self, where: str, recorded: list[Any], ours: list[Any]) -> list[Any]:
        """Our elements in the order in which they differ least from the recorded ones."""
        left, ordered = list(ours), []
        for theirs in recorded:
            if not left:
                break
            unlike = [len(list(_Comparison(Names(), ()).values(where, theirs, own))) for own in left]
            ordered.append(left.pop(unlike.index(min(unlike))))
        return [*ordered, *left]


def _path_pattern(path: str) -> str:
    return re.sub(r"<sha\d+>|<\w+\\ \w+>", "[^.]+", re.escape(path).replace("\\<", "<").replace("\\>", ">"))


def _parsed(body: bytes) -> Any:
    text = body.decode(errors="replace")
    if not text.startswith(XSSI_PREFIX):
        return ABSENT
    try:
        return json.loads(text.removeprefix(XSSI_PREFIX))
    except ValueError:
        return ABSENT


def _plain(body: bytes) -> str:
    """A body as text, so that moments in it can be set aside: an archive by its members, base64 unpacked."""
    if body.startswith(b"PK"):
        with zipfile.ZipFile(io.BytesIO(body)) as archive:
            return "\n".join(f"{name}:\n{_text(archive.read(name))}" for name in archive.namelist())
    if body.startswith(b"\x1f\x8b"):
        with tarfile.open(fileobj=io.BytesIO(body)) as archive:
            members = [(member.name, archive.extractfile(member)) for member in archive if member.isfile()]
            return "\n".join(f"{name}:\n{_text(content.read())}" for name, content in members if content)
    try:
        unpacked = base64.b64decode(body, validate=True).decode() if len(body) >= 16 else ""
    except (binascii.Error, UnicodeDecodeError):
        unpacked = ""
    return unpacked or _text(body)


def _text(content: bytes) -> str:
    return content.decode(errors="backslashreplace")


def _outline(values: list[Any]) -> object:
    if _numbered(values):
        return [value["_number"] for value in values]
    return [value if not isinstance(value, dict | list) else "…" for value in values]


def _are_reviewers(values: list[Any]) -> bool:
    """Whether these are the reviewers of a change, which come in the order of a hash table."""
    return bool(values) and all(isinstance(value, dict) and "approvals" in value for value in values)


def _numbered(values: list[Any]) -> bool:
    return bool(values) and all(isinstance(value, dict) and "_number" in value for value in values)


def _by_number(recorded: list[Any], ours: list[Any]) -> tuple[list[Any], list[Any]]:
    """Both lists of changes with those that were updated in the same second in the order of their numbers.

    Whatever stands in another order than the recorded one keeps standing there, and is reported.
    """
    if {value["_number"] for value in recorded} != {value["_number"] for value in ours}:
        return recorded, ours
    moment = {value["_number"]: value.get("updated", "") for value in recorded}
    theirs = sorted(recorded, key=lambda value: _tie(recorded, value, moment))
    return theirs, sorted(ours, key=lambda value: _tie(ours, value, moment))


def _tie(values: list[Any], value: Any, moment: dict[int, str]) -> tuple[int, int]:
    """The place of the first element updated when `value` was, then its number."""
    when = moment[value["_number"]]
    first = next(index for index, other in enumerate(values) if moment[other["_number"]] == when)
    return first, value["_number"]
