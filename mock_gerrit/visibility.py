"""Who may see and do what: the few rules of Gerrit's permissions that the simulated hosts have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mock_gerrit.changes import Change
from mock_gerrit.entities import Account, Project

if TYPE_CHECKING:
    from mock_gerrit.host import Host


def may_read(user: Account | None, project: Project) -> bool:
    """Whether somebody may read a project; administrators may read all, a HIDDEN one is for them alone."""
    if user is not None and user.admin:
        return True
    if project.state == "HIDDEN":
        return False
    return project.readers is None or (user is not None and user.username in project.readers)


def may_see(host: Host, user: Account | None, change: Change) -> bool:
    """Whether somebody may see a change: its project readable, and a private one their own or given to review."""
    if not may_read(user, host.projects[change.project]):
        return False
    if not change.private:
        return True
    return user is not None and (user.admin or user.id == change.owner or user.id in change.reviewers)


def may_upload(user: Account | None, project: Project) -> bool:
    """Whether somebody may push and create changes."""
    if user is None:
        return False
    return user.admin or project.uploaders is None or user.username in project.uploaders


def is_owner(user: Account | None, change: Change) -> bool:
    """Whether somebody owns the change, or administers the host."""
    return user is not None and (user.admin or user.id == change.owner)
