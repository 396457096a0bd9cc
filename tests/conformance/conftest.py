"""What the tests of the suite share."""

import pytest

from .running import Certifying


@pytest.fixture
def certifying(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Certifying:
    """A folder with a small extension, to be certified by clauses whose outcomes the test chooses."""
    return Certifying(pytester=pytester, monkeypatch=monkeypatch)
