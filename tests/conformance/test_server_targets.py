"""What names a server on the command line, and what is said of what names none."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from conformance.targets import resolve_target
from conformance.usage import UsageError


def test_a_command_is_found_on_path_and_taken_apart_as_a_shell_would(tmp_path: Path) -> None:
    subject = resolve_target("stdio:sh -c 'exec my server'", cwd=tmp_path)
    assert subject.kind == "server"
    assert subject.name == "sh"
    assert subject.command[1:] == ("-c", "exec my server")
    assert Path(subject.command[0]).is_absolute()
    assert subject.sha256(), "it is known by the program's content"


def test_a_path_starts_from_the_folder_of_the_caller(tmp_path: Path) -> None:
    (tmp_path / "serve").write_text("#!/bin/sh\n")
    (tmp_path / "serve").chmod(0o755)
    assert resolve_target("stdio:./serve stdio", cwd=tmp_path).command == (str(tmp_path / "serve"), "stdio")


def test_a_factory_is_found_without_importing_it(tmp_path: Path) -> None:
    (tmp_path / "my_server.py").write_text("raise SystemExit('imported')\n")
    subject = resolve_target("factory:my_server", cwd=tmp_path)
    assert (subject.factory, subject.name) == ("my_server:build", "my_server")
    assert subject.import_path == (tmp_path,)
    assert "my_server" not in sys.modules


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("stdio:", ["names no command", "say stdio:"]),
        ("stdio:no-such-server stdio", ["there is no program no-such-server", "in no folder of PATH"]),
        ("stdio:./missing", ["there is no program ./missing", "check the path"]),
        ("stdio:./plain", ["./plain cannot be executed", "chmod +x"]),
        ("stdio:'my server", ["is no command line", "No closing quotation"]),
        ("factory:no_such_module:build", ["there is no module no_such_module", "PYTHONPATH"]),
        ("factory:my-server", ["names no factory", "factory:MODULE:CALLABLE"]),
        ("https://review.example.com/mcp", ["no server that can be started here", "http://127.0.0.1:PORT/mcp"]),
    ],
)
def test_what_names_no_server_is_one_message_that_says_what_was_tried(
    tmp_path: Path, target: str, said: list[str]
) -> None:
    (tmp_path / "plain").touch()
    with pytest.raises(UsageError) as problem:
        resolve_target(target, cwd=tmp_path)
    for part in said:
        assert part in str(problem.value)
