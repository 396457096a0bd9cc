"""The forms of a `--conformance` value that name a server: a command, a URL, or what builds one in Python."""

from __future__ import annotations

import importlib.machinery
import os
import shlex
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

from conformance.subject import Subject
from conformance.usage import UsageError

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


def resolve_server(text: str, *, cwd: Path, path: Sequence[str]) -> Subject:
    """Find out which server `text` names; nothing of it is started.

    Args:
        text: `stdio:COMMAND`, a URL, or `factory:MODULE:CALLABLE`; the callable is `build` where it is left out.
        cwd: the folder from which a program with a relative path is found.
        path: where the module of a factory is looked for.

    Raises:
        UsageError: there is no such program or module; the message tells what was tried.
    """
    kind, _, rest = text.partition(":")
    if kind in {"http", "https"}:
        return _address(text)
    return _command(rest, text, cwd) if kind == "stdio" else _factory(rest, text, path)


def _address(text: str) -> Subject:
    parts = urlsplit(text)
    try:
        port = parts.port
    except ValueError:
        port = -1
    if parts.scheme != "http" or parts.hostname not in LOOPBACK or port == -1:
        raise UsageError(
            f"{text} is no server that can be started here",
            "each look at a server starts it anew, among simulated Gerrit hosts and cut off from any network",
            "give its loopback address, http://127.0.0.1:PORT/mcp, and its command in the profile",
        )
    return Subject(target=text, kind="server", name=f"{parts.hostname}{parts.path}", url=text)


def with_command(subject: Subject, command: str, cwd: Path) -> Subject:
    """Give a server with what starts it, which for one at a URL stands in the profile.

    Raises:
        UsageError: there is none, or no such program.
    """
    if not subject.url or subject.command:
        return subject
    if not command:
        raise UsageError(
            f"nobody knows how to start the server at {subject.url}",
            "each look at it starts it anew",
            'say command = "my-server --port {port}" in [tool.gerrit-conformance.server]',
        )
    started = _command(command, f"command = {command!r} of the profile", cwd)
    return replace(subject, name=started.name, command=started.command, content=started.content)


def _command(rest: str, text: str, cwd: Path) -> Subject:
    try:
        words = shlex.split(rest)
    except ValueError as problem:
        raise UsageError(f"{text} is no command line", str(problem), "write it as you would for a shell") from None
    if not words:
        raise UsageError(f"{text} names no command", "nothing follows stdio:", 'say stdio:"my-server stdio"')
    program = _program(words[0], cwd)
    return Subject(
        target=text, kind="server", name=program.name, command=(str(program), *words[1:]), content=(program,)
    )


def _program(word: str, cwd: Path) -> Path:
    """Find the program as a shell would: by its path, else on PATH."""
    if os.sep in word:
        found = (cwd / word).absolute()
        if not found.is_file():
            raise UsageError(f"there is no program {word}", f"{found} is no file", "check the path")
        if not os.access(found, os.X_OK):
            raise UsageError(f"{word} cannot be executed", f"{found} is not executable", f"say chmod +x {word}")
        return found
    named = shutil.which(word)
    if named is None:
        raise UsageError(
            f"there is no program {word}", "it is in no folder of PATH", "install it, or give the path of the program"
        )
    return Path(named).absolute()


def _factory(rest: str, text: str, path: Sequence[str]) -> Subject:
    module, _, attribute = rest.partition(":")
    if not module or not all(part.isidentifier() for part in (*module.split("."), attribute or "build")):
        raise UsageError(f"{text} names no factory", "expected factory:MODULE:CALLABLE", "say factory:my_server:build")
    top = module.partition(".")[0]
    spec = importlib.machinery.PathFinder.find_spec(top, [one or "." for one in path])
    if spec is None:
        raise UsageError(
            f"there is no module {top} for {text}",
            "it was looked for on sys.path, PYTHONPATH and in the current folder",
            "install it, or set PYTHONPATH",
        )
    places = [Path(one) for one in spec.submodule_search_locations or ()] or [Path(str(spec.origin))]
    return Subject(
        target=text, kind="server", name=module, factory=f"{module}:{attribute or 'build'}",
        import_path=(places[0].resolve().parent,), content=tuple(places),
    )  # fmt: skip
