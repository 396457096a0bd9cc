"""`requires_plugin`: a plugin-backed tool runs against a host that has the plugin, or not at all."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import wraps
from typing import Any

from reference_server import gerrit
from reference_server.errors import ConfigError, RoutingError
from reference_server.plugin_registry import PluginRegistry
from reference_server.urls import label

_Tool = Callable[..., Any]


def requires_plugin(
    name: str, registry: PluginRegistry, *, param_name: str = "gerrit_base_url"
) -> Callable[[_Tool], Callable[..., Awaitable[Any]]]:
    """Decorate a tool so that it only runs against a configured host that has the plugin.

    The tool gets the base URL of the chosen host as the keyword `param_name`. Decorating refuses nothing and keeps
    name, description, signature and annotations, so that the SDK derives the same schemas from the wrapper.

    Args:
        name: the id of the Gerrit plugin.
        registry: `ctx.plugin_registry`.
        param_name: the tool's parameter that names the host.

    Returns:
        The decorator. What it returns raises RoutingError, a RuntimeError, when no host fits.
    """

    def decorate(tool: _Tool) -> Callable[..., Awaitable[Any]]:
        @wraps(tool)
        async def routed(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - whatever the tool takes and gives
            args, requested = _requested(tool, param_name, args, kwargs)
            chosen = await choose_host(name, registry, requested)
            result = tool(*args, **{**kwargs, param_name: chosen})
            return await result if inspect.isawaitable(result) else result

        return routed

    return decorate


async def choose_host(plugin_name: str, registry: PluginRegistry, requested: str | None) -> str:
    """The base URL of the host on which a plugin-backed tool is to run.

    Args:
        plugin_name: the id of the Gerrit plugin.
        registry: which host has what.
        requested: the host that the caller named, in any form; None or empty lets the first that has the plugin win.

    Raises:
        RoutingError: no host fits; the text tells which do, or which could not be asked.
    """
    if requested:
        return await _named_host(plugin_name, registry, requested)
    survey = _Survey(plugin_name=plugin_name, registry=registry)
    first = await survey.first()
    if first is None:
        raise RoutingError(f"no configured Gerrit host has the plugin {plugin_name!r}{survey.doubts()}")
    return first


async def _named_host(plugin_name: str, registry: PluginRegistry, requested: str) -> str:
    try:
        host = gerrit.hosts().require(requested)
    except ConfigError as refusal:
        raise RoutingError(str(refusal)) from None
    base, before = gerrit.normalize_url(requested), registry.readings
    listing = await registry.listing(base)
    if listing.problem is None and plugin_name not in listing.plugins and listing.number <= before:
        listing = await registry.listing(base, after=before)
    if plugin_name in listing.plugins:
        return base
    if listing.problem is not None:
        raise RoutingError(
            f"cannot tell whether {label(host)} has the plugin {plugin_name!r}: "
            f"its plugin list could not be read: {listing.problem}"
        )
    survey = _Survey(plugin_name=plugin_name, registry=registry, leave_out=base)
    having = await survey.all()
    where = f"; these hosts have it: {', '.join(having)}" if having else "; no other configured host has it"
    raise RoutingError(f"{label(host)} does not have the plugin {plugin_name!r}{where}{survey.doubts()}")


@dataclass(kw_only=True)
class _Survey:
    """Asks the configured hosts, in their order, for one plugin."""

    plugin_name: str
    registry: PluginRegistry
    leave_out: str | None = None
    unreadable: list[str] = field(default_factory=list)

    async def first(self) -> str | None:
        for url in self._hosts():
            if await self._has(url):
                return url
        return None

    async def all(self) -> list[str]:
        return [url for url in self._hosts() if await self._has(url)]

    def doubts(self) -> str:
        """What could not be found out, as the end of a sentence."""
        return f"; plugin lists that could not be read: {'; '.join(self.unreadable)}" if self.unreadable else ""

    def _hosts(self) -> list[str]:
        return [url for url in self.registry.configured_hosts() if url != self.leave_out]

    async def _has(self, url: str) -> bool:
        listing = await self.registry.listing(url)
        if listing.problem is not None:
            self.unreadable.append(listing.problem)
        return self.plugin_name in listing.plugins


def _requested(
    tool: _Tool, param_name: str, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], str | None]:
    """Take the caller's host out of the arguments, wherever it stands."""
    if param_name in kwargs:
        return args, kwargs[param_name]
    try:
        names = [name for name, parameter in inspect.signature(tool).parameters.items() if _by_position(parameter)]
    except (TypeError, ValueError):
        return args, None
    if param_name not in names or (index := names.index(param_name)) >= len(args):
        return args, None
    # A positional host moves to its keyword; what follows it moves too, as the place would be taken otherwise.
    kwargs.update(zip(names[index + 1 :], args[index + 1 :], strict=False))
    return args[:index], args[index]


def _by_position(parameter: inspect.Parameter) -> bool:
    return parameter.kind in {parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD}
