"""The oracle itself: what it takes for a difference, what it sets aside, and what it knows of the pushed commits."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from mock_gerrit.exchange import Response
from tests.mock_gerrit import coverage_table, replay
from tests.mock_gerrit.comparison import Names, compare, without_what_varies
from tests.mock_gerrit.coverage_table import Table
from tests.mock_gerrit.recorded_pushes import COMMITS
from tests.mock_gerrit.recordings import Recorded, scenario, scenario_names

SHA, OTHER, THIRD = "a" * 40, "b" * 40, "c" * 40


def recorded(body: Any, *, status: int = 200, content_type: str = "application/json;charset=utf-8") -> Recorded:
    answer: dict[str, Any] = {"status": status, "headers": {"Content-Type": content_type}}
    if isinstance(body, str):
        answer["body"] = body
    else:
        answer |= {"json": body, "body": ""}
    return Recorded(
        scenario="made-up", index=0, step="made up", user="ada", request={}, response=answer, push=None, file=None
    )


def ours(body: Any, *, status: int = 200, content_type: str = "application/json;charset=utf-8") -> Response:
    text = body if isinstance(body, str | bytes) else f")]}}'\n{json.dumps(body)}\n"
    data = text if isinstance(text, bytes) else text.encode()
    return Response(status=status, reason="", headers=(("content-type", content_type),), body=data)


def differences(theirs: Any, own: Any, *varies: str, names: Names | None = None) -> list[str]:
    found = compare(recorded(theirs), ours(own), names or Names(), varies)
    return [difference.where for difference in found]


def test_equal_answers_do_not_differ() -> None:
    assert differences({"a": [1, "x", None]}, {"a": [1, "x", None]}) == []


def test_status_content_type_and_text_are_compared() -> None:
    theirs = recorded("Not found: x\n", status=404, content_type="text/plain;charset=utf-8")
    found = compare(theirs, ours("Not Found", content_type="text/html"), Names(), ())
    assert [difference.where for difference in found] == ["status", "Content-Type", "body"]


@pytest.mark.parametrize(
    ("own", "where"),
    [
        ({"a": 2, "b": {"c": 1}}, ["body.a"]),
        ({"a": True, "b": {"c": 1}}, ["body.a"]),
        ({"b": {"c": 1}}, ["body.a"]),
        ({"a": 1, "b": {"c": 1}, "d": 1}, ["body.d"]),
        ({"a": 1, "b": {"c": "1"}}, ["body.b.c"]),
    ],
)
def test_a_difference_is_told_where_it_is(own: Any, where: list[str]) -> None:
    assert differences({"a": 1, "b": {"c": 1}}, own) == where


def test_json_without_the_prefix_differs() -> None:
    assert [item.where for item in compare(recorded({}), ours("{}"), Names(), ())] == ["body"]


def test_moments_are_set_aside_and_their_form_is_not() -> None:
    assert differences({"at": "2026-11-30 14:17:11.000000000"}, {"at": "2031-01-01 00:00:00.123000000"}) == []
    assert differences({"at": "2026-11-30 14:17:11.000000000"}, {"at": "2026-11-30T14:17:11"}) == ["body.at"]


def test_a_hash_stands_for_another_as_long_as_it_does_so_everywhere() -> None:
    assert differences({"one": SHA, "two": SHA}, {"one": OTHER, "two": OTHER}) == []
    assert differences({"one": SHA, "two": SHA}, {"one": OTHER, "two": THIRD}) == ["body.two"]


def test_maps_by_hash_are_compared_by_patch_set() -> None:
    theirs = {SHA: {"_number": 1, "x": "one"}, OTHER: {"_number": 2, "x": "two"}}
    assert differences(theirs, {THIRD: {"_number": 2, "x": "two"}, "d" * 40: {"_number": 1, "x": "one"}}) == []


def test_what_is_known_to_vary_is_compared_by_its_kind() -> None:
    assert differences({"delay": 3}, {"delay": 9}, "body.delay") == []
    assert differences({"delay": 3}, {"delay": "9"}, "body.delay") == ["body.delay"]


def test_lists_that_are_sets_may_come_in_any_order() -> None:
    assert differences({"hashtags": ["a", "b"]}, {"hashtags": ["b", "a"]}) == []
    assert differences({"parents": ["a", "b"]}, {"parents": ["b", "a"]}) == ["body.parents[0]", "body.parents[1]"]


def changes(*facts: tuple[int, str]) -> list[dict[str, Any]]:
    return [{"_number": number, "updated": f"2026-11-30 14:17:{second}.000000000"} for number, second in facts]


def test_changes_of_the_same_second_may_change_places_and_no_others() -> None:
    theirs = changes((1, "09"), (2, "09"), (3, "05"))
    assert differences(theirs, changes((2, "09"), (1, "09"), (3, "05"))) == []
    assert "body[0]._number" in differences(theirs, changes((3, "09"), (1, "09"), (2, "05")))


def test_archives_are_compared_by_their_members() -> None:
    def archive(content: str, date: tuple[int, int, int, int, int, int]) -> bytes:
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w") as made:
            made.writestr(zipfile.ZipInfo("a.txt", date), content)
        return file.getvalue()

    theirs = recorded("")
    theirs.__dict__["response_body"] = archive("x", (2026, 1, 1, 0, 0, 0))
    assert compare(theirs, ours(archive("x", (2030, 1, 1, 0, 0, 0))), Names(), ()) == []
    assert [item.where for item in compare(theirs, ours(archive("y", (2026, 1, 1, 0, 0, 0))), Names(), ())] == ["body"]


def test_what_was_learnt_is_used_for_the_requests_that_follow() -> None:
    names = Names()
    differences({"commit": SHA, "id": "21d07751_27acb79d"}, {"commit": OTHER, "id": "00000000_00000001"}, names=names)
    assert names.translate(f"/changes/2/revisions/{SHA}/comments/21d07751_27acb79d") == (
        f"/changes/2/revisions/{OTHER}/comments/00000000_00000001"
    )
    assert names.translate("/changes/2/revisions/aaaaaaa/commit") == "/changes/2/revisions/bbbbbbb/commit"


def test_numbers_and_account_ids_are_no_abbreviated_hashes() -> None:
    assert without_what_varies("<GERRIT_ACCOUNT_1000002> index 1bb6c74") == "<GERRIT_ACCOUNT_1000002> index <short sha>"


def _files_answers() -> list[tuple[int, dict[str, Any]]]:
    """The files of the current patch set of changes, as recorded before later scenarios changed them."""
    found = []
    for name in ("11-change-read", "12-files"):
        for step in scenario(name).steps:
            parts = step.target.removeprefix("/a").split("/")
            if step.status == 200 and parts[3:] == ["revisions", "current", "files"]:
                found.append((int(parts[2]), step.response["json"]))
    return found


def test_the_pushed_files_have_the_recorded_hashes() -> None:
    pushed: dict[tuple[str, str], set[str]] = {}
    for commit in COMMITS.values():
        for path, content in commit.files.items():
            blob = b"blob %d\0%s" % (len(content or b""), content or b"")
            pushed.setdefault((commit.change_id, path), set()).add(hashlib.sha1(blob).hexdigest())
    ids = {number: info["change_id"] for number, info in _details().items()}
    for number, files in _files_answers():
        for path, info in files.items():
            if (ids[number], path) in pushed and "new_sha" in info:
                assert info["new_sha"] in pushed[ids[number], path], f"change {number}: {path}"


def _details() -> dict[int, dict[str, Any]]:
    steps = scenario("11-change-read").steps
    answers = [step.response.get("json") for step in steps if step.status == 200]
    return {info["_number"]: info for info in answers if isinstance(info, dict) and "change_id" in info}


def test_every_push_that_was_taken_is_described() -> None:
    for name in scenario_names():
        for step in scenario(name).steps:
            if step.push and not step.push["exit"] and step.push["ref"].startswith("refs/for/"):
                fresh = [line[:7] for line in step.push["commits"] if not line.startswith("1bb6c74")]
                assert set(fresh) <= COMMITS.keys(), f"{name} {step.name}"


def test_the_command_prints_a_line_for_each_scenario(capsys: pytest.CaptureFixture[str]) -> None:
    replay.main([])
    printed = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in printed] == list(scenario_names())


def test_the_command_shows_what_differs(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    [difference] = compare(recorded({"a": 1}), ours({"a": 2}), Names(), ())
    differing = replay.Outcome(step=recorded({"a": 1}), verdict="differs", differences=(difference,))
    monkeypatch.setattr(replay, "outcomes", lambda: {"01-server": (differing,)})
    replay.main(["01-server", "--show"])
    assert "body.a: recorded 1, ours 2" in capsys.readouterr().out


def test_the_table_only_tightens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coverage_table, "FILE", tmp_path / "recordings.toml")
    table = Table(identical={"a": 5}, differs={"a": {"1 x": "known", "2 y": "gone"}})
    table.tighten("a", 4, ["1 x", "3 z"], None)
    table.write()
    assert Table.read() == Table(identical={"a": 5}, differs={"a": {"1 x": "known"}})
    table.tighten("a", 6, ["1 x", "3 z"], 'not "simulated"')
    table.write()
    assert Table.read() == Table(identical={"a": 6}, differs={"a": {"1 x": "known", "3 z": 'not "simulated"'}})
