"""What a subject hands to `run_curl`, told over the channel; and a curl that expands URLs, as upstream's host lets it.

Only trials that ask for it by `INSTRUCTION` watch. The subject sees neither.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from conformance.rig.channel import Channel

INSTRUCTION = "tell_curl"
EXPANDING = "expanding"
"""As the value of the instruction: curl also expands `[1-3]` and `{a,b}` in URLs."""
MOST_TOLD, LONGEST = 400, 4000


def watch(channel: Channel, application: Any, instructions: Mapping[str, Any]) -> None:  # noqa: ANN401 - any host's
    """Tell of each call of the context's `run_curl`, if the trial wants it."""
    if INSTRUCTION not in instructions:
        return
    first = ["--no-globoff"] if instructions[INSTRUCTION] == EXPANDING else []
    owner = type(application.context)
    owner.run_curl = _watched(owner.run_curl, channel, first)


def _watched(original: Callable[..., Any], channel: Channel, first: list[str]) -> Callable[..., Any]:
    told = 0

    @functools.wraps(original)
    def run_curl(self: Any, args: Any, *others: Any, **options: Any) -> Any:  # noqa: ANN401 - passed on
        nonlocal told
        if told < MOST_TOLD and isinstance(args, list | tuple):
            told += 1
            channel.tell("curl", args=[str(one)[:LONGEST] for one in args])
        return original(self, [*first, *args] if first and isinstance(args, list | tuple) else args, *others, **options)

    return run_curl
