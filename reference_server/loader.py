"""Loading extensions: each module once, and none of them able to take the server down."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import Any

from reference_server.config import load_configuration
from reference_server.context import ExtensionContext
from reference_server.discovery import find_extensions
from reference_server.errors import ConfigError
from reference_server.isolation import TookTooLong, failure_of
from reference_server.log import log_extension
from reference_server.sdk import Registrations, added_since, registrations, restore, withdraw

_DEFAULT_SECONDS = 10.0
CORE = "the core server"


@dataclass(frozen=True, kw_only=True)
class LoadedExtension:
    """An extension whose `register(ctx)` returned.

    Attributes:
        name: its module.
        module: the imported module.
        registered: what it added to the server.
    """

    name: str
    module: ModuleType
    registered: Registrations

    @property
    def tools(self) -> frozenset[str]:
        """The names of the tools that it registered."""
        return self.registered.tools


class ExtensionLoader:
    """Finds, imports and registers extensions, and unregisters them again.

    Args:
        context: what each extension is handed.
        seconds: how long an import or a `register` may take; None takes `extension_load_seconds` of the configuration.
    """

    def __init__(self, context: ExtensionContext, *, seconds: float | None = None) -> None:
        self._context = context
        self._seconds = seconds
        self._attempted: set[str] = set()
        self._loaded: list[LoadedExtension] = []

    @property
    def loaded(self) -> tuple[LoadedExtension, ...]:
        """What is loaded now, in the order of loading."""
        return tuple(self._loaded)

    def load(self) -> None:
        """Load every extension that is named and was not tried yet; what is broken is logged and skipped."""
        found = find_extensions()
        for mention in found:
            if mention.problem is not None and mention.module not in self._attempted:
                log_extension(mention.module, f"ERROR: {mention.problem}")
                self._attempted.add(mention.module)
        for name, times in Counter(each.module for each in found if each.problem is None).items():
            if name not in self._attempted:
                self._attempted.add(name)
                self._load(name, times)

    def unload(self) -> None:
        """Call `unregister(ctx)` of what is loaded, the last one first, and withdraw what it registered.

        Never raises: what an extension raises, or its not coming back in time, is logged.
        """
        while self._loaded:
            extension = self._loaded.pop()
            self._attempted.discard(extension.name)
            self._unregister(extension)
            withdraw(self._context.mcp, extension.registered)

    def _load(self, name: str, times: int) -> None:
        if times > 1:
            log_extension(name, f"WARNING: discovered {times} times; loading once")
        module = self._import(name)
        register = None if module is None else self._register_function(name, module)
        if module is not None and register is not None:
            self._register(name, module, register)

    def _import(self, name: str) -> ModuleType | None:
        imported: list[ModuleType] = []
        failure = failure_of(lambda: imported.append(import_module(name)), seconds=self._limit())
        if failure is None:
            return imported[0]
        log_extension(name, f"ERROR: import failed: {_described(failure)}")
        return None

    def _register_function(self, name: str, module: ModuleType) -> Callable[..., Any] | None:
        found: list[Any] = []
        failure = failure_of(lambda: found.append(getattr(module, "register", None)), seconds=self._limit())
        register = found[0] if failure is None else None
        if callable(register):
            return register  # type: ignore[no-any-return]  # a module's attribute can be anything
        saw = f": `register` is of type {type(register).__name__}" if register is not None else ""
        log_extension(name, f"ERROR: missing register(ctx) function{saw}")
        return None

    def _register(self, name: str, module: ModuleType, register: Callable[..., Any]) -> None:
        server = self._context.mcp
        before = registrations(server)
        server.on_taken_name = lambda tool: self._warn_of_taken_name(name, tool, before.tools)
        failure = failure_of(lambda: _refuse_coroutine(register(self._context)), seconds=self._limit())
        server.on_taken_name = None
        if failure is not None:
            restore(server, before)
            log_extension(name, f"ERROR: register() raised: {_described(failure)}")
            return
        added = added_since(server, before)
        self._loaded.append(LoadedExtension(name=name, module=module, registered=added))
        log_extension(name, "registered")

    def _warn_of_taken_name(self, name: str, tool: str, before: frozenset[str]) -> None:
        owner = next((each.name for each in self._loaded if tool in each.tools), CORE if tool in before else name)
        log_extension(name, f"WARNING: tool {tool!r} is already registered by {owner}; the first one stays")

    def _unregister(self, extension: LoadedExtension) -> None:
        def unregister() -> None:
            found = getattr(extension.module, "unregister", None)
            if found is not None:
                _refuse_coroutine(found(self._context))

        failure = failure_of(unregister, seconds=self._limit())
        if failure is not None:
            log_extension(extension.name, f"ERROR: unregister() raised: {_described(failure)}")

    def _limit(self) -> float:
        if self._seconds is not None:
            return self._seconds
        try:
            return load_configuration().extension_load_seconds
        except ConfigError:
            return _DEFAULT_SECONDS


def _refuse_coroutine(result: object) -> None:
    if inspect.iscoroutine(result):
        result.close()
        raise TypeError("it is a coroutine function, which nobody awaits; write it with `def`")


def _described(failure: BaseException) -> str:
    try:
        text = str(failure)
    except BaseException:  # noqa: BLE001 - even this belongs to the extension
        text = "(its text cannot be read)"
    if isinstance(failure, TookTooLong):
        return text
    return f"{type(failure).__name__}: {text}" if text else type(failure).__name__
