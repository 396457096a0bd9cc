"""Hosts that go wrong, for `factory:` targets: their faults must never be held against an extension."""

from __future__ import annotations

import os

from reference_server.context import ExtensionContext
from reference_server.factory import Application, build
from reference_server.loader import ExtensionLoader
from reference_server.plugin_registry import PluginRegistry


class TalkativeContext(ExtensionContext):
    """Writes to standard output whenever an address is resolved."""

    def get_base_url(self, url=None):
        os.write(1, b"resolving\n")
        return super().get_base_url(url)


class ForgetfulRegistry(PluginRegistry):
    """Believes that no host has any plugin but the last one."""

    def configured_hosts(self):
        return super().configured_hosts()[-1:]


def talkative() -> Application:
    return _with_context(TalkativeContext)


def forgetful() -> Application:
    application = build()
    application.context.plugin_registry.__class__ = ForgetfulRegistry
    return application


def absent() -> Application:
    raise RuntimeError("this host does not start")


def _with_context(kind: type[ExtensionContext]) -> Application:
    made = build()
    context = kind(mcp=made.mcp, plugin_registry=made.context.plugin_registry)
    return Application(context=context, loader=ExtensionLoader(context))
