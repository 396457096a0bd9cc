"""Why a page cannot be written."""


class NotTold(Exception):  # noqa: N818 - reads as what it says
    """Something has no words, or no example: the text names it and says what to add."""
