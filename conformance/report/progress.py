"""Lines that show what is at work: beside the dots of pytest, and alone for a command."""

from __future__ import annotations

from time import monotonic
from types import TracebackType
from typing import Any, Self, TextIO

_SAVE, _RESTORE, _ERASE = "\x1b7", "\x1b8", "\x1b[K"


class ProgressLine:
    """A remark after the cursor that leaves the cursor where it was, so that pytest's next dot overwrites it."""

    def __init__(self, writer: Any, *, total: int) -> None:  # noqa: ANN401 - pytest's TerminalWriter is private
        """Write nothing yet."""
        self._writer = writer
        self._total = total
        self._shown = False

    @classmethod
    def on(cls, reporter: Any, *, total: int) -> ProgressLine | None:  # noqa: ANN401 - pytest keeps its type private
        """Make one if the terminal can show it and pytest is not telling each item's name anyway."""
        writer = reporter.config.get_terminal_writer()
        if reporter.isatty and reporter.verbosity == 0 and writer.hasmarkup:
            return cls(writer, total=total)
        return None

    def show(self, name: str, *, number: int) -> None:
        """Name the clause that has just begun; left out where the rest of the line is too short for it."""
        text = f"  {name} ({number} of {self._total})"
        if self._writer.width_of_current_line + len(text) < self._writer.fullwidth:
            self._writer._file.write(f"{_SAVE}{text}{_ERASE}{_RESTORE}")  # noqa: SLF001 - its write() would count the text
            self._writer.flush()
            self._shown = True

    def clear(self) -> None:
        """Take the remark away before something else is written."""
        if self._shown:
            self._writer._file.write(_ERASE)  # noqa: SLF001 - its write() would count the text
            self._shown = False


class CountingLine:
    """A line of a command that is overwritten on a terminal; elsewhere a new line comes every few seconds."""

    EVERY_SECONDS = 5.0

    def __init__(self, stream: TextIO) -> None:
        """Write nothing yet."""
        self._stream = stream
        self._last = float("-inf")

    def __enter__(self) -> Self:
        """Begin."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, at: TracebackType | None
    ) -> None:
        """Take the line away from a terminal, so that the result stands alone."""
        if self._stream.isatty():
            self._stream.write(f"\r{_ERASE}")
            self._stream.flush()

    def show(self, text: str) -> None:
        """Show what is at work now."""
        if self._stream.isatty():
            self._stream.write(f"\r{text}{_ERASE}")
        elif monotonic() - self._last >= self.EVERY_SECONDS:
            self._last = monotonic()
            self._stream.write(f"{text}\n")
        self._stream.flush()
