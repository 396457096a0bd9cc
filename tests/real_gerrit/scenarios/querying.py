"""The change query language: operators, combinations, paging, mistakes."""

from __future__ import annotations

from itertools import product
from urllib.parse import quote

from tests.real_gerrit.asking import ask
from tests.real_gerrit.scenarios.building import Asking

TERMS = (
    "status:open", "status:merged", "status:abandoned", "status:nosuch", "status:n", "is:open", "is:closed", "is:wip",
    "is:private", "is:starred", "is:reviewed", "is:owner", "is:reviewer", "is:cc", "is:submittable", "is:merge",
    "is:cherrypick", "is:started", "is:watched", "is:attention", "is:mergeable", "is:nosuch", "is:unassigned",
    "has:draft", "has:edit", "has:star", "has:unresolved", "has:nosuch", "owner:self", "owner:ada",
    "owner:ada@example.org", "owner:nobody", "owner:1000001", "owner:1000001,1000002", 'owner:"Ada Example"',
    "owner:Example", "reviewer:bo", "reviewer:self", "reviewer:nobody", "cc:cy", "cc:self", "uploader:bo", "author:ada",
    "author:ada@example.org", "committer:ada", "committer:Gerrit", "reviewedby:bo", "reviewedby:self", "from:bo",
    "commentby:bo", "attention:bo", "attention:self", "assignee:bo", "project:demo", "p:demo", "project:nosuch",
    "projects:ap", "project:^de.*", "parentproject:All-Projects", "repo:demo", "repository:demo", "branch:master",
    "branch:refs/heads/master", "branch:^m.*", "ref:refs/heads/master", "ref:master", "topic:better", "topic:",
    'topic:""', "intopic:bet", "inhashtag:on", "intopic:^b.*r", "topic:^b.*", "hashtag:One", "hashtag:one",
    'hashtag:"two words"', "prefixhashtag:o", "prefixtopic:be", "change:2", "change:999", "2", "999", "I0000",
    "change:demo~2", "change:I", "tr:42", "bug:42", "message:begin", "message:Improve", "message:^Imp.*",
    'message:"Improve things"', "subject:improve", "prefixsubject:Imp", "body:x", "comment:three", "comment:nosuch",
    "file:a.txt", "file:^.*\\.md", "file:a", "f:a.txt", "path:src/main.py", "path:main.py", "file:main.py",
    "extension:md", "ext:.py", "onlyextensions:md,txt", "onlyexts:txt", "directory:src", "dir:src", 'dir:""',
    "footer:Bug:42", "footer:Bug=42", "hasfooter:Bug", "label:Code-Review", "label:Code-Review=1",
    "label:Code-Review+1", "label:Code-Review>=1", "label:Code-Review<0", "label:CR=1", "label:Code-Review=MAX",
    "label:Code-Review=ANY", "label:Code-Review=1,user=bo", "label:Code-Review=1,bo", "label:Nosuch=1",
    "label:Code-Review=ok", "label:Code-Review=need", "label:Code-Review=3", "label:Code-Review=1,owner",
    "label:Code-Review,count=1", "label:Code-Review=1,count>=1", "label:Code-Review=2,non_uploader",
    "label:code-review=1", "label:Code-Review-1", "label:", "label:Code-Review=1,group=Administrators",
    "label:Code-Review=1,user=nobody", "label:Code-Review=1,users=human_reviewers", "age:0s", "age:1d", "age:1",
    "age:x", "-age:1d", "before:2020-01-01", "after:2020-01-01", "since:2020-01-01", "until:2999-01-01",
    "before:yesterday", "after:", 'after:"2020-01-01 10:00:00"', 'before:"2999-01-01 10:00:00.000 +0200"',
    "mergedafter:2020-01-01", "mergedbefore:2020-01-01", "added:1", "added:>1", "added:>=2", "deleted:<2", "deleted:0",
    "delta:>1", "size:<10", "added:x", "unresolved:>0", "unresolved:0", "revertof:1", "cherrypickof:1",
    "cherrypickof:1,1", "submissionid:x", "visibleto:bo", "visibleto:self", "visibleto:nobody",
    "ownerin:Administrators", "uploaderin:Administrators", "reviewerin:Administrators", "ownerin:nosuch",
    'ownerin:"Registered Users"', "limit:2", "limit:0", "limit:x", "limit:-1", "conflicts:2", "conflicts:999",
    "query:x", "destination:x", "rule:x", "submittable:ok", "submittable:x", "star:star", "starredby:self",
    "draftby:self", "nosuch:1", "commit:0000", "commit:nosuch", "is:visible", "is:uploader", "is:pure-revert",
    "pureRevert:1", "is:pending", "is:merged", "is:abandoned", "is:new", "is:OPEN", "STATUS:open", "status:OPEN",
    "tag:x", "hashtag:", "parentof:8", "parentof:2", "project:", "owner:", "is:", "has:", "exact:x", "commentby:nobody",
    "label:Code-Review=-1", "magic", "better", "Improve", "ada", "ada@example.org", "demo", "*", "master", "/a.txt",
    "a:b:c", "parentproject:demo", "path:^src/.*", "deleted:1", "is:false", "uploaderin:nosuch", "reviewerin:nosuch",
    "attention:nobody", "custom:x", "is:rebase", "has:attention", "has:submodule-update", "label:Code-Review=MIN",
    "label:Code-Review!=0", "label:Code-Review=+1", "label:Code-Review:1", "branch:", "branch:nosuch", "inname:x",
    "file:", "file:^", "topic:^[", "message:^(", "project:^[", "path:^*", "footer:Bug", "author:", "committer:nobody",
)  # fmt: skip
COMBINATIONS = (
    "status:open owner:self", "status:open AND owner:bo", "status:open OR status:merged", "-status:open",
    "NOT status:open", "status:open -owner:ada", "(status:open OR is:merged) project:demo", "status:open (",
    "status:open )", "()", "(status:open", "status:open AND", "AND status:open", "OR", "status:open OR",
    "- status:open", "--status:open", "NOT NOT is:open", '"unclosed', "{braced}", "topic:{better}", "is:open is:wip",
    "is:open AND (topic:better OR hashtag:One) -is:wip", "status:open limit:1", "status:open limit:2 limit:1",
    "is:open,is:wip", "project:demo branch:master status:open -is:wip", "owner:self or owner:bo", "not is:wip",
    "is:open and is:wip", "is:open\tis:wip", "is:open\nis:wip", "  is:open  ", "é", "message:é", "message:'x'", "a!b",
    "a$b", "a?b", "a&b", "a[b]", "a;b", "#1", "a.txt", "x=y", "<x>", "a/b", "topic:a/b", "topic:better:x", "is::open",
    ":open", "is: open", "is :open", '"is:open"', 'topic:"better" is:open', "-(is:open is:wip)",
    "-(is:open OR is:closed)", "owner:self (reviewer:bo OR cc:cy)", "change:2 OR change:3", "2 OR 3", "2 3",
    "project:demo 2", "status:open,n=1", 'after:"2020-01-01" before:"2999-01-01"',
    'after:"2020-01-01" before:"2999-01-01" project:"demo" message:"improve" status:open', 'message:"a \\"b\\""',
    "message:a\\b", "reviewer:self -owner:self", "label:Code-Review=1 OR label:Code-Review=-1",
)  # fmt: skip
PAGING = (
    "n=1", "n=0", "n=-1", "n=x", "n=", "n=2&n=1", "n=1&S=1", "S=1", "S=99", "S=-1", "S=x", "start=2", "limit=1",
    "n=2&start=1", "no-limit", "n=1&no-limit", "skip-visibility", "allow-incomplete-results", "n=999999",
    "n=99999999999", "S=0&n=3", "nosuch=1",
)  # fmt: skip


def _query(text: str) -> str:
    return quote(text, safe="")


def operators() -> Asking:
    """Every operator by itself, and the opposite of it."""
    for term in TERMS:
        yield ask(f"ada GET /changes/?q={_query(term)}")
        yield ask(f"anonymous GET /changes/?q={_query('-' + term)}")


def combinations() -> Asking:
    """Operators together, well and badly put."""
    for text, user in product(COMBINATIONS, ("bo", "anonymous")):
        yield ask(f"{user} GET /changes/?q={_query(text)}")
    yield ask("ada GET /changes/?q=status:open+owner:self")
    yield ask("ada GET /changes/?q=status:open%20owner:self&q=is:wip&q=999")
    yield ask("ada GET /changes/?q=is:open&q=nosuch:1")
    for raw in (
        "q",
        "q=",
        "q=%",
        "q=%zz",
        "q=%ff",
        "q=is:open%00",
        "q=a%0Ab",
        "Q=is:open",
        "q=is:open#x",
        "query=is:wip",
        "q==",
        "",
    ):
        yield ask(f"ada GET /changes/?{raw}")


def paging() -> Asking:
    """Limits and starts, sensible or not."""
    for page in PAGING:
        yield ask(f"ada GET /changes/?q=project:demo&{page}")
        yield ask(f"anonymous GET /changes/?{page}")
        yield ask(f"admin GET /changes/?q=is:open&q=is:closed&{page}")
