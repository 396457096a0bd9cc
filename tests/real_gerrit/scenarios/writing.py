"""What makes, merges and moves changes: well put, badly put, repeated, forbidden."""

from __future__ import annotations

from typing import Any

from tests.real_gerrit.asking import ask
from tests.real_gerrit.scenarios.building import Asking, new_change

BAD_BODIES: tuple[tuple[Any, dict[str, str]], ...] = (
    (None, {}),
    ("", {"Content_Type": "application/json"}),
    ("{", {"Content_Type": "application/json"}),
    ("[]", {"Content_Type": "application/json"}),
    ('"text"', {"Content_Type": "application/json"}),
    ("7", {"Content_Type": "application/json"}),
    ("{a: 'b'}", {"Content_Type": "application/json"}),
    ('{"a": 1,}', {"Content_Type": "application/json; charset=utf-8"}),
    ("<x/>", {"Content_Type": "application/xml"}),
    ("word", {"Content_Type": "text/plain"}),
    ("word", {}),
    ("message=a+b&topic=c", {"Content_Type": "application/x-www-form-urlencoded"}),
    (b"\xff\xfe", {"Content_Type": "application/json"}),
    ({"nosuch": 1}, {}),
    ({"notify": "NOBODY"}, {}),
    ({"message": {"x": 1}}, {}),
    ({"message": 7}, {}),
    ({"message": None}, {}),
)
POINTS = (
    "POST /changes/{0}/abandon",
    "POST /changes/{0}/restore",
    "POST /changes/{0}/wip",
    "POST /changes/{0}/ready",
    "PUT /changes/{0}/topic",
    "POST /changes/{0}/private",
    "POST /changes/{0}/hashtags",
    "POST /changes/{0}/reviewers",
    "POST /changes/{0}/revisions/current/review",
    "PUT /changes/{0}/revisions/current/drafts",
    "PUT /changes/{0}/message",
    "POST /changes/{0}/revert",
    "POST /changes/{0}/submit",
    "POST /changes/{0}/rebase",
    "POST /changes/{0}/attention",
    "POST /changes/",
    "POST /changes/{0}/move",
    "PUT /changes/{0}/revisions/current/description",
    "POST /changes/{0}/revert_submission",
    "POST /changes/{0}/revisions/current/cherrypick",
    "POST /changes/{0}/edit:publish",
    "PUT /changes/{0}/edit:message",
)


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


def creation() -> Asking:
    """POST /changes/ beyond what the recordings tried."""
    base: dict[str, Any] = {"project": "demo", "branch": "master", "subject": "Made"}
    for told in (
        {},
        {"topic": "made"},
        {"topic": ""},
        {"branch": "refs/heads/stable"},
        {"branch": "nosuch"},
        {"branch": ""},
        {"project": "nosuch"},
        {"project": "bare"},
        {"project": ""},
        {"subject": ""},
        {"subject": "Many\n\nlines\n\nBug: 1"},
        {"subject": "# comment"},
        {"subject": "x" * 200},
        {"is_private": True},
        {"work_in_progress": True, "is_private": True},
        {"status": "NEW"},
        {"status": "new"},
        {"base_change": "2"},
        {"base_change": "nosuch"},
        {"base_change": "demo~2"},
        {"base_commit": "abc"},
        {"new_branch": True},
        {"branch": "fresh", "new_branch": True},
        {"notify": "NONE"},
        {"notify": "x"},
        {"author": {"name": "Z", "email": "z@example.org"}},
        {"author": {"name": "Z"}},
        {"merge": {"source": "stable"}},
        {"merge": {}},
        {"project": "All-Projects"},
        {"validation_options": {"a": "b"}},
        {"custom_keyed_values": {"k": "v"}},
        {"response_format_options": ["LABELS", "NOSUCH"]},
        {"subject": "Id\n\nChange-Id: I0123456789012345678901234567890123456789"},
        {"subject": "Id\n\nChange-Id: I0123456789012345678901234567890123456789"},
        {"patch": {"patch": "nonsense"}},
        {"subject": 'Revert "Made"'},
        {"topic": "a b"},
        {"subject": "ünï \u2028 <&>'"},
        {"branch": "HEAD"},
        {"branch": " master "},
        {"branch": "refs/for/master"},
        {"branch": "refs/meta/config"},
        {"project": "demo.git"},
        {"project": " demo"},
        {"subject": 7},
        {"topic": 7},
        {
            "patch": {
                "patch": "diff --git a/p.txt b/p.txt\nnew file mode 100644\n"
                "--- /dev/null\n+++ b/p.txt\n@@ -0,0 +1 @@\n+p\n"
            }
        },
    ):
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
    for told in (
        {},
        {"message": "Take it back\n\nBecause."},
        {"topic": "undo"},
        {"work_in_progress": True},
        {"message": ""},
    ):
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
    for text in (
        "x",
        "",
        full,
        full.replace("Message", "Other words"),
        full.replace("Change-Id: I", "Change-Id: I0"),
        "Two\n\n" + full,
        full.replace("Message", "With footers\n\nBody") + "Bug: 7\nSigned-off-by: A <a@b.c>\n",
    ):
        yield ask(f"ada PUT {change}/message", {"message": text})
    yield ask(f"bo PUT {change}/message", {"message": full})
    yield ask(f"ada GET {change}/message")
    yield ask(f"ada GET {change}/detail?o=ALL_REVISIONS&o=ALL_COMMITS")
    yield ask(f"ada GET {change}/revisions/2/files?base=1")
    yield ask(f"ada GET {change}/revisions/current/files/%2FCOMMIT_MSG/diff?base=1")
    for told in ("A line", "", "Another"):
        yield ask(f"ada PUT {change}/revisions/1/description", {"description": told})
    for told in (
        {"destination_branch": "stable"},
        {"destination_branch": "nosuch"},
        {},
        {"destination_branch": "master"},
    ):
        yield ask(f"ada POST {change}/move", told)
        yield ask(f"admin POST {change}/move", told)
    for told in (
        {"destination": "stable"},
        {"destination": "nosuch"},
        {"destination": "stable", "message": "Picked"},
        {},
    ):
        yield ask(f"bo POST {change}/revisions/current/cherrypick", told)
    yield ask(f"bo DELETE {change}")
    yield ask(f"ada DELETE {change}")
    yield ask(f"ada GET {change}")
    for method in ("PUT", "POST", "DELETE"):
        for view in (
            "",
            "/detail",
            "/topic",
            "/comments",
            "/revisions/current/files",
            "/submitted_together",
            "/nosuch",
        ):
            yield ask(
                f"ada {method} /changes/2{view if view != '' or method != 'DELETE' else '/nothing'}",
                {} if method != "DELETE" else None,
            )
