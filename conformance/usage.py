"""What a user got wrong, said once and the same way everywhere: what, why, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

USAGE_EXIT_CODE = 4
"""The exit code of every mistake in a command, an option, a profile or a target."""


class UsageError(Exception):
    """A mistake of the caller: shown as one message without a traceback, exit code 4.

    Args:
        what: what cannot be done, with the offending value and where it came from.
        why: what was found or expected instead; may be empty.
        remedy: what to do about it, as a line to paste where that is possible; may be empty.
    """

    def __init__(self, what: str, why: str = "", remedy: str = "") -> None:
        """Keep the three parts; the text of the exception is the rendered message."""
        self.what = what
        self.why = why
        self.remedy = remedy
        super().__init__("\n  ".join(part for part in (what, why, remedy) if part))


def nearest(word: str, words: Iterable[str]) -> str | None:
    """Find the word that was most probably meant.

    Args:
        word: what was written.
        words: what could have been written.

    Returns:
        The closest of `words`, in its own spelling and without regard to case, or None if none is close.
    """
    by_fold = {candidate.casefold(): candidate for candidate in words}
    found = get_close_matches(word.casefold(), by_fold, n=1, cutoff=0.6)
    return by_fold[found[0]] if found else None


def did_you_mean(word: str, words: Iterable[str]) -> str:
    """Give the remedy for an unknown word: the nearest right one, or all of them where none is near."""
    known = list(words)
    close = nearest(word, known)
    return f"did you mean {close}?" if close else f"known are: {', '.join(known)}"


def last_words(text: str, limit: int = 1500) -> str:
    """Give the end of what a program wrote: its last line, which mostly says what went wrong, then what led there.

    Args:
        text: all that it wrote.
        limit: about how many characters to give; what is given begins at the start of a line.
    """
    lines = text.rstrip().splitlines()
    kept: list[str] = []
    for line in reversed(lines):
        limit -= len(line) + 1
        if limit < 0:
            break
        kept.insert(0, f"  {line}")
    last = lines[-1].strip() if lines else ""
    return "\n  ".join([last, *kept]) if len(lines) > 1 else last
