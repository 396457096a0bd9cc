"""What can be read of a change, its files and its people."""

from __future__ import annotations

from itertools import product

from tests.real_gerrit.asking import ask
from tests.real_gerrit.scenarios.building import Asking

CHANGES = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12)
USERS = ("ada", "bo", "admin", "anonymous")
OPTIONS = (
    "LABELS", "DETAILED_LABELS", "CURRENT_REVISION", "ALL_REVISIONS", "CURRENT_COMMIT", "ALL_COMMITS", "CURRENT_FILES",
    "ALL_FILES", "DETAILED_ACCOUNTS", "REVIEWER_UPDATES", "MESSAGES", "CURRENT_ACTIONS", "CHANGE_ACTIONS", "REVIEWED",
    "SKIP_DIFFSTAT", "SUBMITTABLE", "WEB_LINKS", "CHECK", "COMMIT_FOOTERS", "PUSH_CERTIFICATES", "TRACKING_IDS",
    "DOWNLOAD_COMMANDS", "SUBMIT_REQUIREMENTS", "CUSTOM_KEYED_VALUES", "STAR", "PARENTS", "DRAFT_COMMENTS", "NO_SUCH",
    "current_revision",
)  # fmt: skip
VIEWS = (
    "", "/detail", "/topic", "/message", "/hashtags", "/comments", "/drafts", "/messages", "/reviewers", "/attention",
    "/submitted_together", "/submitted_together?o=NON_VISIBLE_CHANGES", "/in", "/check", "/edit", "/pure_revert",
    "/suggest_reviewers?q=b", "/suggest_reviewers", "/revisions/current/files", "/revisions/current/commit",
    "/revisions/current/patch", "/revisions/current/related", "/revisions/current/review", "/revisions/current/actions",
    "/revisions/current/mergeable", "/revisions/current/submit_type", "/revisions/current/comments",
    "/revisions/current/drafts", "/revisions/current/reviewers", "/revisions/current/description",
)  # fmt: skip
FILES = (
    "content", "diff", "diff?context=3", "diff?context=ALL", "diff?intraline", "diff?whitespace=IGNORE_ALL",
    "diff?base=1", "diff?parent=1", "diff?whitespace=NO", "content?parent=1", "diff?base=9", "download", "blame",
    "meta",
)  # fmt: skip
IDS = (
    "1", "999", "0", "-1", "01", "demo~2", "demo~999", "nosuch~2", "apps%2Fweb~6", "apps/web~6", "apps%252Fweb~6", "x",
    "%20", "%2F", "..", "%2e%2e", "1%00", "%zz", "1;x", "1~1~1", "demo~master~I123", "%C3%A9", "%ff", "999999999999",
    "2/", "2//detail", "2/detail/", "2/nosuch", "2/revisions", "2/revisions/", "2/revisions/9/commit",
    "2/revisions/abc/commit", "2/revisions/current", "2/revisions/2/files/", "2/reviewers/bo", "2/reviewers/nobody",
    "2/reviewers/ada%40example.org", "2/reviewers/bo/votes", "2/messages/nosuch", "2/comments/x", "2/~detail",
)  # fmt: skip


def changes() -> Asking:
    """Every view of every change, for those who may and may not see it."""
    for number, view in product(CHANGES, VIEWS):
        yield ask(f"ada GET /changes/{number}{view}")
    for number, view, user in product((2, 5), VIEWS, ("cy", "anonymous")):
        yield ask(f"{user} GET /changes/{number}{view}")


def options() -> Asking:
    """Every option of a change, alone and together with what it needs."""
    for option in OPTIONS:
        yield ask(f"ada GET /changes/2?o={option}")
        yield ask(f"bo GET /changes/2/detail?o={option}&o=CURRENT_REVISION")
        yield ask(f"anonymous GET /changes/?q=status:open&n=3&o={option}&o=ALL_REVISIONS")
    yield ask("ada GET /changes/8?o=ALL_REVISIONS&o=ALL_COMMITS&o=ALL_FILES&o=DETAILED_ACCOUNTS&o=PARENTS")
    for odd in (
        "o=",
        "o",
        "x=1",
        "O=1",
        "O=ffffff",
        "O=zz",
        "pp=1",
        "pp=0",
        "prettyPrint=true",
        "fields=id",
        "alt=json",
        "o=LABELS&o=LABELS",
        "trace",
        "trace=a",
        "access_token=x",
        "meta=1",
        "&&",
        "%6f=LABELS",
        "o=%4cABELS",
    ):
        yield ask(f"ada GET /changes/2?{odd}")
        yield ask(f"ada GET /changes/?q=change:2&{odd}")


def names() -> Asking:
    """Good and bad names of changes and of what is below them."""
    for name, user in product(IDS, ("ada", "anonymous")):
        yield ask(f"{user} GET /changes/{name}")


def files() -> Asking:
    """Content, differences and patches of files, there or not."""
    there = {
        2: ("a.txt", "new.md", "%2FCOMMIT_MSG", "nosuch"),
        8: ("b.txt", "%2FMERGE_LIST"),
        9: ("c.txt",),
        10: ("new%20name.txt", "old%20name.txt", "src%2Fmain.py", "src/main.py"),
        3: ("src%2Fmain.py",),
    }
    for number, paths in there.items():
        for path, view in product(paths, FILES):
            yield ask(f"ada GET /changes/{number}/revisions/current/files/{path}/{view}")
        for path in paths:
            yield ask(f"ada GET /changes/{number}/revisions/current/patch?path={path}")
    for odd in ("?zip", "?download", "?raw", "?path=", "?path=%2FCOMMIT_MSG", "?path=nosuch", "?parent=2", "?parent=1"):
        yield ask(f"ada GET /changes/2/revisions/current/patch{odd}")
    for odd in (
        "?base=1",
        "?parent=1",
        "?parent=2",
        "?reviewed",
        "?q=a",
        "?base=x",
        "?base=0",
        "?base=2",
        "?x",
        "/nosuch",
    ):
        yield ask(f"ada GET /changes/2/revisions/current/files{odd}")
        yield ask(f"anonymous GET /changes/2/revisions/1/files{odd}")


def elsewhere() -> Asking:
    """Accounts, projects, the server's own facts."""
    paths = (
        "/config/server/version", "/config/server/info", "/plugins/", "/plugins/?all", "/plugins/nosuch/gerrit~status",
        "/accounts/self", "/accounts/self/detail", "/accounts/bo", "/accounts/bo%40example.org", "/accounts/nobody",
        "/accounts/1000001", "/accounts/999", "/accounts/Ada%20Example", "/accounts/self/emails",
        "/accounts/self/groups", "/accounts/self/capabilities", "/accounts/?q=bo", "/accounts/?q=example.org&n=2",
        "/accounts/?q=", "/accounts/", "/accounts/?q=a&o=DETAILS", "/accounts/?suggest&q=d", "/accounts/self/name",
        "/accounts/bo/status", "/projects/", "/projects/?d", "/projects/?p=de", "/projects/?m=EB", "/projects/?r=.*e.*",
        "/projects/?n=1", "/projects/demo", "/projects/nosuch", "/projects/apps%2Fweb", "/projects/apps/web",
        "/projects/demo/branches", "/projects/demo/branches/master", "/projects/demo/branches/nosuch",
        "/projects/demo/HEAD", "/projects/bare/HEAD", "/projects/demo/branches/?m=st", "/projects/demo/description",
        "/projects/demo/parent", "/projects/?t", "/projects/demo/branches/master/files/a.txt/content",
        "/projects/demo/branches/master/files/nosuch/content", "/projects/bare/branches", "/projects/demo/children/",
        "/groups/", "/access/?project=demo", "/nosuch", "/", "/changes",
        "/projects/demo/branches/refs%2Fheads%2Fmaster", "/projects/demo.git", "/projects/All-Projects", "/2",
        "/c/demo/+/2",
    )  # fmt: skip
    for path, user in product(paths, USERS[1:]):
        yield ask(f"{user} GET {path}")


def heads() -> Asking:
    """HEAD, compression, and headers that make no difference."""
    for path in (
        "/changes/2",
        "/changes/999",
        "/changes/?q=status:open",
        "/changes/2/revisions/current/patch",
        "/config/server/version",
        "/plugins/",
        "/changes/2/topic",
        "/nosuch",
    ):
        yield ask(f"ada HEAD {path}")
        yield ask(f"ada GET {path}", Accept_Encoding="gzip")
        yield ask(f"ada HEAD {path}", Accept_Encoding="gzip, deflate, br")
        yield ask(f"ada GET {path}", Accept="application/json")
        yield ask(f"ada GET {path}", Accept="text/html")
        for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "BREW"):
            yield ask(f"bo {method} {path.replace('/2', '/999')}", {} if method in {"POST", "PUT"} else None)


def credentials() -> Asking:
    """Wrong, odd and missing credentials."""
    for sent in (
        "Basic",
        "Basic x",
        "Basic YWRhOg==",
        "Basic YWRhOndyb25n",
        "Bearer x",
        "Basic bm9ib2R5Og==",
        "Basic YWRh",
        "",
        "basic YWRhOmFkYS1wdw==",
    ):
        for path in ("/accounts/self", "/changes/2", "/nosuch"):
            yield ask(f"ada GET {path}", Authorization=sent)
            yield ask(f"anonymous GET {path}", Authorization=sent)
    for path in ("/a", "/a/", "/a/a/changes/2", "//changes/2", "/a//changes/2", "/changes/?q=is:open", "/A/changes/"):
        yield ask(f"anonymous GET {path}")
