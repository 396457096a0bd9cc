"""The pytest hooks: thin, and idle until `--conformance` is given.

Loaded by every pytest run of every project that has the suite installed, so it imports nothing that pytest has not
imported already; the rest is loaded when there is something to certify.

PYTEST_DONT_REWRITE: it asserts nothing, and imported plainly it can use the byte code that the installer has compiled.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import pytest

from conformance import options

if TYPE_CHECKING:
    from conformance.mcp_session import McpHost, McpSession
    from mock_gerrit.offered import GerritWorld


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options and ini keys."""
    options.add(parser)


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config, parser: pytest.Parser, args: list[str]) -> None:
    """Keep the project's conftest.py out where only clauses are asked for, and name misspelt options."""
    known = early_config.known_args_namespace
    if any(argument.startswith("--conform") for argument in args):
        options.reject_misspelt(parser.parse_known_and_unknown_args(args)[1])
    if options.targets(early_config, known):
        known.file_or_dir = [argument for argument in known.file_or_dir if not options.is_clause_id(argument)]
        known.noconftest = known.noconftest or not known.file_or_dir


def pytest_configure(config: pytest.Config) -> None:
    """Set up the run, if there is something to certify."""
    if options.targets(config) and not (config.option.help or config.option.version):
        from conformance.session import ConformanceRun  # noqa: PLC0415 - idle runs do without

        config.pluginmanager.register(ConformanceRun.of(config), "gerrit-conformance-run")


@pytest.fixture
def gerrit_mcp_extension(pytestconfig: pytest.Config) -> str:
    """Option: the extension that `gerrit_mcp` loads, named as for `--conformance`; by default the first one there."""
    targets = options.targets(pytestconfig)
    if not targets:
        pytest.fail(
            "gerrit_mcp does not know which extension to load: set the ini key `conformance`, "
            'or override the fixture gerrit_mcp_extension to return its name, for example "my_extension"',
            pytrace=False,
        )
    return targets[0]


@pytest.fixture
def gerrit_mcp_settings() -> Mapping[str, Any]:
    """Option: what stands under `extensions` in the server's configuration, by the name that an extension reads."""
    return {}


@pytest.fixture(scope="session")
def gerrit_mcp_host() -> Iterator[McpHost]:
    """The warm process of the whole session, from which `gerrit_mcp` forks a server for each test."""
    from conformance.mcp_session import McpHost  # noqa: PLC0415 - idle runs do without

    host = McpHost()
    yield host
    host.close()


@pytest.fixture
def gerrit_mcp(
    gerrit_mcp_host: McpHost,
    gerrit_mcp_extension: str,
    gerrit_mcp_settings: Mapping[str, Any],
    gerrit_world: GerritWorld,
) -> Iterator[McpSession]:
    """An MCP session with the extension loaded on the reference server, whose hosts are those of `gerrit_world`."""
    with gerrit_mcp_host.session(gerrit_mcp_extension, gerrit_world, extensions=gerrit_mcp_settings) as session:
        yield session
