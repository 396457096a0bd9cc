"""Code that raises anything or does not come back."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
import time
from typing import NoReturn

import pytest

from reference_server.isolation import TookTooLong, failure_of


def raising(kind: BaseException) -> NoReturn:
    raise kind


@pytest.mark.parametrize(
    "kind",
    [
        ValueError("x"),
        SystemExit(3),
        KeyboardInterrupt(),
        GeneratorExit(),
        asyncio.CancelledError(),
        BaseException("x"),
    ],
    ids=lambda kind: type(kind).__name__,
)
def test_whatever_is_raised_is_handed_back(kind: BaseException) -> None:
    assert failure_of(lambda: raising(kind), seconds=5) is kind


def test_what_returns_has_no_failure() -> None:
    assert failure_of(lambda: 7, seconds=5) is None


def hang() -> NoReturn:
    while True:
        time.sleep(60)


def hang_and_swallow() -> NoReturn:
    while True:
        try:
            hang()
        except Exception:  # noqa: BLE001 - the fault under test
            continue


def wait_for_a_lock() -> None:
    threading.Lock().acquire() and threading.Event().wait()


@pytest.mark.parametrize("action", [hang, hang_and_swallow, wait_for_a_lock])
def test_what_does_not_come_back_is_interrupted(action: object) -> None:
    started = time.monotonic()
    failure = failure_of(action, seconds=0.05)  # type: ignore[arg-type]
    assert isinstance(failure, TookTooLong)
    assert str(failure) == "did not return within 0.05 s"
    assert time.monotonic() - started < 5


def test_nothing_fires_later_and_handlers_are_put_back() -> None:
    former = signal.getsignal(signal.SIGALRM), signal.getsignal(signal.SIGINT)
    failure_of(lambda: None, seconds=0.01)
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    assert (signal.getsignal(signal.SIGALRM), signal.getsignal(signal.SIGINT)) == former


def test_the_user_can_interrupt_what_is_isolated() -> None:
    former = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            failure_of(lambda: os.kill(os.getpid(), signal.SIGINT), seconds=5)
    finally:
        signal.signal(signal.SIGINT, former)


def test_away_from_the_main_thread_it_runs_without_a_limit() -> None:
    failures: list[BaseException | None] = []
    thread = threading.Thread(target=lambda: failures.append(failure_of(lambda: raising(ValueError()), seconds=0.1)))
    thread.start()
    thread.join()
    assert isinstance(failures[0], ValueError)
