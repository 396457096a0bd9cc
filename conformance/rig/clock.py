"""A clock for one child that its trial can put forward between two calls, so that nobody has to wait for an hour.

Inside the child every function that tells the time adds what stands in a small file, which both sides have mapped. It
is in place before the subject is imported, so that a name bound at import is bound to it as well. What was imported
before the fork keeps the real clock, but for the event loop, which asks `time.monotonic` anew each time.
"""

from __future__ import annotations

import ctypes
import datetime as dt
import gc
import mmap
import os
import struct
import sys
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from conformance.rig.channel import Channel

INSTRUCTION = "clock"
"""The instruction under which a child gets a clock of its own."""

LONG_SECONDS = 60.0
"""A thread that waits for so long is told: it counts its time where no clock of ours can reach it."""

_FILE = ".clock"
_NUMBER = struct.Struct("d")
_IN_SECONDS = ("time", "monotonic", "perf_counter")
_IN_NANOSECONDS = ("time_ns", "monotonic_ns", "perf_counter_ns")

Clock = Callable[..., Any]


def put_forward(home: Path, seconds: float) -> bool:
    """Let the clock of the child whose home this is go `seconds` ahead of the real one; False where it has none."""
    try:
        with (home / _FILE).open("r+b") as file:
            file.write(_NUMBER.pack(seconds))
    except OSError:
        return False
    return True


def amid_a_period() -> float:
    """Tell in how many seconds no clock is near a full hour or ten minutes, at which some caches begin anew."""
    clocks = (time.time(), time.monotonic())
    return next(float(ahead) for ahead in range(600) if all(30 <= (now + ahead) % 600 <= 500 for now in clocks))


def install(channel: Channel) -> Mapping[Clock, Clock]:
    """Put the clock in force in this process; gives what took the place of what."""
    ahead = _shared()
    places = {getattr(time, name): _later(getattr(time, name), ahead) for name in _IN_SECONDS}
    places |= {getattr(time, name): _later(getattr(time, name), ahead, unit=10**9) for name in _IN_NANOSECONDS}
    places |= {
        time.clock_gettime: _later(time.clock_gettime, ahead),
        time.clock_gettime_ns: _later(time.clock_gettime_ns, ahead, unit=10**9),
    }
    now = places[time.time]
    for original, replacement in places.items():
        setattr(time, original.__name__, replacement)
    for name in ("localtime", "gmtime"):
        setattr(time, name, _of_now(getattr(time, name), now))
    _set_datetime(now)
    _tell_long_waits(channel)
    channel.tell("clock")
    return places


def _shared() -> Callable[[], float]:
    """Make the file, and give a function that reads by how much the clock is ahead."""
    path = Path(os.environ["HOME"], _FILE)
    path.write_bytes(_NUMBER.pack(0.0))
    with path.open("r+b") as file:
        seen = mmap.mmap(file.fileno(), _NUMBER.size)
    return lambda: float(_NUMBER.unpack_from(seen)[0])


def _later(original: Clock, ahead: Callable[[], float], unit: int = 1) -> Clock:
    kind = type(original(*((time.CLOCK_REALTIME,) if "clock_" in original.__name__ else ())))

    def now(*arguments: Any) -> Any:  # noqa: ANN401 - a number, as the original gives it
        return original(*arguments) + kind(ahead() * unit)

    now.__name__ = original.__name__
    return now


def _of_now(original: Clock, now: Clock) -> Clock:
    """Without a moment, these mean the present."""

    def broken_down(seconds: float | None = None) -> Any:  # noqa: ANN401 - a struct_time
        return original(now() if seconds is None else seconds)

    return broken_down


def _set_datetime(now: Clock) -> None:
    """Change `datetime.now` in the class itself: a subclass would be another type to every library that checks types.

    Its other ways to tell the present ask `time.time` by its name.
    """

    def present(cls: type[dt.datetime], tz: dt.tzinfo | None = None) -> dt.datetime:
        return cls.fromtimestamp(now(), tz)

    def present_in_utc(cls: type[dt.datetime]) -> dt.datetime:
        return cls.fromtimestamp(now(), dt.UTC).replace(tzinfo=None)

    [members] = gc.get_referents(vars(dt.datetime))
    members |= {"now": classmethod(present), "utcnow": classmethod(present_in_utc)}
    ctypes.pythonapi.PyType_Modified(ctypes.py_object(dt.datetime))


def _tell_long_waits(channel: Channel) -> None:
    sleep, wait = time.sleep, threading.Event.wait

    def observed_sleep(seconds: Any) -> None:  # noqa: ANN401 - whatever the original takes
        if seconds >= LONG_SECONDS:
            channel.tell("long_wait", seconds=seconds)
        sleep(seconds)

    def observed_wait(self: threading.Event, timeout: float | None = None) -> bool:
        if timeout is not None and timeout >= LONG_SECONDS:
            channel.tell("long_wait", seconds=timeout)
        return wait(self, timeout)

    time.sleep = observed_sleep
    threading.Event.wait = observed_wait  # type: ignore[method-assign]  # seen by everybody, that is the point


def reach(registry: Any, places: Mapping[Clock, Clock]) -> None:  # noqa: ANN401 - the registry of whichever host
    """Give the clock to a host that was imported, or built, before it: to its plugin registry, that one's class too."""
    kind = type(registry)
    _exchange(vars(registry), places)
    _exchange(vars(sys.modules[kind.__module__]), places)
    for function in [one for base in kind.__mro__ for one in vars(base).values() if isinstance(one, FunctionType)]:
        if function.__defaults__:
            function.__defaults__ = tuple(_place_of(one, places) for one in function.__defaults__)
        _exchange(function.__kwdefaults__ or {}, places)


def _exchange(names: dict[str, Any], places: Mapping[Clock, Clock]) -> None:
    for name, value in list(names.items()):
        names[name] = _place_of(value, places)


def _place_of(value: Any, places: Mapping[Clock, Clock]) -> Any:  # noqa: ANN401 - anything
    return next((new for old, new in places.items() if value is old), value)
