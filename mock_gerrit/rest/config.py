"""/config/, as https://gerrit-review.googlesource.com/Documentation/rest-api-config.html has it."""

from __future__ import annotations

from mock_gerrit.rest.call import Call
from mock_gerrit.rest.options import flag
from mock_gerrit.rest.routes import Routes

routes = Routes()

VERSION = "3.13.0"


@routes.get("/config/{config}/version", options=(flag("verbose", "v"),), doc="#get-version")
def version(call: Call, *, config: str) -> object:  # noqa: ARG001 - there is but one configuration
    """The release; with `verbose` also the versions of its formats."""
    if call.options.flag("verbose"):
        return {
            "gerrit_version": VERSION,
            "note_db_version": 185,
            "change_index_version": 87,
            "account_index_version": 15,
            "project_index_version": 10,
            "group_index_version": 12,
        }
    return VERSION
