"""What the plugin costs a pytest run that certifies nothing."""

import pytest

HEAVY = ("mcp", "pydantic", "dulwich", "trustme", "uvicorn", "starlette", "asyncio", "conformance.session")


def test_an_idle_run_loads_two_modules_of_ours_and_nothing_else(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    pytester.makeconftest(
        """
        import sys

        def pytest_sessionfinish():
            print("LOADED", *sorted(sys.modules))
        """
    )
    with_ours = _loaded(pytester, "-p", "conformance.plugin")
    without = _loaded(pytester)
    assert with_ours - without == {"conformance", "conformance.options", "conformance.plugin"}
    assert not {name for name in HEAVY if name in with_ours}


def _loaded(pytester: pytest.Pytester, *arguments: str) -> set[str]:
    result = pytester.runpytest_subprocess("--co", "-s", "-p", "no:cacheprovider", *arguments)
    line = next(line for line in result.outlines if line.startswith("LOADED"))
    return set(line.split()[1:])
