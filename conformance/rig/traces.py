"""What a call left behind: which of its requests can change something, what is other than before, what came twice."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from conformance.rig.rig import Rig
    from conformance.rig.trial import Call
    from mock_gerrit.host import Host
    from mock_gerrit.journal import Entry

READING_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})

READING_POSTS = re.compile(
    r"/changes/[^/]+/check\.submit_requirement"
    r"|/changes/[^/]+/revisions/[^/]+/fix:preview"
    r"|/projects/[^/]+/(?:check|check\.access)"
    r"|/config/server/check\.consistency"
)
"""The paths of Gerrit's REST interface where a POST asks and changes nothing."""


def changes_state(entry: Entry) -> bool:
    """Tell whether a request is one by which something is changed, whatever became of it."""
    if entry.method in READING_METHODS:
        return False
    return not (entry.method == "POST" and READING_POSTS.fullmatch(entry.gerrit_path.rstrip("/")))


def is_of_plugin(entry: Entry) -> bool:
    """Tell whether a plugin answers: only its authors know which of its POST requests read."""
    first, *below = entry.gerrit_path.split("/")[1:]
    return first == "plugins" or any(re.match(r"[a-z][\w-]*~[A-Za-z]", one) for one in below[1:])


def writes(call: Call) -> list[Entry]:
    """Give the requests of a call by which something is changed."""
    return [entry for entry in call.own if changes_state(entry)]


def late_writes(call: Call) -> list[Entry]:
    """Give those that came only after the call was answered, and before the next call."""
    known = {id(entry) for entry in call.entries}
    journal = call.world.journal if call.world is not None else ()
    later = [entry for entry in journal if id(entry) not in known and changes_state(entry)]
    return [entry for entry in later if not call.entries or entry.started >= call.entries[0].started]


def something_changed(rig: Rig, call: Call) -> tuple[str, ...]:
    """Name what is other than before the call, on the hosts that were asked."""
    from mock_gerrit.snapshot import changed, snapshot  # noqa: PLC0415 - loaded with the first trial

    pairs = list(_hosts_asked(rig, call))
    return tuple(one for before, after in pairs for one in changed(snapshot(before), snapshot(after)))


def written_twice(rig: Rig, call: Call) -> tuple[str, ...]:
    """Name what has been added more than once: messages, comments, drafts, changes."""
    return tuple(what for before, after in _hosts_asked(rig, call) for what in _twice(before, after))


def _hosts_asked(rig: Rig, call: Call) -> Iterator[tuple[Host, Host]]:
    """Give each host that was asked, as it was and as it is."""
    after = call.world
    if after is None or call.surroundings is None or not len(after.journal):
        return
    before = rig.world(call.surroundings)
    asked = {entry.host for entry in after.journal}
    yield from ((before.host_named(name), after.host_named(name)) for name in sorted(asked))


def _twice(before: Host, after: Host) -> Iterator[str]:
    old = set(_traces_with_identity(before))
    new = Counter(trace for trace in _traces_with_identity(after) if trace not in old)
    by_words = Counter(words for words, _ in new)
    yield from (words for words, count in by_words.items() if count > 1)


def _traces_with_identity(host: Host) -> Iterator[tuple[str, str]]:
    """Give what people would see of each thing that can be added, and what tells it from its like."""
    for change in host.changes.values():
        subject = host.repository(change.project).facts(change.patch_sets[0].commit).subject
        yield f"a change on {change.branch} of {change.project}: {subject}", str(change.number)
        for message in change.messages:
            yield f"a message on change {change.number}: {message.text}", message.id
        for kind, comments in (("comment", change.comments), ("draft", change.drafts)):
            for one in comments:
                place = f"{one.path}:{one.line or one.range or ''}"
                yield f"a {kind} on change {change.number} at {place}: {one.message}", one.id
