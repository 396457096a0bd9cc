"""What happens to a change: review, submit, revert, states, reviewers, drafts."""

from __future__ import annotations

from typing import Any

import pytest

from mock_gerrit.host import Host
from tests.mock_gerrit.plugin_asking import a_host, ask, refusal, told


@pytest.fixture
def host() -> Host:
    host = a_host()
    host.change("demo", subject="First", files={"a.py": "one\ntwo\n"})
    return host


def post(host: Host, path: str, body: Any = None, user: str = "alice") -> Any:
    return ask(host, path, method="POST", body={} if body is None else body, user=user)


def review(host: Host, body: Any, user: str = "bob", number: int = 1) -> Any:
    return told(post(host, f"/changes/{number}/revisions/current/review", body, user))


def detail(host: Host, number: int = 1) -> dict[str, Any]:
    return told(ask(host, f"/changes/{number}/detail", user="admin"))


class TestReview:
    def test_a_vote_moves_the_label_and_writes_a_message(self, host: Host) -> None:
        assert review(host, {"labels": {"Code-Review": 2}})["labels"] == {"Code-Review": 2}
        shown = detail(host)
        assert shown["labels"]["Code-Review"]["approved"]["username"] == "bob"
        assert shown["messages"][-1]["message"] == "Patch Set 1: Code-Review+2"
        assert [who["username"] for who in shown["reviewers"]["REVIEWER"]] == ["bob"]

    def test_a_vote_the_label_does_not_have_is_dropped_without_a_word(self, host: Host) -> None:
        assert review(host, {"labels": {"Code-Review": 5, "Nosuch": 1}})["labels"] == {}
        assert host.changes[1].votes == {}

    def test_the_owner_is_asked_to_act_when_somebody_replies(self, host: Host) -> None:
        review(host, {"message": "Hm"})
        assert [entry["account"]["username"] for entry in detail(host)["attention_set"].values()] == ["alice"]

    def test_who_only_speaks_is_kept_informed(self, host: Host) -> None:
        review(host, {"message": "Hm"})
        assert [who["username"] for who in detail(host)["reviewers"]["CC"]] == ["bob"]

    def test_comments_are_counted_and_stay_with_their_file(self, host: Host) -> None:
        review(host, {"comments": {"a.py": [{"line": 1, "message": "Why?", "unresolved": True}]}})
        comments = told(ask(host, "/changes/1/comments"))
        assert [(item["line"], item["message"]) for item in comments["a.py"]] == [(1, "Why?")]
        assert detail(host)["unresolved_comment_count"] == 1

    def test_a_reply_resolves_a_thread(self, host: Host) -> None:
        review(host, {"comments": {"a.py": [{"line": 1, "message": "Why?", "unresolved": True}]}})
        thread = told(ask(host, "/changes/1/comments"))["a.py"][0]["id"]
        reply = {"in_reply_to": thread, "message": "Done", "unresolved": False}
        review(host, {"comments": {"a.py": [reply]}}, user="alice")
        assert detail(host)["unresolved_comment_count"] == 0

    def test_a_comment_on_a_file_that_is_not_there_is_refused(self, host: Host) -> None:
        body = {"comments": {"b.py": [{"message": "x"}]}}
        assert refusal(post(host, "/changes/1/revisions/current/review", body)) == (
            400,
            "file b.py not found in revision 1,1",
        )

    def test_a_vote_on_an_old_patch_set_does_not_count_for_the_current_one(self, host: Host) -> None:
        host.patch_set(host.changes[1], files={"b.py": "x"})
        told(post(host, "/changes/1/revisions/1/review", {"labels": {"Code-Review": 2}}, "bob"))
        assert host.changes[1].votes == {}
        assert detail(host)["messages"][-1]["message"] == "Patch Set 1: Code-Review+2"

    def test_an_abandoned_change_takes_no_votes(self, host: Host) -> None:
        post(host, "/changes/1/abandon")
        body = {"labels": {"Code-Review": 1}}
        assert refusal(post(host, "/changes/1/revisions/current/review", body, "bob")) == (409, "change is closed")


class TestDrafts:
    PATH = "/changes/1/revisions/current/drafts"

    def put(self, host: Host, body: dict[str, Any], user: str = "bob") -> dict[str, Any]:
        response = ask(host, self.PATH, method="PUT", body=body, user=user)
        assert response.status == 201
        return told(response)

    def test_a_draft_is_for_its_author_alone(self, host: Host) -> None:
        self.put(host, {"path": "a.py", "line": 1, "message": "Hm"})
        assert [item["message"] for item in told(ask(host, self.PATH, user="bob"))["a.py"]] == ["Hm"]
        assert told(ask(host, self.PATH)) == {}

    def test_publishing_turns_all_drafts_into_comments(self, host: Host) -> None:
        self.put(host, {"path": "a.py", "line": 1, "message": "Hm"})
        host.patch_set(host.changes[1], files={"b.py": "x"})
        self.put(host, {"path": "b.py", "line": 1, "message": "Oh"})
        review(host, {"drafts": "PUBLISH_ALL_REVISIONS"})
        assert set(told(ask(host, "/changes/1/comments"))) == {"a.py", "b.py"}
        assert told(ask(host, self.PATH, user="bob")) == {}
        assert detail(host)["messages"][-1]["message"] == "Patch Set 2:\n\n(2 comments)"

    def test_kept_drafts_stay(self, host: Host) -> None:
        self.put(host, {"path": "a.py", "message": "Hm"})
        review(host, {"message": "x", "drafts": "KEEP"})
        assert set(told(ask(host, self.PATH, user="bob"))) == {"a.py"}

    def test_a_deleted_draft_is_gone(self, host: Host) -> None:
        id_ = self.put(host, {"path": "a.py", "message": "Hm"})["id"]
        assert ask(host, f"{self.PATH}/{id_}", method="DELETE", user="bob").status == 204
        assert ask(host, f"{self.PATH}/{id_}", user="bob").status == 404

    def test_a_draft_without_a_message_is_refused(self, host: Host) -> None:
        response = ask(host, self.PATH, method="PUT", body={"path": "a.py", "message": " "})
        assert refusal(response) == (400, "message must be non-empty")


class TestSubmit:
    def test_an_unapproved_change_is_not_ready(self, host: Host) -> None:
        status, text = refusal(post(host, "/changes/1/submit"))
        assert status == 409
        assert text.endswith("Change 1 is not ready: submit requirement 'Code-Review' is unsatisfied.")

    def test_an_approved_change_is_merged(self, host: Host) -> None:
        review(host, {"labels": {"Code-Review": 2}})
        assert told(post(host, "/changes/1/submit"))["status"] == "MERGED"
        assert "a.py" in host.repository("demo").files(host.repository("demo").branch("master"))
        assert refusal(post(host, "/changes/1/submit")) == (409, "change is merged")

    def test_a_chain_goes_together(self, host: Host) -> None:
        host.change("demo", subject="Second", files={"b.py": "x"}, parent=host.changes[1])
        listed = told(ask(host, "/changes/2/submitted_together"))
        assert [change["_number"] for change in listed] == [2, 1]
        for number in (1, 2):
            review(host, {"labels": {"Code-Review": 2}}, number=number)
        told(post(host, "/changes/2/submit"))
        assert {change.status for change in host.changes.values()} == {"MERGED"}
        assert host.changes[1].submission_id == host.changes[2].submission_id

    def test_an_unready_parent_is_named(self, host: Host) -> None:
        host.change("demo", files={"b.py": "x"}, parent=host.changes[1], votes={"Code-Review": 2})
        assert (
            "Change 2 must be submitted with change 1 but 1 is not ready" in refusal(post(host, "/changes/2/submit"))[1]
        )

    def test_two_sides_are_merged_line_by_line(self) -> None:
        host = a_host()
        host.project("text", files={"a.txt": "1\n2\n3\n4\n5\n"})
        for change, content in ((1, "one\n2\n3\n4\n5\n"), (2, "1\n2\n3\n4\nfive\n")):
            host.change("text", files={"a.txt": content}, votes={"Code-Review": 2}, number=change)
        for number in (1, 2):
            told(post(host, f"/changes/{number}/submit"))
        repository = host.repository("text")
        tip = repository.branch("master") or ""
        assert repository.content(repository.files(tip)["a.txt"]) == b"one\n2\n3\n4\nfive\n"
        assert len(repository.facts(tip).parents) == 2

    def test_a_path_conflict_is_refused_and_changes_nothing(self) -> None:
        host = a_host()
        host.project("text", files={"a.txt": "1\n"})
        for content in ("one\n", "eins\n"):
            host.change("text", files={"a.txt": content}, votes={"Code-Review": 2})
        told(post(host, "/changes/1/submit"))
        tip = host.repository("text").branch("master")
        assert "path conflict" in refusal(post(host, "/changes/2/submit"))[1]
        assert host.repository("text").branch("master") == tip
        assert host.changes[2].status == "NEW"


class TestRevert:
    @pytest.fixture(autouse=True)
    def merged(self, host: Host) -> None:
        host.change("demo", subject="Second", files={"b.py": "x\n"}, status="MERGED")

    def test_a_revert_takes_the_files_back(self, host: Host) -> None:
        made = told(post(host, "/changes/2/revert"))
        assert (made["subject"], made["revert_of"]) == ('Revert "Second"', 2)
        assert "b.py" not in host.repository("demo").files(host.changes[made["_number"]].current.commit)
        assert told(ask(host, f"/changes/{made['_number']}/pure_revert")) == {"is_pure_revert": True}

    def test_a_message_of_ones_own_is_the_commit_message(self, host: Host) -> None:
        assert told(post(host, "/changes/2/revert", {"message": "Undo it\n\nBecause."}))["subject"] == "Undo it"

    def test_an_open_change_cannot_be_reverted(self, host: Host) -> None:
        assert refusal(post(host, "/changes/1/revert")) == (409, "change is new")
        assert refusal(post(host, "/changes/1/revert_submission")) == (409, "change is new.")

    def test_a_submission_is_reverted_as_a_whole(self, host: Host) -> None:
        first = host.change("demo", files={"c": "1\n"}, votes={"Code-Review": 2})
        host.change("demo", files={"d": "2\n"}, votes={"Code-Review": 2}, parent=first)
        told(post(host, "/changes/4/submit"))
        made = told(post(host, "/changes/3/revert_submission"))["revert_changes"]
        assert [change["revert_of"] for change in made] == [3, 4]
        assert len({change["topic"] for change in made}) == 1


class TestStates:
    def test_abandon_and_restore(self, host: Host) -> None:
        assert told(post(host, "/changes/1/abandon", {"message": "Enough"}))["status"] == "ABANDONED"
        assert detail(host)["messages"][-1]["message"] == "Abandoned\n\nEnough"
        assert refusal(post(host, "/changes/1/abandon")) == (409, "change is abandoned")
        assert told(post(host, "/changes/1/restore"))["status"] == "NEW"

    def test_only_the_owner_and_administrators_may_abandon(self, host: Host) -> None:
        assert refusal(post(host, "/changes/1/abandon", user="bob")) == (403, "abandon not permitted")
        assert post(host, "/changes/1/abandon", user="admin").status == 200

    def test_work_in_progress_and_ready(self, host: Host) -> None:
        assert told(post(host, "/changes/1/wip")) == ""
        assert detail(host)["work_in_progress"] is True
        assert refusal(post(host, "/changes/1/wip")) == (409, "change is already work in progress")
        assert told(post(host, "/changes/1/ready")) == ""
        assert refusal(post(host, "/changes/1/ready")) == (409, "change is not work in progress")

    def test_a_private_change_is_hidden_from_others(self, host: Host) -> None:
        assert post(host, "/changes/1/private").status == 201
        assert post(host, "/changes/1/private").status == 200
        assert refusal(ask(host, "/changes/1", user="bob")) == (404, "Not found: 1")
        assert ask(host, "/changes/1/private", method="DELETE").status == 204
        assert ask(host, "/changes/1", user="bob").status == 200

    def test_a_topic_is_set_changed_and_removed(self, host: Host) -> None:
        for topic, said in (
            ("one", "Topic set to one"),
            ("two", "Topic changed from one to two"),
            ("", "Topic two removed"),
        ):
            ask(host, "/changes/1/topic", method="PUT", body={"topic": topic})
            assert detail(host)["messages"][-1]["message"] == said
        assert ask(host, "/changes/1/topic", method="DELETE").status == 204


class TestReviewers:
    PATH = "/changes/1/reviewers"

    def test_a_reviewer_is_added_once(self, host: Host) -> None:
        added = told(post(host, self.PATH, {"reviewer": "bob"}))
        assert added["reviewers"][0]["approvals"] == {"Code-Review": " 0"}
        assert told(post(host, self.PATH, {"reviewer": "bob"})) == {"input": "bob", "reviewers": []}

    def test_somebody_unknown_is_refused_with_json(self, host: Host) -> None:
        response = post(host, self.PATH, {"reviewer": "nobody"})
        assert response.status == 400
        assert b"nobody does not identify a registered user or group" in response.body
        assert response.body.startswith(b")]}'")

    def test_a_reviewer_becomes_a_cc_and_leaves(self, host: Host) -> None:
        post(host, self.PATH, {"reviewer": "bob"})
        assert "ccs" in told(post(host, self.PATH, {"reviewer": "bob", "state": "CC"}))
        assert ask(host, f"{self.PATH}/bob", method="DELETE").status == 204
        assert told(ask(host, self.PATH)) == []

    def test_reviewers_are_suggested_by_the_beginning_of_their_names(self, host: Host) -> None:
        found = told(ask(host, "/changes/1/suggest_reviewers?q=bo"))
        assert [entry["account"]["username"] for entry in found] == ["bob"]


class TestCreate:
    def test_a_change_is_made_without_files(self, host: Host) -> None:
        response = post(host, "/changes/", {"project": "demo", "branch": "master", "subject": "New", "topic": "t"})
        assert response.status == 201
        made = told(response)
        assert (made["subject"], made["topic"], made["insertions"]) == ("New", "t", 0)
        assert told(ask(host, f"/changes/{made['_number']}/revisions/current/commit"))["subject"] == "New"

    @pytest.mark.parametrize(
        ("body", "refused"),
        [
            ({"branch": "master", "subject": "x"}, (400, "project must be non-empty")),
            ({"project": "demo", "subject": "x"}, (400, "branch must be non-empty")),
            ({"project": "demo", "branch": "master"}, (400, "commit message must be non-empty")),
            ({"project": "nosuch", "branch": "master", "subject": "x"}, (422, "Project Not Found: nosuch")),
            (
                {"project": "demo", "branch": "nosuch", "subject": "x"},
                (400, "Destination branch does not exist refs/heads/nosuch"),
            ),
        ],
    )
    def test_what_is_missing_is_named(self, host: Host, body: dict[str, str], refused: tuple[int, str]) -> None:
        assert refusal(post(host, "/changes/", body)) == refused


class TestMoves:
    @pytest.fixture
    def moved(self, host: Host) -> Host:
        host.change("demo", subject="Goes in", files={"b.py": "x\n"}, votes={"Code-Review": 2})
        told(post(host, "/changes/2/submit"))
        return host

    def test_a_rebase_puts_the_change_on_the_tip(self, moved: Host) -> None:
        assert told(post(moved, "/changes/1/rebase"))["current_revision_number"] == 2
        repository = moved.repository("demo")
        commit = moved.changes[1].current.commit
        assert repository.facts(commit).parents == (repository.branch("master"),)
        assert set(repository.files(commit)) == {"a.py", "b.py"}
        assert refusal(post(moved, "/changes/1/rebase")) == (409, "Change is already up to date.")

    def test_a_rebase_that_does_not_fit_names_the_files(self, moved: Host) -> None:
        clash = moved.change("demo", parent=moved.changes[1], files={"b.py": "y\n"})
        status, text = refusal(post(moved, f"/changes/{clash.number}/rebase", {"base": ""}))
        assert status == 409
        assert text.endswith("merge conflict(s):\n* b.py")

    def test_a_child_is_rebased_on_the_latest_of_its_parent(self, moved: Host) -> None:
        moved.change("demo", parent=moved.changes[1], files={"c.py": "z\n"})
        told(post(moved, "/changes/1/rebase"))
        told(post(moved, "/changes/3/rebase"))
        parents = moved.repository("demo").facts(moved.changes[3].current.commit).parents
        assert parents == (moved.changes[1].current.commit,)

    def test_a_cherry_pick_brings_the_change_to_another_branch(self, host: Host) -> None:
        host.repository("demo").refs["refs/heads/stable"] = host.repository("demo").refs["refs/heads/master"]
        made = told(post(host, "/changes/1/revisions/current/cherrypick", {"destination": "stable"}))
        assert (made["branch"], made["cherry_pick_of_change"], made["change_id"]) == (
            "stable",
            1,
            host.changes[1].change_id,
        )

    def test_a_cherry_pick_needs_a_branch_that_is_there(self, host: Host) -> None:
        path = "/changes/1/revisions/current/cherrypick"
        assert refusal(post(host, path)) == (400, "destination must be non-empty")
        refused = refusal(post(host, path, {"destination": "nosuch"}))
        assert refused == (400, "Branch refs/heads/nosuch does not exist.")
