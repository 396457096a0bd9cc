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


class ElsewhereContext(ExtensionContext):
    """Keeps its log where nobody told it to."""

    @property
    def log_path(self):
        return super().log_path.with_name("elsewhere.log")


class RotatingContext(ExtensionContext):
    """Puts its log aside whenever an address is resolved."""

    def get_base_url(self, url=None):
        self.log_path.rename(self.log_path.with_suffix(".old"))
        self.log_path.touch()
        return super().get_base_url(url)


def with_its_own_log() -> Application:
    return _with_context(ElsewhereContext)


def rotating_its_log() -> Application:
    return _with_context(RotatingContext)


class ObliviousRegistry(PluginRegistry):
    """Forgets every list as soon as it was asked for one."""

    async def host_has_plugin(self, url, name):
        self.invalidate()
        return await super().host_has_plugin(url, name)


def oblivious() -> Application:
    application = build()
    application.context.plugin_registry.__class__ = ObliviousRegistry
    return application


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
