"""The change query language: what is written becomes a predicate over changes, or is refused as Gerrit refuses it.

The grammar is that of https://gerrit-review.googlesource.com/Documentation/user-search.html.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from mock_gerrit.changes import Change
from mock_gerrit.errors import bad_request

if TYPE_CHECKING:
    from mock_gerrit.entities import Account
    from mock_gerrit.host import Host

Predicate = Callable[[Change], bool]
TokenKind = Literal["AND", "OR", "NOT", "FIELD", "WORD", "PHRASE", ":", "(", ")", "-", "EOF"]


@dataclass(kw_only=True)
class Search:
    """Who searches where; what operators look at while a query is read.

    Attributes:
        host: whose changes are searched.
        user: who asks; None for anonymous.
        limit: what a `limit:` in the query says.
    """

    host: Host
    user: Account | None
    limit: int | None = None


@dataclass(frozen=True, kw_only=True)
class Token:
    """A word of a query: its kind, its text, and where it begins."""

    kind: TokenKind
    text: str
    at: int


_FORBIDDEN = r"\x00-\x20!\"$%&'():;?\[\]{}"
_TOKEN = re.compile(
    rf"""(?P<space>[\x01-\x20]+) | (?P<sign>[:()]) | "(?P<phrase>(?:[^"\\]|\\.)*)" | \{{(?P<braced>[^{{}}]*)\}}
    | (?P<minus>-) | (?P<word>[^\-{_FORBIDDEN}][^{_FORBIDDEN}]*)""",
    re.VERBOSE,
)
_ENDLESS = {"after": "after", "since": "after", "mergedafter": "mergedafter"}
"""Operators of a stretch of time without an end, which Gerrit does not turn round; by the name it tells."""

_FIELD = re.compile(r"[a-z_-]+")


def parse(search: Search, query: str) -> Predicate:
    """The predicate a query stands for.

    Raises:
        GerritError: 400 where the query is malformed or names an operator or value that there is not; 403 where it
            needs a user and there is none.
    """
    return _Parser(search, query).everything()


def _tokens(query: str) -> Iterator[Token]:
    at = 0
    while at < len(query):
        found = _TOKEN.match(query, at)
        if found is None:
            raise _bad_character(query, at)
        kind = found.lastgroup
        text = found[kind] if kind else ""
        if kind == "sign":
            yield Token(kind=":" if text == ":" else "(" if text == "(" else ")", text=text, at=at)
        elif kind == "minus":
            yield Token(kind="-", text="-", at=at)
        elif kind in {"phrase", "braced"}:
            yield Token(kind="PHRASE", text=text, at=at)
        elif kind == "word":
            yield _word(text, at)
        at = found.end()
    yield Token(kind="EOF", text="<EOF>", at=at)


def _word(text: str, at: int) -> Token:
    kinds: dict[str, TokenKind] = {"AND": "AND", "and": "AND", "OR": "OR", "or": "OR", "NOT": "NOT", "not": "NOT"}
    kind = kinds.get(text) or ("FIELD" if _FIELD.fullmatch(text) else "WORD")
    return Token(kind=kind, text=text, at=at)


def _bad_character(query: str, at: int) -> Exception:
    sign = query[at]
    if sign in {'"', "{"}:
        closing = '"' if sign == '"' else "}"
        return bad_request(f"line 1:{len(query)} mismatched character '<EOF>' expecting '{closing}'")
    return bad_request(f"line 1:{at} no viable alternative at character '{sign}'")


class _Parser:
    """Reads one query."""

    def __init__(self, search: Search, query: str) -> None:
        self.search = search
        self.tokens = list(_tokens(query))
        self.at = 0

    @property
    def next(self) -> Token:
        return self.tokens[self.at]

    def following(self, ahead: int = 1) -> Token:
        return self.tokens[min(self.at + ahead, len(self.tokens) - 1)]

    def take(self) -> Token:
        token = self.next
        self.at = min(self.at + 1, len(self.tokens) - 1)
        return token

    def everything(self) -> Predicate:
        """Like Gerrit, stops at a bracket that closes nothing."""
        if self.next.kind == "OR" and self.following().kind == "EOF":
            return self.default(self.take().text)
        return self.alternatives()

    def alternatives(self) -> Predicate:
        terms = [self.conjunction()]
        while self.next.kind == "OR" and self.following().kind != "EOF":
            self.take()
            terms.append(self.conjunction())
        if len(terms) == 1:
            return terms[0]
        return lambda change: any(term(change) for term in terms)

    def conjunction(self) -> Predicate:
        terms = [self.negation()]
        while self.next.kind not in {"OR", ")", "EOF"} and not self.opens_nothing():
            if self.next.kind == "AND" and self.following().kind not in {"EOF", ")"}:
                self.take()
            elif self.next.kind == "AND":
                terms.append(self.default(self.take().text))
                continue
            terms.append(self.negation())
        if len(terms) == 1:
            return terms[0]
        return lambda change: all(term(change) for term in terms)

    def opens_nothing(self) -> bool:
        """Whether only a bracket is left that is never closed; Gerrit does not mind."""
        return self.next.kind == "(" and self.following().kind == "EOF"

    def negation(self) -> Predicate:
        if self.next.kind in {"-", "NOT"}:
            self.take()
            word, moment = self.next.text, self.following(2).text
            inner = self.condition()
            if word in _ENDLESS:
                told = f'"{moment}"' if " " in moment else moment
                raise bad_request(f"cannot negate: {_ENDLESS[word]}:{told}")
            if word == "mergedbefore":
                return lambda change: change.submitted is not None and not inner(change)
            return lambda change: not inner(change)
        return self.condition()

    def condition(self) -> Predicate:
        token = self.next
        if token.kind == "(":
            self.take()
            inner = self.alternatives()
            if self.next.kind != ")":
                raise bad_request(f"line 1:{self.next.at} mismatched input '{self.next.text}' expecting ')'")
            self.take()
            return inner
        if token.kind == "FIELD" and self.following().kind == ":":
            return self.operator()
        if token.kind in {"FIELD", "WORD", "PHRASE"}:
            return self.default(self.value())
        raise self.no_alternative()

    def operator(self) -> Predicate:
        from mock_gerrit.operators.table import operate  # noqa: PLC0415 - operators are made of queries themselves

        name = self.take().text
        self.take()
        return operate(self.search, name, self.value())

    def value(self) -> str:
        """A value; colons inside one are part of it."""
        if self.next.kind not in {"FIELD", "WORD", "PHRASE", "AND", "OR", "NOT"}:
            raise self.no_alternative()
        text = self.take().text
        while self.continues(":"):
            text += self.take().text
            if self.continues("FIELD", "WORD", "PHRASE"):
                text += self.take().text
        return text

    def continues(self, *kinds: TokenKind) -> bool:
        """Whether a token of these kinds follows without a blank."""
        return self.next.kind in kinds and self.next.at == self.end_of_last()

    def end_of_last(self) -> int:
        last = self.tokens[self.at - 1]
        return last.at + len(last.text) + (2 if last.kind == "PHRASE" else 0)

    def default(self, text: str) -> Predicate:
        from mock_gerrit.operators.table import anywhere  # noqa: PLC0415 - operators are made of queries themselves

        return anywhere(self.search, text)

    def no_alternative(self) -> Exception:
        return bad_request(f"line 1:{self.next.at} no viable alternative at input '{self.next.text}'")
