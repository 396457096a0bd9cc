"""/changes/, as https://gerrit-review.googlesource.com/Documentation/rest-api-changes.html has it."""

from __future__ import annotations

import re

from mock_gerrit.changes import Change
from mock_gerrit.errors import bad_request
from mock_gerrit.query import Search, parse
from mock_gerrit.rest.call import Call
from mock_gerrit.rest.change_info import DETAIL, OPTIONS, ChangeInfo, change_info
from mock_gerrit.rest.options import Option, flag, integer, many, text
from mock_gerrit.rest.routes import Routes
from mock_gerrit.visibility import may_see

routes = Routes()

DEFAULT_LIMIT = 500
BITS = (
    "LABELS",
    "CURRENT_REVISION",
    "ALL_REVISIONS",
    "CURRENT_COMMIT",
    "ALL_COMMITS",
    "CURRENT_FILES",
    "ALL_FILES",
    "DETAILED_ACCOUNTS",
    "DETAILED_LABELS",
    "MESSAGES",
    "CURRENT_ACTIONS",
    "REVIEWED",
    "DRAFT_COMMENTS",
    "DOWNLOAD_COMMANDS",
    "WEB_LINKS",
    "CHECK",
    "CHANGE_ACTIONS",
    "COMMIT_FOOTERS",
    "PUSH_CERTIFICATES",
    "REVIEWER_UPDATES",
    "SUBMITTABLE",
    "TRACKING_IDS",
    "SKIP_MERGEABLE",
    "SKIP_DIFFSTAT",
    "SUBMIT_REQUIREMENTS",
    "CUSTOM_KEYED_VALUES",
    "STAR",
    "PARENTS",
)
"""Which bit of `O=` stands for which option."""
INFO_OPTIONS: tuple[Option, ...] = (many("o", choices=OPTIONS), text("O"))
ONE_OPTIONS = (*INFO_OPTIONS, text("meta"))
QUERY_OPTIONS = (
    many("q", "query"),
    integer("n", "limit"),
    integer("S", "start"),
    flag("no-limit"),
    flag("skip-visibility"),
    flag("allow-incomplete-results"),
    *INFO_OPTIONS,
)


def asked_options(call: Call) -> frozenset[str]:
    """The `o=` of a call, and those that `O=` gives as bits of a hexadecimal number."""
    bits = call.options.text("O")
    asked = frozenset(call.options.many("o"))
    if bits is None:
        return asked
    try:
        number = int(bits, 16)
    except ValueError:
        said = f"not a hex-encoded 32-bit integer: {bits}"
        raise bad_request(f"com.google.gerrit.extensions.restapi.BadRequestException: {said}") from None
    return asked | {name for bit, name in enumerate(BITS) if number >> bit & 1}


@routes.get("/changes/", options=QUERY_OPTIONS, doc="#list-changes")
def query(call: Call) -> list[ChangeInfo] | list[list[ChangeInfo]]:
    """Changes that match, latest first; with several `q` a list for each."""
    if (call.options.integer("S") or 0) < 0:
        raise bad_request("'start' parameter cannot be less than zero")
    if call.options.flag("skip-visibility") and not call.is_admin:
        raise bad_request("com.google.gerrit.extensions.restapi.AuthException: administrate server not permitted")
    asked = call.options.many("q") or ["status:open"]
    parsed = []
    for text_ in asked:
        if not text_:
            raise bad_request("query is empty")
        search = Search(host=call.host, user=call.user)
        parsed.append((search, parse(search, text_)))
    pages = [_page(call, search, predicate) for search, predicate in parsed]
    return pages[0] if len(pages) == 1 else pages


def _page(call: Call, search: Search, predicate: object) -> list[ChangeInfo]:
    limit = call.options.integer("n") or 0
    limits = [number for number in (limit, search.limit or 0) if number > 0]
    start = call.options.integer("S") or 0
    visible = call.options.flag("skip-visibility")
    found = [
        change
        for change in call.host.changes.values()
        if (visible or may_see(call.host, call.user, change)) and predicate(change)  # type: ignore[operator]
    ]
    found.sort(key=lambda change: (change.updated, change.number), reverse=True)
    unlimited = call.options.flag("no-limit") and call.user is not None
    count = len(found) if unlimited else min(limits, default=DEFAULT_LIMIT)
    page = [change_info(call, change, asked_options(call), from_index=True) for change in found[start : start + count]]
    if page and len(found) > start + count:
        page[-1]["_more_changes"] = True
    return page


@routes.get("/changes/{change}", options=ONE_OPTIONS, doc="#get-change")
def get(call: Call, *, change: Change) -> ChangeInfo:
    """One change."""
    _check_meta(call)
    return change_info(call, change, asked_options(call))


@routes.get("/changes/{change}/detail", options=ONE_OPTIONS, doc="#get-change-detail")
def detail(call: Call, *, change: Change) -> ChangeInfo:
    """One change with labels, accounts, messages and reviewer updates."""
    _check_meta(call)
    return change_info(call, change, DETAIL | asked_options(call))


def _check_meta(call: Call) -> None:
    """Refuses a `meta` that is no hash; older states of a change are not kept, so any other shows the present one."""
    meta = call.options.text("meta")
    if meta is not None and not re.fullmatch(r"[0-9a-f]{40}", meta):
        raise bad_request(f"invalid meta SHA1: {meta}")
