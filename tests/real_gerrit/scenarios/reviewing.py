"""What people do to a change under review: states, reviewers, votes, comments, drafts."""

from __future__ import annotations

from tests.real_gerrit.asking import ask
from tests.real_gerrit.scenarios.building import LINES, Asking, new_change


def states() -> Asking:
    """Topic, work in progress, private, abandoned and back."""
    number = yield from new_change("ada", {"s.txt": "s\n"}, subject="States")
    change = f"/changes/{number}"
    for topic in ("first", "second", "second", "  spaces  ", "", "x" * 3000, 'with "quotes"', "ünï", "a\nb"):
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
    for user, verb, body in (
        ("bo", "abandon", {}),
        ("ada", "abandon", {"message": "Gone", "notify": "NONE"}),
        ("ada", "abandon", {}),
        ("bo", "restore", {}),
        ("ada", "restore", {"message": "Back"}),
        ("ada", "restore", {}),
        ("admin", "abandon", {"notify_details": {"TO": {"accounts": ["bo"]}}}),
        ("ada", "restore", {}),
    ):
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
    for told in (
        "bo",
        "bo",
        "cy@example.org",
        "nobody",
        "nobody@example.net",
        "",
        "Administrators",
        "Registered Users",
        "self",
        "ada",
        "1000003",
        "Cy Example",
        "Example",
        "9",
        "Service Users",
        "anonymous",
    ):
        yield ask(f"ada POST {change}/reviewers", {"reviewer": told})
    yield ask(f"ada POST {change}/reviewers", {"reviewer": "dan", "state": "CC"})
    yield ask(f"ada POST {change}/reviewers", {"reviewer": "dan", "state": "REVIEWER"})
    yield ask(f"ada POST {change}/reviewers", {"reviewer": "dan", "state": "REMOVED"})
    yield ask(f"ada POST {change}/reviewers", {"reviewer": "dan", "state": "NOSUCH"})
    yield ask(f"ada POST {change}/reviewers", {"reviewer": "Administrators", "confirmed": True})
    yield ask(f"dan POST {change}/reviewers", {"reviewer": "cy"})
    for query in (
        "q=b",
        "q=B",
        "q=example",
        "q=Ex&n=2",
        "q=nobody",
        "q=",
        "n=3",
        "q=adm",
        "q=dan&reviewer-state=CC",
        "q=a&exclude-groups",
        "q=a&exclude-groups=true",
        "q=b&reviewer-state=x",
        "q=Ör",
        "q=%C3%96rn",
        "q=bo@example.org",
        "q=b&n=x",
        "q=b&x=1",
        "suggest&q=b",
    ):
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
        {},
        {"message": ""},
        {"message": "Hello"},
        {"message": "  trimmed  \n\n"},
        {"labels": {"Code-Review": 1}},
        {"labels": {"Code-Review": 1}},
        {"labels": {"Code-Review": 0}},
        {"labels": {"Code-Review": 2}},
        {"labels": {"Code-Review": 9}},
        {"labels": {"Nosuch": 1}},
        {"labels": {"Code-Review": "1"}},
        {"labels": {"Code-Review": "x"}},
        {"labels": {}},
        {"tag": "mine", "message": "m"},
        {"tag": "autogenerated:ci", "message": "built"},
        {"tag": "autogenerated:gerrit:x", "message": "m"},
        {"ready": True},
        {"work_in_progress": True},
        {"reviewers": [{"reviewer": "cy"}]},
        {"reviewers": [{"reviewer": "nobody"}]},
        {"reviewers": [{"reviewer": "dan", "state": "CC"}, {"reviewer": "cy"}]},
        {"comments": {"v.txt": [{"line": 1, "message": "one"}]}},
        {"comments": {"v.txt": [{"line": 1, "message": ""}]}},
        {"comments": {"nosuch": [{"line": 1, "message": "x"}]}},
        {"comments": {"v.txt": [{"line": -1, "message": "x"}]}},
        {"comments": {"v.txt": [{"line": 999, "message": "far"}]}},
        {"comments": {"v.txt": [{"message": "x", "side": "NOSUCH"}]}},
        {
            "comments": {
                "v.txt": [
                    {
                        "message": "x",
                        "range": {"start_line": 5, "start_character": 0, "end_line": 4, "end_character": 0},
                    }
                ]
            }
        },
        {
            "comments": {
                "v.txt": [
                    {
                        "message": "x",
                        "line": 2,
                        "range": {"start_line": 1, "start_character": 0, "end_line": 2, "end_character": 1},
                    }
                ]
            }
        },
        {"comments": {"v.txt": []}},
        {"comments": {"": [{"message": "x"}]}},
        {"comments": []},
        {"comments": {"v.txt": {"message": "x"}}},
        {"comments": {"/PATCHSET_LEVEL": [{"message": "ps", "line": 1}]}},
        {"comments": {"/COMMIT_MSG": [{"message": "cm", "line": 1}]}},
        {"comments": {"v.txt": [{"message": "x", "in_reply_to": "nosuch"}]}},
        {"comments": {"v.txt": [{"id": "a_b", "message": "x"}]}},
        {"drafts": "PUBLISH"},
        {"drafts": "KEEP"},
        {"drafts": "PUBLISH_ALL_REVISIONS"},
        {"drafts": "DELETE"},
        {"notify": "OWNER", "message": "n"},
        {"omit_duplicate_comments": True, "comments": {"v.txt": [{"line": 1, "message": "one"}]}},
        {"on_behalf_of": "ada", "labels": {"Code-Review": 1}},
        {"strict_labels": True, "labels": {"Nosuch": 1}},
        {"add_to_attention_set": [{"user": "cy", "reason": "r"}]},
        {"ignore_automatic_attention_set_rules": True, "message": "q"},
        {"remove_from_attention_set": [{"user": "cy", "reason": "r"}]},
        {"response_format_options": ["LABELS"], "message": "with"},
        {"robot_comments": {}},
    ):
        yield ask(f"bo POST {review}", told)
    yield ask(f"ada POST {review}", {"labels": {"Code-Review": -2}, "message": "own"})
    yield ask(f"ada POST /changes/{number}/revisions/1/review", {"message": "on the first"})
    yield ask(f"ada POST /changes/{number}/revisions/9/review", {"message": "on none"})
    yield ask(f"ada GET /changes/{number}/detail?o=ALL_REVISIONS")
    for query in (
        "",
        "?enable-context",
        "?enable-context=true",
        "?enable-context&context-padding=2",
        "?context-padding=x",
        "?enable-context&context-padding=99",
        "?nosuch",
    ):
        for place in ("comments", "drafts", "revisions/current/comments", "revisions/1/comments", "robotcomments"):
            yield ask(f"bo GET /changes/{number}/{place}{query}")


def drafts() -> Asking:
    """The life of drafts, their context, and their publication."""
    number = yield from new_change("ada", {"d.txt": LINES}, subject="Drafts")
    place = f"/changes/{number}/revisions/current/drafts"
    ids = []
    for told in (
        {"path": "d.txt", "message": "plain"},
        {"path": "d.txt", "line": 3, "message": "at", "unresolved": True},
        {"path": "d.txt"},
        {"message": "x"},
        {"path": "d.txt", "message": ""},
        {"path": "nosuch", "message": "x"},
        {"path": "d.txt", "line": -1, "message": "x"},
        {"path": "d.txt", "line": 0, "message": "zero"},
        {"path": "d.txt", "line": "7", "message": "text"},
        {"path": "/COMMIT_MSG", "message": "c", "line": 1},
        {"path": "/PATCHSET_LEVEL", "message": "p"},
        {"path": "d.txt", "side": "PARENT", "message": "parent"},
        {"path": "d.txt", "message": "x", "id": "y"},
        {
            "path": "d.txt",
            "message": "in",
            "range": {"start_line": 1, "start_character": 0, "end_line": 2, "end_character": 3},
        },
        {
            "path": "d.txt",
            "message": "bad",
            "range": {"start_line": 3, "start_character": 0, "end_line": 2, "end_character": 3},
        },
        {"path": "d.txt", "message": "reply", "in_reply_to": "nosuch"},
        {"path": "d.txt", "message": "tagged", "tag": "t"},
    ):
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
        ("GET", ids[0], None),
        ("PUT", ids[0], {"path": "d.txt", "message": "again"}),
        ("PUT", ids[0], {"path": "d.txt", "message": ""}),
        ("GET", ids[0], None),
        ("PUT", ids[1], {"path": "d.txt", "message": "m", "id": "other"}),
        ("PUT", ids[1], {"message": "m"}),
        ("DELETE", ids[1], None),
        ("DELETE", ids[1], None),
        ("GET", "nosuch", None),
        ("DELETE", "nosuch", None),
        ("PUT", "nosuch", {"message": "m"}),
        ("POST", ids[2], {}),
    ):
        yield ask(f"bo {method} {place}/{name}", body)
    yield ask(f"ada GET {place}/{ids[2]}")
    yield ask(f"ada DELETE {place}/{ids[2]}")
    yield ask(
        f"bo POST /changes/{number}/revisions/current/review", {"drafts": "PUBLISH_ALL_REVISIONS", "message": "All"}
    )
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
