"""How a tool is bound to a Gerrit plugin: through the host's `requires_plugin`, or by routing of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from conformance.rig.scenarios import Seen
from conformance.rig.trial import Trial


@dataclass(frozen=True, kw_only=True)
class Backing:
    """What is known of a plugin-backed tool."""

    by_host: bool
    """True where its function was handed to the host's `requires_plugin`; False where it routes by itself."""
    plugin: str | None
    """The plugin's id, where it can be told."""
    parameter: str = "gerrit_base_url"
    takes_keyword: bool = True
    """The function that was decorated can be called with `parameter` as a keyword."""
    wrapper_used: bool = True
    """What `requires_plugin` made is what the SDK calls; False where the undecorated function was registered."""


def backing_of(tool: str, survey: Trial, plain: Seen) -> Backing | None:
    """Tell how `tool` is bound, from what the child told at registration and during the plainest call."""
    decorated = survey.told("decorated")
    calls = plain.calls_of(tool)
    ran = {int(fact["index"]) for call in calls for fact in call.told("routed")}
    for about in decorated:
        if tool in about["tools"] or int(about["index"]) in ran:
            return _by_host(about, used=True)
    for about in decorated:
        if tool in about["bare_tools"]:
            return _by_host(about, used=False)
    asked = [str(fact["name"]) for call in calls for fact in call.told("registry_asked")]
    if (asked or any(call.lists for call in calls)) and any(call.own for call in calls):
        return Backing(by_host=False, plugin=asked[0] if asked else None)
    return None


def _by_host(about: Mapping[str, Any], *, used: bool) -> Backing:
    return Backing(
        by_host=True,
        plugin=str(about["plugin"]),
        parameter=str(about["parameter"]),
        takes_keyword=bool(about["takes_keyword"]),
        wrapper_used=used,
    )
