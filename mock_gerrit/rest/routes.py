"""How endpoints are declared, and how a path finds its endpoint.

The rules are those of Gerrit's own servlet: a path alternates between collections and their members; what follows a
member is a *view* of it or a collection below it; a plugin's view is `PLUGIN~VIEW`, or plain `VIEW` while only one
plugin has it; whatever follows a view is not looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

from mock_gerrit.rest.options import Option

if TYPE_CHECKING:
    from mock_gerrit.rest.call import Call

CORE = "gerrit"
"""The name under which Gerrit's own views are known, beside those of plugins."""

View = Callable[..., Any]
Endpoint = TypeVar("Endpoint", bound=View)


class Resolver(Protocol):
    """Turns the text of a path segment into what it stands for, or raises GerritError."""

    def __call__(self, call: Call, raw: str, resources: Mapping[str, Any], /) -> Any:  # noqa: ANN401 - a Change, …
        """Looks the thing up for the caller; `raw` is still percent-encoded, `resources` came before it in the path."""


@dataclass(frozen=True, kw_only=True)
class Route:
    """One endpoint.

    Attributes:
        method: the HTTP method.
        pattern: the path; `{name}` stands for a member of a collection, a trailing slash for the collection itself.
        view: called with the Call and, by keyword, what the path names.
        options: what the query string may have.
        default_field: the field of the input that a body of plain text fills.
        inputs: fields of the input that are refused for their type before the view looks at anything.
        any_options: True where Gerrit does not look at the query string at all.
        raw: True where the body is not JSON but content.
        creates: True where it is asked for a member that is not there yet.
        permit: called with the Call before the options are read, to refuse those who may not ask at all.
        doc: where Gerrit documents it: an anchor of the family's page.
    """

    method: str
    pattern: str
    view: View
    options: tuple[Option, ...] = ()
    default_field: str | None = None
    inputs: tuple[Literal["message", "notify"], ...] = ()
    any_options: bool = False
    raw: bool = False
    creates: bool = False
    permit: View | None = None
    doc: str = ""

    def __str__(self) -> str:
        return f"{self.method} {self.pattern}"


class Routes:
    """A set of endpoints, filled by decorating functions.

    >>> routes = Routes()
    >>> @routes.get("/config/{config}/version", doc="#get-version")
    ... def version(call, *, config):
    ...     return "3.13.0"

    Attributes:
        resolvers: how parameters of these endpoints are looked up that Gerrit itself does not have.
    """

    def __init__(self) -> None:
        self.resolvers: dict[str, Resolver] = {}
        self._routes: list[Route] = []
        self._tree: Member | None = None

    def __iter__(self) -> Iterator[Route]:
        return iter(self._routes)

    def __len__(self) -> int:
        return len(self._routes)

    def add(self, method: str, pattern: str, **facts: Any) -> Callable[[Endpoint], Endpoint]:  # noqa: ANN401 - of Route
        """Declares an endpoint; `facts` are the remaining attributes of Route.

        Raises:
            ValueError: the pattern is malformed, or has an endpoint of this method already.
        """
        if not pattern.startswith("/"):
            raise ValueError(f"a route begins with a slash: {pattern!r}")

        def declare(view: Endpoint) -> Endpoint:
            route = Route(method=method, pattern=pattern, view=view, **facts)
            for other in self._routes:
                if (other.method, other.pattern, other.creates) == (method, pattern, route.creates):
                    raise ValueError(f"{route} is declared twice: by {other.view.__name__} and {view.__name__}")
            self._routes.append(route)
            self._tree = None
            return view

        return declare

    def get(self, pattern: str, **facts: Any) -> Callable[[Endpoint], Endpoint]:  # noqa: ANN401 - attributes of Route
        """Declares a reading endpoint; HEAD comes with it."""
        return self.add("GET", pattern, **facts)

    def post(self, pattern: str, **facts: Any) -> Callable[[Endpoint], Endpoint]:  # noqa: ANN401 - attributes of Route
        """Declares an endpoint for POST."""
        return self.add("POST", pattern, **facts)

    def put(self, pattern: str, **facts: Any) -> Callable[[Endpoint], Endpoint]:  # noqa: ANN401 - attributes of Route
        """Declares an endpoint for PUT."""
        return self.add("PUT", pattern, **facts)

    def delete(self, pattern: str, **facts: Any) -> Callable[[Endpoint], Endpoint]:  # noqa: ANN401 - attributes of Route
        """Declares an endpoint for DELETE."""
        return self.add("DELETE", pattern, **facts)

    def include(self, others: Iterable[Route]) -> None:
        """Takes over the endpoints of other sets."""
        for route in others:
            self._routes.append(route)
        self._tree = None

    @property
    def tree(self) -> Member:
        """The endpoints in the shape of their paths."""
        if self._tree is None:
            self._tree = Member()
            for route in self._routes:
                _plant(self._tree, route)
        return self._tree


@dataclass
class Collection:
    """A collection of the tree: what can be asked of it, and of each member."""

    parameter: str = ""
    views: dict[str, Route] = field(default_factory=dict)
    creating: dict[str, Route] = field(default_factory=dict)
    member: Member | None = None


@dataclass
class Member:
    """A member of a collection (or the root): its views by name and method, and the collections below it.

    Attributes:
        own: names that are a plugin's own, not those of a core path on which its routes hang.
    """

    views: dict[str, dict[str, Route]] = field(default_factory=dict)
    collections: dict[str, Collection] = field(default_factory=dict)
    own: set[str] = field(default_factory=set)

    def has(self, name: str) -> bool:
        """Whether anything is called so here."""
        return name in self.views or name in self.collections


def _plant(root: Member, route: Route) -> None:
    segments = route.pattern.strip("/").split("/")
    is_collection = route.pattern.endswith("/")
    node = root
    while segments:
        literal = segments.pop(0)
        prefix, _, name = literal.rpartition("~")
        if prefix and prefix != CORE:
            node.own.add(name)
        if segments or is_collection:
            collection = node.collections.setdefault(name, Collection())
            if not segments:
                collection.views[route.method] = route
                return
            collection.parameter = segments.pop(0).strip("{}")
            if not segments and route.creates:
                collection.creating[route.method] = route
                return
            collection.member = node = collection.member or Member()
            if not segments:
                node.views.setdefault("/", {})[route.method] = route
        else:
            node.views.setdefault(name, {})[route.method] = route


def nearest(routes: Mapping[str, Routes], method: str, path: str) -> str:
    """The declared route most like a request, for a report on what is not simulated."""
    wanted = path.strip("/").split("/")

    def likeness(route: Route) -> tuple[int, int, bool]:
        parts = route.pattern.strip("/").split("/")
        same = 0
        for asked, declared in zip(wanted, parts, strict=False):
            if asked != declared and not declared.startswith("{"):
                break
            same += 1
        return same, -abs(len(parts) - len(wanted)), route.method == method

    every = [route for declared in routes.values() for route in declared]
    return str(max(every, key=likeness)) if every else ""
