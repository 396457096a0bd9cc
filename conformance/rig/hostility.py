"""Values that are hostile to a URL, to curl, to a shell, to JSON or to files, and the words by which they are known."""

from __future__ import annotations

import string
from collections.abc import Mapping

from conformance.rig.surroundings import HOSTS

HEAD, TAIL, CANARY = "zelkova", "quandong", "canary"
"""Words that nothing else in a trial holds; with a letter behind, they tell of which place a value is."""
CANARY_TEXT = "what-stands-in-a-file-is-not-for-gerrit"
CANARY_HEADER = "X-Canary"

VALUES: Mapping[str, str] = {
    "signs of a URL": "{head}[1-3]{{x,y}}&{tail}=1?{tail}=2#{tail}",
    "steps upwards": "{head}/../../{tail}",
    "quotes": '{head}\'$(touch {tail})\'", "{tail}": "$(touch {tail})',
    "a line break": "{head}\r\n{tail}: 1",
    "an option with a file": "-K{canary} -K{canary}",
    "an option": "--head",
    "a file to read": "@{canary}",
    "a NUL": "{head}\0{tail}",
    "signs of a URL behind a valid value": "{valid}[1-3]{head}{{x,y}}&{tail}=1?{tail}=2#{tail}",
    "steps upwards behind a valid value": "{valid}/../../{tail}",
}
"""The values by what is hostile about them; `head`, `tail` and `canary` are words of the place.

`valid` is what the place is right to hold: a check of how a value begins lets what stands behind it through.
"""

LETTERS = string.ascii_lowercase[:12]
"""One for each place; there are seldom more than three."""


def planted_files() -> Mapping[str, str]:
    """Give the files to lay where curl looks for them: read as options, one sends a header and asks for one URL more.

    Handed over as one argument, the value with an option names a file with a blank in its name.
    """
    texts = {letter: f'header = "{CANARY_HEADER}: {CANARY_TEXT}-{letter}"\n' for letter in LETTERS}
    lines = {letter: f'{text}url = "{HOSTS[0].url}/a/{TAIL}{letter}"\n' for letter, text in texts.items()}
    alone = {f"{CANARY}{letter}": text for letter, text in lines.items()}
    return alone | {f"{CANARY}{letter} -K{CANARY}{letter}": text for letter, text in lines.items()}
