"""The simulated code-owners plugin: who owns a path, and who has approved it."""

from __future__ import annotations

from typing import Any

import pytest

from mock_gerrit.host import Host
from mock_gerrit.plugins.code_owners.owners import ownership, read_owners
from tests.mock_gerrit.plugin_asking import a_host, ask, refusal, told

OWNERS = {
    "OWNERS": "alice@example.com\nbob@example.com # everything\n",
    "docs/OWNERS": "set noparent\ncarol@example.com\nper-file *.css = bob@example.com\n",
    "README.md": "Hello\n",
    "docs/guide.md": "How\n",
}


def host_with_owners() -> Host:
    """A host whose project `owned` has `OWNERS` files; nobody owns anything else."""
    host = a_host("code-owners")
    host.projects["All-Projects"].settings.pop("code-owners.config")
    host.account("carol", http_password="carol-pw")
    host.project("owned", files=OWNERS)
    return host


def a_change(host: Host, *paths: str, **facts: Any) -> int:
    files = {path: f"changed {path}\n" for path in paths}
    return host.change("owned", owner="alice", files=files, **facts).number


def statuses(host: Host, number: int, options: str = "") -> dict[str, str]:
    found = told(ask(host, f"/changes/{number}/code_owners.status{options}"))["file_code_owner_statuses"]
    sides = [
        status for file in found for status in (file.get("old_path_status"), file.get("new_path_status")) if status
    ]
    return {side["path"]: side["status"] for side in sides}


def owners(host: Host, target: str) -> list[int]:
    return [owner["account"]["_account_id"] for owner in told(ask(host, target))["code_owners"]]


def id_of(host: Host, name: str) -> int:
    return host.account_of(name).id


def test_on_a_fresh_host_every_file_of_a_change_has_owners() -> None:
    host = a_host("code-owners")
    host.change("demo", owner="alice", files={"a.py": "x"})
    host.change("demo", owner="alice", files={"a.py": "y"}, reviewers=("bob",))
    assert statuses(host, 1) == {"a.py": "INSUFFICIENT_REVIEWERS"}
    assert statuses(host, 2) == {"a.py": "PENDING"}
    answer = told(ask(host, "/changes/1/revisions/current/code_owners/a.py"))
    assert answer["owned_by_all_users"] is True
    assert id_of(host, "bob") in [owner["account"]["_account_id"] for owner in answer["code_owners"]]


def test_a_file_is_pending_once_an_owner_reviews_and_approved_once_one_votes() -> None:
    host = host_with_owners()
    unasked = a_change(host, "README.md")
    asked = a_change(host, "README.md", reviewers=("bob",))
    approved = a_change(host, "README.md", votes={"Code-Review": {"bob": 1}})
    disliked = a_change(host, "README.md", votes={"Code-Review": {"bob": -1}})
    assert [statuses(host, number)["README.md"] for number in (unasked, asked, approved, disliked)] == [
        "INSUFFICIENT_REVIEWERS",
        "PENDING",
        "APPROVED",
        "PENDING",
    ]


def test_the_vote_of_somebody_who_owns_another_folder_does_not_count() -> None:
    host = host_with_owners()
    number = a_change(host, "README.md", "docs/guide.md", votes={"Code-Review": {"bob": 2}})
    assert statuses(host, number) == {"README.md": "APPROVED", "docs/guide.md": "INSUFFICIENT_REVIEWERS"}


def test_the_reason_names_the_owner_by_account() -> None:
    host = host_with_owners()
    number = a_change(host, "README.md", votes={"Code-Review": {"bob": 2}})
    answer = told(ask(host, f"/changes/{number}/code-owners~code_owners.status"))
    bob = id_of(host, "bob")
    [file] = answer["file_code_owner_statuses"]
    assert file["new_path_status"]["reasons"] == [f"approved by <GERRIT_ACCOUNT_{bob}> who is a code owner"]
    assert answer["accounts"][str(bob)]["email"] == "bob@example.com"


def test_added_and_deleted_files_are_told_apart() -> None:
    host = host_with_owners()
    number = host.change("owned", owner="alice", files={"new.txt": "x", "README.md": None}).number
    deleted, added = told(ask(host, f"/changes/{number}/code_owners.status"))["file_code_owner_statuses"]
    assert (deleted["change_type"], deleted["old_path_status"]["path"]) == ("DELETED", "README.md")
    assert (added["change_type"], added["new_path_status"]["path"]) == ("ADDED", "new.txt")


@pytest.mark.parametrize(
    ("options", "paths", "more"),
    [
        ("?n=2", ["a", "b"], True),
        ("?limit=2&start=2", ["c", "d"], False),
        ("?S=1", ["b", "c", "d"], False),
        ("?n=0", ["a", "b", "c", "d"], False),
        ("?start=99", [], False),
    ],
)
def test_the_files_come_in_pages(options: str, paths: list[str], more: bool) -> None:
    host = host_with_owners()
    number = a_change(host, "a", "b", "c", "d")
    assert list(statuses(host, number, options)) == paths
    assert told(ask(host, f"/changes/{number}/code_owners.status{options}")).get("more", False) is more


def test_the_nearest_owners_come_first_and_the_change_owner_is_left_out() -> None:
    host = host_with_owners()
    number = a_change(host, "README.md", "docs/guide.md")
    assert owners(host, f"/changes/{number}/revisions/current/code_owners/README.md") == [id_of(host, "bob")]
    assert owners(host, f"/changes/{number}/revisions/1/code_owners/docs%2Fguide.md") == [id_of(host, "carol")]


def test_a_path_of_a_branch_need_not_exist() -> None:
    host = host_with_owners()
    found = owners(host, "/projects/owned/branches/master/code_owners/src%2Fnew.py")
    assert found == [id_of(host, "alice"), id_of(host, "bob")]


def test_a_nested_path_must_be_encoded() -> None:
    host = host_with_owners()
    number = a_change(host, "docs/guide.md")
    in_change = ask(host, f"/changes/{number}/revisions/current/code_owners/docs/guide.md")
    in_branch = ask(host, "/projects/owned/branches/master/code_owners/docs/guide.md")
    assert refusal(in_change) == (404, "Not found: docs")
    assert refusal(in_branch) == (404, "Not found: guide.md")
    assert (in_change.unsimulated, in_branch.unsimulated) == (None, None), "this is how the real plugin answers"


def test_a_path_that_the_change_does_not_touch_answers_404() -> None:
    host = host_with_owners()
    number = a_change(host, "README.md")
    answer = ask(host, f"/changes/{number}/revisions/current/code_owners/nosuch.txt")
    assert refusal(answer) == (404, "Not found: nosuch.txt")


def test_details_of_owners_are_told_when_asked_for() -> None:
    host = host_with_owners()
    answer = told(ask(host, "/projects/owned/branches/master/code_owners/docs%2Fguide.md?o=DETAILS"))
    assert answer["code_owners"][0]["account"]["email"] == "carol@example.com"
    assert answer["code_owner_configs"] == [{"project": "owned", "branch": "refs/heads/master", "path": "/docs/OWNERS"}]


@pytest.mark.parametrize(
    ("options", "answer"),
    [
        ("o=ALL_EMAILS", (403, "view secondary emails not permitted")),
        ("debug=true", (403, "checkCodeOwner for plugin code-owners not permitted")),
        ("o=NOSUCH", (400, '"NOSUCH" is not a valid value for "-o"')),
        ("S=1", (400, '"-S" is not a valid option')),
    ],
)
def test_what_may_not_be_asked_of_owners_is_refused(options: str, answer: tuple[int, str]) -> None:
    host = host_with_owners()
    assert refusal(ask(host, f"/projects/owned/branches/master/code_owners/README.md?{options}")) == answer


def check(host: Host, query: str, user: str = "admin") -> Any:
    return told(ask(host, f"/projects/owned/branches/master/code_owners.check?{query}", user=user))


def test_the_check_says_whether_and_why_somebody_owns_a_path() -> None:
    answer = check(host_with_owners(), "email=carol@example.com&path=docs/guide.md")
    assert answer["is_code_owner"] is True
    assert answer["annotations"] == []
    assert "annotation" not in answer
    assert "found email carol@example.com as a code owner in /docs/OWNERS" in answer["debug_logs"]
    [file] = answer["checked_code_owner_configs"]
    assert file["are_parent_code_owners_ignored"] is True


def test_the_check_of_an_address_without_an_account_resolves_nothing() -> None:
    answer = check(host_with_owners(), "email=nobody@example.com&path=/README.md")
    assert (answer["is_code_owner"], answer["is_resolvable"]) == (False, False)
    assert "can_read_ref" not in answer


def test_the_check_says_what_somebody_may_do_with_a_change() -> None:
    host = host_with_owners()
    number = a_change(host, "README.md")
    answer = check(host, f"email=bob@example.com&path=/README.md&change={number}")
    assert (answer["can_see_change"], answer["can_approve_change"]) == (True, True)


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("email=bob@example.com", "path required"),
        ("path=/README.md", "email required"),
        ("email=bob@example.com&path=/README.md&change=999", "change 999 not found"),
    ],
)
def test_a_check_without_what_it_needs_answers_400(query: str, text: str) -> None:
    answer = ask(host_with_owners(), f"/projects/owned/branches/master/code_owners.check?{query}")
    assert refusal(answer) == (400, text)


def test_owned_paths_are_those_of_one_account() -> None:
    host = host_with_owners()
    number = a_change(host, "README.md", "docs/guide.md")
    answer = told(ask(host, f"/changes/{number}/revisions/current/owned_paths?user=carol"))
    assert [file["new_path"]["path"] for file in answer["owned_changed_files"]] == ["/docs/guide.md"]


def test_an_administrator_changes_what_holds_for_a_project() -> None:
    host = host_with_owners()
    target = "/projects/owned/code_owners.project_config"
    assert ask(host, target, method="PUT", body={"required_approval": "Code-Review+2"}).status == 403
    answer = ask(host, target, user="admin", method="PUT", body={"required_approval": "Code-Review+2"})
    assert (answer.status, told(answer)["required_approval"]) == (201, {"label": "Code-Review", "value": 2})
    number = a_change(host, "README.md", votes={"Code-Review": {"bob": 1}})
    assert statuses(host, number) == {"README.md": "PENDING"}


def test_a_required_approval_of_a_label_that_there_is_not_is_refused() -> None:
    answer = ask(
        host_with_owners(),
        "/projects/owned/code_owners.project_config",
        user="admin",
        method="PUT",
        body={"required_approval": "Nosuch+9"},
    )
    assert answer.status == 400
    assert "Label Nosuch doesn't exist for project owned" in answer.body.decode()


def test_a_disabled_project_says_so_and_lets_changes_pass() -> None:
    host = host_with_owners()
    host.projects["owned"].settings["code-owners.config"] = "[codeOwners]\ndisabled = true\n"
    assert told(ask(host, "/projects/owned/code_owners.project_config")) == {"status": {"disabled": True}}
    records = told(ask(host, f"/changes/{a_change(host, 'README.md')}"))["submit_records"]
    assert [record["rule_name"] for record in records] == ["gerrit~DefaultSubmitRule"]


def test_a_change_is_held_back_until_the_owners_of_every_file_have_approved() -> None:
    host = host_with_owners()
    waiting = a_change(host, "README.md")
    approved = a_change(host, "README.md", votes={"Code-Review": {"bob": 1}})
    verdicts = [told(ask(host, f"/changes/{number}"))["submit_records"][-1] for number in (waiting, approved)]
    assert [(verdict["rule_name"], verdict["status"]) for verdict in verdicts] == [
        ("Code-Owners", "NOT_READY"),
        ("Code-Owners", "OK"),
    ]


def test_a_change_that_its_owners_have_not_approved_cannot_be_submitted() -> None:
    host = host_with_owners()
    number = a_change(host, "docs/guide.md", votes={"Code-Review": {"bob": 2}})
    answer = ask(host, f"/changes/{number}/submit", user="admin", method="POST", body={})
    assert answer.status == 409
    assert "submit requirement 'Code-Owners' is unsatisfied." in answer.body.decode()
    assert told(ask(host, f"/changes/{number}?o=SUBMITTABLE"))["submittable"] is False


def test_config_files_are_listed_by_path_and_address() -> None:
    host = host_with_owners()
    target = "/projects/owned/branches/master/code_owners.config_files"
    assert told(ask(host, target)) == ["/OWNERS", "/docs/OWNERS"]
    assert told(ask(host, f"{target}?email=carol@example.com")) == ["/docs/OWNERS"]
    assert told(ask(host, f"{target}?path=/docs/*")) == ["/docs/OWNERS"]


def test_a_disabled_plugin_has_no_endpoints() -> None:
    host = host_with_owners()
    number = a_change(host, "README.md")
    host.plugins["code-owners"].disabled = True
    assert refusal(ask(host, f"/changes/{number}/code_owners.status")) == (404, "Not found: code_owners.status")


def test_an_owners_file_is_read_leniently() -> None:
    read = read_owners("/OWNERS", "# who\n*\nper-file *.py, *.pyi = a@example.com, b@example.com\ninclude /other\n")
    assert read.owners_of("/x.pyi") == ("*", "a@example.com", "b@example.com")
    assert read.owners_of("/sub/x.py") == ("*",)


def test_a_path_in_a_deeper_folder_is_farther_from_its_owners() -> None:
    host = host_with_owners()
    bob = id_of(host, "bob")
    distances = [ownership(host, "owned", "master", path).distances[bob] for path in ("/a", "/src/a", "/src/x/a")]
    assert distances == [1, 2, 3]


def test_a_global_owner_owns_every_path() -> None:
    host = host_with_owners()
    host.projects["All-Projects"].settings["code-owners.config"] = "[codeOwners]\nglobalCodeOwner = carol@example.com\n"
    number = a_change(host, "README.md", votes={"Code-Review": {"carol": 1}})
    assert statuses(host, number) == {"README.md": "APPROVED"}
    answer = check(host, "email=carol@example.com&path=/README.md")
    assert (answer["is_code_owner"], answer["is_global_code_owner"]) == (True, True)


def test_the_check_of_everybody_is_about_no_account() -> None:
    host = host_with_owners()
    assert check(host, "email=*&path=/README.md")["is_code_owner"] is False
    host.projects["owned"].settings["code-owners.config"] = "[codeOwners]\nglobalCodeOwner = *\n"
    answer = check(host, "email=*&path=/README.md")
    assert (answer["is_code_owner"], answer["is_owned_by_all_users"], answer["is_resolvable"]) == (True, True, True)


def test_a_plain_user_sees_the_check_from_their_own_point_of_view() -> None:
    host = host_with_owners()
    answer = check(host, "email=bob@example.com&path=/README.md", user="alice")
    assert f"account {id_of(host, 'bob')} is visible to user alice" in answer["debug_logs"]


@pytest.mark.parametrize(
    ("query", "answer"),
    [
        ("", (400, "--user required")),
        ("?user=nobody", (422, "Account 'nobody' not found")),
    ],
)
def test_owned_paths_need_somebody_who_is_there(query: str, answer: tuple[int, str]) -> None:
    host = host_with_owners()
    number = a_change(host, "README.md")
    assert refusal(ask(host, f"/changes/{number}/revisions/current/owned_paths{query}")) == answer


def test_owned_paths_come_in_pages() -> None:
    host = host_with_owners()
    number = a_change(host, "a", "b", "c")
    answer = told(ask(host, f"/changes/{number}/revisions/current/owned_paths?user=bob&limit=1&start=1"))
    assert [file["new_path"]["path"] for file in answer["owned_changed_files"]] == ["/b"]
    assert answer["more"] is True


@pytest.mark.parametrize("option", ["start", "limit"])
def test_a_page_cannot_begin_or_end_before_the_first_file(option: str) -> None:
    host = host_with_owners()
    answer = ask(host, f"/changes/{a_change(host, 'a')}/code_owners.status?{option}=-1")
    assert refusal(answer) == (400, f"{option} cannot be negative")


def test_a_branch_is_configured_as_its_project() -> None:
    host = host_with_owners()
    target = "/projects/owned/branches/master/code_owners.branch_config"
    assert told(ask(host, target))["required_approval"] == {"label": "Code-Review", "value": 1}
    host.projects["owned"].settings["code-owners.config"] = "[codeOwners]\ndisabled = true\n"
    assert told(ask(host, target)) == {"disabled": True}


def test_the_head_of_a_project_is_a_branch_too() -> None:
    host = host_with_owners()
    assert told(ask(host, "/projects/owned/branches/HEAD/code_owners.config_files")) == ["/OWNERS", "/docs/OWNERS"]


def test_config_files_are_checked_by_administrators_only() -> None:
    host = host_with_owners()
    target = "/projects/owned/code_owners.check_config"
    assert told(ask(host, target, user="admin", method="POST", body={})) == {
        "refs/meta/config": {},
        "refs/heads/master": {},
    }
    assert ask(host, target, method="POST", body={}).status == 403


def test_the_experimental_view_is_switched_off() -> None:
    answer = ask(host_with_owners(), "/projects/owned/branches/master/code_owners.config/docs")
    assert refusal(answer) == (405, "experimental code owners REST endpoints are disabled")
