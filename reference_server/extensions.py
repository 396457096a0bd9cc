"""What extensions import: the same names that the upstream server exports from its module of this name."""

from __future__ import annotations

from reference_server.context import ExtensionContext
from reference_server.loader import ExtensionLoader
from reference_server.plugin_registry import PluginRegistry
from reference_server.routing import requires_plugin

__all__ = ["ExtensionContext", "ExtensionLoader", "PluginRegistry", "requires_plugin"]
