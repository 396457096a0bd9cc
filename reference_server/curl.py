"""One run of the real `curl`, with a time limit; what is secret goes through an anonymous pipe."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from reference_server.errors import GerritError

_OPTIONS = ("--silent", "--show-error", "--globoff", "--write-out", "%{stderr}\n%{http_code} %{redirect_url}")
_GRACE_SECONDS = 2.0  # curl's own limit comes first: its message names what it waited for


@dataclass(frozen=True, kw_only=True)
class CurlAnswer:
    """What a finished curl handed back."""

    status: int
    """The HTTP status of the last answer; 0 where curl did not tell."""
    redirect: str
    """Where a 3xx answer points, else empty."""
    body: str


async def run_curl(
    arguments: Sequence[str], *, seconds: float, program: str = "curl", secret: str = "", stdin: bytes | None = None
) -> CurlAnswer:
    """Run curl once and wait for it.

    Args:
        arguments: what to hand to curl beside the options that this function sets.
        seconds: the time after which the request is given up.
        program: the command, looked up in PATH.
        secret: a curl configuration that never shows in the process list.
        stdin: what curl reads as its standard input.

    Raises:
        GerritError: curl is missing, fails, or takes too long.
    """
    reader = _pipe_with(secret) if secret else None
    try:
        # --disable must come first: no ~/.curlrc of the user may add options, proxies or another --config.
        first = ["--disable"] if program == "curl" else []
        hidden = ["--config", f"/dev/fd/{reader}"] if reader is not None else []
        limit = ["--max-time", f"{seconds:.3f}"]
        process = await _start([program, *first, *hidden, *_OPTIONS, *limit, *arguments], reader, stdin)
    finally:
        if reader is not None:
            os.close(reader)
    return await _finish(process, seconds, stdin)


def _pipe_with(secret: str) -> int:
    reader, writer = os.pipe()
    try:
        os.write(writer, secret.encode())
    finally:
        os.close(writer)
    return reader


async def _start(command: list[str], reader: int | None, stdin: bytes | None) -> asyncio.subprocess.Process:
    try:
        return await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.DEVNULL if stdin is None else asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            pass_fds=() if reader is None else (reader,),
        )
    except FileNotFoundError:
        raise GerritError(f"`{command[0]}` was not found in PATH: install it to reach Gerrit") from None
    except OSError as problem:
        raise GerritError(f"`{command[0]}` could not be started: {problem.strerror}") from None
    except ValueError as problem:
        raise GerritError(f"an argument for `{command[0]}` cannot be passed on: {problem}") from None


async def _finish(process: asyncio.subprocess.Process, seconds: float, stdin: bytes | None) -> CurlAnswer:
    try:
        async with asyncio.timeout(seconds + _GRACE_SECONDS):
            output, errors = await process.communicate(stdin)
    except TimeoutError:
        raise GerritError(f"curl gave no answer within {seconds:g} s") from None
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()
    complaint, _, trailer = errors.decode(errors="replace").rpartition("\n")
    if process.returncode:
        raise GerritError(f"curl failed with exit code {process.returncode}: {' '.join(complaint.split())}")
    status, _, redirect = trailer.partition(" ")
    return CurlAnswer(
        status=int(status) if status.isdigit() else 0, redirect=redirect, body=output.decode(errors="replace")
    )
