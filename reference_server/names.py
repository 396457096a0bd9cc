"""Serve the names of the upstream server where it is not installed, so that its extensions can be imported here."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

PACKAGE = "gerrit_mcp_server"
_EXPORTED = {
    f"{PACKAGE}.extensions": ("ExtensionContext", "ExtensionLoader", "PluginRegistry", "requires_plugin"),
    f"{PACKAGE}.plugin_registry": ("PluginRegistry", "requires_plugin"),
}


def install() -> None:
    """Make `gerrit_mcp_server`, `.extensions` and `.plugin_registry` importable; doing it twice changes nothing.

    The finder goes to the end of `sys.meta_path`: an installed upstream is found before it and always wins.
    """
    if not any(isinstance(finder, UpstreamNames) for finder in sys.meta_path):
        sys.meta_path.append(UpstreamNames())


class UpstreamNames(MetaPathFinder, Loader):
    """Finds the upstream package and its two public modules here."""

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,  # noqa: ARG002 - the protocol of sys.meta_path
        target: ModuleType | None = None,  # noqa: ARG002 - as above
    ) -> ModuleSpec | None:
        """The spec of a served name, else None; names below somebody else's package are not ours to complete."""
        if fullname == PACKAGE:
            return ModuleSpec(fullname, self, is_package=True)
        package = sys.modules.get(PACKAGE)
        ours = package is not None and getattr(package.__spec__, "loader", None) is self
        return ModuleSpec(fullname, self) if ours and fullname in _EXPORTED else None

    def exec_module(self, module: ModuleType) -> None:
        """Fill a served module with the objects of the reference server."""
        exported = _EXPORTED.get(module.__name__, ())
        if exported:
            ours = import_module("reference_server.extensions")  # only now: installing the names must not load the SDK
            module.__dict__.update({name: getattr(ours, name) for name in exported}, __all__=list(exported))
