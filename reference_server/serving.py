"""What the command does once its arguments are understood."""

from __future__ import annotations

import sys

from reference_server import names
from reference_server.errors import ConfigError
from reference_server.factory import Application, build
from reference_server.gerrit import hosts
from reference_server.streamable_http import listen
from reference_server.streams import own_standard_streams


def serve_stdio() -> None:
    """Serve on stdin and stdout, which nothing else in the process can reach from before the extensions load.

    Raises:
        ConfigError: the configuration cannot be used.
    """
    _check_configuration()
    with own_standard_streams() as (stdin, stdout):
        _loaded().serve_stdio(stdin, stdout)


def serve_http(host: str, port: int) -> None:
    """Serve streamable HTTP, and tell on stderr where.

    Raises:
        ConfigError: the configuration or the address cannot be used.
    """
    _check_configuration()
    try:
        listening = listen(host, port)
    except OSError as problem:
        raise ConfigError(f"cannot listen on {host}:{port}: {problem.strerror}; choose another --port") from None
    application = _loaded()
    sys.stderr.write(f"listening on http://{host}:{listening.getsockname()[1]}/mcp\n")
    sys.stderr.flush()
    application.serve_http(host, port, listening)


def _loaded() -> Application:
    names.install()
    application = build()
    application.load()
    return application


def _check_configuration() -> None:
    known = hosts()
    if known.configuration.default_gerrit_base_url:
        known.default()
