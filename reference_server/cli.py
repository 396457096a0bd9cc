"""The command `gerrit-mcp-reference`."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Sequence
from typing import NoReturn

USAGE_ERROR = 4
"""The exit code for what the user can mend: configuration, address, arguments."""

INTERRUPTED = 130
"""The exit code after SIGINT or SIGTERM."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Returns:
        0 after a clean end, 4 for a configuration, address or argument that cannot be used, 130 when interrupted.
    """
    options = _parser().parse_args(arguments)
    # A shell that starts this in the background may have SIGINT ignored, and both signals are to end it alike.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, _as_interrupt)
    try:
        return _serve(options)
    except KeyboardInterrupt:
        return INTERRUPTED


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        self.exit(USAGE_ERROR, f"{self.prog}: {message}\n")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="gerrit-mcp-reference", description="A Gerrit MCP server, over stdio or streamable HTTP.")
    parser.add_argument("transport", nargs="?", choices=["stdio"], help="serve stdio; streamable HTTP where left out")
    parser.add_argument("--host", default="localhost", help="address to listen on (default: %(default)s)")
    port = "port to listen on; 0 takes a free one (default: %(default)s)"
    parser.add_argument("--port", type=_port, default=6322, metavar="PORT", help=port)
    return parser


def _port(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"expected a port from 0 to 65535, saw {text!r}")
    return int(text)


def _serve(options: argparse.Namespace) -> int:
    from reference_server import serving  # noqa: PLC0415 - `--help` and a wrong option need no SDK
    from reference_server.errors import ConfigError  # noqa: PLC0415 - as above

    try:
        if options.transport == "stdio":
            serving.serve_stdio()
        else:
            serving.serve_http(options.host, options.port)
    except ConfigError as problem:
        sys.stderr.write(f"gerrit-mcp-reference: {problem}\n")
        return USAGE_ERROR
    return 0


def _as_interrupt(*_: object) -> None:
    signal.raise_signal(signal.SIGINT)


if __name__ == "__main__":
    sys.exit(main())
