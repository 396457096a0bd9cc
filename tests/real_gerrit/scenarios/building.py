"""The small content that all other scenarios look at: four people, three projects, fifteen changes."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from tests.mock_gerrit.recordings import Recorded
from tests.real_gerrit.asking import Ask, ask

LINES = "".join(f"line {number}\n" for number in range(1, 41))
PEOPLE = {"ada": "Ada Example", "bo": "Bo Example", "cy": "Cy Example", "dan": "Dan Örn"}
Asking = Generator[Ask, Recorded, Any]


def people() -> Asking:
    for name, full in PEOPLE.items():
        told = {"name": full, "email": f"{name}@example.org", "http_password": f"{name}-pw"}
        yield ask(f"admin PUT /accounts/{name}", told)


def projects() -> Asking:
    yield ask("admin PUT /projects/demo", {"create_empty_commit": True, "description": "A demo"})
    yield ask("admin PUT /projects/apps%2Fweb", {"create_empty_commit": True, "branches": ["main", "stable"]})
    yield ask("admin PUT /projects/bare", {})
    yield ask("admin PUT /projects/demo/branches/stable", {"revision": "master"})
    yield ask("admin PUT /projects/demo", {})
    yield ask("ada PUT /projects/mine", {})


def new_change(user: str, files: dict[str, str], **wanted: Any) -> Asking:
    """A change with files, made of an edit; its number is handed back."""
    told = {"project": "demo", "branch": "master", "subject": "A change", **wanted}
    made = yield ask(f"{user} POST /changes/", told)
    number = made.response["json"]["_number"]
    for path, text in files.items():
        yield ask(f"{user} PUT /changes/{number}/edit/{path}", text, Content_Type="text/plain")
    if files:
        yield ask(f"{user} POST /changes/{number}/edit:publish", {})
    return number


def changes() -> Asking:
    base = {"a.txt": LINES, "src%2Fmain.py": "import os\n\nprint(os.name)\n", "old%20name.txt": LINES.upper()}
    first = yield from new_change("ada", base, subject="Begin\n\nBug: 42\nFixes: b/17")  # 1
    yield ask(f"admin POST /changes/{first}/revisions/current/review", {"labels": {"Code-Review": 2}})
    yield ask(f"admin POST /changes/{first}/submit", {})
    changed = {"a.txt": LINES.replace("line 3\n", "line three\n").replace("line 30\n", ""), "new.md": "# New\n"}
    yield from new_change("ada", changed, subject="Improve things", topic="better")  # 2
    yield from new_change("bo", {"src%2Fmain.py": "print(1)\n"}, subject="Simplify", topic="better")  # 3
    yield from new_change("bo", {}, subject="Nothing yet", work_in_progress=True)  # 4
    yield from new_change("cy", {"p.txt": "p\n"}, subject="Secret", is_private=True)  # 5
    yield from new_change("ada", {"w.txt": "w\n"}, project="apps/web", branch="main", subject="Web <&>\"' 'ünï'")  # 6
    yield from new_change("ada", {"gone.txt": "x\n"}, subject="To abandon")  # 7
    yield ask("ada POST /changes/7/abandon", {"message": "No longer"})
    yield from new_change("bo", {"b.txt": "1\n2\n3"}, subject="On top", base_change="2")  # 8
    yield from new_change("ada", {"c.txt": "c\n"}, branch="stable", subject="On stable")  # 9
    yield ask("ada POST /changes/9/hashtags", {"add": ["One", "two words"]})
    moved = yield ask("ada POST /changes/", {"project": "demo", "branch": "master", "subject": "Rename"})  # 10
    number = moved.response["json"]["_number"]
    yield ask(f"ada POST /changes/{number}/edit", {"old_path": "old name.txt", "new_path": "new name.txt"})
    yield ask(f"ada DELETE /changes/{number}/edit/src%2Fmain.py")
    yield ask(f"ada GET /changes/{number}/edit?list")
    yield ask(f"ada POST /changes/{number}/edit:publish", {})
    for topic in ("", "pair", "pair"):
        yield from new_change("ada", {f"t{topic}.txt": "t\n"}, subject="Of a topic", topic=topic)  # 11 12 13


def votes() -> Asking:
    yield ask("bo POST /changes/2/revisions/current/review", {"labels": {"Code-Review": 1}, "message": "Nice"})
    yield ask("ada POST /changes/2/reviewers", {"reviewer": "cy", "state": "CC"})
    yield ask("ada POST /changes/3/revisions/current/review", {"labels": {"Code-Review": -1}})
    yield ask("admin POST /changes/6/revisions/current/review", {"labels": {"Code-Review": 2}})
    comments = {
        "a.txt": [
            {"line": 3, "message": "Why three?", "unresolved": True},
            {"range": {"start_line": 5, "start_character": 1, "end_line": 6, "end_character": 2}, "message": "Here"},
            {"message": "On the file"},
            {"line": 2, "side": "PARENT", "message": "In the parent"},
        ],
        "/COMMIT_MSG": [{"line": 7, "message": "Subject"}],
        "/PATCHSET_LEVEL": [{"message": "All in all", "unresolved": True}],
    }
    yield ask("bo POST /changes/2/revisions/current/review", {"comments": comments})


def building() -> Asking:
    """The content, each request of which is compared as well."""
    yield from people()
    yield from projects()
    yield from changes()
    yield from votes()
