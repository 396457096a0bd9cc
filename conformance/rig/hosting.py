"""What runs in the child: the host, the extension loaded into it, and the facts told on the way.

The host's own loader does the loading. Around it stand observers that tell what only the process itself can know: how
the import ended, what `register` is and what it gave back, which tools appeared, what was handed to
`requires_plugin`.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import io
import json
import os
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conformance.subject import ENTRY_POINT_GROUP
from conformance.wire.client import LATEST_STATEFUL_VERSION

if TYPE_CHECKING:
    from conformance.rig.channel import Channel


EARLY = ("anyio._backends._asyncio", "gerrit_mcp_server.extensions", "gerrit_mcp_server.plugin_registry")
"""Modules that every child would otherwise import for itself, at its first use of them."""

HELLO = {"capabilities": {}, "clientInfo": {"name": "rehearsal", "version": "1"}}

_ENTRY_POINTS: dict[str, str | None] = {}
"""What `entry_points.txt` holds in each metadata folder of an installed distribution, or None where there is none."""
_ADVERTISING: set[str] = set()
"""Those of the folders that advertise extensions."""


class _Remembered(importlib.metadata.PathDistribution):
    """A distribution whose entry points have been read before the fork: a host reads those of all, in every child."""

    def read_text(self, filename: str | os.PathLike[str]) -> str | None:
        """Give what the file holds, or None where it is not there."""
        if filename == "entry_points.txt":
            return _ENTRY_POINTS[str(self._path)]
        return super().read_text(filename)


def warm() -> Any:  # noqa: ANN401 - the application of the reference host
    """Fill the warm process, before any fork: the SDK's imports and the core tools are what costs time."""
    from conformance.rig import clock, declared, watchers  # noqa: F401, PLC0415 - loaded here so that no child loads them
    from reference_server import factory, names  # noqa: PLC0415 - in the warm process only

    names.install()
    declared.remember()
    for name in EARLY:
        importlib.import_module(name)
    for found in importlib.metadata.distributions():
        if isinstance(path := getattr(found, "_path", None), Path):
            _ENTRY_POINTS[str(path)] = found.read_text("entry_points.txt")
            if any(one.group == ENTRY_POINT_GROUP for one in found.entry_points):
                _ADVERTISING.add(str(path))
    _rehearse()
    return factory.build()


def _rehearse() -> None:
    """Play a session on an empty server of its own, so that what the SDK makes at first use is made before the fork.

    It compiles its validators lazily; a child would do that again for every trial.
    """
    import anyio  # noqa: PLC0415 - in the warm process only

    from reference_server import sdk, streams  # noqa: PLC0415 - likewise

    asked: list[dict[str, Any]] = [
        {"id": 1, "method": "initialize", "params": {**HELLO, "protocolVersion": LATEST_STATEFUL_VERSION}},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/list", "params": {}},
    ]
    lines = b"".join(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n" for message in asked)
    server = sdk.new_server("rehearsal", instructions="")
    anyio.run(sdk.serve_stdio, server, streams.Lines(io.BytesIO(lines)), streams.Messages(io.BytesIO()))


def serve(payload: dict[str, Any], channel: Channel) -> None:
    """Load the subject into the host and serve it until the client goes away.

    `payload`: `modules` (names), `import_path` (folders, searched first), `metadata` (the subject's `.dist-info` or
    null; with one, undeclared dependencies are not importable), `host` (null, or `module:callable` of a factory),
    `instructions` (what else to do or to watch, by name; empty in most trials).
    """
    from conformance.rig.watchers import Watchers  # noqa: PLC0415 - already loaded by `warm`

    search_first(payload["import_path"])
    _leave_out_others(payload["metadata"])
    channel.tell("phase", name="import")
    application = _on_its_clock(payload, channel)
    if payload["metadata"]:
        from conformance.rig.declared import refuse_undeclared  # noqa: PLC0415 - already loaded by `warm`

        refuse_undeclared(payload["metadata"], payload["host"])
    watchers = Watchers(channel, payload, application, build=lambda: _another_application(payload["host"], channel))
    for name in payload["modules"]:
        if not _import(name, channel):
            channel.tell("phase", name="end")
            return
        watchers.imported(name)
    channel.tell("phase", name="register")
    watchers.before_loading()
    application.load()
    watchers.after_loading()
    channel.tell("phase", name="calls")
    channel.tell("loaded")
    application.serve_stdio(channel.protocol_in, channel.protocol_out)
    channel.tell("phase", name="end")


def _on_its_clock(payload: dict[str, Any], channel: Channel) -> Any:  # noqa: ANN401 - the application of any host
    """Give the application, on a clock that can be put forward where the trial asks for one."""
    from conformance.rig import clock  # noqa: PLC0415 - already loaded by `warm`

    if clock.INSTRUCTION not in payload["instructions"]:
        return _application(payload["host"], channel)
    places = clock.install(channel)
    application = _application(payload["host"], channel)
    clock.reach(application.context.plugin_registry, places)
    return application


def _application(factory: str | None, channel: Channel) -> Any:  # noqa: ANN401 - the application of whichever host
    """Take the host that was built before the fork, or have the named factory build one."""
    if factory is None:
        return channel.preloaded["conformance.rig.hosting:warm"]
    return built_by(factory)


def search_first(folders: Sequence[str]) -> None:
    """Have imports look in these folders before all others, and afresh: a fork knows what its parent has seen there."""
    sys.path[:0] = folders
    for folder in folders:  # of all others, what the warm process knows is checked by their times
        sys.path_importer_cache.pop(folder, None)


def built_by(factory: str) -> Any:  # noqa: ANN401 - whatever it builds
    """Give what the factory `module:callable` builds; the callable is `build` where it is left out."""
    module, _, attribute = factory.partition(":")
    return getattr(importlib.import_module(module), attribute or "build")()


def _another_application(factory: str | None, channel: Channel) -> Any:  # noqa: ANN401 - as above
    """Build a second host beside the first, in the same way."""
    if factory is not None:
        return _application(factory, channel)
    from reference_server.factory import build  # noqa: PLC0415 - already loaded by `warm`

    return build()


def _leave_out_others(metadata: str | None) -> None:
    """Let the host find the subject's entry points and nobody else's."""
    hidden = _ADVERTISING - {metadata}
    finder = importlib.metadata.MetadataPathFinder
    find: Callable[..., Iterable[importlib.metadata.Distribution]] = finder.find_distributions

    def found(*arguments: Any, **options: Any) -> Iterator[importlib.metadata.Distribution]:  # noqa: ANN401 - passed on
        for one in find(*arguments, **options):
            path = str(getattr(one, "_path", ""))
            if path not in hidden:
                yield _Remembered(Path(path)) if path in _ENTRY_POINTS else one

    # The hook that every look-up of the loader goes through.
    finder.find_distributions = found  # type: ignore[method-assign,assignment]


def _import(name: str, channel: Channel) -> bool:
    """Import the module and tell how that ended; False where there is no point in going on."""
    channel.tell("importing", module=name)
    try:
        importlib.import_module(name)
    except BaseException as problem:  # noqa: BLE001 - whatever a stranger's module raises is the fact to tell
        channel.tell("import_failed", module=name, unfound=_unfound(name, problem), **raised(problem))
        return False
    channel.tell("imported", module=name)
    return True


def _unfound(name: str, problem: BaseException) -> bool:
    """Tell whether there is no module of that name, as opposed to one that fails to import something else."""
    missing = problem.name if isinstance(problem, ModuleNotFoundError) else None
    return missing is not None and f"{name}.".startswith(f"{missing}.")


def raised(problem: BaseException) -> dict[str, str]:
    """Put an exception into words that can be sent: its type, its text, its traceback without our own frames."""
    from conformance.rig.declared import why_missing  # noqa: PLC0415 - already loaded by `warm`

    ours = os.path.dirname(__file__)  # noqa: PTH120 - compared with frame file names, which are strings
    frames = [
        one for one in traceback.extract_tb(problem.__traceback__) if not one.filename.startswith((ours, "<frozen"))
    ]
    try:
        text = f"{problem}{why_missing(problem)}"
    except Exception as worse:  # noqa: BLE001 - a stranger's __str__
        text = f"(its text cannot be shown: {type(worse).__name__})"
    where = traceback.format_list(frames[-6:])
    kind = type(problem)
    return {
        "type": kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}",
        "text": text[:4000],
        "traceback": "".join(where)[:8000],
        "bases": " ".join(base.__name__ for base in kind.__mro__),
    }
