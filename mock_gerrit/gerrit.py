"""Gerrit's HTTP face: who asks, which endpoint answers."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote_plus

from mock_gerrit.answers import (
    JSON_ONLY,
    canned_answer_of,
    content_answer,
    failure,
    json_answer,
    marked_unsimulated,
    plain_answer,
)
from mock_gerrit.authentication import Caller, authenticate
from mock_gerrit.errors import GerritError, bad_request, forbidden, nothing_here
from mock_gerrit.exchange import Request, Response
from mock_gerrit.plugins.canned import canned_answer
from mock_gerrit.plugins.contributions import change_options, own_route
from mock_gerrit.rest import families
from mock_gerrit.rest.call import NO_CONTENT, Call, Content, Created, Refused
from mock_gerrit.rest.dispatch import Found, find
from mock_gerrit.rest.input import read_body
from mock_gerrit.rest.options import parse_options
from mock_gerrit.rest.routes import CORE, Route, Routes, nearest

if TYPE_CHECKING:
    from mock_gerrit.host import Host

_BAD_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})|%00")
_CLIMBS = re.compile(r"/(?:\.|%2e){2}(?:/|$)", re.IGNORECASE)
_READING = frozenset({"GET", "HEAD"})


def answer(host: Host, request: Request) -> Response:
    """What Gerrit answers to a request; the host is changed where the request changes something.

    Args:
        host: the host that is asked.
        request: what it is asked; its target includes the host's context path.

    Returns:
        the response of a Gerrit 3.13 with this content. Where no endpoint of the simulation fits, it is Gerrit's own
        404 with `unsimulated` naming the route nearest to the request.
    """
    caller = Caller()
    try:
        path, login_required = _gerrit_path(host, request)
        caller = authenticate(host, request, required=login_required)
        response = _respond(host, request, caller, path, login=login_required)
    except GerritError as error:
        response = failure(error)
    user = caller.account.username if caller.account else None
    return Response(
        status=response.status,
        reason=response.reason,
        headers=response.headers,
        body=b"" if request.method == "HEAD" else response.body,
        unsimulated=response.unsimulated,
        user=user,
    )


def _gerrit_path(host: Host, request: Request) -> tuple[str, bool]:
    """The path below the context path and one leading `/a`, and whether that `/a` was there."""
    path, login = request.path, False
    if _BAD_ESCAPE.search(path):
        raise GerritError(400, "<h1>Bad Message 400</h1><pre>reason: Bad Request</pre>", container=True)
    if host.context_path:
        if not f"{path}/".startswith(f"{host.context_path}/"):
            raise nothing_here()
        path = path[len(host.context_path) :] or "/"
    if path.startswith("/a/"):
        path, login = path[2:], True
    if _CLIMBS.search(path):
        _refuse_to_climb(request.method, path)
    return path, login


def _refuse_to_climb(method: str, path: str) -> None:
    """Refuses a path whose `..` leads elsewhere: to another collection, or to where Gerrit has nothing at all."""
    reached = posixpath.normpath(unquote_plus(path))
    if not families.is_rest(method, reached):
        raise nothing_here()
    if reached.split("/")[1] != path.split("/")[1]:
        raise GerritError(404, "Not Found")


def _respond(host: Host, request: Request, caller: Caller, path: str, *, login: bool) -> Response:
    routes = _routes_of(host)
    canned = canned_answer(host, request.method, path, request.query_string)
    if canned is not None:
        return canned_answer_of(canned)
    own = own_route(host, request.method, path)
    if not own and not families.is_rest(request.method, path):
        return _outside_rest(host, path, routes, request.method, login=login)
    if request.method not in _READING:
        _check_may_write(caller)
    if "%24m=" in request.query_string or "$m=" in request.query_string:
        raise bad_request("origin not allowed")
    call = Call(host=host, user=caller.account, request=request, path=path)
    found = Found(route=own[0], resources=own[1]) if own else find(call, routes)
    if found.route is None:
        error = failure(found.error)
        return marked_unsimulated(error, nearest(routes, request.method, path)) if found.unknown else error
    return _run(call, found, found.route)


def _routes_of(host: Host) -> dict[str, Routes]:
    """The core's endpoints and those of the plugins that are switched on, the core's first."""
    plugins = {plugin.id: plugin.simulator.routes for plugin in host.enabled_plugins if plugin.simulator}
    return {CORE: families.routes(), **plugins}


def _check_may_write(caller: Caller) -> None:
    if caller.account is None:
        raise forbidden("Authentication required")
    if not caller.may_write:
        raise forbidden(
            "Invalid authentication method. In order to authenticate, prefix the REST endpoint URL with /a/ "
            "(e.g. http://example.com/a/projects/)."
        )


_OTHER_METHODS = {"PUT": 405, "DELETE": 405, "TRACE": 405, "OPTIONS": 200}
"""What the container answers to methods other than reading and POST where it has no servlet; 501 to any other."""


def _outside_rest(host: Host, path: str, routes: dict[str, Routes], method: str, *, login: bool) -> Response:
    """A path that no REST servlet has: pages, plugin files, nothing."""
    if method not in {*_READING, "POST"} and not families.has_unsimulated_page(host, path):
        return plain_answer(_OTHER_METHODS.get(method, 501), (), b"")
    page = families.page(host, path, login=login)
    if page:
        return content_answer(page)
    missing = failure(nothing_here())
    if families.has_unsimulated_page(host, path):
        return marked_unsimulated(missing, nearest(routes, method, path))
    return missing


def _run(call: Call, found: Found, route: Route) -> Response:
    if route.permit:
        route.permit(call)
    pairs = _query_pairs(call.request)
    if not route.any_options:
        call.options = parse_options(pairs, route.options, plugin_options=families.takes_plugin_options(route))
    if call.options.plugin:
        change_options(call.host, call.options.plugin)
    if route.method not in _READING:
        _take_input(call, route)
    value = route.view(call, **found.resources)
    if isinstance(value, Content):
        return content_answer(value, as_json=call.request.header("accept") == JSON_ONLY)
    if value is NO_CONTENT:
        return plain_answer(204, (), b"")
    status = 200
    if isinstance(value, Created):
        status, value = 201, value.value
    elif isinstance(value, Refused):
        status, value = value.status, value.value
    return json_answer(status, _fields(value, pairs), pretty=_wants_pretty(pairs))


def _take_input(call: Call, route: Route) -> None:
    call.body = read_body(call.request, route)
    if "message" in route.inputs:
        call.body.text("message")
    if "notify" in route.inputs:
        call.check_notify()


def _query_pairs(request: Request) -> list[tuple[str, str]]:
    pairs = []
    for part in request.query_string.split("&") if request.query_string else ():
        name, _, value = part.partition("=")
        pairs.append((_decoded(name), _decoded(value)))
    return pairs


def _decoded(text: str) -> str:
    if "%" not in text and "+" not in text:
        return text
    if _BAD_ESCAPE.search(text) and "%00" not in text:
        raise GerritError(500, "Server Error", container=True)
    try:
        return unquote_plus(text, errors="strict")
    except UnicodeDecodeError:
        raise GerritError(400, "Bad Request", container=True) from None


def _fields(value: Any, pairs: list[tuple[str, str]]) -> Any:  # noqa: ANN401 - any JSON
    wanted = [item for name, given in pairs if name == "fields" for item in given.split(",")]
    if wanted and isinstance(value, list):
        return [_fields(item, pairs) for item in value]
    if not wanted or not isinstance(value, dict):
        return value
    return {name: {} if isinstance(item, dict) else item for name, item in value.items() if name in wanted}


def _wants_pretty(pairs: list[tuple[str, str]]) -> bool:
    return any(name in {"pp", "prettyPrint"} and value not in {"0", "false"} for name, value in pairs)
