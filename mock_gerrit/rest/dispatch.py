"""From a path to the endpoint that answers it, by the rules that `routes` tells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote_plus

from mock_gerrit.errors import GerritError, method_not_allowed, not_found
from mock_gerrit.rest.call import Call
from mock_gerrit.rest.resources import RESOLVERS, Resolver
from mock_gerrit.rest.routes import CORE, Collection, Member, Route, Routes


@dataclass(frozen=True, kw_only=True)
class Found:
    """What a path leads to.

    Attributes:
        route: the endpoint; None where there is none.
        resources: what the path names, by parameter.
        error: what Gerrit answers where there is no endpoint.
        unknown: True where no endpoint of the simulation fits, so that a real Gerrit may well have one.
    """

    route: Route | None = None
    resources: Mapping[str, Any] = field(default_factory=dict)
    error: GerritError = field(default_factory=lambda: GerritError(404, "Not Found"))
    unknown: bool = False


Places = dict[str, Member]


def find(call: Call, routes: Mapping[str, Routes]) -> Found:
    """The endpoint for a request.

    Args:
        call: the request; its host and user decide what a path segment stands for.
        routes: the endpoints of the core and of plugins, by owner.

    Raises:
        GerritError: the path names something that is not there or not for the caller.
    """
    return _Walk(call, routes).go()


class _Walk:
    """One way through the trees of all owners at once."""

    def __init__(self, call: Call, routes: Mapping[str, Routes]) -> None:
        self.call = call
        self.method = "GET" if call.request.method == "HEAD" else call.request.method
        self.places: Places = {owner: declared.tree for owner, declared in routes.items()}
        raw = call.path.split("/")[1:]
        self.segments = raw[:1] + [segment for segment in raw[1:] if segment]
        self.in_plugin = False  # past a name of a plugin's own there is nothing but what its simulator declares
        self.resources: dict[str, Any] = {}
        own = {name: look_up for declared in routes.values() for name, look_up in declared.resolvers.items()}
        self.resolvers: Mapping[str, Resolver] = {**own, **RESOLVERS}

    def go(self) -> Found:
        here = self._collections(self.segments.pop(0))
        while True:
            if not here:
                return Found(error=GerritError(404, "Not Found"), unknown=True)
            if not self.segments:
                return self._whole(here)
            created = self._enter(here)
            if created:
                return created
            found = self._view()
            if isinstance(found, Found):
                return found
            here = found

    def _collections(self, name: str) -> dict[str, Collection]:
        return {owner: place.collections[name] for owner, place in self.places.items() if name in place.collections}

    def _whole(self, here: dict[str, Collection]) -> Found:
        """A path that ends at a collection."""
        for collection in here.values():
            if self.method in collection.views:
                return Found(route=collection.views[self.method], resources=self.resources)
        if any("GET" in collection.views for collection in here.values()) and self.method != "GET":
            return Found(error=method_not_allowed(f"Not implemented: {self.method} {self.call.path}"))
        known = self.in_plugin or self.call.path.strip("/") == "config"
        return Found(error=GerritError(404, "Not Found"), unknown=not known)

    def _enter(self, here: dict[str, Collection]) -> Found | None:
        """Goes into a member, or finds the endpoint that makes it."""
        raw = self.segments.pop(0)
        text = unquote_plus(raw)
        parameter = next(item.parameter for item in here.values() if item.parameter or item.member)
        resolver = self.resolvers.get(parameter)
        try:
            self.resources[parameter] = resolver(self.call, raw, self.resources) if resolver else text
        except GerritError as error:
            creating = next((item.creating.get(self.method) for item in here.values()), None)
            if self.segments or creating is None or error.status != 404:
                raise
            return Found(route=creating, resources={**self.resources, parameter: text})
        wants_new = self.method == "PUT" and self.call.request.header("if-none-match") == "*"
        if wants_new and not self.segments and any("PUT" in item.creating for item in here.values()):
            raise GerritError(412, "Resource already exists")
        self.places = {owner: item.member for owner, item in here.items() if item.member}
        return None

    def _view(self) -> Found | dict[str, Collection]:
        projection = unquote_plus(self.segments.pop(0)) if self.segments else "/"
        method = "GET" if self.segments else self.method
        prefix, tilde, name = projection.rpartition("~")
        if tilde and not prefix:
            raise not_found(projection)
        for owner in self._owners(prefix, name or "/"):
            place = self.places[owner]
            views = place.views.get(name or "/", {})
            if method in views:
                return Found(route=views[method], resources=self.resources)
            if name in place.collections:
                self.in_plugin = self.in_plugin or name in place.own
                return {key: item.collections[name] for key, item in self.places.items() if name in item.collections}
            if "GET" in views:
                return Found(error=GerritError(404, "Not Found"))
        return Found(error=not_found(projection), unknown=not self.in_plugin and self._may_exist(prefix))

    def _may_exist(self, prefix: str) -> bool:
        """Whether a real host might have a view that the simulation has not.

        A view of a plugin that is not installed, or is simulated, is missing there too.
        """
        if prefix and prefix != CORE:
            plugin = self.call.host.plugins.get(prefix)
            return plugin is not None and not plugin.disabled and plugin.simulator is None
        return CORE in self.places

    def _owners(self, prefix: str, name: str) -> list[str]:
        if prefix:
            return [prefix] if prefix in self.places and (prefix == CORE or name in self.places[prefix].own) else []
        if CORE in self.places and self.places[CORE].has(name):
            return [CORE]
        if name == "/":
            return [owner for owner, place in self.places.items() if name in place.views]
        having = [owner for owner, place in self.places.items() if owner != CORE and name in place.own]
        if len(having) > 1:
            listed = ", ".join(f"{owner}~{name}" for owner in having)
            raise GerritError(404, f"Projection {name} is ambiguous: ({listed})")
        on_the_way = [owner for owner, place in self.places.items() if name in place.collections]
        return having or on_the_way[:1]
