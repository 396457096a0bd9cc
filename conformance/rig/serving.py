"""What runs in the child that is a server under test, where a factory builds it and no program has to be started."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from conformance.rig.hosting import built_by, search_first

if TYPE_CHECKING:
    from conformance.rig.channel import Channel


def serve(payload: dict[str, Any], channel: Channel) -> int | None:
    """Be a server on the process's own stdin and stdout, until they end.

    What a factory gives is started as the reference server's command starts its own; a factory that serves by itself
    gives nothing, or an exit code.

    `payload`: `import_path` (folders, searched first), `factory` (`module:callable`), or `arguments` of the reference
    server's own command.
    """
    del channel  # a server under test tells nothing but what it tells an operator
    search_first(payload["import_path"])
    if "arguments" in payload:
        return _reference(payload["arguments"])
    application = built_by(payload["factory"])
    if application is None or isinstance(application, int):
        return application
    from reference_server.streams import own_standard_streams  # noqa: PLC0415 - in the child only

    with own_standard_streams() as (stdin, stdout):
        application.load()
        application.serve_stdio(stdin, stdout)
    return None


def _reference(arguments: list[str]) -> int | None:
    """Do what the reference server's command does."""
    from reference_server import cli  # noqa: PLC0415 - in the child only

    return cli.main(arguments)
