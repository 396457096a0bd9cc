"""The code-owners plugin: who owns which files of a project, and whether they have approved a change.

https://gerrit.googlesource.com/plugins/code-owners/
"""

from __future__ import annotations

from mock_gerrit.changes import Change
from mock_gerrit.host import Host
from mock_gerrit.plugins.api import Simulator, SubmitVerdict
from mock_gerrit.plugins.code_owners import checking, configuring, views
from mock_gerrit.plugins.code_owners.settings import FILE, Settings
from mock_gerrit.plugins.code_owners.status import all_approved, file_statuses
from mock_gerrit.rest.routes import Routes

DEFAULT = "[codeOwners]\n\tglobalCodeOwner = *\n"
"""What a host is set up with that says nothing: everybody owns everything, so that there is something to see."""


routes = Routes()
for family in (views.routes, checking.routes, configuring.routes):
    routes.include(family)
    routes.resolvers.update(family.resolvers)


def submit_rule(host: Host, change: Change) -> SubmitVerdict | None:
    """Holds a change back until an owner of every file has approved it; silent where the plugin is disabled."""
    if not change.is_open or Settings.of(host, change.project).disabled:
        return None
    approved = all_approved(file_statuses(host, change))
    return SubmitVerdict(
        rule="Code-Owners", status="OK" if approved else "NOT_READY", requirement=("code-owners", "Code-Owners")
    )


def install(host: Host) -> None:
    """Gives the files of a host owners, unless it is set up otherwise."""
    host.projects["All-Projects"].settings.setdefault(FILE, DEFAULT)


simulator = Simulator(
    id="code-owners",
    version="v3.13.0-7-g33f4785",
    routes=routes,
    submit_rule=submit_rule,
    install=install,
)
