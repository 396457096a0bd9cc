"""Whose code a frame runs: what an observer inside the child sees counts only where the subject did it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from functools import cached_property
from importlib.metadata import PathDistribution
from pathlib import Path
from types import FrameType
from typing import Any

from conformance.rig.declared import top_level

HOST = ("gerrit_mcp_server", "reference_server")
"""The packages of the host: the names that extensions know, and those of the host that stands in for it."""

OURS = "conformance"

FORWARDING = frozenset({"__getattr__", "__getattribute__"})
"""Functions that ask for an attribute because somebody else asked them."""


class Frames:
    """Tells the frames of one subject from all others.

    A frame is known by the name of its module, so that a subject without source text is known as well.
    """

    def __init__(self, payload: Mapping[str, Any]) -> None:
        """Take the subject as `conformance.rig.hosting.serve` is told of it."""
        tops = {name.partition(".")[0] for name in payload["modules"]}
        if payload["metadata"]:
            tops |= set(top_level(PathDistribution(Path(payload["metadata"]))))
        self._owned = {top: top not in HOST for top in (*tops, *HOST)}
        self._import_path = payload["import_path"]

    def owns(self, frame: FrameType) -> bool:
        """Tell whether a frame runs code of the subject: of its modules, or of one that lies beside them."""
        top = _top(frame)
        if top not in self._owned:
            self._owned[top] = self._lies_beside(top, frame.f_code.co_filename)
        return self._owned[top]

    def _lies_beside(self, top: str, file: str) -> bool:
        return any(
            file.startswith(folder) and file[len(folder) :].partition("/")[0].removesuffix(".py") == top
            for folder in self._own_folders
        )

    @cached_property
    def _own_folders(self) -> list[str]:
        """The folders that hold the subject's files and no installed distributions."""
        return [
            f"{folder}/"
            for folder in self._import_path
            if not any(name.endswith(".dist-info") for name in os.listdir(folder))  # noqa: PTH208 - see `launch`
        ]

    def asking(self, frame: FrameType | None) -> FrameType | None:
        """Give the subject's frame that asks for an attribute itself, neither by a library nor for somebody else."""
        while frame is not None and self.owns(frame) and frame.f_code.co_name in FORWARDING:
            frame = frame.f_back
        return frame if frame is not None and self.owns(frame) else None

    def behind(self, frame: FrameType | None) -> FrameType | None:
        """Give the subject's frame at whose order something happens, perhaps by way of the standard library."""
        for one in _outwards(frame):
            if self.owns(one):
                return one
            if not passes_on(one):
                return None
        return None


def passes_on(frame: FrameType) -> bool:
    """Tell whether a frame only does what it is told: the standard library, code without a module, our own."""
    top = _top(frame)
    return top in sys.stdlib_module_names or top in {"", OURS}


def of_the_host(frame: FrameType | None) -> bool:
    """Tell whether something happens at the order of the host."""
    return next((_top(one) in HOST for one in _outwards(frame) if not passes_on(one)), False)


def where(frame: FrameType | None) -> str:
    """Say where a frame stands: line, module and function."""
    if frame is None:
        return "somewhere else"
    return f"line {frame.f_lineno} of {frame.f_globals.get('__name__', '?')}, in {frame.f_code.co_qualname}"


def line_of(frame: FrameType | None) -> str:
    """Write where a frame stands as evidence quotes it, `my_ext/tools.py:41 in get_x`; empty where nobody knows.

    It is made of the name of the module: the same on every machine, with and without source.
    """
    return "" if frame is None else place(frame, frame.f_lineno)


def place(frame: FrameType, line: int) -> str:
    """Write a line of the module whose code a frame runs."""
    module = str(frame.f_globals.get("__name__", "?"))
    is_package = bool(frame.f_globals.get("__path__"))
    return f"{module.replace('.', '/')}{'/__init__' * is_package}.py:{line} in {frame.f_code.co_name}"


def _outwards(frame: FrameType | None) -> Iterator[FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back


def _top(frame: FrameType) -> str:
    name = frame.f_globals.get("__name__")
    return name.partition(".")[0] if isinstance(name, str) else ""
