"""Reading what a request sends, by its content type."""

from __future__ import annotations

from urllib.parse import parse_qs

from mock_gerrit.errors import bad_request
from mock_gerrit.exchange import Request
from mock_gerrit.rest.body import INVALID, Body, parse_json
from mock_gerrit.rest.routes import Route


def read_body(request: Request, route: Route) -> Body:
    """The input of an endpoint.

    JSON is an object, or a text for the one field that the input is mostly about; so is a plain text. A form is an
    object of texts. An endpoint that takes content gets any other body as it is.

    Raises:
        GerritError: 400 for another content type, or for JSON that is none.
    """
    content_type = (request.header("content-type") or "").partition(";")[0].strip().lower()
    text = request.body.decode("utf-8", "replace")
    if content_type == "application/json":
        return _from_json(text, route)
    if route.raw:
        return Body(raw=request.body, given=bool(request.body or content_type))
    if not request.body and (not content_type or request.method == "DELETE"):
        return Body(given=False)
    if content_type == "text/plain":
        return _from_text(text.strip(), route)
    if content_type == "application/x-www-form-urlencoded" and request.method == "POST":
        return Body({name: values[-1] for name, values in parse_qs(text).items()})
    raise bad_request("Expected Content-Type: application/json")


def _from_json(text: str, route: Route) -> Body:
    if not text.strip():
        raise bad_request("Expected JSON object")
    try:
        value = parse_json(text)
    except (ValueError, RecursionError):
        raise bad_request(INVALID) from None
    if value is None:
        return Body()
    if isinstance(value, str):
        return _from_text(value, route)
    if not isinstance(value, dict):
        raise bad_request(INVALID)
    return Body(value)


def _from_text(text: str, route: Route) -> Body:
    """A bare text stands for the one field that the input is mostly about."""
    if route.default_field is None:
        raise bad_request("Expected JSON object")
    return Body({route.default_field: text})
