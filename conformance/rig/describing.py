"""Inside the child: what a tool's own signature says that its schema does not tell any more."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any


def bare_parameters(function: Callable[..., Any]) -> list[str]:
    """Name the parameters of a tool's function that have no annotation: in their schema the SDK calls them strings."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return []
    return [one.name for one in parameters if one.annotation is inspect.Parameter.empty]
