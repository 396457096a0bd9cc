"""The command `gerrit-mcp-reference`."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Sequence
from typing import NoReturn

from reference_server.errors import ConfigError

USAGE_ERROR = 4
"""The exit code for what the user can mend: configuration, address, arguments."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        self.exit(USAGE_ERROR, f"{self.prog}: {message}\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Returns:
        0 after a clean end, 4 for a configuration, address or argument that cannot be used, 130 when interrupted.
    """
    options = _parser().parse_args(arguments)
    signal.signal(signal.SIGTERM, _end)
    try:
        _check_configuration()
        if options.transport == "stdio":
            _serve_stdio()
        else:
            _serve_http(options.host, options.port)
    except ConfigError as problem:
        return _complain(str(problem))
    except KeyboardInterrupt:
        return 130
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="gerrit-mcp-reference", description="A Gerrit MCP server, over stdio or streamable HTTP.")
    parser.add_argument("transport", nargs="?", choices=["stdio"], help="serve stdio; streamable HTTP where left out")
    parser.add_argument("--host", default="localhost", help="address to listen on (default: %(default)s)")
    parser.add_argument(
        "--port", type=int, default=6322, help="port to listen on; 0 takes a free one (default: %(default)s)"
    )
    return parser


def _check_configuration() -> None:
    from reference_server.gerrit import hosts  # noqa: PLC0415 - `--help` needs none of this

    known = hosts()
    if known.configuration.default_gerrit_base_url:
        known.default()


def _serve_stdio() -> None:
    from reference_server import names  # noqa: PLC0415 - as above
    from reference_server.factory import build  # noqa: PLC0415
    from reference_server.streams import own_standard_streams  # noqa: PLC0415

    with own_standard_streams() as (stdin, stdout):
        names.install()
        application = build()
        application.load()
        application.serve_stdio(stdin, stdout)


def _serve_http(host: str, port: int) -> None:
    from reference_server import names  # noqa: PLC0415 - as above
    from reference_server.factory import build  # noqa: PLC0415
    from reference_server.streamable_http import listen  # noqa: PLC0415

    try:
        listening = listen(host, port)
    except OSError as problem:
        raise ConfigError(f"cannot listen on {host}:{port}: {problem.strerror}; choose another --port") from None
    names.install()
    application = build()
    application.load()
    sys.stderr.write(f"listening on http://{host}:{listening.getsockname()[1]}/mcp\n")
    sys.stderr.flush()
    application.serve_http(host, port, listening)


def _end(*_: object) -> NoReturn:
    raise KeyboardInterrupt


def _complain(message: str) -> int:
    sys.stderr.write(f"gerrit-mcp-reference: {message}\n")
    return USAGE_ERROR


if __name__ == "__main__":
    sys.exit(main())
