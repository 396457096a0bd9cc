"""A configuration that behaves as the dictionary that it is, and tells which of its keys are asked for by name.

Copying, merging, dumping and walking through the whole of it are no questions for one key, and are not told.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Seen = Callable[[tuple[str, ...], str], None]
"""Told of each key that is asked for: where in the document, and which."""

_NOTHING = object()


def watched(value: Any, seen: Seen | None, path: tuple[str, ...] = ()) -> Any:  # noqa: ANN401 - any JSON value
    """Give a copy of a JSON value in which every object is a `Document`."""
    if isinstance(value, dict):
        made = Document((key, watched(one, seen, (*path, str(key)))) for key, one in value.items())
        made.watch(seen, path)
        return made
    if isinstance(value, list):
        return [watched(one, seen, path) for one in value]
    return value


class Document(dict[str, Any]):
    """A dictionary that tells of each look-up by key."""

    _seen: Seen | None = None
    """Nobody, for one that somebody else makes of this class."""
    _path: tuple[str, ...] = ()

    def watch(self, seen: Seen | None, path: tuple[str, ...]) -> None:
        """Begin to tell."""
        self._seen, self._path = seen, path

    def _note(self, key: str) -> None:
        if self._seen is not None:
            self._seen(self._path, key)

    def __getitem__(self, key: str) -> Any:  # noqa: ANN401 - as the dictionary's
        self._note(key)
        return super().__getitem__(key)

    def __contains__(self, key: object) -> bool:
        self._note(str(key))
        return super().__contains__(key)

    def get(self, key: str, default: Any = None) -> Any:  # noqa: ANN401 - as the dictionary's
        """Look up as a dictionary does."""
        self._note(key)
        return super().get(key, default)

    def pop(self, key: str, default: Any = _NOTHING) -> Any:  # noqa: ANN401 - as the dictionary's
        """Take out as a dictionary does."""
        self._note(key)
        return super().pop(key) if default is _NOTHING else super().pop(key, default)

    def setdefault(self, key: str, default: Any = None) -> Any:  # noqa: ANN401 - as the dictionary's
        """Look up or put in as a dictionary does."""
        self._note(key)
        return super().setdefault(key, default)

    def copy(self) -> dict[str, Any]:
        """Give a shallow copy that is watched as well."""
        made = Document(self)
        made.watch(self._seen, self._path)
        return made

    __copy__ = copy

    def __deepcopy__(self, memo: dict[int, Any]) -> dict[str, Any]:
        made: dict[str, Any] = watched(self, self._seen, self._path)
        return made

    def __reduce_ex__(self, protocol: object) -> tuple[type, tuple[Mapping[str, Any]]]:
        """Leave the process as a plain dictionary."""
        return dict, ({**self},)
