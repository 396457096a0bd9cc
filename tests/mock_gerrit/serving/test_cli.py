"""The command: what it prints, how it ends, and what it says about mistakes."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
from contextlib import contextmanager

import pytest

from mock_gerrit.serving.cli import main
from tests.mock_gerrit.serving.clients import curl

WORLD = """
[[hosts]]
name = "review-a"
url = "https://review-a.example.com"
internal_url = "https://inside.example.com"
plugins = [{ id = "weather", version = "v1", disabled = true }]

[[hosts.accounts]]
username = "alice"
password = "alice-secret"
cookie = "o=alice"

[[hosts]]
url = "https://review-b.example.com/r"
"""


@pytest.fixture
def world_file(tmp_path):
    path = tmp_path / "world.toml"
    path.write_text(WORLD)
    return str(path)


@contextmanager
def serving(*arguments):
    """The command in a process of its own, ended with Ctrl-C."""
    command = [sys.executable, "-W", "error", "-m", "mock_gerrit.serving.cli", "serve", *arguments]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment, start_new_session=True
    ) as process:
        try:
            yield process
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGINT)


def read_until(stream, pattern):
    text = ""
    for line in stream:
        text += line
        if re.search(pattern, line):
            return text
    raise AssertionError(f"expected a line like {pattern!r}, got {text!r}")


async def test_serve_tells_everything_needed_and_ends_cleanly_with_ctrl_c(world_file):
    with serving(world_file, "-v") as process:
        text = read_until(process.stdout, "^Try: ")
        environment = dict(re.findall(r"export (\w+)=(\S*)", text.replace("''", "")))
        reply = await curl(environment, "--user", "alice:alice-secret", "https://review-a.example.com/a/changes/")
        assert reply.status == 200, reply.complaint
        url = re.search(r"here +(https://127\.0\.0\.1:\d+/r)", text)[1]
        assert (await curl({"CURL_CA_BUNDLE": environment["CURL_CA_BUNDLE"]}, f"{url}/changes/")).status == 200
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=20)
    assert process.returncode == 0
    assert "weather v1 (disabled)" in text
    assert "alice:alice-secret (cookie o=alice)" in text
    assert "inside    https://inside.example.com" in text
    assert "Try: curl --user alice:alice-secret https://review-a.example.com/a/changes/" in text
    assert "GET https://review-a.example.com/a/changes/ as alice: 200" in errors
    assert "Stopped after 2 requests." in errors
    assert "Traceback" not in errors


def test_serve_tells_machines_in_one_line_of_json(world_file, tmp_path):
    with serving(world_file, "--json", "--ca-folder", str(tmp_path)) as process:
        told = json.loads(process.stdout.readline())
    assert [host["name"] for host in told["hosts"]] == ["review-a", "review-b.example.com"]
    assert told["hosts"][0]["accounts"][1] == {
        "username": "alice",
        "password": "alice-secret",
        "cookie": "o=alice",
        "admin": False,
    }
    assert told["ca"] == told["environment"]["CURL_CA_BUNDLE"] == str(tmp_path / "ca.pem")
    assert told["proxy"] == told["environment"]["https_proxy"]


def test_a_port_in_use_is_told_with_the_remedy(world_file, capsys):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert main(["serve", world_file, "--port", str(port)]) == 4
    assert f"port {port} of 127.0.0.1 is in use: give --port another one" in capsys.readouterr().err


def test_a_folder_that_cannot_be_written_to_is_told(world_file, tmp_path, capsys):
    assert main(["serve", world_file, "--ca-folder", str(tmp_path / "missing")]) == 4
    assert "expected a folder to write ca.pem to: No such file or directory" in capsys.readouterr().err


def test_check_counts_what_there_is(world_file, capsys):
    assert main(["check", world_file]) == 0
    assert "world.toml: 2 hosts, 1 plugin, 3 accounts, " in capsys.readouterr().out


def test_a_mistake_in_the_world_is_one_message_and_exit_code_4(tmp_path, capsys):
    path = tmp_path / "w.toml"
    path.write_text('[[hosts]]\nur = "https://a"\n')
    assert main(["check", str(path)]) == 4
    error = capsys.readouterr().err
    assert error.startswith(f"mock-gerrit: {path}:2: hosts[0] has no key 'ur' (did you mean 'url'?)")
    assert len(error.splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["serv"], "(did you mean 'serve'?)"),
        (["serve", "w.toml", "--prot", "1"], "(did you mean '--port'?)"),
        (["serve", "w.toml", "--port", "x"], "expected a port, 0 to 65535, got 'x'"),
        ([], "required: serve|check"),
    ],
)
def test_a_mistyped_command_line_is_told_and_exits_4(arguments, expected, capsys):
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 4
    assert expected in capsys.readouterr().err
