"""What shows that a hostile value was more than a value: to curl, to a shell, to a URL, to JSON."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from conformance.rig.hostility import CANARY, CANARY_TEXT, HEAD, TAIL
from conformance.rig.sent import Sent, taken_apart

if TYPE_CHECKING:
    from conformance.rig.trial import Call
    from mock_gerrit.journal import Entry

EXPANDED = re.compile(rf"{HEAD}([a-z])(?:[123](?:[xy]|\{{x,y\}})|\[1-3\][xy]|[xy])(?![\w,])")
"""A unit that only curl's expansion of `[1-3]` or `{x,y}` can have made."""
UPWARDS = re.compile(rf"/\.\./\.\./{TAIL}([a-z])")
CUT = re.compile(rf"#{TAIL}([a-z])")
OWN_HEADER = re.compile(rf"^{TAIL}([a-z]):", re.IGNORECASE | re.MULTILINE)
OWN_KEY = re.compile(rf"^{TAIL}([a-z])$")
FILE = re.compile(rf"{CANARY_TEXT}-([a-z])")
STARTED = re.compile(rf"{HEAD}([a-z])")
ANY_WORD = re.compile(rf"(?:{HEAD}|{TAIL}|{CANARY})([a-z])")


@dataclass(frozen=True, kw_only=True)
class Escape:
    """Something that a value did and that no value may do."""

    what: str
    letter: str = ""
    """That of the place of the value; empty where nobody can tell which it was."""


def escapes(call: Call, appeared: Sequence[str], usual: Sequence[Entry]) -> Iterator[Escape]:
    """Yield what one call with hostile values did that no value may do.

    Args:
        call: the call.
        appeared: names of the files that it left behind and that its values name.
        usual: the tool's requests in a plain call.
    """
    yield from _told(ANY_WORD, appeared, "the value ran a command or named a file to write, {found}")
    for entry in call.entries:
        for one in _in_request(entry, taken_apart(entry)):
            yield replace(one, what=f"{one.what}: {entry.method} {entry.target}")
    heads = [entry for entry in call.own if entry.method == "HEAD"]
    if heads and not any(entry.method == "HEAD" for entry in usual):
        yield Escape(what=f"the value is an option to curl: HEAD {heads[0].target}")
    hosts = [urlsplit(target if "//" in target else f"//{target}").netloc for target in call.refused]
    yield from _told(ANY_WORD, hosts, "the value is a URL to curl, which looked for a host {found}")
    if call.own:
        urls = [str(one) for fact in call.told("curl") for one in fact["args"] if re.match(r"https?://", str(one))]
        yield from _told(CUT, urls, "the URL is cut at the # of the value: {found}")
        paths = [url.partition("?")[0] for url in urls]
        yield from _told(UPWARDS, paths, "curl climbs up the path by the .. of the value: {found}")


def _told(pattern: re.Pattern[str], texts: Iterable[str], what: str) -> Iterator[Escape]:
    """Yield an escape for each text in which a pattern is found, whose group is the letter."""
    for text in texts:
        if found := pattern.search(text):
            yield Escape(what=what.format(found=repr(text)), letter=found[1])


def _in_request(entry: Entry, sent: Sent) -> Iterator[Escape]:
    headers = "\n".join(f"{name}: {value}" for name, value in entry.headers)
    body = entry.body.decode(errors="replace")
    yield from _told(FILE, (f"{entry.target}\n{headers}\n{body}",), "a file on the machine was read and sent")
    yield from _told(OWN_HEADER, (headers,), "the value made a header of its own")
    yield from _told(
        OWN_KEY, (key for key, _ in sent.query), "the value made a parameter of its own in the query, {found}"
    )
    yield from _told(OWN_KEY, sent.keys, "the value made a member of its own in the body, {found}")
    yield from _told(STARTED, (sent.broken_body,), "the value broke the JSON of the body {found}")
    yield from _told(EXPANDED, sent.units, "curl expanded the value to several requests, one with {found}")
    if sent.is_rest and not any(map(UPWARDS.search, sent.segments)):
        yield from _told(UPWARDS, ("/".join(sent.segments),), "the value became several segments of the path")
