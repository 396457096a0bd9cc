"""What can go wrong with the rig itself; a subject that misbehaves is a Record, never one of these."""

from __future__ import annotations


class RigError(Exception):
    """Base of the rig's own errors."""


class WarmProcessFailed(RigError):  # noqa: N818 - named for what happened, like the rest of the rig
    """The warm process could not start, or has ended while it was needed."""


class ChildNotStarted(RigError):  # noqa: N818 - named for what happened, like the rest of the rig
    """The guardian could not start a child."""


class FactMissing(RigError):  # noqa: N818 - named for what happened, like the rest of the rig
    """The child did not tell the fact that was waited for: it ended first, or the time was over."""
