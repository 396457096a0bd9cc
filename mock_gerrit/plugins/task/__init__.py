"""The task plugin: a tree of tasks for each change, defined in `task.config` of All-Projects.

https://gerrit.googlesource.com/plugins/task/
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from mock_gerrit.changes import Change
from mock_gerrit.host import Host
from mock_gerrit.plugins.api import Asked, PluginFailure, Simulator
from mock_gerrit.plugins.task.configuration import FILE, ConfigurationError, read
from mock_gerrit.plugins.task.evaluation import NAMELESS, Evaluation, TaskEntry, Wanted

HOLDER = "All-Projects"
"""The project whose `task.config` defines the tasks of a host."""

DEFAULT = """\
[root "Ready to submit"]
  applicable = status:open
  pass = -is:wip
  ready-hint = Mark the change as ready for review
  subtask = Review
  subtask = Automated checks
[root "Release notes"]
  applicable = status:open
  pass = hashtag:release-notes
  in-progress = is:wip
  ready-hint = Add a line to the release notes
[task "Review"]
  pass = label:Code-Review=MAX
  fail = label:Code-Review=MIN
  ready-hint = Ask a reviewer for a +2
  fail-hint = A reviewer voted -2
[task "Automated checks"]
  pass = hashtag:checked
  export-url = https://ci.example.com/changes/${_change_number}
  ready-hint = Wait for the checks
"""
"""The tasks of a host whose set-up names none."""


def attributes(asked: Asked, change: Change) -> Mapping[str, Any] | None:
    """The roots of a change's tasks; None where nothing was asked for or nothing is left to show."""
    options = asked.options
    if options.get("include-statistics"):
        raise PluginFailure("statistics cannot be made into JSON")
    if not any(options.get(name) for name in ("applicable", "all", "invalid")):
        return None
    roots = _roots(asked, change)
    return {"roots": roots} if roots else None


def _roots(asked: Asked, change: Change) -> list[TaskEntry]:
    options = asked.options
    wanted = Wanted(
        applicable_only=bool(options.get("applicable")),
        invalid_only=bool(options.get("invalid")),
        paths=bool(options.get("include-paths")),
        times=bool(options.get("evaluation-time")),
    )
    try:
        configuration = read(asked.host.projects[HOLDER].settings.get(FILE, ""))
    except ConfigurationError:
        return [{"name": NAMELESS, "status": "INVALID"}]
    only = options.get("only")
    if isinstance(only, tuple):
        configuration = replace(configuration, roots=tuple(root for root in configuration.roots if root.name in only))
    return Evaluation(asked, configuration, wanted).roots(change)


def install(host: Host) -> None:
    """Gives a host some tasks, unless it has its own."""
    host.projects[HOLDER].settings.setdefault(FILE, DEFAULT)


simulator = Simulator(
    id="task",
    version="v3.13.0-2-gdd147c1",
    change_options={
        "all": "flag",
        "applicable": "flag",
        "invalid": "flag",
        "evaluation-time": "flag",
        "include-paths": "flag",
        "include-statistics": "flag",
        "only": "texts",
        "preview": "patch set",
        "summary-count": "number",
    },
    change_attributes=attributes,
    install=install,
)
