"""The pytest hooks: thin, and idle until `--conformance` is given.

Loaded by every pytest run of every project that has the suite installed, so it imports nothing that pytest has not
imported already; the rest is loaded when there is something to certify.
"""

from __future__ import annotations

import pytest

from conformance import options


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options and ini keys."""
    options.add(parser)


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config, parser: pytest.Parser, args: list[str]) -> None:
    """Keep the project's conftest.py out where only clauses are asked for, and name misspelt options."""
    known = early_config.known_args_namespace
    if any(argument.startswith("--conf") for argument in args):
        options.reject_misspelt(parser.parse_known_and_unknown_args(args)[1])
    if options.targets(early_config, known):
        known.file_or_dir = [argument for argument in known.file_or_dir if not options.is_clause_id(argument)]
        known.noconftest = known.noconftest or not known.file_or_dir


def pytest_configure(config: pytest.Config) -> None:
    """Set up the run, if there is something to certify."""
    if options.targets(config) and not (config.option.help or config.option.version):
        from conformance.session import ConformanceRun  # noqa: PLC0415 - idle runs do without

        config.pluginmanager.register(ConformanceRun.of(config), "gerrit-conformance-run")
