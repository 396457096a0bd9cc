"""Running code that may raise anything or never come back."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

_AGAIN_SECONDS = 0.5


class TookTooLong(BaseException):
    """Raised inside code that has not come back in time; code that catches every Exception does not swallow it."""


def failure_of(action: Callable[[], object], *, seconds: float) -> BaseException | None:
    """Run `action` and return what it raised, whatever that is; None when it returned.

    In the main thread of a POSIX system the action is interrupted after `seconds`; elsewhere nobody can interrupt it,
    and it is waited for.

    Raises:
        KeyboardInterrupt: the user interrupted; one that the action raises by itself is returned like the rest.
    """
    user = _Interrupts()
    try:
        with _time_limit(seconds), user.watched():
            action()
    except BaseException as raised:  # noqa: BLE001 - isolating every kind is the purpose
        if user.interrupted:
            raise KeyboardInterrupt from None
        return raised
    return None


class _Interrupts:
    """Tells the user's Ctrl-C from a KeyboardInterrupt that somebody raises by hand."""

    interrupted = False

    @contextmanager
    def watched(self) -> Iterator[None]:
        if not _signals_usable() or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
            yield
            return
        signal.signal(signal.SIGINT, self._note)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.interrupted = True
        signal.default_int_handler(number, frame)


@contextmanager
def _time_limit(seconds: float) -> Iterator[None]:
    if not _signals_usable() or not hasattr(signal, "setitimer"):
        yield
        return

    def interrupt(*_: object) -> None:
        raise TookTooLong(f"did not return within {seconds:g} s")

    former = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, seconds, _AGAIN_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, former)


def _signals_usable() -> bool:
    return threading.current_thread() is threading.main_thread()
