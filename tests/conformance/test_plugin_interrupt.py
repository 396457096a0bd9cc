"""Ctrl-C while a clause is at work."""

import asyncio
import signal
import subprocess
import sys
import time
from concurrent.futures import CancelledError

import pytest

from conformance.bridge import Bridge

from .running import Certifying


def test_ctrl_c_ends_the_run_with_2_and_a_partial_report(certifying: Certifying) -> None:
    certifying.choose(TOOL_WORKS="hang")
    began = time.monotonic()
    command = [sys.executable, "-m", "pytest", *certifying.command("-s")]
    with subprocess.Popen(
        command, cwd=certifying.pytester.path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as run:
        assert run.stdout is not None
        before = next((line for line in run.stdout if "hanging now" in line), "it never hung")
        run.send_signal(signal.SIGINT)
        after = run.stdout.read()
    assert run.returncode == 2, before + after
    assert "examination closed" in after
    assert "note        the run was interrupted: this report is partial" in after
    assert time.monotonic() - began < 30
    assert certifying.certificate()["verdict"] == "incomplete"
    assert certifying.outcomes() == {
        "EXT-IMPORT": "pass", "EXT-QUIET": "pass", "EXT-NONEMPTY": "pass",
        "TOOL-WORKS": "not_run", "ROUTE-NAMES": "not_run", "ROUTE-HINT": "not_run",
    }  # fmt: skip


@pytest.fixture
def bridge():
    made = Bridge()
    yield made
    made.close()


def test_the_bridge_gives_back_what_a_coroutine_returns_and_raises(bridge: Bridge) -> None:
    async def answer() -> int:
        return 42

    async def refuse() -> None:
        raise LookupError("no")

    assert bridge.run(answer()) == 42
    with pytest.raises(LookupError, match="no"):
        bridge.run(refuse())


def test_work_runs_in_one_loop_from_start_to_end(bridge: Bridge) -> None:
    async def loop() -> asyncio.AbstractEventLoop:
        return asyncio.get_running_loop()

    assert bridge.run(loop()) is bridge.run(loop())


def test_cancelled_work_is_an_exception_and_no_hang(bridge: Bridge) -> None:
    async def cancelled() -> None:
        raise asyncio.CancelledError

    with pytest.raises(CancelledError):
        bridge.run(cancelled())


def test_closing_cancels_what_still_runs_and_lets_it_clean_up() -> None:
    bridge = Bridge()
    cleaned: list[bool] = []

    async def background() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            cleaned.append(True)

    async def start() -> asyncio.Task[None]:
        task = asyncio.create_task(background())
        await asyncio.sleep(0)
        return task

    assert bridge.run(start())
    bridge.close()
    bridge.close()
    assert cleaned == [True]
