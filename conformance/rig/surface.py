"""Observers of what a subject touches of its host: members of the context, modules and what is in them.

What counts is the asking: whether the host has what was asked for, or refuses it, makes no difference. Dunders are
Python's own and never counted, nor is what a library asks for while it looks at an object from all sides.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from types import FrameType, ModuleType
from typing import TYPE_CHECKING, Any

from conformance.rig.frames import HOST, Frames, line_of, where

if TYPE_CHECKING:
    from conformance.rig.channel import Channel

MEMBERS = frozenset(
    {
        "mcp",
        "get_base_url",
        "normalize_url",
        "run_curl",
        "load_config",
        "extension_config",
        "log_path",
        "plugin_registry",
    }
)
"""What the guide documents of the context."""

EXPORTED = frozenset({"ExtensionContext", "ExtensionLoader", "PluginRegistry", "requires_plugin"})
"""What extensions import from the host."""

PACKAGE = "gerrit_mcp_server"
EXPORTING = f"{PACKAGE}.extensions"
REGISTRY = f"{PACKAGE}.plugin_registry"

BEYOND = "beyond"
"""The fact that the subject touched what is the host's own: `what`, `where`, and whether it is `mild`."""

MOST_TOLD = 200


def watch(channel: Channel, payload: Mapping[str, Any], application: Any) -> None:  # noqa: ANN401 - any host's
    """Put the observers around the context, its registry and every module of the host that is loaded."""
    surface = Surface(channel, Frames(payload))
    surface.watch_members(type(application.context), "ctx", MEMBERS)
    surface.watch_privates(type(application.context.plugin_registry), "ctx.plugin_registry")
    surface.watch_modules()


class Surface:
    """Tells what of the host the subject's own code touches beyond the documented surface, each thing once."""

    def __init__(self, channel: Channel, frames: Frames) -> None:
        """Tell over `channel` what the subject's `frames` ask for."""
        self._channel = channel
        self._frames = frames
        self._told: set[str] = set()

    def watch_members(self, owner: Any, called: str, documented: frozenset[str]) -> None:  # noqa: ANN401 - any class
        """Tell of each attribute that is read, set or deleted, unless it is `documented`.

        What a subject makes of the class by inheriting from it is its own.
        """
        reading, setting, deleting = owner.__getattribute__, owner.__setattr__, owner.__delattr__

        def note(one: object, name: str, frame: FrameType) -> None:
            if type(one) is owner and name not in documented and not _is_dunder(name):
                self._note(f"{called}.{name}", self._frames.asking(frame))

        def __getattribute__(one: object, name: str) -> Any:  # noqa: ANN401, N807 - as Python calls it
            note(one, name, sys._getframe(1))  # noqa: SLF001 - the code that asks
            return reading(one, name)

        def __setattr__(one: object, name: str, value: object) -> None:  # noqa: N807 - as above
            note(one, name, sys._getframe(1))  # noqa: SLF001 - as above
            setting(one, name, value)

        def __delattr__(one: object, name: str) -> None:  # noqa: N807 - as above
            note(one, name, sys._getframe(1))  # noqa: SLF001 - as above
            deleting(one, name)

        for method in (__getattribute__, __setattr__, __delattr__):
            setattr(owner, method.__name__, method)

    def watch_privates(self, owner: Any, called: str) -> None:  # noqa: ANN401 - any class
        """Tell of each attribute that is read and begins with an underscore."""
        reading = owner.__getattribute__

        def __getattribute__(one: object, name: str) -> Any:  # noqa: ANN401, N807 - as Python calls it
            if type(one) is owner and name.startswith("_") and not _is_dunder(name):
                self._note(f"{called}.{name}", self._frames.asking(sys._getframe(1)))  # noqa: SLF001 - as above
            return reading(one, name)

        owner.__getattribute__ = __getattribute__

    def watch_modules(self) -> None:
        """Tell of what is taken out of the host's modules, and of each that is looked for and not loaded yet.

        An import statement reads from the module as well, so that one observer sees every way to it.
        """
        classes: dict[type[ModuleType], type[ModuleType]] = {}
        for name, module in [*sys.modules.items()]:
            if name.partition(".")[0] in HOST and isinstance(module, ModuleType):
                kind = type(module)
                if kind not in classes:
                    classes[kind] = self._observed(kind)
                module.__class__ = classes[kind]
        sys.meta_path.insert(0, self)

    def _observed(self, kind: type[ModuleType]) -> type[ModuleType]:
        reading = kind.__getattribute__

        def __getattribute__(module: ModuleType, name: str) -> Any:  # noqa: ANN401, N807 - as Python calls it
            if not _is_dunder(name):
                self._note(f"{reading(module, '__name__')}.{name}", self._frames.asking(sys._getframe(1)))  # noqa: SLF001
            return reading(module, name)

        return type(kind.__name__, (kind,), {"__getattribute__": __getattribute__})

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:  # noqa: ANN401, ARG002
        """Tell which module of the host the subject looks for, and leave the finding to the others."""
        if name.partition(".")[0] in HOST:
            self._note(name, self._frames.behind(sys._getframe(1)))  # noqa: SLF001 - the import system

    def _note(self, what: str, frame: FrameType | None) -> None:
        if frame is None or what in self._told or is_open(what) or len(self._told) > MOST_TOLD:
            return
        self._told.add(what)
        self._channel.tell(BEYOND, what=what, where=where(frame), line=line_of(frame), mild=is_mild(what))


def is_open(what: str) -> bool:
    """Tell whether a dotted name is for extensions to use: the exporting module, or one of the names in it."""
    module, _, name = what.rpartition(".")
    return what in {PACKAGE, EXPORTING} or (module == EXPORTING and name in EXPORTED)


def is_mild(what: str) -> bool:
    """Tell whether a dotted name is an exported one that was taken from where the host keeps it."""
    module, _, name = what.rpartition(".")
    return what == REGISTRY or (module == REGISTRY and name in EXPORTED)


def _is_dunder(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")
