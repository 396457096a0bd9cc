"""Programs that have to be there before anything can be judged."""

from __future__ import annotations

import shutil

from conformance.settings import Settings
from conformance.usage import UsageError


def require_curl(settings: Settings) -> None:
    """Make sure that the reference host can reach its Gerrit hosts: it does so by `curl`, as upstream does.

    Args:
        settings: how the run was asked to go; a host that comes from a factory brings what it needs.

    Raises:
        UsageError: there is no `curl` on the PATH.
    """
    if settings.host_kind == "reference" and shutil.which("curl") is None:
        raise UsageError(
            "curl is not installed",
            "the reference host asks Gerrit by curl, and no folder of PATH holds it",
            "install it, for example by: apt-get install curl",
        )
