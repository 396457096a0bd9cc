"""What changes something: well put, badly put, repeated, forbidden."""

from __future__ import annotations

from typing import Any

from tests.real_gerrit.asking import ask
from tests.real_gerrit.scenarios.building import LINES, Asking, new_change

BAD_BODIES: tuple[tuple[Any, dict[str, str]], ...] = (
    (None, {}), ("", {"Content_Type": "application/json"}), ("{", {"Content_Type": "application/json"}),
    ("[]", {"Content_Type": "application/json"}),
    ('"text"', {"Content_Type": "application/json"}), ("7", {"Content_Type": "application/json"}),
    ("{a: 'b'}", {"Content_Type": "application/json"}), ('{"a": 1,}', {"Content_Type": "application/json; charset=utf-8"}),
    ("<x/>", {"Content_Type": "application/xml"}), ("word", {"Content_Type": "text/plain"}), ("word", {}),
    ("message=a+b&topic=c", {"Content_Type": "application/x-www-form-urlencoded"}), (b"\xff\xfe", {"Content_Type": "application/json"}),
    ({"nosuch": 1}, {}), ({"notify": "NOBODY"}, {}), ({"message": {"x": 1}}, {}), ({"message": 7}, {}), ({"message": None}, {}),
)  # fmt: skip
POINTS = (
    "POST /changes/{0}/abandon", "POST /changes/{0}/restore", "POST /changes/{0}/wip", "POST /changes/{0}/ready",
    "PUT /changes/{0}/topic", "POST /changes/{0}/private", "POST /changes/{0}/hashtags", "POST /changes/{0}/reviewers",
    "POST /changes/{0}/revisions/current/review", "PUT /changes/{0}/revisions/current/drafts", "PUT /changes/{0}/message",
    "POST /changes/{0}/revert", "POST /changes/{0}/submit", "POST /changes/{0}/rebase", "POST /changes/{0}/attention", "POST /changes/",
    "POST /changes/{0}/move", "PUT /changes/{0}/revisions/current/description", "POST /changes/{0}/revert_submission",
    "POST /changes/{0}/revisions/current/cherrypick", "POST /changes/{0}/edit:publish", "PUT /changes/{0}/edit:message",
)  # fmt: skip


def bad_bodies() -> Asking:
    """Every way to send no sense, to every place that takes input; and what that leaves behind."""
    number = yield from new_change("ada", {"bad.txt": "b\n"}, subject="Bad bodies")
    for point in POINTS:
        for body, headers in BAD_BODIES:
            yield ask(f"ada {point.format(number)}", body, **headers)
        yield ask(f"ada GET /changes/{number}/detail")
        yield ask(f"bo {point.format(number)}", {})
        yield ask(f"anonymous {point.format(number)}", {})
        yield ask(f"bo {point.format(5)}", {})
        yield ask(f"ada {point.format(999)}", {})


def states() -> Asking:
    """Topic, work in progress, private, abandoned and back."""
    number = yield from new_change("ada", {"s.txt": "s\n"}, subject="States")
    change = f"/changes/{number}"
    for topic in ("first", "second", "second", "  spaces  ", "", "x" * 3000, "with \"quotes\"", "ünï", "a\nb"):
        yield ask(f"ada PUT {change}/topic", {"topic": topic})
    yield ask(f"ada PUT {change}/topic", "plain", Content_Type="text/plain")
    yield ask(f"bo DELETE {change}/topic")
    yield ask(f"ada DELETE {change}/topic")
    yield ask(f"ada DELETE {change}/topic")
    for verb, message in (("wip", "Not yet"), ("wip", ""), ("ready", "Now"), ("ready", ""), ("wip", ""), ("ready", "")):
        yield ask(f"ada POST {change}/{verb}", {"message": message} if message else {})
    for method, verb in (("POST", "private"), ("POST", "private"), ("DELETE", "private"), ("DELETE", "private")):
        yield ask(f"ada {method} {change}/{verb}", {"message": "Why"} if method == "POST" else None)
    yield ask(f"ada POST {change}/private.delete", {})
    yield ask(f"bo POST {change}/wip", {})
    yield ask(f"admin POST {change}/wip", {"message": "By an administrator"})
    yield ask(f"ada POST {change}/ready")
    for user, verb, body in (("bo", "abandon", {}), ("ada", "abandon", {"message": "Gone", "notify": "NONE"}), ("ada", "abandon", {}),
                             ("bo", "restore", {}), ("ada", "restore", {"message": "Back"}), ("ada", "restore", {}),
                             ("admin", "abandon", {"notify_details": {"TO": {"accounts": ["bo"]}}}), ("ada", "restore", {})):  # fmt: skip
        yield ask(f"{user} POST {change}/{verb}", body)
    yield ask(f"ada POST {change}/hashtags", {"add": ["b", "a", "#c", " d ", "b"], "remove": ["z"]})
    yield ask(f"ada POST {change}/hashtags", {"remove": ["b"]})
    yield ask(f"ada POST {change}/hashtags", {"add": ["x,y", ""]})
    yield ask(f"ada PUT /accounts/self/starred.changes/{number}", {})
    yield ask(f"ada PUT /accounts/self/starred.changes/{number}", {})
    yield ask("ada GET /changes/?q=is:starred&o=STAR")
    yield ask(f"ada GET {change}/detail")
    yield ask(f"ada GET {change}?o=REVIEWER_UPDATES&o=MESSAGES&o=ALL_REVISIONS&o=REVIEWED")


def reviewers() -> Asking:
    """Adding, suggesting and removing people."""
    number = yield from new_change("ada", {"r.txt": "r\n"}, subject="Reviewers")
    change = f"/changes/{number}"
    for told in ("bo", "bo", "cy@example.org", "nobody", "nobody@example.net", "", "Administrators", "Registered Users", "self", "ada",
                 "1000003", "Cy Example", "Example", "9", "Service Users", "anonymous"):  # fmt: skip
        yield ask(f"ada POST {change}/reviewers", {"reviewer": told})
    yield ask(f"ada POST {change}/reviewers", {"reviewer": "dan", "state": "CC"})
    yield ask(f"ada POST {change}/reviewers", {"reviewer": "dan", "state": "REVIEWER"})
    yield ask(f"ada POST {change}/reviewers", {"reviewer": "dan", "state": "REMOVED"})
    yield ask(f"ada POST {change}/reviewers", {"reviewer": "dan", "state": "NOSUCH"})
    yield ask(f"ada POST {change}/reviewers", {"reviewer": "Administrators", "confirmed": True})
    yield ask(f"dan POST {change}/reviewers", {"reviewer": "cy"})
    for query in ("q=b", "q=B", "q=example", "q=Ex&n=2", "q=nobody", "q=", "n=3", "q=adm", "q=dan&reviewer-state=CC", "q=a&exclude-groups",
                  "q=a&exclude-groups=true", "q=b&reviewer-state=x", "q=Ör", "q=%C3%96rn", "q=bo@example.org", "q=b&n=x", "q=b&x=1", "suggest&q=b"):  # fmt: skip
        for user in ("ada", "anonymous"):
            yield ask(f"{user} GET {change}/suggest_reviewers?{query}".replace("Ö", "%C3%96"))
    yield ask(f"bo POST {change}/revisions/current/review", {"labels": {"Code-Review": 1}})
    yield ask(f"ada GET {change}/reviewers/bo/votes")
    yield ask(f"ada GET {change}/reviewers/bo")
    yield ask(f"ada DELETE {change}/reviewers/bo/votes/Nosuch")
    yield ask(f"cy DELETE {change}/reviewers/bo/votes/Code-Review")
    yield ask(f"admin DELETE {change}/reviewers/bo/votes/Code-Review")
    yield ask(f"bo POST {change}/revisions/current/review", {"labels": {"Code-Review": -1}})
    yield ask(f"bo DELETE {change}/reviewers/cy")
    yield ask(f"ada DELETE {change}/reviewers/cy")
    yield ask(f"ada POST {change}/reviewers/bo/delete", {"notify": "NONE"})
    yield ask(f"ada DELETE {change}/reviewers/nobody")
    yield ask(f"ada GET {change}/detail")
    yield ask(f"ada GET {change}/attention")
    for told in ({"user": "bo", "reason": "look"}, {"user": "nobody", "reason": "x"}, {"user": "bo"}, {"reason": "x"}):
        yield ask(f"ada POST {change}/attention", told)
    yield ask(f"ada DELETE {change}/attention/bo")
    yield ask(f"ada DELETE {change}/attention/bo", {"reason": "done"})


def reviews() -> Asking:
    """Votes, messages, comments and drafts."""
    number = yield from new_change("ada", {"v.txt": LINES}, subject="Reviews")
    review = f"/changes/{number}/revisions/current/review"
    for told in (
        {}, {"message": ""}, {"message": "Hello"}, {"message": "  trimmed  \n\n"}, {"labels": {"Code-Review": 1}},
        {"labels": {"Code-Review": 1}}, {"labels": {"Code-Review": 0}}, {"labels": {"Code-Review": 2}}, {"labels": {"Code-Review": 9}},
        {"labels": {"Nosuch": 1}}, {"labels": {"Code-Review": "1"}}, {"labels": {"Code-Review": "x"}}, {"labels": {}}, {"tag": "mine", "message": "m"},
        {"tag": "autogenerated:ci", "message": "built"}, {"tag": "autogenerated:gerrit:x", "message": "m"}, {"ready": True}, {"work_in_progress": True},
        {"reviewers": [{"reviewer": "cy"}]}, {"reviewers": [{"reviewer": "nobody"}]}, {"reviewers": [{"reviewer": "dan", "state": "CC"}, {"reviewer": "cy"}]},
        {"comments": {"v.txt": [{"line": 1, "message": "one"}]}}, {"comments": {"v.txt": [{"line": 1, "message": ""}]}},
        {"comments": {"nosuch": [{"line": 1, "message": "x"}]}}, {"comments": {"v.txt": [{"line": -1, "message": "x"}]}},
        {"comments": {"v.txt": [{"line": 999, "message": "far"}]}}, {"comments": {"v.txt": [{"message": "x", "side": "NOSUCH"}]}},
        {"comments": {"v.txt": [{"message": "x", "range": {"start_line": 5, "start_character": 0, "end_line": 4, "end_character": 0}}]}},
        {"comments": {"v.txt": [{"message": "x", "line": 2, "range": {"start_line": 1, "start_character": 0, "end_line": 2, "end_character": 1}}]}},
        {"comments": {"v.txt": []}}, {"comments": {"": [{"message": "x"}]}}, {"comments": []}, {"comments": {"v.txt": {"message": "x"}}},
        {"comments": {"/PATCHSET_LEVEL": [{"message": "ps", "line": 1}]}}, {"comments": {"/COMMIT_MSG": [{"message": "cm", "line": 1}]}},
        {"comments": {"v.txt": [{"message": "x", "in_reply_to": "nosuch"}]}}, {"comments": {"v.txt": [{"id": "a_b", "message": "x"}]}},
        {"drafts": "PUBLISH"}, {"drafts": "KEEP"}, {"drafts": "PUBLISH_ALL_REVISIONS"}, {"drafts": "DELETE"}, {"notify": "OWNER", "message": "n"},
        {"omit_duplicate_comments": True, "comments": {"v.txt": [{"line": 1, "message": "one"}]}}, {"on_behalf_of": "ada", "labels": {"Code-Review": 1}},
        {"strict_labels": True, "labels": {"Nosuch": 1}}, {"add_to_attention_set": [{"user": "cy", "reason": "r"}]}, {"ignore_automatic_attention_set_rules": True, "message": "q"},
        {"remove_from_attention_set": [{"user": "cy", "reason": "r"}]}, {"response_format_options": ["LABELS"], "message": "with"}, {"robot_comments": {}},
    ):  # fmt: skip
        yield ask(f"bo POST {review}", told)
    yield ask(f"ada POST {review}", {"labels": {"Code-Review": -2}, "message": "own"})
    yield ask(f"ada POST /changes/{number}/revisions/1/review", {"message": "on the first"})
    yield ask(f"ada POST /changes/{number}/revisions/9/review", {"message": "on none"})
    yield ask(f"ada GET /changes/{number}/detail?o=ALL_REVISIONS")
    for query in ("", "?enable-context", "?enable-context=true", "?enable-context&context-padding=2", "?context-padding=x",
                  "?enable-context&context-padding=99", "?nosuch"):  # fmt: skip
        for place in ("comments", "drafts", "revisions/current/comments", "revisions/1/comments", "robotcomments"):
            yield ask(f"bo GET /changes/{number}/{place}{query}")


def drafts() -> Asking:
    """The life of drafts, their context, and their publication."""
    number = yield from new_change("ada", {"d.txt": LINES}, subject="Drafts")
    place = f"/changes/{number}/revisions/current/drafts"
    ids = []
    for told in (
        {"path": "d.txt", "message": "plain"}, {"path": "d.txt", "line": 3, "message": "at", "unresolved": True}, {"path": "d.txt"},
        {"message": "x"}, {"path": "d.txt", "message": ""}, {"path": "nosuch", "message": "x"}, {"path": "d.txt", "line": -1, "message": "x"},
        {"path": "d.txt", "line": 0, "message": "zero"}, {"path": "d.txt", "line": "7", "message": "text"}, {"path": "/COMMIT_MSG", "message": "c", "line": 1},
        {"path": "/PATCHSET_LEVEL", "message": "p"}, {"path": "d.txt", "side": "PARENT", "message": "parent"}, {"path": "d.txt", "message": "x", "id": "y"},
        {"path": "d.txt", "message": "in", "range": {"start_line": 1, "start_character": 0, "end_line": 2, "end_character": 3}},
        {"path": "d.txt", "message": "bad", "range": {"start_line": 3, "start_character": 0, "end_line": 2, "end_character": 3}},
        {"path": "d.txt", "message": "reply", "in_reply_to": "nosuch"}, {"path": "d.txt", "message": "tagged", "tag": "t"},
    ):  # fmt: skip
        made = yield ask(f"bo PUT {place}", told)
        if made.status == 201:
            ids.append(made.response["json"]["id"])
    for query in ("", "?enable-context=true", "?enable-context=true&context-padding=1"):
        for where in ("drafts", "revisions/current/drafts", "revisions/1/drafts"):
            yield ask(f"bo GET /changes/{number}/{where}{query}")
            yield ask(f"ada GET /changes/{number}/{where}{query}")
    yield ask(f"anonymous GET {place}")
    yield ask("bo GET /changes/?q=has:draft")
    for method, name, body in (
        ("GET", ids[0], None), ("PUT", ids[0], {"path": "d.txt", "message": "again"}), ("PUT", ids[0], {"path": "d.txt", "message": ""}),
        ("GET", ids[0], None), ("PUT", ids[1], {"path": "d.txt", "message": "m", "id": "other"}), ("PUT", ids[1], {"message": "m"}),
        ("DELETE", ids[1], None), ("DELETE", ids[1], None), ("GET", "nosuch", None), ("DELETE", "nosuch", None), ("PUT", "nosuch", {"message": "m"}),
        ("POST", ids[2], {}),
    ):  # fmt: skip
        yield ask(f"bo {method} {place}/{name}", body)
    yield ask(f"ada GET {place}/{ids[2]}")
    yield ask(f"ada DELETE {place}/{ids[2]}")
    yield ask(f"bo POST /changes/{number}/revisions/current/review", {"drafts": "PUBLISH_ALL_REVISIONS", "message": "All"})
    yield ask(f"bo GET /changes/{number}/drafts")
    comments = yield ask(f"ada GET /changes/{number}/comments?enable-context=true")
    first = next(iter(comments.response["json"]["d.txt"]))["id"]
    yield ask(f"ada GET /changes/{number}/revisions/current/comments/{first}")
    yield ask(f"ada PUT {place}", {"path": "d.txt", "message": "Done", "in_reply_to": first, "unresolved": False})
    yield ask(f"ada DELETE /changes/{number}/revisions/current/comments/{first}")
    yield ask(f"admin POST /changes/{number}/revisions/current/comments/{first}/delete", {"reason": "rude"})
    yield ask(f"ada POST /changes/{number}/revisions/current/review", {"drafts": "PUBLISH"})
    yield ask(f"ada GET /changes/{number}/detail")
    yield ask(f"ada GET /changes/{number}/messages")
    yield ask(f"ada GET /changes/{number}/comments")


def creation() -> Asking:
    """POST /changes/ beyond what the recordings tried."""
    base: dict[str, Any] = {"project": "demo", "branch": "master", "subject": "Made"}
    for told in (
        {}, {"topic": "made"}, {"topic": ""}, {"branch": "refs/heads/stable"}, {"branch": "nosuch"}, {"branch": ""}, {"project": "nosuch"}, {"project": "bare"},
        {"project": ""}, {"subject": ""}, {"subject": "Many\n\nlines\n\nBug: 1"}, {"subject": "# comment"}, {"subject": "x" * 200}, {"is_private": True},
        {"work_in_progress": True, "is_private": True}, {"status": "NEW"}, {"status": "new"}, {"base_change": "2"}, {"base_change": "nosuch"},
        {"base_change": "demo~2"}, {"base_commit": "abc"}, {"new_branch": True}, {"branch": "fresh", "new_branch": True}, {"notify": "NONE"}, {"notify": "x"},
        {"author": {"name": "Z", "email": "z@example.org"}}, {"author": {"name": "Z"}}, {"merge": {"source": "stable"}}, {"merge": {}}, {"project": "All-Projects"},
        {"validation_options": {"a": "b"}}, {"custom_keyed_values": {"k": "v"}}, {"response_format_options": ["LABELS", "NOSUCH"]},
        {"subject": "Id\n\nChange-Id: I0123456789012345678901234567890123456789"}, {"subject": "Id\n\nChange-Id: I0123456789012345678901234567890123456789"},
        {"patch": {"patch": "nonsense"}}, {"subject": "Revert \"Made\""}, {"topic": "a b"}, {"subject": "ünï \u2028 <&>'"}, {"branch": "HEAD"}, {"branch": " master "},
        {"branch": "refs/for/master"}, {"branch": "refs/meta/config"}, {"project": "demo.git"}, {"project": " demo"}, {"subject": 7}, {"topic": 7},
        {"patch": {"patch": "diff --git a/p.txt b/p.txt\nnew file mode 100644\n--- /dev/null\n+++ b/p.txt\n@@ -0,0 +1 @@\n+p\n"}},
    ):  # fmt: skip
        made = yield ask("dan POST /changes/", {**base, **told})
        if made.status == 201:
            number = made.response["json"]["_number"]
            yield ask(f"dan GET /changes/{number}/detail?o=CURRENT_REVISION&o=CURRENT_COMMIT&o=CURRENT_FILES")
            yield ask(f"dan GET /changes/{number}/message")


def submitting() -> Asking:
    """Submitting, what goes together, reverting, and what is refused."""
    number = yield from new_change("ada", {"sub.txt": "s\n"}, subject="To submit", topic="subtopic")
    change = f"/changes/{number}"
    for user in ("ada", "bo", "admin"):
        yield ask(f"{user} POST {change}/submit", {})
    yield ask(f"ada GET {change}/submitted_together?o=NON_VISIBLE_CHANGES&o=CURRENT_REVISION")
    yield ask(f"admin POST {change}/revisions/current/review", {"labels": {"Code-Review": 2}})
    yield ask(f"ada GET {change}?o=SUBMITTABLE&o=CURRENT_ACTIONS&o=CURRENT_REVISION&o=SUBMIT_REQUIREMENTS&o=LABELS")
    yield ask(f"bo POST {change}/submit", {})
    yield ask(f"admin GET {change}/revisions/current/actions")
    yield ask(f"bo POST {change}/revert", {"message": "early"})
    yield ask(f"admin POST {change}/submit", {})
    yield ask(f"admin POST {change}/submit", {})
    yield ask(f"ada GET {change}/detail?o=CURRENT_REVISION&o=CURRENT_COMMIT")
    yield ask(f"ada GET {change}/in")
    for verb in ("abandon", "restore", "wip", "ready", "private", "rebase"):
        yield ask(f"ada POST {change}/{verb}", {})
    yield ask(f"ada PUT {change}/topic", {"topic": "late"})
    yield ask(f"ada DELETE {change}")
    yield ask(f"ada POST {change}/reviewers", {"reviewer": "bo"})
    yield ask(f"bo POST {change}/revisions/current/review", {"labels": {"Code-Review": 1}, "message": "late"})
    for told in ({}, {"message": "Take it back\n\nBecause."}, {"topic": "undo"}, {"work_in_progress": True}, {"message": ""}):
        made = yield ask(f"bo POST {change}/revert", told)
        if made.status == 200:
            reverting = made.response["json"]["_number"]
            yield ask(f"bo GET /changes/{reverting}/detail?o=CURRENT_REVISION&o=CURRENT_COMMIT&o=CURRENT_FILES")
    for told in ({}, {"message": "All back"}, {"topic": "undone"}):
        yield ask(f"bo POST {change}/revert_submission", told)
    yield ask("bo POST /changes/2/revert_submission", {})
    yield ask("bo POST /changes/999/revert", {})
    yield ask(f"ada GET {change}/detail")
    one = yield from new_change("ada", {"pair1.txt": "p\n"}, subject="Pair 1", topic="duo")
    pair = (one, (yield from new_change("ada", {"pair2.txt": "p\n"}, subject="Pair 2", topic="duo")))
    over = yield from new_change("ada", {"over.txt": "o\n"}, subject="Over", base_change=str(pair[0]))
    for each in (*pair, over):
        yield ask(f"admin POST /changes/{each}/revisions/current/review", {"labels": {"Code-Review": 2}})
        yield ask(f"ada GET /changes/{each}/submitted_together?o=NON_VISIBLE_CHANGES")
        yield ask(f"ada GET /changes/{each}/submitted_together?o=TOPIC_CLOSURE&o=LABELS")
        yield ask(f"ada GET /changes/{each}/submitted_together?o=NOSUCH")
        yield ask(f"ada GET /changes/{each}/revisions/current/related")
    yield ask(f"admin POST /changes/{over}/submit", {})
    yield ask(f"ada GET /changes/{pair[0]}?o=MESSAGES")
    yield ask(f"bo POST /changes/{over}/revert_submission", {})
    one = yield from new_change("ada", {"clash.txt": "1\n"}, subject="Clash 1")
    clash = (one, (yield from new_change("ada", {"clash.txt": "2\n"}, subject="Clash 2")))
    for each in clash:
        yield ask(f"admin POST /changes/{each}/revisions/current/review", {"labels": {"Code-Review": 2}})
    for each in clash:
        yield ask(f"admin POST /changes/{each}/submit", {})
    yield ask(f"ada GET /changes/{clash[1]}/revisions/current/mergeable")
    yield ask(f"ada POST /changes/{clash[1]}/rebase", {})
    yield ask(f"ada POST /changes/{clash[1]}/rebase", {"allow_conflicts": True})
    yield ask(f"ada GET /changes/{clash[1]}/detail?o=CURRENT_REVISION")


def messages() -> Asking:
    """The commit message, patch sets, moving and deleting."""
    number = yield from new_change("ada", {"m.txt": "m\n"}, subject="Message")
    change = f"/changes/{number}"
    said = yield ask(f"ada GET {change}/message")
    full = said.response["json"]["full_message"]
    for text in ("x", "", full, full.replace("Message", "Other words"), full.replace("Change-Id: I", "Change-Id: I0"), "Two\n\n" + full,
                 full.replace("Message", "With footers\n\nBody") + "Bug: 7\nSigned-off-by: A <a@b.c>\n"):  # fmt: skip
        yield ask(f"ada PUT {change}/message", {"message": text})
    yield ask(f"bo PUT {change}/message", {"message": full})
    yield ask(f"ada GET {change}/message")
    yield ask(f"ada GET {change}/detail?o=ALL_REVISIONS&o=ALL_COMMITS")
    yield ask(f"ada GET {change}/revisions/2/files?base=1")
    yield ask(f"ada GET {change}/revisions/current/files/%2FCOMMIT_MSG/diff?base=1")
    for told in ("A line", "", "Another"):
        yield ask(f"ada PUT {change}/revisions/1/description", {"description": told})
    for told in ({"destination_branch": "stable"}, {"destination_branch": "nosuch"}, {}, {"destination_branch": "master"}):
        yield ask(f"ada POST {change}/move", told)
        yield ask(f"admin POST {change}/move", told)
    for told in ({"destination": "stable"}, {"destination": "nosuch"}, {"destination": "stable", "message": "Picked"}, {}):
        yield ask(f"bo POST {change}/revisions/current/cherrypick", told)
    yield ask(f"bo DELETE {change}")
    yield ask(f"ada DELETE {change}")
    yield ask(f"ada GET {change}")
    for method in ("PUT", "POST", "DELETE"):
        for view in ("", "/detail", "/topic", "/comments", "/revisions/current/files", "/submitted_together", "/nosuch"):
            yield ask(f"ada {method} /changes/2{view if view != '' or method != 'DELETE' else '/nothing'}", {} if method != "DELETE" else None)
