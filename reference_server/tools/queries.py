"""Tools that search for changes."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import TypedDict

from reference_server.errors import GerritError
from reference_server.gerrit import get_base_url, request
from reference_server.tools.parameters import HostUrl, Limit, Options
from reference_server.tools.shapes import ChangeList, ChangeSummary, change_list

Day = Annotated[str, Field(pattern=r"^\d{4}-\d{2}-\d{2}( \d{2}:\d{2}:\d{2})?$", description="`2026-01-31`, in UTC.")]
ChangeState = Literal["open", "merged", "abandoned", "pending"]


class MostRecentChange(TypedDict):
    """The change that somebody touched last, if there is any."""

    change: ChangeSummary | None


async def query_changes(
    query: Annotated[str, Field(description="In Gerrit's query language: `status:open owner:self`.")],
    gerrit_base_url: HostUrl = None,
    limit: Limit = None,
    options: Options = None,
) -> ChangeList:
    """Search for changes with Gerrit's query language, the latest first."""
    return await _find(query, gerrit_base_url, limit, options or [])


async def query_changes_by_date_and_filters(
    *,
    start_date: Day,
    end_date: Day,
    gerrit_base_url: HostUrl = None,
    limit: Limit = None,
    project: str | None = None,
    message_substring: str | None = None,
    status: ChangeState | None = None,
) -> ChangeList:
    """Search for changes that were updated between two dates, and narrow the result down."""
    filters = {"after": start_date, "before": end_date, "project": project, "message": message_substring}
    terms = [f"{operator}:{_quoted(value)}" for operator, value in filters.items() if value is not None]
    if status is not None:
        terms.append(f"status:{status}")
    return await _find(" ".join(terms), gerrit_base_url, limit, [])


async def get_most_recent_cl(
    user: Annotated[str, Field(description="An e-mail address, a user name, an account number, or `self`.")],
    gerrit_base_url: HostUrl = None,
) -> MostRecentChange:
    """Find the change of somebody's own that was updated last."""
    found = await _find(f"owner:{_quoted(user)}", gerrit_base_url, 1, [])
    return {"change": found["changes"][0] if found["changes"] else None}


async def _find(query: str, gerrit_base_url: str | None, limit: int | None, options: list[str]) -> ChangeList:
    parameters = [("q", query)]
    if limit is not None:
        parameters.append(("n", str(limit)))
    parameters += [("o", option) for option in ("DETAILED_ACCOUNTS", *options)]
    return change_list(await request("GET", get_base_url(gerrit_base_url), "/changes/", query=parameters, expect=list))


def _quoted(value: str) -> str:
    """One value of the query language, whatever it holds; the language has two kinds of quotes and no escapes."""
    if '"' not in value:
        return f'"{value}"'
    if "{" not in value and "}" not in value:
        return "{" + value + "}"
    raise GerritError(f"Gerrit's query language cannot quote {value!r}: it holds both quotes and braces")
