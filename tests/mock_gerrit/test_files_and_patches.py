"""Files, diffs and patches, derived from real git objects."""

from __future__ import annotations

import base64
import shutil
import subprocess
from pathlib import Path

import pytest

from mock_gerrit.exchange import Response
from mock_gerrit.host import Host
from mock_gerrit.world import World
from tests.mock_gerrit.plugin_asking import ask, refusal, told

BEFORE = "".join(f"line {number}\n" for number in range(1, 31))


@pytest.fixture
def host() -> Host:
    host = World().host("https://review.example.com")
    host.account("alice", http_password="alice-pw")
    host.project(
        "demo", files={"a.txt": BEFORE, "gone.txt": "x\n", "old name.txt": BEFORE + "b\n", "logo.bin": b"\0\1"}
    )
    after = BEFORE.replace("line 3\n", "line three\n").replace("line 25\n", "")
    host.change(
        "demo",
        subject="Touch everything",
        files={
            "a.txt": after,
            "gone.txt": None,
            "old name.txt": None,
            "new ä.txt": BEFORE + "b\nc\n",
            "logo.bin": b"\0\2",
            "dir/no-newline": "last",
        },
    )
    return host


FILES = "/changes/1/revisions/current/files"


def sent(response: Response) -> bytes:
    return base64.b64decode(response.body)


def test_every_kind_of_change_to_a_file_is_listed(host: Host) -> None:
    files = told(ask(host, f"{FILES}/"))
    assert {path: info.get("status", "M") for path, info in files.items()} == {
        "/COMMIT_MSG": "A",
        "a.txt": "M",
        "dir/no-newline": "A",
        "gone.txt": "D",
        "logo.bin": "M",
        "new ä.txt": "R",
    }
    assert (files["a.txt"]["lines_inserted"], files["a.txt"]["lines_deleted"]) == (1, 2)
    assert files["new ä.txt"]["old_path"] == "old name.txt"
    assert files["logo.bin"]["binary"] is True


def test_a_diff_has_the_lines_of_both_sides(host: Host) -> None:
    content = told(ask(host, f"{FILES}/a.txt/diff"))["content"]
    assert [sorted(part) for part in content] == [["ab"], ["a", "b"], ["ab"], ["a"], ["ab"]]
    assert content[1] == {"a": ["line 3"], "b": ["line three"]}


def test_the_diff_of_a_file_that_is_not_there_is_empty(host: Host) -> None:
    assert told(ask(host, f"{FILES}/nosuch/diff")) == {"change_type": "MODIFIED", "content": []}


def test_content_is_base64_with_its_type_in_a_header(host: Host) -> None:
    response = ask(host, f"{FILES}/dir%2Fno-newline/content")
    assert sent(response) == b"last"
    assert ("X-FYI-Content-Encoding", "base64") in response.headers


def test_a_path_with_a_plain_slash_is_not_found(host: Host) -> None:
    assert refusal(ask(host, f"{FILES}/dir/no-newline/content"))[0] == 404


def test_a_file_that_is_not_touched_has_no_patch(host: Host) -> None:
    assert refusal(ask(host, "/changes/1/revisions/current/patch?path=nosuch")) == (404, "File not found: nosuch.")


@pytest.mark.skipif(shutil.which("git") is None, reason="compares with git, which is not installed")
def test_git_applies_the_patch_and_gets_the_same_tree(host: Host, tmp_path: Path) -> None:
    repository = host.repository("demo")
    commit = host.changes[1].current.commit
    parent = repository.facts(commit).parents[0]
    for path, entry in repository.files(parent).items():
        (tmp_path / path).write_bytes(repository.content(entry))
    patch = sent(ask(host, "/changes/1/revisions/current/patch"))
    text_only = b"diff --git".join(
        part for part in patch.split(b"diff --git") if b"Binary files differ" not in part
    )  # git cannot apply those either
    subprocess.run(["git", "init", "-q", "."], cwd=tmp_path, check=True)
    subprocess.run(["git", "apply", "-"], cwd=tmp_path, input=text_only, check=True)
    for path, entry in repository.files(commit).items():
        if path != "logo.bin":
            assert (tmp_path / path).read_bytes() == repository.content(entry)
    assert not (tmp_path / "gone.txt").exists()


def test_the_commit_message_of_a_change_tells_its_footers(host: Host) -> None:
    message = told(ask(host, "/changes/1/message"))
    assert message["subject"] == "Touch everything"
    assert message["footers"] == {"Change-Id": host.changes[1].change_id}
