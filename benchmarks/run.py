"""Measure speed as ratios within one run: `make bench`.

Each ratio compares two things that are timed in turn, A B A B …, so that a machine that slows down slows both; the
median of the pairs is what counts. Counts of trials, clauses and Gerrit calls are printed beside the times.
"""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from importlib.metadata import version
from pathlib import Path

from conformance.contracts.registry import catalogue
from conformance.examine import Examination
from conformance.families import about
from conformance.rig.rig import Rig
from conformance.rig.surroundings import Surroundings, build_world, configuration
from conformance.targets import resolve_target
from conformance.wire.client import Client
from mock_gerrit.serving.authority import CertificateAuthority
from mock_gerrit.serving.gateway import Gateway

ROOT = Path(__file__).parents[1]
SPECIMEN = ROOT / "fixtures" / "extensions" / "good" / "guide_first_mended.py"
TASK = ROOT / "fixtures" / "extensions" / "good" / "task"
TOOL = "get_raw_detail"
CALL = {"change_id": "1"}
PAIRS = 7


class Pipes:
    """The stdio of a child process as the wire client wants it."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    async def send(self, message: bytes) -> None:
        await self.write(message + b"\n")

    async def write(self, data: bytes) -> None:
        self._process.stdin.write(data)
        await self._process.stdin.drain()

    async def receive(self) -> bytes:
        return (await self._process.stdout.readline()).rstrip(b"\n")

    async def close(self) -> None:
        self._process.stdin.close()


async def a_fresh_interpreter(rig: Rig, folder: Path) -> float:
    """Start a server in a new interpreter with the same extension; time it from the start to the answer of one call."""
    surroundings = Surroundings(plugins=("task",))
    (folder / "gerrit_config.json").write_text(json.dumps(configuration(surroundings, rig.credentials)))
    authority = CertificateAuthority(folder)
    async with Gateway(build_world(surroundings, rig.credentials), authority=authority) as gateway:
        environment = {
            "PATH": os.environ["PATH"], "HOME": str(folder), "PYTHONPATH": str(SPECIMEN.parent),
            "GERRIT_CONFIG_PATH": str(folder / "gerrit_config.json"), "GERRIT_MCP_LOG_PATH": str(folder / "server.log"),
            "GERRIT_MCP_EXTENSIONS": SPECIMEN.stem, **gateway.environment(),
        }  # fmt: skip
        began = time.perf_counter()
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "reference_server.cli", "stdio", env=environment,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        client = Client(Pipes(process))
        await client.initialize()
        tools = await client.list_tools()
        own = next(tool["name"] for tool in tools if tool["name"] == TOOL)
        reply = await client.call_tool(own, CALL)
        taken = time.perf_counter() - began
        assert not reply.is_error, reply.text
        await client.close()
        process.terminate()
        await process.wait()
    return taken


async def a_trial(rig: Rig) -> float:
    """Fork a child with the same extension; time it from the order to the answer of the same call."""
    subject = resolve_target(str(SPECIMEN), cwd=ROOT)
    began = time.perf_counter()
    async with rig.trial(subject, Surroundings(plugins=("task",))) as trial:
        own = next(tool["name"] for tool in trial.tools if tool["name"] == TOOL)
        call = await trial.call(own, CALL)
        taken = time.perf_counter() - began
        assert call.succeeded, call.saw()
    return taken


async def paired(
    first: Callable[[], Awaitable[float]], second: Callable[[], Awaitable[float]], pairs: int = PAIRS
) -> list[tuple[float, float]]:
    """Time both in turn, after one round that is not counted."""
    rounds = [(await first(), await second()) for _ in range(pairs + 1)]
    return rounds[1:]


def told(what: str, pairs: list[tuple[float, float]], goal: str) -> None:
    """Print the medians of both sides and of the ratio, with its spread."""
    ratios = sorted(a / b for a, b in pairs)
    a, b = (statistics.median(side) for side in zip(*pairs, strict=True))
    print(
        f"{what}: {a * 1000:.0f} ms against {b * 1000:.0f} ms, ratio {statistics.median(ratios):.2f}"
        f" (from {ratios[0]:.2f} to {ratios[-1]:.2f}, {len(pairs)} pairs; goal: {goal})",
        flush=True,
    )


async def trials() -> float:
    """Time a trial and a fresh interpreter in turn; give the seconds of the latter."""
    major = version("mcp").partition(".")[0]
    async with Rig() as rig:
        with tempfile.TemporaryDirectory() as name:
            pairs = await paired(lambda: a_fresh_interpreter(rig, Path(name)), lambda: a_trial(rig))
    goal = "at least 10 on mcp 1.x, 15 on 2.x"
    told(f"register, initialize, list, one call on mcp {major}.x: a fresh interpreter / a trial", pairs, goal)
    return statistics.median(fresh for fresh, _ in pairs)


async def certifying(fresh: float) -> None:
    """Certify the task extension by its folder against all clauses, and count what that took.

    Args:
        fresh: seconds of one trial in an interpreter of its own; as many of them, two at a time, are the measure.
    """
    for again in (False, True):
        began = time.perf_counter()
        async with Examination(resolve_target(str(TASK), cwd=ROOT)) as examination:
            await examination.foresee()
            judged = [await examination.judge(clause) for clause in about(catalogue(), "extension")]
            told_of = examination.about()
        taken = time.perf_counter() - began
        kind = "with the wheel in the cache" if again else "first (the wheel may have to be built)"
        print(
            f"certifying the task extension by its folder, {kind}: {taken:.2f} s, {len(judged)} clauses,"
            f" {told_of['trials']} trials, {told_of['gerrit_calls']} Gerrit calls (goal: under 8 s, 150 calls or more);"
            f" as many fresh interpreters, two at a time / this: ratio {told_of['trials'] * fresh / 2 / taken:.2f}",
            flush=True,
        )


async def spread() -> None:
    """The same as a user does it, in one pytest process and spread over two workers."""

    def certified(*options: str) -> float:
        began = time.perf_counter()
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", f"--conformance={TASK}", *options],
            cwd=ROOT, capture_output=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout
        return time.perf_counter() - began

    async def workers() -> float:
        return certified("-n", "2")

    async def alone() -> float:
        return certified()

    pairs = await paired(workers, alone, 3)
    told("certifying the task extension: over two workers / in one process", pairs, "at most 1")


def collecting(python: Path, folder: Path, *options: str) -> float:
    # pytest may keep what it has compiled, as on any user's machine; the round that is not counted fills that cache.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    began = time.perf_counter()
    done = subprocess.run(
        [python, "-m", "pytest", "--co", "-q", "-p", "no:cacheprovider", *options],
        env=environment,
        cwd=folder,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 5, done.stderr
    return time.perf_counter() - began


async def idle() -> None:
    """What the installed plugin costs a pytest run that does not use it."""
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        (work / "empty").mkdir()
        subprocess.run(
            [sys.executable, "-m", "build", "--wheel", f"--outdir={work / 'wheel'}", str(ROOT)],
            check=True, stdout=subprocess.DEVNULL,
        )  # fmt: skip
        wheel = next((work / "wheel").glob("*.whl"))
        pythons = {}
        for kind, wanted in (("with", str(wheel)), ("alone", f"pytest=={version('pytest')}")):
            subprocess.run([sys.executable, "-m", "venv", work / kind], check=True)
            pythons[kind] = work / kind / "bin" / "python"
            subprocess.run(
                [pythons[kind], "-m", "pip", "install", "-q", "--disable-pip-version-check", wanted], check=True
            )

        async def timed(kind: str, *options: str) -> float:
            return collecting(pythons[kind], work / "empty", *options)

        ours = [option for name in ("gerrit_conformance", "mock_gerrit") for option in ("-p", f"no:{name}")]
        told(
            "pytest --co of an empty folder: our wheel / pytest alone",
            await paired(lambda: timed("with"), lambda: timed("alone"), 15),
            "at most 1.5",
        )
        told(
            "the same: with / without our entry points",
            await paired(lambda: timed("with"), lambda: timed("with", *ours), 15),
            "at most 1.05",
        )


async def main() -> None:
    await certifying(await trials())
    await spread()
    await idle()


if __name__ == "__main__":
    asyncio.run(main())
