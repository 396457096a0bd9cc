"""Observers inside the child: facts that no client can see, told over the channel.

They watch through the documented names only (`gerrit_mcp_server.extensions.requires_plugin`, the module's `register`,
the context's members, the SDK's tool table) and change nothing of what the subject sees.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from dataclasses import dataclass, is_dataclass
from typing import TYPE_CHECKING, Any

from conformance.rig.decorating import tell_changes, told_end
from conformance.rig.describing import bare_parameters
from conformance.rig.frames import HOST, line_of
from conformance.rig.naming import tools_of

if TYPE_CHECKING:
    from conformance.rig.channel import Channel

MOST_TOLD = 1000
"""How often one member asked for one name is told: a subject that asks in a loop must not drown the rest."""

HOST_MODULES = ("gerrit_mcp_server.extensions", "gerrit_mcp_server.plugin_registry")


@dataclass(frozen=True, kw_only=True)
class Decorated:
    """One function that was handed to `requires_plugin`."""

    plugin: str
    parameter: str
    function: Callable[..., Any]
    wrapper: Callable[..., Any]


class Observer:
    """Tells, for one trial, what happens inside the process."""

    def __init__(self, channel: Channel, application: Any) -> None:  # noqa: ANN401 - any host's application
        """Watch `application` and tell over `channel`."""
        self._tell = channel.tell
        self._application = application
        self._decorated: list[Decorated] = []
        self._core_tools = set(self._tools())
        self._before: dict[str, int] = {}
        self._before = self._counts()

    def watch_host(self) -> None:
        """Put the observers around `requires_plugin`, the registry and the context's `extension_config`."""
        for name in HOST_MODULES:
            module = importlib.import_module(name)
            if hasattr(module, "requires_plugin"):
                observed = self._observed_requires_plugin(module.requires_plugin)
                module.requires_plugin = observed  # type: ignore[attr-defined]
        self._watch_method(type(self._application.context.plugin_registry), "hosts_with_plugin", 0)
        self._watch_method(type(self._application.context.plugin_registry), "host_has_plugin", 1)
        self._watch_method(type(self._application.context.plugin_registry), "plugin_version", 1)
        self._watch_method(type(self._application.context), "extension_config", 0, fact="extension_config")

    def _watch_method(self, owner: type, method: str, position: int, fact: str = "registry_asked") -> None:
        original = getattr(owner, method)
        tell, told = self._tell, Counter[str]()

        @functools.wraps(original)
        def observed(self: Any, *arguments: Any, **options: Any) -> Any:  # noqa: ANN401 - passed on unchanged
            names = [*arguments[position : position + 1], *options.values()]
            if names and isinstance(names[0], str) and told[names[0]] < MOST_TOLD and not _called_by_host():
                told[names[0]] += 1
                tell(fact, name=names[0], method=method, line=line_of(sys._getframe(1)))  # noqa: SLF001 - who asks
            return original(self, *arguments, **options)

        setattr(owner, method, observed)

    def _observed_requires_plugin(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """Keep each function that is decorated, and tell each time that its wrapper runs."""

        @functools.wraps(original)
        def requires_plugin(*arguments: Any, **options: Any) -> Callable[..., Any]:  # noqa: ANN401 - passed on unchanged
            decorate = original(*arguments, **options)
            plugin_name = str(arguments[0] if arguments else options.get("name", ""))

            def apply(function: Callable[..., Any]) -> Callable[..., Any]:
                inner = decorate(function)
                index = len(self._decorated)

                @functools.wraps(inner)
                async def wrapper(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - passed on unchanged
                    self._tell("routed", index=index, plugin=plugin_name)
                    return await told_end(self._tell, index, inner(*args, **kwargs))

                parameter = str(options.get("param_name", "gerrit_base_url"))
                self._decorated.append(
                    Decorated(plugin=plugin_name, parameter=parameter, function=function, wrapper=wrapper)
                )
                return wrapper

            return apply

        return requires_plugin

    def watch_register(self, module_name: str) -> None:
        """Tell what `register` is, and put an observer in its place that tells how the host's call of it ends."""
        module = sys.modules[module_name]
        missing = object()
        register: Any = getattr(module, "register", missing)
        if register is missing:
            self._tell("register", module=module_name, exists=False)
            return
        self._tell(
            "register", module=module_name, exists=True, callable=callable(register),
            made_of=type(register).__name__, refuses=binding_problem(register) if callable(register) else "",
        )  # fmt: skip
        if callable(register):
            module.register = self._observed_register(module_name, register)  # type: ignore[attr-defined]

    def _observed_register(self, module_name: str, register: Callable[..., Any]) -> Callable[[Any], Any]:
        def observed(ctx: Any) -> Any:  # noqa: ANN401 - the host's context, the subject's result
            from conformance.rig.hosting import raised  # noqa: PLC0415 - the module that imports this one

            self._tell("register_called", module=module_name)
            try:
                result = register(ctx)
            except BaseException as problem:
                self._tell("register_raised", module=module_name, **raised(problem))
                raise
            added = self._added()
            self._tell("register_returned", module=module_name, deferred=deferred(result, added), added=added)
            if inspect.iscoroutine(result):
                result.close()  # nobody awaits it; closed, it cannot warn on stderr
                return None
            return result

        return observed

    def _tools(self) -> dict[str, Any]:
        return tools_of(self._application.mcp)

    def _counts(self) -> dict[str, int]:
        """How many resources (templates included) and prompts the subject added to the host's own."""
        mcp = self._application.mcp
        found = {
            "resources": len(mcp._resource_manager._resources) + len(mcp._resource_manager._templates),  # noqa: SLF001
            "prompts": len(mcp._prompt_manager._prompts),  # noqa: SLF001 - listing them properly needs a loop
        }
        return {kind: count - self._before.get(kind, 0) for kind, count in found.items()}

    def _added(self) -> list[str]:
        return [name for name in self._tools() if name not in self._core_tools]

    def tell_tools(self) -> None:
        """Tell, once loading is over, each tool of the subject and each function handed to `requires_plugin`."""
        tools = self._tools()
        added = {name: tools[name] for name in self._added()}
        self._tell("registered", tools=len(added), **self._counts())
        for name, tool in added.items():
            self._tell(
                "tool",
                name=name,
                is_async=_is_async(tool.fn),
                wrapped=tool.fn_metadata.wrap_output,
                model_problem=_model_problem(tool),
                bare=bare_parameters(tool.fn),
            )
        for index, one in enumerate(self._decorated):
            routed = [name for name, tool in tools.items() if _reaches(tool.fn, one.wrapper)]
            bare = [name for name, tool in tools.items() if name not in routed and _overlap(tool.fn, one.function)]
            self._tell(
                "decorated", index=index, plugin=one.plugin, parameter=one.parameter,
                function=getattr(one.function, "__name__", repr(type(one.function))),
                takes_keyword=_takes_keyword(one.function, one.parameter), tools=routed, bare_tools=bare,
            )  # fmt: skip

    def compare_decorated(self) -> None:
        """Tell what `requires_plugin` changed of each function that was handed to it."""
        for index, one in enumerate(self._decorated):
            inner = one.wrapper.__wrapped__  # type: ignore[attr-defined]  # functools.wraps has put it there
            tell_changes(self._tell, self._application.mcp, index, one.function, inner)


def deferred(result: Any, added: list[str]) -> str:  # noqa: ANN401 - whatever a stranger's register gives back
    """Name what `register` gave back instead of doing its work; empty where it did it."""
    if inspect.isawaitable(result):
        return "an awaitable"
    if added:
        return ""
    if inspect.isgenerator(result) or inspect.isasyncgen(result):
        return "a generator"
    is_manager = isinstance(result, AbstractContextManager | AbstractAsyncContextManager)
    return "a context manager" if is_manager and inspect.isgenerator(getattr(result, "gen", None)) else ""


def binding_problem(register: Callable[..., Any]) -> str:
    """Tell why `register(ctx)` cannot be called, or nothing if it can (or nobody can tell)."""
    try:
        inspect.signature(register).bind(object())
    except TypeError as problem:
        return f"{problem} (its signature is {_signature(register)})"
    except ValueError:
        return ""  # a callable without a signature, such as one written in C
    return ""


def _signature(function: Callable[..., Any]) -> str:
    try:
        return str(inspect.signature(function))
    except (TypeError, ValueError):
        return "unknown"


def _chain(function: Any) -> Iterator[Any]:  # noqa: ANN401 - any callable
    """Follow a callable through decorators and partials to the innermost function."""
    seen = 0
    while function is not None and seen < 50:
        yield function
        seen += 1
        function = function.func if isinstance(function, functools.partial) else getattr(function, "__wrapped__", None)


def _reaches(function: Any, wrapper: Any) -> bool:  # noqa: ANN401 - any callables
    return any(one == wrapper for one in _chain(function))


def _overlap(function: Any, handed: Any) -> bool:  # noqa: ANN401 - any callables
    return any(one == other for one in _chain(function) for other in _chain(handed))


def _takes_keyword(function: Callable[..., Any], parameter: str) -> bool:
    try:
        inspect.signature(function).bind_partial(**{parameter: ""})
    except TypeError:
        return False
    except ValueError:
        return True
    return True


def _is_async(function: Any) -> bool:  # noqa: ANN401 - any callable
    """Tell whether the SDK awaits a tool: what a plain function wraps does not count, as nobody sees through it."""
    while isinstance(function, functools.partial):
        function = function.func
    return any(inspect.iscoroutinefunction(one) for one in (function, getattr(function, "__call__", None)))  # noqa: B004


def _model_problem(tool: Any) -> str:  # noqa: ANN401 - the SDK's tool
    """Tell whose doing it is that the SDK made no model of a declared result type: `python`, `sdk`, or empty."""
    if tool.fn_metadata.output_schema is not None:
        return ""
    from pydantic import PydanticUserError, TypeAdapter  # noqa: PLC0415 - only for the rare tool without a schema

    try:
        hint = inspect.signature(tool.fn, eval_str=True).return_annotation
        TypeAdapter(hint).json_schema()
    except PydanticUserError as problem:
        return "python" if "typing_extensions.TypedDict" in str(problem) else ""
    except Exception:  # noqa: BLE001 - no annotation, or one that nothing can evaluate: the clause judges the wire
        return ""
    return "sdk" if is_dataclass(hint) and hasattr(hint, "__slots__") else ""


def _called_by_host() -> bool:
    """True where the host itself asks its registry, as it does inside `requires_plugin`."""
    name = str(sys._getframe(2).f_globals.get("__name__", ""))  # noqa: SLF001 - the caller of the observed method
    return name.partition(".")[0] in HOST
