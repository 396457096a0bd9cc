"""Inside the child: every call of `ctx.run_curl`, and every way in which something else is reached.

Told are `run_curl` and `run_curl_over` (one call of it, from its beginning to its end) and `host_asked` (the host's own
requests); and of anybody but the host `reached_out` (a name looked up, an address connected to or written to),
`own_client` (the proxy of the rig connected to) and `spawned` (a program started). Times are those of
`time.monotonic()`, which the rig shares.

Other names and addresses of this machine are nobody's business and are not told.
"""

from __future__ import annotations

import functools
import inspect
import ipaddress
import os
import re
import socket
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from contextvars import ContextVar
from itertools import count
from time import monotonic  # itself: a trial may put the clock of the child forward
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from conformance.rig.lines import RUNNING, Origins, watch_tools
from conformance.rig.targets import places_asked

if TYPE_CHECKING:
    from conformance.rig.channel import Channel

MOST_TOLD = 500
"""How many facts of one kind are told: a subject that asks in a loop must not drown the rest."""

URL = re.compile(r"https?://[^\s'\"<>]+", re.IGNORECASE)
_ARGUMENT_URL = re.compile(r"^(?:--url=)?(https?://.*)", re.IGNORECASE | re.DOTALL)
_SEVERAL = re.compile(
    r"^(?:--(?:location|location-trusted|retry.*|config|next|anyauth|digest|ntlm|negotiate|parallel)(?:=.*)?"
    r"|-[a-zA-Z]*[LKZ:][^-]*)$",
    re.DOTALL,
)
_LONGEST = 2000

_IN_CURL: ContextVar[bool] = ContextVar("in_run_curl", default=False)


def watch_traffic(channel: Channel, application: Any, payload: Mapping[str, Any]) -> None:  # noqa: ANN401 - any host's
    """Begin to tell, before anything of the subject is imported."""
    origins = Origins(payload, application)
    telling = _Telling(channel.tell)
    watch_tools(application, origins, channel.tell)
    _watch_run_curl(application.context, origins, telling)
    sys.addaudithook(_Ear(origins, telling).hear)


class _Telling:
    """Tells each kind of fact so often and no more."""

    def __init__(self, tell: Callable[..., None]) -> None:
        self._tell = tell
        self._left: dict[str, int] = {}

    def __call__(self, kind: str, **facts: Any) -> None:  # noqa: ANN401 - anything that JSON can show
        left = self._left.setdefault(kind, MOST_TOLD)
        if left <= 0:
            return
        self._left[kind] = left - 1
        if left == 1:
            self._tell("too_much", of=kind, at=monotonic())
        self._tell(kind, **facts)


# --- run_curl ---------------------------------------------------------------------------------------------------------


def _watch_run_curl(context: Any, origins: Origins, telling: _Telling) -> None:  # noqa: ANN401 - any host's context
    """Put an observer in the place of the context's `run_curl`, wherever the host keeps it."""
    numbers = count()
    if "run_curl" in getattr(context, "__dict__", {}):
        observed = _observed(context.run_curl, numbers, origins, telling, bound=False)
        object.__setattr__(context, "run_curl", observed)  # a frozen dataclass, perhaps
    else:
        original = getattr(type(context), "run_curl", None)
        if inspect.isfunction(original):
            type(context).run_curl = _observed(original, numbers, origins, telling, bound=True)


def _observed(
    original: Callable[..., Any], numbers: Iterator[int], origins: Origins, telling: _Telling, *, bound: bool
) -> Callable[..., Any]:
    def begin(frame: Any, arguments: tuple[Any, ...], options: Mapping[str, Any]) -> int:  # noqa: ANN401 - a frame
        number = next(numbers)
        told = _told_of([*arguments[bound:], *options.values()])
        tool, _, call = RUNNING.get()
        line = origins.line(frame)
        telling("run_curl", number=number, at=monotonic(), line=line, tool=tool, call=call, **told)
        return number

    def end(number: int) -> None:
        telling("run_curl_over", number=number, at=monotonic())

    async def through(number: int, running: Any) -> Any:  # noqa: ANN401 - passed on unchanged
        token = _IN_CURL.set(True)
        try:
            return await running
        finally:
            _IN_CURL.reset(token)
            end(number)

    if inspect.iscoroutinefunction(original):

        @functools.wraps(original)
        async def run_curl(*arguments: Any, **options: Any) -> Any:  # noqa: ANN401 - passed on unchanged
            number = begin(sys._getframe(1), arguments, options)  # noqa: SLF001 - whoever awaits it
            return await through(number, original(*arguments, **options))

    else:

        @functools.wraps(original)
        def run_curl(*arguments: Any, **options: Any) -> Any:  # noqa: ANN401 - passed on unchanged
            number = begin(sys._getframe(1), arguments, options)  # noqa: SLF001 - whoever calls it
            try:
                result = original(*arguments, **options)
            except BaseException:
                end(number)
                raise
            if inspect.isawaitable(result):
                return through(number, result)
            end(number)
            return result

    return run_curl


def _told_of(arguments: Sequence[Any]) -> dict[str, Any]:
    """Tell what a call of `run_curl` is for: URLs, whom they ask, base URL, whether there may be more requests."""
    curls = [str(one) for given in arguments if isinstance(given, list | tuple) for one in given]
    urls = [found[1][:_LONGEST] for one in curls if (found := _ARGUMENT_URL.match(one))]
    base_urls = [given[:_LONGEST] for given in arguments if isinstance(given, str)]
    several = not urls or any(_SEVERAL.match(one) for one in curls) or any(set("[]{}") & set(url) for url in urls)
    return {
        "urls": urls[:50], "asked": [place[:_LONGEST] for place in places_asked(curls)[:50]],
        "base_urls": base_urls[:5], "several": several or len(urls) > 50,
    }  # fmt: skip


# --- everything else --------------------------------------------------------------------------------------------------


class _Ear:
    """Hears what the interpreter says of the doings of all code in it."""

    def __init__(self, origins: Origins, telling: _Telling) -> None:
        self._origins = origins
        self._telling = telling
        self._told: set[tuple[str, ...]] = set()
        self._proxy = urlsplit(os.environ.get("https_proxy", "")).port
        self._events: Mapping[str, Callable[[tuple[Any, ...], Any], None]] = {
            "socket.getaddrinfo": lambda given, frame: self._reached("looked up", given[0], frame),
            "socket.gethostbyname": lambda given, frame: self._reached("looked up", given[0], frame),
            "socket.connect": self._connected,
            "socket.sendto": lambda given, frame: self._reached("written to", _host_in(given[1]), frame),
            "socket.sendmsg": lambda given, frame: self._reached("written to", _host_in(given[1]), frame),
            "subprocess.Popen": lambda given, frame: self._started([given[0], *_words(given[1])], frame),
            "os.posix_spawn": lambda given, frame: self._started([given[0], *_words(given[1])], frame),
            "os.exec": lambda given, frame: self._started([given[0], *_words(given[1])], frame),
            "os.system": lambda given, frame: self._started([given[0]], frame),
        }

    def hear(self, event: str, given: tuple[Any, ...]) -> None:
        """Take in one event; it is called for each and every one, and must never raise."""
        heard = self._events.get(event)
        if heard is None:
            return
        with suppress(Exception):  # what is raised here would look like the failure of what is being done
            heard(given, sys._getframe(1))  # noqa: SLF001 - the code that does it

    def _connected(self, given: tuple[Any, ...], frame: Any) -> None:  # noqa: ANN401 - a frame
        connecting, address = given
        host = _host_in(address)
        if connecting.type == socket.SOCK_DGRAM:  # sends nothing: it is how people learn their own address
            return
        if isinstance(host, str) and _is_here(host) and not _IN_CURL.get() and address[1] == self._proxy:
            if self._origins.whose(frame) == "host":
                self._telling("host_asked", urls=[], at=monotonic())
            else:
                self._once("own_client", frame)
        self._reached("connected to", host, frame)

    def _reached(self, how: str, host: Any, frame: Any) -> None:  # noqa: ANN401 - whatever stands for an address
        name = host.decode("ascii", "replace") if isinstance(host, bytes) else host
        if not isinstance(name, str) or _is_here(name) or self._origins.whose(frame) == "host":
            return
        self._once("reached_out", frame, how=how, host=name[:_LONGEST])

    def _started(self, command: Sequence[Any], frame: Any) -> None:  # noqa: ANN401 - a frame
        words = [_text(word) for word in command if word is not None]
        if self._origins.whose(frame) != "host":
            self._once("spawned", frame, command=" ".join(words)[: 4 * _LONGEST])
        elif not _IN_CURL.get():
            urls = [url for word in words for url in URL.findall(word)]
            self._telling("host_asked", urls=urls, at=monotonic())

    def _once(self, kind: str, frame: Any, **facts: str) -> None:  # noqa: ANN401 - a frame
        """Tell a fact with its line and its tool, and the same one no second time in a call."""
        tool, running, _ = RUNNING.get()
        line = self._origins.line(frame)
        key = (kind, line, tool, str(id(running)), *facts.values())
        if key not in self._told:
            self._told.add(key)
            self._telling(kind, line=line, tool=tool, at=monotonic(), **facts)


def _host_in(address: Any) -> Any:  # noqa: ANN401 - whatever a socket takes as an address
    """Give the host in an address of the internet; None for any other kind, such as a path."""
    return address[0] if isinstance(address, tuple) and len(address) in {2, 4} else None


def _is_here(name: str) -> bool:
    """Tell whether a name or an address is that of this machine."""
    if name in {"", "localhost", socket.gethostname()} or name.endswith(".localhost"):
        return True
    try:
        address = ipaddress.ip_address(name.partition("%")[0].strip("[]"))
    except ValueError:
        return name == _full_name()
    return address.is_loopback or address.is_unspecified


@functools.lru_cache(maxsize=1)
def _full_name() -> str:
    try:
        with open("/etc/hostname", encoding="utf-8") as file:  # noqa: PTH123 - one read, without pathlib's import
            return file.read().strip()
    except OSError:
        return ""


def _words(given: Any) -> list[Any]:  # noqa: ANN401 - what a program is started with
    return [given] if isinstance(given, str | bytes) or not isinstance(given, Sequence) else list(given)


def _text(word: Any) -> str:  # noqa: ANN401 - a word of a command line: text, bytes, a path
    return word.decode("utf-8", "replace") if isinstance(word, bytes) else str(word)
