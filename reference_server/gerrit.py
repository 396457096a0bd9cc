"""Requests to the configured Gerrit hosts, each with the credentials of the host that its base URL names."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from typing import Any, Literal
from urllib.parse import quote, unquote, urlencode

from reference_server.config import GerritHost, load_configuration
from reference_server.credentials import curl_configuration
from reference_server.curl import CurlAnswer, run_curl
from reference_server.errors import GerritError
from reference_server.log import log
from reference_server.urls import Hosts, label, place, places

Method = Literal["GET", "POST", "PUT", "DELETE"]
Query = Sequence[tuple[str, str]]

_XSSI_PREFIX = ")]}'"
_TARGET = re.compile(r"^(?:--url=)?(https?://.*)", re.IGNORECASE | re.DOTALL)
_QUOTED_LENGTH = 500


def hosts() -> Hosts:
    """The hosts of the configuration in force.

    Raises:
        ConfigError: the configuration cannot be used.
    """
    return Hosts(configuration=load_configuration())


def get_base_url(url: str | None = None) -> str:
    """The base URL to build requests on: `url`, else `GERRIT_BASE_URL`, else the configured default.

    Returns:
        An https URL without trailing slash, `/a` included for hosts with authentication.

    Raises:
        ConfigError: the configuration cannot be used, or names no usable default.
    """
    known = hosts()
    named = url or os.environ.get("GERRIT_BASE_URL")
    return known.normalise(named) if named else known.default()


def normalize_url(url: str) -> str:
    """Bring `url` to the base URL of the configured host that it names; doing it twice changes nothing."""
    return hosts().normalise(url)


async def run_curl_for_extension(args: Sequence[str], base_url: str) -> str:
    """Run curl with the credentials of the host that `base_url` names, and return the body.

    With `GERRIT_MCP_RETURN_HTTP_ERRORS=1` the body of an HTTP error is returned too, instead of raising. With
    `GERRIT_MCP_KEEP_PREFIX=1` a body is returned as it came, the prefix `)]}'` in front.

    Raises:
        ConfigError: `base_url` is not configured, or its credentials cannot be had.
        GerritError: curl failed, took too long, or the status is 300 or above.
    """
    answer = await _ask(list(args), base_url)
    if os.environ.get("GERRIT_MCP_RETURN_HTTP_ERRORS") != "1":
        _refuse_failure(answer, next(iter(_targets(args)), base_url))
    return answer.body if os.environ.get("GERRIT_MCP_KEEP_PREFIX") == "1" else _without_prefix(answer.body)


async def fetch(base_url: str, path: str, query: Query = ()) -> str:
    """GET `path` (already encoded, with its leading slash) below `base_url`; any status from 300 raises.

    Raises:
        ConfigError: `base_url` is not configured, or its credentials cannot be had.
        GerritError: no answer, or one that tells of a failure.
    """
    answer = await _ask([base_url + path + _query_string(query)], base_url)
    _refuse_failure(answer, base_url + path)
    return _without_prefix(answer.body)


async def request(
    method: Method,
    base_url: str,
    path: str,
    *,
    query: Query = (),
    body: object = None,
    expect: type[dict[str, Any] | list[Any]] | None = dict,
) -> Any:  # noqa: ANN401 - Gerrit's JSON; each caller knows its shape
    """One REST call: JSON out, JSON in.

    Args:
        method: the HTTP method.
        base_url: what `get_base_url` gave.
        path: made by `rest_path` or `change_path`.
        query: parameters, encoded here.
        body: what to send as JSON; None sends no body.
        expect: what the answer must be; None takes any answer that tells of success, also an empty one.

    Returns:
        The parsed answer; None where Gerrit sent no content.

    Raises:
        ConfigError: `base_url` is not configured, or its credentials cannot be had.
        GerritError: no answer, one that tells of a failure, or one that is not what was expected.
    """
    url = base_url + path + _query_string(query)
    arguments = [] if method == "GET" else ["--request", method]
    sent = None if body is None else json.dumps(body).encode()
    if sent is not None:
        arguments += ["--header", "Content-Type: application/json; charset=UTF-8", "--data-binary", "@-"]
    answer = await _ask([*arguments, url], base_url, stdin=sent)
    _refuse_failure(answer, url)
    if answer.status == 204 and expect is None:
        return None
    result = _parsed(answer, url)
    if expect is not None and not isinstance(result, expect):
        wanted, saw = ("an object" if expect is dict else "an array"), type(result).__name__
        raise GerritError(f"{url} answered {answer.status}: expected JSON with {wanted}, saw {saw}")
    return result


def rest_path(*segments: str) -> str:
    """Join path segments, each percent-encoded once whatever it holds.

    Raises:
        GerritError: a segment is empty, `.` or `..`, which no encoding keeps in its place.
    """
    for segment in segments:
        if segment in {"", ".", ".."}:
            raise GerritError(f"{segment!r} cannot stand in a path of Gerrit's REST interface")
    return "".join(f"/{quote(segment, safe='')}" for segment in segments)


def change_path(change_id: str, *rest: str) -> str:
    """The path of a change or of something below it.

    An identifier that comes encoded, as older hosts write the `id` of a change, is taken apart first.
    """
    return rest_path("changes", unquote(str(change_id)), *rest)


async def _ask(arguments: list[str], base_url: str, *, stdin: bytes | None = None) -> CurlAnswer:
    known = hosts()
    host = known.require(base_url)
    program = "gob-curl" if host.authentication.type == "gob_curl" else "curl"
    secret = curl_configuration(host) if _all_targets_belong_to(host, arguments) else ""
    seconds = known.configuration.curl_timeout_seconds
    try:
        return await run_curl(arguments, seconds=seconds, program=program, secret=secret, stdin=stdin)
    except GerritError as problem:
        raise GerritError(f"{label(host)}: {problem}") from None


def _all_targets_belong_to(host: GerritHost, arguments: list[str]) -> bool:
    """Credentials are for their own host over TLS; a request that also goes elsewhere goes without."""
    targets = _targets(arguments)
    own = {where.authority for where in places(host)}
    if targets and all(url.lower().startswith("https://") and place(url).authority in own for url in targets):
        return True
    log(f"WARNING: a request for {label(host)} goes to another place or names none: sent without credentials")
    return False


def _targets(arguments: Sequence[str]) -> list[str]:
    return [found[1] for argument in arguments if (found := _TARGET.match(argument))]


def _refuse_failure(answer: CurlAnswer, url: str) -> None:
    if answer.status < 300:
        return
    if answer.status < 400:
        raise GerritError(
            f"{url} answered {answer.status} and points to {answer.redirect or 'nowhere'}: "
            "a login is asked for, so look at the credentials of this host",
            status=answer.status,
        )
    raise GerritError(f"{url} answered {answer.status}: {_quotation(answer.body)}", status=answer.status)


def _parsed(answer: CurlAnswer, url: str) -> object:
    text = _without_prefix(answer.body)
    try:
        return json.loads(text)
    except ValueError:
        raise GerritError(
            f"{url} answered {answer.status}: expected JSON, saw {_quotation(text)}", status=answer.status
        ) from None


def _query_string(query: Query) -> str:
    return f"?{urlencode(list(query), quote_via=quote, safe='')}" if query else ""


def _without_prefix(body: str) -> str:
    return body.strip().removeprefix(_XSSI_PREFIX).strip()


def _quotation(body: str) -> str:
    text = " ".join(_without_prefix(body).split()) or "(no text)"
    return text if len(text) <= _QUOTED_LENGTH else f"{text[:_QUOTED_LENGTH]}…"
