"""The errors of the simulated Gerrit, each with the status and the words of the real one."""

from __future__ import annotations


class GerritError(Exception):
    """An answer that is no success.

    Attributes:
        status: the HTTP status.
        text: the sentence Gerrit answers with, without the newline it ends in.
        container: True where not Gerrit's REST layer but the servlet container answers: another
            character set, and no newline.
    """

    def __init__(self, status: int, text: str, *, container: bool = False) -> None:
        super().__init__(text)
        self.status = status
        self.text = text
        self.container = container


def bad_request(text: str) -> GerritError:
    """The input makes no sense: 400."""
    return GerritError(400, text)


def forbidden(text: str) -> GerritError:
    """The caller may not do this: 403."""
    return GerritError(403, text)


def not_permitted(permission: str) -> GerritError:
    """The caller lacks a permission that Gerrit names: 403."""
    return GerritError(403, f"{permission} not permitted")


def not_found(what: str) -> GerritError:
    """There is no such thing, or none that the caller may see: 404."""
    return GerritError(404, f"Not found: {what}")


def method_not_allowed(text: str) -> GerritError:
    """The thing exists and cannot be treated this way: 405."""
    return GerritError(405, text)


def conflict(text: str) -> GerritError:
    """The thing is not in a state that allows this: 409."""
    return GerritError(409, text)


def unprocessable(text: str) -> GerritError:
    """The input is well-formed and names something that is not there: 422."""
    return GerritError(422, text)


def nothing_here() -> GerritError:
    """No servlet feels responsible for the path: the container's own 404."""
    return GerritError(404, "Not Found", container=True)
