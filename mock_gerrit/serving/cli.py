"""The command `mock-gerrit`: serve a world written in TOML, or check one."""

from __future__ import annotations

import argparse
import asyncio
import errno
import json
import re
import signal
import sys
from collections.abc import Sequence
from contextlib import AsyncExitStack
from difflib import get_close_matches
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NoReturn

from mock_gerrit.journal import Entry
from mock_gerrit.serving.announcement import Announcement, announce, as_text
from mock_gerrit.serving.authority import CertificateAuthority
from mock_gerrit.serving.gateway import Gateway
from mock_gerrit.serving.loopback import Loopback
from mock_gerrit.world import World
from mock_gerrit.worldfile import WorldFileError, load_world

USAGE_ERROR = 4
"""The exit code for everything that the caller can put right: options, the world file, the port."""


WORDS = ("serve", "check", "--port", "--ca-folder", "--json", "--verbose", "--help")
"""What the command line understands, for hints at mistyped words."""


class UsageError(Exception):
    """Something the caller can put right, in one sentence."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        near = [get_close_matches(word, WORDS, n=1) for word in re.findall(r"[-\w]+", message) if word not in WORDS]
        hints = "".join(f" (did you mean {found[0]!r}?)" for found in near if found)
        self.exit(USAGE_ERROR, f"{self.format_usage()}{self.prog}: {message}{hints}\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Returns:
        0 after a clean end (Ctrl-C and SIGTERM included), 4 for a mistake of the caller's, told on stderr.
    """
    options = _parser().parse_args(arguments)
    try:
        world = load_world(options.world)
        if options.command == "check":
            print(f"{options.world}: {_contents(world)}")
        else:
            asyncio.run(_serve(world, options))
    except (WorldFileError, UsageError) as mistake:
        print(f"mock-gerrit: {mistake}", file=sys.stderr)
        return USAGE_ERROR
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="mock-gerrit", description="Several simulated Gerrit hosts.", allow_abbrev=False)
    commands = parser.add_subparsers(dest="command", required=True, metavar="serve|check")
    serve = commands.add_parser("serve", help="serve a world until Ctrl-C", allow_abbrev=False)
    check = commands.add_parser("check", help="tell whether a world file can be built", allow_abbrev=False)
    for command in (serve, check):
        command.add_argument("world", type=Path, metavar="WORLD.toml", help="the world file")
    serve.add_argument("--port", type=_port, default=0, help="the port of the proxy (default: a free one)")
    serve.add_argument("--ca-folder", type=Path, metavar="DIR", help="where to write ca.pem (default: a temporary one)")
    serve.add_argument("--json", action="store_true", help="tell everything in one line of JSON")
    serve.add_argument("-v", "--verbose", action="store_true", help="print each request to stderr as it comes")
    return parser


def _port(text: str) -> int:
    if not text.isdigit() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"expected a port, 0 to 65535, got {text!r}")
    return int(text)


def _contents(world: World) -> str:
    """How much there is of everything, what each Gerrit comes with included."""
    numbers = {"host": len(world.hosts)}
    for thing in ("plugin", "account", "project", "change"):
        numbers[thing] = sum(len(getattr(host, f"{thing}s")) for host in world.hosts)
    numbers["fault"] = len(world.faults)
    return ", ".join(f"{number} {thing if number == 1 else f'{thing}s'}" for thing, number in numbers.items())


async def _serve(world: World, options: argparse.Namespace) -> None:
    over = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, over.set)
    async with AsyncExitStack() as stack:
        folder = options.ca_folder or Path(stack.enter_context(TemporaryDirectory(prefix="mock-gerrit-")))
        told = await _open(stack, world, authority=_authority(folder), port=options.port)
        if options.verbose:
            world.journal.listen(_print_entry)
        text = json.dumps(told) + "\n" if options.json else as_text(told)
        print(text, end="", flush=True)
        await over.wait()
    print(f"\nStopped after {len(world.journal)} requests.", file=sys.stderr)


def _authority(folder: Path) -> CertificateAuthority:
    try:
        return CertificateAuthority(folder)
    except OSError as refused:
        raise UsageError(f"--ca-folder {folder}: expected a folder to write ca.pem to: {refused.strerror}") from refused


async def _open(stack: AsyncExitStack, world: World, *, authority: CertificateAuthority, port: int) -> Announcement:
    """Start the proxy and, for each host, its own port."""
    try:
        gateway = await stack.enter_async_context(Gateway(world, authority=authority, port=port))
    except OSError as refused:
        if refused.errno not in {errno.EADDRINUSE, errno.EACCES}:
            raise
        why = "in use" if refused.errno == errno.EADDRINUSE else "not ours to take"
        remedy = "give --port another one, or leave it out for a free one"
        raise UsageError(f"port {port} of 127.0.0.1 is {why}: {remedy}") from refused
    hosts = []
    for host in world.hosts:
        loopback = await stack.enter_async_context(Loopback(world, host, authority=authority))
        hosts.append((host, loopback.url))
    return announce(proxy=gateway.proxy_url, ca=str(authority.pem), environment=gateway.environment(), hosts=hosts)


def _print_entry(entry: Entry) -> None:
    print(entry, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
