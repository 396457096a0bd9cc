"""Rehearse in the child what hosts do later or more than once: registering again, unregistering, a refused register.

`Surroundings.instructions` say what is rehearsed; in a trial without instructions the child only tells whether there is
an `unregister`, how the host's call of it went, and what of the subject still runs when loading is over.
"""

from __future__ import annotations

import functools
import inspect
import os
import signal
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from conformance.rig.lines import Origins
from conformance.rig.naming import ADDING, Names, registered, written
from conformance.rig.observing import binding_problem, deferred

if TYPE_CHECKING:
    from conformance.rig.channel import Channel

AGAIN = "register again"
"""The instruction to have another application load the subject in the same process, and the phase of that."""
UNREGISTER = "unregister"
"""The instruction to unregister the subject once it is loaded, and the phase of doing so."""
REFUSE_FROM = "refuse from"
"""The instruction to refuse registrations from the one of that number on, and to unregister what fails for that."""

REFUSED = "registration_refused"
"""The fact that a registration was refused: `what` was to be registered, and at which `line`."""

_OWN_THREADS = 1


class RefusedError(RuntimeError):
    """Raised in place of a registration, as an SDK raises that cannot make a tool of a function."""


class Rehearsal:
    """What one trial rehearses around the loading of the subject."""

    def __init__(
        self,
        channel: Channel,
        payload: Mapping[str, Any],
        application: Any,  # noqa: ANN401 - any host's application
        *,
        build: Callable[[], Any],
        names: Names,
    ) -> None:
        """Rehearse what `payload["instructions"]` say with the host's `application`; `build` makes another one."""
        self._channel = channel
        self._modules: list[str] = payload["modules"]
        self._instructions: Mapping[str, Any] = payload["instructions"]
        self._application = application
        self._build = build
        self._names = names
        self._origins = Origins(payload, application)

    def before_loading(self) -> None:
        """Have registrations refused where that is wanted."""
        if first := self._instructions.get(REFUSE_FROM):
            self._refuse_from(int(first))
            for name in self._modules:
                module: Any = sys.modules[name]
                register, unregister = getattr(module, "register", None), _unregister_of(name)
                if callable(register) and callable(unregister):
                    module.register = self._cleaned_up(name, register, unregister)

    def _refuse_from(self, first: int) -> None:
        """From now on let all registrations fail but those before the one of number `first`, and tell which."""
        seen = 0

        def refusing(kind: str, original: Callable[..., Any]) -> Callable[..., Any]:
            @functools.wraps(original)
            def refused(*arguments: Any, **options: Any) -> Any:  # noqa: ANN401 - passed on unchanged
                nonlocal seen
                seen += 1
                if seen < first:
                    return original(*arguments, **options)
                line = self._origins.line(sys._getframe(1))  # noqa: SLF001 - whoever registers
                self._channel.tell(REFUSED, what=f"{kind} {_named(arguments, options)}", line=line)
                raise RefusedError("the server cannot take this registration (refused by the conformance suite)")

            return refused

        for kind, keeper, method in ADDING:
            manager = getattr(self._application.mcp, keeper, None)
            if hasattr(manager, method):
                setattr(manager, method, refusing(kind, getattr(manager, method)))

    def _cleaned_up(
        self, name: str, register: Callable[..., Any], unregister: Callable[..., Any]
    ) -> Callable[..., Any]:
        """Unregister as soon as register has failed, while all is as it was left: the host may take things back."""

        @functools.wraps(register)
        def cleaned_up(ctx: Any) -> Any:  # noqa: ANN401 - passed on unchanged
            try:
                return register(ctx)
            except Exception:
                self._unregister(name, unregister)
                self._channel.phase("register")
                raise

        return cleaned_up

    def _unregister(self, name: str, unregister: Callable[..., Any]) -> None:
        self._channel.phase(UNREGISTER)
        with suppress(BaseException):  # told already
            self._observed(name, unregister, "unregistered")(self._application.context)

    def after_loading(self) -> None:
        """Tell what is there now, and go through what is wanted."""
        self._channel.tell("still_running", what=_still_running())
        found = {name: one for name in self._modules if (one := _unregister_of(name)) is not None}
        for name, one in found.items():
            problem = binding_problem(one) if callable(one) else ""
            self._channel.tell(
                "unregister", module=name, callable=callable(one), made_of=type(one).__name__, refuses=problem
            )
        if self._instructions.get(AGAIN):
            self._register_again()
        for name in [name for name in reversed(self._modules) if callable(found.get(name))]:
            if self._instructions.get(UNREGISTER):
                self._unregister(name, found[name])
            else:
                module: Any = sys.modules[name]
                module.unregister = self._observed(name, found[name], "unregistered_by_host")

    def _register_again(self) -> None:
        own = self._own_of(self._application.mcp, self._names.of_host)
        try:
            other = self._build()
        except Exception as problem:  # noqa: BLE001 - a foreign host may refuse in any way to be built twice
            self._channel.tell("registered_again", trouble=f"{type(problem).__name__}: {problem}")
            return
        if other.mcp is self._application.mcp:
            self._channel.tell("registered_again", trouble="the host gave the same server again")
            return
        of_host = registered(other.mcp)
        self._channel.phase(AGAIN)
        other.load()
        self._channel.tell(
            "registered_again", trouble="", first=own, second=self._own_of(other.mcp, of_host),
            first_then=self._own_of(self._application.mcp, self._names.of_host),
        )  # fmt: skip

    @staticmethod
    def _own_of(mcp: Any, of_host: Mapping[Any, Any]) -> list[str]:  # noqa: ANN401 - the SDK's server
        return written({name: one for name, one in registered(mcp).items() if name not in of_host})

    def _observed(self, module: str, unregister: Callable[..., Any], kind: str) -> Callable[..., Any]:
        @functools.wraps(unregister)
        def observed(*arguments: Any, **options: Any) -> Any:  # noqa: ANN401 - passed on unchanged
            from conformance.rig.hosting import raised  # noqa: PLC0415 - the module that imports this one

            self._channel.tell("unregistering", module=module)
            try:
                result = unregister(*arguments, **options)
            except BaseException as problem:
                self._channel.tell(kind, module=module, raised=raised(problem), deferred="")
                raise
            self._channel.tell(kind, module=module, raised=None, deferred=deferred(result, []))
            if inspect.iscoroutine(result):
                result.close()  # nobody awaits it; closed, it cannot warn on stderr
                return None
            return result

        return observed


def _named(arguments: Sequence[Any], options: Mapping[str, Any]) -> str:
    """Give the name under which something was to be registered."""
    given = [options.get("name"), options.get("uri_template")]
    for one in arguments[:1]:
        given += [getattr(one, attribute, None) for attribute in ("uri", "name", "__name__")]
    return next((str(name) for name in given if name), "without a name")


def _unregister_of(module: str) -> Any:  # noqa: ANN401 - whatever the module has under that name
    try:
        return getattr(sys.modules[module], "unregister", None)
    except Exception:  # noqa: BLE001 - a module may have a __getattr__ of its own
        return None


def _still_running() -> list[str]:
    """Tell what could still act by itself: threads, processes and timers that importing or registering has started."""
    found = ["a thread"] if _threads() > _OWN_THREADS else []
    with suppress(ChildProcessError):  # which says that there is none
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        found.append("a process")
    if any(signal.getitimer(which)[0] for which in (signal.ITIMER_REAL, signal.ITIMER_VIRTUAL, signal.ITIMER_PROF)):
        found.append("a timer")
    return found


def _threads() -> int:
    """Count the threads, those that no module of Python's knows included, where the system tells."""
    try:
        return len(os.listdir("/proc/self/task"))  # noqa: PTH208 - no paths are wanted, and this is every trial's time
    except OSError:
        return threading.active_count()
