"""What a parameter means by what its author wrote about it, where its name does not tell.

Read are the schema's own description and title, and the section of the tool's description that tells of parameters, in
the three styles in use (Google, NumPy, Sphinx). Only the words with which such a text begins count: further on it may
speak of anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from conformance.rig.meanings import Meaning, meaning_of

_CHANGE = r"(?:gerrit |code review |numeric )*(?:change|cl)(?:['\u2019]s)?"
_PHRASES: tuple[tuple[str, str], ...] = (
    (rf"{_CHANGE}(?:[ -](?:number|num|id|identifier|ref))", "change_id"),
    (rf"(?:numeric |unique )*(?:id|identifier|number) of (?:the|a|an) {_CHANGE}\b", "change_id"),
    (rf"{_CHANGE} to (?:look at|inspect|read|show|fetch|get|query|analy[sz]e|check)", "change_id"),
    (r"(?:full )?(?:gerrit )?(?:project|repository|repo)(?: name)?(?=\W*$| (?:on|in|of|to look|that)\b)", "project"),
    (r"name of the (?:gerrit )?(?:project|repository|repo)\b", "project"),
    (r"(?:full )?(?:file )?path (?:of|to) (?:the|a) file (?:in|of) the (?:change|patch ?set|revision)", "path"),
    (r"(?:revision|patch ?set)(?: (?:id|number|identifier))?(?=\W*$| (?:of|to look|or)\b)", "revision"),
    (r"(?:gerrit |change )*(?:search )?query(?: string)?\b", "query"),
    (r"(?:e-?mail|email)(?: address)? of (?:the|a|an) (?:account|user|owner|person)", "email"),
    (r"max(?:imum|imal)?\.? (?:number|count|amount) of \w+", "limit"),
    (r"(?:how many|number of) \w+ to (?:return|list|show|fetch|give)", "limit"),
)
"""How such a text begins, and a name that means the same; longer phrases that mean something else come first."""

_ARTICLES = re.compile(r"^(?:(?:the|a|an|its|your|optional|required)\b[\s:,.-]*)+", re.IGNORECASE)
_SECTION = re.compile(r"^\s*(?:args|arguments|parameters|params)\s*:?\s*$", re.IGNORECASE)
_GOOGLE = re.compile(r"^\s*\**(\w+)\**\s*(?:\([^)]*\))?\s*:\s*(\S.*)$")
_NUMPY = re.compile(r"^\s*(\w+)\s*(?::\s*\S.*)?$")
_SPHINX = re.compile(r"^\s*:param\s+(?:[\w\[\], |.]+\s+)?(\w+)\s*:\s*(\S.*)$")
_RULE = re.compile(r"^\s*-{3,}\s*$")


def meaning_by_text(text: str) -> Meaning | None:
    """Give the meaning that a parameter's description tells; None where it tells none for certain."""
    begins = _ARTICLES.sub("", " ".join(text.split())).lower()
    for phrase, name in _PHRASES:
        if re.match(phrase, begins):
            return meaning_of(name)
    return None


def described(tool: Mapping[str, Any]) -> Mapping[str, str]:
    """Give what a tool's description says of its parameters, by their names; the schema's own words win."""
    told = dict(_sections(str(tool.get("description") or "")))
    for name, schema in ((tool.get("inputSchema") or {}).get("properties") or {}).items():
        if isinstance(schema, Mapping) and isinstance(schema.get("description"), str):
            told[name] = schema["description"]
    return told


def _sections(text: str) -> Iterator[tuple[str, str]]:
    lines = text.splitlines()
    for line in lines:
        if match := _SPHINX.match(line):
            yield match[1], match[2]
    for number, line in enumerate(lines):
        if _SECTION.match(line):
            rest = lines[number + 1 :]
            yield from _numpy(rest[1:]) if rest and _RULE.match(rest[0]) else _google(rest)


def _google(lines: list[str]) -> Iterator[tuple[str, str]]:
    depth = None
    for line in lines:
        indent = len(line) - len(line.lstrip())
        if not line.strip():
            if depth is not None:
                return
            continue
        depth = indent if depth is None else depth
        if indent < depth:
            return
        if indent == depth and (match := _GOOGLE.match(line.lstrip("-* \t"))):
            yield match[1], match[2]


def _numpy(lines: list[str]) -> Iterator[tuple[str, str]]:
    depth = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    for line, after in zip(lines, [*lines[1:], ""], strict=True):
        indent = len(line) - len(line.lstrip())
        if _RULE.match(after) or _RULE.match(line):
            return  # the next section
        if indent == depth and (match := _NUMPY.match(line)) and after.strip():
            yield match[1], after.strip()
