"""Hosts with faults of their own in loading, for `factory:` targets."""

from __future__ import annotations

import asyncio
from functools import lru_cache

from reference_server.context import ExtensionContext
from reference_server.factory import Application, build
from reference_server.loader import ExtensionLoader


class CuriousLoader(ExtensionLoader):
    """Asks Gerrit for its version before it loads anything."""

    def load(self):
        url = self._context.get_base_url()
        asyncio.run(self._context.run_curl([f"{url}/config/server/version"], url))
        super().load()


class WastefulLoader(ExtensionLoader):
    """Removes a tool of the host once the extensions are loaded."""

    def load(self):
        super().load()
        self._context.mcp.remove_tool("set_topic")


def curious() -> Application:
    return _with_loader(CuriousLoader)


def wasteful() -> Application:
    return _with_loader(WastefulLoader)


@lru_cache(maxsize=1)
def only_one() -> Application:
    return build()


def only_once() -> Application:
    if _built:
        raise RuntimeError("one server a process")
    _built.append(True)
    return build()


_built: list[bool] = []


def _with_loader(kind: type[ExtensionLoader]) -> Application:
    made = build()
    context = ExtensionContext(mcp=made.mcp, plugin_registry=made.context.plugin_registry)
    return Application(context=context, loader=kind(context))
