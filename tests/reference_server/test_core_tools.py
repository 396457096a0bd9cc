"""The core tools against a simulated Gerrit with a real name and a context path, through its proxy."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from mock_gerrit.changes import Change
from mock_gerrit.entities import Account
from mock_gerrit.host import Host
from mock_gerrit.serving.authority import CertificateAuthority
from mock_gerrit.serving.gateway import Gateway
from mock_gerrit.world import World
from reference_server.errors import GerritError
from reference_server.tools import changes, comments, files, lifecycle, queries, reviewers
from reference_server.tools.catalogue import READING, WRITING

from .conftest import Configure
from .stdio_client import StdioClient, text_of

PASSWORD = "ada-secret"


@dataclass(frozen=True, kw_only=True)
class Review:
    """A host with one open change of Ada's."""

    world: World
    host: Host
    ada: Account
    change: Change

    @property
    def id(self) -> str:
        return str(self.change.number)


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> CertificateAuthority:
    return CertificateAuthority(tmp_path_factory.mktemp("authority"))


@pytest.fixture
async def review(
    authority: CertificateAuthority, configure: Configure, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Review]:
    world = World()
    host = world.host("https://review.example.com/r", internal_url="https://review.internal/r", name="review")
    ada = host.account("ada", http_password=PASSWORD)
    bob = host.account("bob")
    host.project("demo", files={"deep/er/file.py": "one\n"})
    change = host.change(
        "demo",
        owner=ada,
        message="Fix a thing\n\nBug: 123, b/456\nFixes: 123\n",
        files={"deep/er/file.py": "two\n", "new file.txt": "new\n"},
        topic="kitchen",
        reviewers=(bob,),
        votes={"Code-Review": {"bob": 1}},
        comments=({"path": "deep/er/file.py", "line": 1, "message": "why?", "author": "bob", "unresolved": True},),
    )
    authentication = {"type": "http_basic", "username": "ada", "auth_token": PASSWORD}
    urls = {"external_url": "https://review.example.com/r/", "internal_url": "https://review.internal/r"}
    configure({"name": "review", **urls, "authentication": authentication})
    async with Gateway(world, authority=authority) as gateway:
        monkeypatch.setenv("https_proxy", gateway.proxy_url)
        monkeypatch.setenv("CURL_CA_BUNDLE", str(Path(gateway.authority.pem)))
        yield Review(world=world, host=host, ada=ada, change=change)
    assert not gateway.refused
    assert not [entry for entry in world.journal if entry.unsimulated], "every path is one that the simulation knows"
    assert {entry.user for entry in world.journal} <= {"ada"}


async def test_a_query_finds_changes_and_tells_when_there_are_more(review: Review) -> None:
    review.host.change("demo", owner=review.ada, subject="Another")
    found = await queries.query_changes("status:open owner:self", limit=1)
    assert found["more_changes"]
    everything = await queries.query_changes('project:demo -subject:"a thing"')
    assert len(everything["changes"]) == 1
    (summary,) = (await queries.query_changes(f"change:{review.id}"))["changes"]
    assert (summary["subject"], summary["topic"], summary["status"]) == ("Fix a thing", "kitchen", "NEW")
    assert summary["owner"]["name"] == "Ada"


async def test_changes_are_found_by_date_project_message_and_state(review: Review) -> None:
    found = await queries.query_changes_by_date_and_filters(
        start_date="2020-01-01", end_date="2100-01-01", project="demo", message_substring="a thing", status="open"
    )
    assert [change["number"] for change in found["changes"]] == [review.change.number]
    earlier = await queries.query_changes_by_date_and_filters(start_date="2000-01-01", end_date="2001-01-01")
    assert earlier == {"changes": [], "more_changes": False}


async def test_the_most_recent_change_of_somebody_may_not_exist(review: Review) -> None:
    mine = await queries.get_most_recent_cl("ada")
    assert mine["change"] is not None
    assert mine["change"]["number"] == review.change.number
    assert await queries.get_most_recent_cl("bob") == {"change": None}


async def test_a_query_that_gerrit_refuses_is_an_error_with_its_words(review: Review) -> None:
    with pytest.raises(GerritError, match="400"):
        await queries.query_changes("nonsense:operator")


async def test_details_tell_of_people_votes_and_messages(review: Review) -> None:
    details = await changes.get_change_details(review.id)
    assert [person["name"] for person in details["reviewers"]] == ["Bob"]
    vote = next(label for label in details["labels"] if label["name"] == "Code-Review")
    assert vote["votes"] == {"bob@example.com": 1}
    assert details["messages"]
    unreviewed = review.host.change("demo", owner=review.ada)
    assert (await changes.get_change_details(str(unreviewed.number)))["reviewers"] == []


@pytest.mark.parametrize(
    "form",
    ["review.example.com/r", "https://review.example.com/r/a/", "http://review.internal/r", "review.internal/r/"],
)
async def test_any_form_of_the_hosts_url_reaches_it(review: Review, form: str) -> None:
    assert (await changes.get_commit_message(review.id, form))["subject"] == "Fix a thing"


async def test_the_message_and_the_bugs_in_it_are_read(review: Review) -> None:
    message = await changes.get_commit_message(review.id)
    assert message["subject"] == "Fix a thing"
    assert "Change-Id" in message["footers"]
    assert await changes.get_bugs_from_cl(review.id) == {"bugs": ["123", "456"]}


async def test_a_lone_change_is_submitted_with_nothing_else(review: Review) -> None:
    assert await changes.changes_submitted_together(review.id) == {"changes": [], "non_visible_changes": 0}


async def test_the_files_and_their_diffs_are_read_whatever_they_are_called(review: Review) -> None:
    listed = {file["path"]: file for file in (await files.list_change_files(review.id))["files"]}
    assert listed["new file.txt"]["status"] == "A"
    assert (listed["deep/er/file.py"]["lines_inserted"], listed["deep/er/file.py"]["lines_deleted"]) == (1, 1)
    for path, line in [("deep/er/file.py", "+two"), ("new file.txt", "+new")]:
        assert line in (await files.get_file_diff(review.id, path))["diff"]


@pytest.mark.parametrize(
    "hostile", ["a/../../x", '"quoted"', "new\nline", "#cut", "[1-3]", "{a,b}", "--output", "@file"]
)
async def test_a_hostile_id_stays_one_segment_of_one_request(review: Review, hostile: str) -> None:
    with pytest.raises(GerritError):
        await changes.get_change_details(hostile)
    (entry,) = list(review.world.journal)
    assert entry.gerrit_path.count("/") == 3
    assert entry.gerrit_path.startswith("/changes/")
    assert entry.gerrit_path.endswith("/detail")


async def test_published_comments_and_drafts_are_kept_apart(review: Review) -> None:
    (published,) = (await comments.list_change_comments(review.id))["comments"]
    assert (published["path"], published["line"], published["message"]) == ("deep/er/file.py", 1, "why?")
    assert published["unresolved"]
    draft = await comments.post_draft_comment(review.id, file_path="deep/er/file.py", message="hm", line_number=1)
    assert (await comments.list_draft_comments(review.id))["comments"][0]["id"] == draft["id"]
    assert await comments.delete_draft_comment(review.id, draft["id"]) == {"deleted": [draft["id"]]}
    assert await comments.list_draft_comments(review.id) == {"comments": []}


async def test_all_drafts_go_at_once_or_are_published_at_once(review: Review) -> None:
    for message in ("one", "two"):
        await comments.post_draft_comment(review.id, file_path="deep/er/file.py", message=message)
    assert len((await comments.delete_draft_comments(review.id))["deleted"]) == 2
    await comments.post_draft_comment(review.id, file_path="deep/er/file.py", message="three")
    await comments.publish_drafts(review.id, message="there")
    messages = [comment["message"] for comment in (await comments.list_change_comments(review.id))["comments"]]
    assert "three" in messages
    assert await comments.list_draft_comments(review.id) == {"comments": []}


async def test_a_review_tells_the_votes_that_gerrit_took(review: Review) -> None:
    posted = await comments.post_review_comment(
        review.id, file_path="deep/er/file.py", message="ok", line_number=1, labels={"Code-Review": 1}
    )
    assert posted == {"change_id": review.id, "votes": {"Code-Review": 1}}


async def test_reviewers_are_suggested_and_added(review: Review) -> None:
    carol = review.host.account("carol")
    suggested = await reviewers.suggest_reviewers(review.id, query="car")
    assert suggested["suggestions"][0]["person"] == {"account_id": carol.id, "name": "Carol", "email": carol.email}
    added = await reviewers.add_reviewer(review.id, "carol", "CC")
    assert [person["name"] for person in added["ccs"]] == ["Carol"]
    with pytest.raises(GerritError, match="nobody-here"):
        await reviewers.add_reviewer(review.id, "nobody-here")


async def test_a_change_is_created_and_goes_through_its_states(review: Review) -> None:
    created = await lifecycle.create_change(project="demo", subject="From here", branch="master", topic="t")
    number = str(created["number"])
    assert created["topic"] == "t"
    assert (await lifecycle.set_work_in_progress(number, "not yet"))["outcome"] == "work in progress"
    assert (await lifecycle.set_ready_for_review(number))["outcome"] == "ready for review"
    with pytest.raises(GerritError, match="409"):
        await lifecycle.set_ready_for_review(number)
    assert "new" in (await lifecycle.set_topic(number, "new"))["outcome"]
    assert (await lifecycle.set_topic(number, ""))["outcome"] == "topic removed"
    assert (await lifecycle.abandon_change(number, "no"))["status"] == "ABANDONED"
    with pytest.raises(GerritError, match="409"):
        await lifecycle.abandon_change(number)


async def test_merged_changes_are_reverted(review: Review) -> None:
    merged = review.host.change("demo", owner=review.ada, status="MERGED", files={"x": "1"}, topic="both")
    reverted = await lifecycle.revert_change(str(merged.number), "It broke the build")
    assert (reverted["subject"], reverted["status"]) == ("It broke the build", "NEW")
    submission = await lifecycle.revert_submission(str(merged.number))
    assert submission["changes"]


async def test_every_core_tool_answers_over_the_wire_with_what_its_schema_says(review: Review) -> None:
    merged = review.host.change("demo", owner=review.ada, status="MERGED", files={"x": "1"})
    this, file = {"change_id": review.id}, {"file_path": "deep/er/file.py", "message": "m"}
    calls: dict[str, dict[str, Any]] = {
        "query_changes": {"query": "status:open"},
        "query_changes_by_date_and_filters": {"start_date": "2020-01-01", "end_date": "2100-01-01"},
        "get_most_recent_cl": {"user": "self"},
        "get_file_diff": {**this, "file_path": "deep/er/file.py"},
        "suggest_reviewers": {**this, "query": "bo"},
        "add_reviewer": {**this, "reviewer": "bob"},
        "create_change": {"project": "demo", "subject": "s", "branch": "master"},
        "set_topic": {**this, "topic": "x"},
        "post_draft_comment": {**this, **file},
        "post_review_comment": {**this, **file},
        "revert_change": {"change_id": str(merged.number)},
        "revert_submission": {"change_id": str(merged.number)},
    }
    last = ["set_ready_for_review", "delete_draft_comment", "publish_drafts", "abandon_change"]
    order = [name for name in (tool.__name__ for tool in (*READING, *WRITING)) if name not in last] + last
    async with StdioClient() as client:
        tools = await client.tools()
        for name in order:
            if name == "delete_draft_comment":
                draft = await client.call("post_draft_comment", **this, **file)
                calls[name] = {**this, "draft_id": draft["structuredContent"]["id"]}
            reply = await client.call(name, **calls.get(name, this))
            assert not reply.get("isError"), f"{name}: {text_of(reply)}"
            jsonschema.validate(reply["structuredContent"], tools[name]["outputSchema"])
