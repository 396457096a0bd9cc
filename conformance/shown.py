"""A finding as pytest shows it: whole in its own section, and only by its first line in the summary."""

from __future__ import annotations

from _pytest._code.code import ReprFileLocation, TerminalRepr
from _pytest._io import TerminalWriter


class Shown(TerminalRepr):
    """A text in the place of a traceback.

    pytest repeats a plain text in its short summary, on a build server with every line of it.
    """

    def __init__(self, text: str) -> None:
        """Keep the text; its first line is what the summary says."""
        self.text = text
        self.reprcrash = ReprFileLocation(path="", lineno=0, message=text.partition("\n")[0])

    def toterminal(self, tw: TerminalWriter) -> None:
        """Write the text as it is."""
        tw.line(self.text)
