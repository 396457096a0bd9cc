"""What goes wrong on purpose: which requests are hit, and what the client gets instead of Gerrit's answer."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from html import escape
from http import HTTPStatus
from threading import Lock
from typing import Literal, get_args
from urllib.parse import quote

from mock_gerrit.exchange import TEXT_TYPE, XSSI_PREFIX, Response, reason_phrase

Kind = Literal[
    "status", "html", "redirect", "empty", "truncated", "wrong-type", "unprefixed", "slow", "timeout", "reset"
]
KINDS: tuple[Kind, ...] = get_args(Kind)
"""All kinds of faults, as `Fault` explains them."""

SPOILING = frozenset({"empty", "truncated", "wrong-type", "unprefixed", "slow"})
"""Kinds that Gerrit answers first (so state changes), the answer being spoiled on its way."""

INVENTED = frozenset({"status", "html", "redirect"})
"""Kinds that never reach Gerrit: something else answers."""

UNANSWERED = frozenset({"timeout", "reset"})
"""Kinds after which no byte of an answer is sent."""

_WORDS = {
    400: "Bad request", 401: "Unauthorized", 403: "Forbidden", 404: "Not found", 409: "Conflict",
    429: "Too many requests", 500: "Internal server error", 503: "Server temporarily unavailable",
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Fault:
    """One rule: the requests it hits, and how they fail.

    All conditions have to hold; those left out hold always.

    Attributes:
        kind: what the client sees. `status`: an error of Gerrit's own (`status`, `body` as plain text); `html`: the
            error page of a proxy in front (502 by default); `redirect`: 302 to a login page, itself 200 with HTML;
            `empty`: Gerrit's status and no byte; `truncated`: JSON cut in half under a Content-Length that fits;
            `wrong-type`: JSON of another type than Gerrit's; `unprefixed`: JSON without the first line; `slow`: the
            right answer, `delay` later; `timeout`: accepted, and silence until the client goes away; `reset`: the
            connection is reset.
        host: the name of the host it happens on.
        path: a regular expression searched for in the path after the context path and one leading `/a`.
        not_path: a regular expression that must not be found there.
        method: the HTTP method.
        nth: only the n-th of the requests that match all of the above, counted from 1.
        times: stop after so many hits.
        delay: seconds to wait before the fault is played.
        status: the HTTP status, for `status` and `html`.
        body: the text of the answer, for `status`, `html` and the login page of `redirect`.
        applied: Gerrit does what it is asked all the same, and only its answer is lost: for kinds that otherwise never
            reach it.

    Raises:
        ValueError: a value that could never hit or mean anything.
    """

    kind: Kind
    host: str | None = None
    path: str | None = None
    not_path: str | None = None
    method: str | None = None
    nth: int | None = None
    times: int | None = None
    delay: float = 0.0
    status: int | None = None
    body: str | None = None
    applied: bool = False

    def __post_init__(self) -> None:
        """Refuse early what would silently never happen."""
        if self.kind not in KINDS:
            raise ValueError(f"fault kind={self.kind!r}: expected one of {', '.join(KINDS)}")
        for name in ("nth", "times"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ValueError(f"fault {name}={value}: expected 1 or more")
        if self.delay < 0:
            raise ValueError(f"fault delay={self.delay}: expected seconds, 0 or more")
        if self.status is not None and not (self.kind in {"status", "html"} and 400 <= self.status <= 599):
            raise ValueError(f"fault kind={self.kind!r} status={self.status}: for status and html only, 400 to 599")
        if self.body is not None and self.kind not in INVENTED:
            raise ValueError(f"fault kind={self.kind!r} body=…: for {', '.join(sorted(INVENTED))} only")
        if self.kind == "slow" and not self.delay:
            raise ValueError("fault kind='slow': expected a delay in seconds")
        for name in ("path", "not_path"):
            _compiled(name, getattr(self, name))

    def concerns(self, *, host: str, method: str, path: str) -> bool:
        """Whether host, method and path are those of the rule; `nth` and `times` are not looked at."""
        return (
            self.host in {None, host}
            and (self.method is None or self.method.upper() == method)
            and (self.path is None or re.search(self.path, path) is not None)
            and (self.not_path is None or re.search(self.not_path, path) is None)
        )


def _compiled(name: str, pattern: str | None) -> None:
    try:
        re.compile(pattern or "")
    except re.error as broken:
        raise ValueError(f"fault {name}={pattern!r}: not a regular expression: {broken}") from broken


@dataclass
class _Counted:
    fault: Fault
    seen: int = 0
    hits: int = 0

    def due(self) -> bool:
        """Count one request that the rule concerns, and tell whether it is one to hit."""
        self.seen += 1
        spent = self.fault.times is not None and self.hits >= self.fault.times
        return not spent and self.fault.nth in {None, self.seen}


@dataclass
class Faults:
    """The rules in force on a world; the first that strikes decides."""

    _rules: list[_Counted] = field(default_factory=list)
    _lock: Lock = field(default_factory=Lock, repr=False, compare=False)

    def add(self, fault: Fault) -> Fault:
        """Put a rule in force behind those that are; give it back."""
        with self._lock:
            self._rules.append(_Counted(fault))
        return fault

    def clear(self) -> None:
        """Let everything go right again."""
        with self._lock:
            self._rules.clear()

    def __iter__(self) -> Iterator[Fault]:
        """Iterate over the rules in force."""
        return iter([one.fault for one in self._rules])

    def __len__(self) -> int:
        """Count the rules in force."""
        return len(self._rules)

    def copy(self) -> Faults:
        """The same rules, with their counts at zero."""
        return Faults([_Counted(one.fault) for one in self._rules])

    def strike(self, *, host: str, method: str, path: str) -> Fault | None:
        """Count one request, and tell which fault it meets.

        Args:
            host: the name of the host that is asked.
            method: in capitals.
            path: the path after the context path and one leading `/a`.

        Returns:
            The rule to play, or None. A request to the login page of a host with a `redirect` rule meets that rule.
        """
        with self._lock:
            login = self._login(host, path)
            if login is not None:
                return login
            due = None
            for rule in self._rules:
                if rule.fault.concerns(host=host, method=method, path=path) and rule.due() and due is None:
                    due = rule
            if due is None:
                return None
            due.hits += 1
            return due.fault

    def _login(self, host: str, path: str) -> Fault | None:
        """The rule whose redirect a client has followed to the login page."""
        if not path.startswith("/login/"):
            return None
        redirects = [rule for rule in self._rules if rule.fault.kind == "redirect" and rule.hits]
        return next((rule.fault for rule in redirects if rule.fault.host in {None, host}), None)


def invent(fault: Fault, *, base: str, path: str) -> Response:
    """The answer that comes instead of Gerrit's, for the kinds that never ask Gerrit.

    Args:
        fault: a rule of kind `status`, `html` or `redirect`.
        base: the URL of the host with its context path, without a slash at the end.
        path: the path after the context path and one leading `/a`.
    """
    if fault.kind == "status":
        status = fault.status or 500
        text = fault.body if fault.body is not None else _WORDS.get(status, HTTPStatus(status).phrase)
        return _response(status, TEXT_TYPE, f"{text}\n")
    if fault.kind == "html":
        status = fault.status or 502
        return _response(status, "text/html", fault.body or _page(f"{status} {reason_phrase(status)}", "nginx"))
    if path.startswith("/login/"):
        return _response(200, "text/html;charset=utf-8", fault.body or _page("Sign In", "Enter your user name."))
    return _response(302, "text/html", "", ("Location", f"{base}/login/{quote(path, safe='')}"))


def spoil(fault: Fault, response: Response) -> Response:
    """Gerrit's answer as it arrives under a fault of one of the `SPOILING` kinds."""
    if fault.kind == "empty":
        return replace(response, body=b"")
    if fault.kind == "unprefixed":
        return replace(response, body=response.body.removeprefix(XSSI_PREFIX.encode()))
    if fault.kind == "truncated":
        return replace(response, body=_cut(response.body))
    if fault.kind == "wrong-type":
        return replace(response, body=_of_another_type(response.body))
    return response


def _cut(body: bytes) -> bytes:
    """The first half of the JSON in a body; of a number nothing, since half a number is a number."""
    value = body.removeprefix(XSSI_PREFIX.encode())
    prefix = body[: len(body) - len(value)]
    is_number = value[:1] == b"-" or value[:1].isdigit()
    return prefix if is_number else prefix + value[: len(value) // 2]


def _of_another_type(body: bytes) -> bytes:
    try:
        value = json.loads(body.removeprefix(XSSI_PREFIX.encode()))
    except ValueError:
        value = body.decode("utf-8", "replace")
    wrong = {"unexpected": value} if isinstance(value, list) else [value]
    return f"{XSSI_PREFIX}{json.dumps(wrong, separators=(',', ':'))}\n".encode()


def _page(title: str, text: str) -> str:
    return (
        f"<!DOCTYPE html>\n<html><head><title>{escape(title)}</title></head>\n"
        f"<body><h1>{escape(title)}</h1><hr><p>{escape(text)}</p></body></html>\n"
    )


def _response(status: int, content_type: str, body: str, *headers: tuple[str, str]) -> Response:
    return Response(
        status=status,
        reason=reason_phrase(status),
        headers=(("Content-Type", content_type), *headers),
        body=body.encode(),
    )
