"""The context of a server: what specimens cannot show of the clauses about it."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.contracts.registry import catalogue
from conformance.contracts.server_addresses import same_place
from conformance.contracts.server_requests import still_waiting
from conformance.outcomes import Judgement, Outcome
from conformance.scenes import server_context as scenes

from .server_bench import LOGS_ELSEWHERE, REFERENCE, judged

CONTEXT = (*(one for one in catalogue().ids() if one.startswith("SRV-CTX-")), "SRV-TIMEOUT")


def outcomes(seen: dict[str, Judgement]) -> dict[str, Outcome]:
    return {one: two.outcome for one, two in seen.items()}


async def test_the_reference_server_as_a_command_keeps_every_clause_about_the_context(tmp_path: Path) -> None:
    assert outcomes(await judged(tmp_path, REFERENCE, *CONTEXT)) == dict.fromkeys(CONTEXT, Outcome.PASS)


async def test_a_host_that_returns_the_bodies_of_errors_is_as_honest_as_one_that_raises(tmp_path: Path) -> None:
    (tmp_path / "returns.py").write_text(
        "import os\n"
        "from reference_server import factory\n\n\n"
        "def build():\n"
        "    os.environ['GERRIT_MCP_RETURN_HTTP_ERRORS'] = '1'\n"
        "    return factory.build()\n"
    )
    seen = await judged(tmp_path, "factory:returns", "SRV-CTX-RUN-CURL", "SRV-TIMEOUT")
    assert set(outcomes(seen).values()) == {Outcome.PASS}


async def test_a_server_whose_requires_plugin_nobody_can_import_leaves_its_registry_open(tmp_path: Path) -> None:
    (tmp_path / "nameless.py").write_text(
        "import sys\n"
        "from reference_server import factory, names\n\n\n"
        "def build():\n"
        "    sys.meta_path[:] = [one for one in sys.meta_path if not isinstance(one, names.UpstreamNames)]\n"
        "    for name in [one for one in sys.modules if one.startswith(names.PACKAGE)]:\n"
        "        del sys.modules[name]\n"
        "    return factory.build()\n"
    )
    seen = await judged(tmp_path, "factory:nameless", "SRV-CTX-MCP", "SRV-CTX-PLUGIN-REGISTRY")
    assert seen["SRV-CTX-MCP"].outcome is Outcome.PASS
    assert seen["SRV-CTX-PLUGIN-REGISTRY"].outcome is Outcome.INCONCLUSIVE
    assert "gerrit_mcp_server.extensions" in seen["SRV-CTX-PLUGIN-REGISTRY"].supply


async def test_a_log_that_nobody_knows_is_not_compared_with_what_log_path_tells(tmp_path: Path) -> None:
    (tmp_path / "elsewhere.py").write_text(LOGS_ELSEWHERE)
    seen = await judged(tmp_path, "factory:elsewhere", "SRV-CTX-LOG-PATH")
    assert seen["SRV-CTX-LOG-PATH"].outcome is Outcome.PASS


async def test_tools_that_reach_nobody_block_what_is_asked_through_them(tmp_path: Path) -> None:
    (tmp_path / "keeps.py").write_text(
        "from reference_server import factory\n"
        "from reference_server.sdk import ServerCore\n\n"
        "honest = ServerCore.tool\n\n\n"
        "def tool(self, name=None, **options):\n"
        "    return honest(self, name, **options) if name != 'probe_ask' else lambda function: function\n\n\n"
        "def build():\n"
        "    ServerCore.tool = tool\n"
        "    return factory.build()\n"
    )
    seen = await judged(tmp_path, "factory:keeps", "SRV-CTX-MCP", "SRV-CTX-RUN-CURL", "SRV-TIMEOUT")
    assert seen.pop("SRV-CTX-MCP").outcome is Outcome.FAIL
    assert {(one.outcome, one.blocked_by) for one in seen.values()} == {(Outcome.BLOCKED, "SRV-CTX-MCP")}


async def test_a_server_that_ends_at_one_member_is_a_finding_of_that_one_alone(tmp_path: Path) -> None:
    (tmp_path / "ends.py").write_text(
        "import os\n"
        "from reference_server import factory\n"
        "from reference_server.context import ExtensionContext\n\n\n"
        "def build():\n"
        "    ExtensionContext.extension_config = lambda self, name: os._exit(3)\n"
        "    return factory.build()\n"
    )
    seen = await judged(tmp_path, "factory:ends", *CONTEXT)
    of_that_one = "SRV-CTX-EXTENSION-CONFIG"
    assert [one for one, two in seen.items() if two.outcome is Outcome.FAIL] == [of_that_one]
    assert seen["SRV-CTX-RUN-CURL"].outcome is Outcome.BLOCKED
    assert seen["SRV-CTX-RUN-CURL"].blocked_by == of_that_one


@pytest.mark.parametrize(
    ("told", "same"),
    [
        ("https://elm.example.com/r/a", True),
        ("https://elm.example.com/r/a/", True),
        ("https://ELM.example.com:443/r/a", True),
        ("http://elm.example.com/r/a", False),
        ("https://elm.example.com/r", False),
        ("https://elm.example.com/r/a/a", False),
        ("https://elm.example.com:8443/r/a", False),
        ("https://elm.internal.example/r/a", False),
        ("elm.example.com/r/a", False),
        ("https://elm.example.com:port/r/a", False),
        (None, False),
    ],
)
def test_an_address_may_be_spelled_in_more_than_one_way(told: object, same: bool) -> None:
    assert same_place(told, f"{scenes.ELM.url}/a") is same


@pytest.mark.parametrize(
    ("answered", "waited", "patience", "open_"),
    [(False, 20.0, 20.0, True), (False, 60.0, 60.0, False), (False, 3.0, 20.0, False), (True, 20.0, 20.0, False)],
    ids=["a shorter run than the bound", "the whole bound", "ended by itself", "answered after all"],
)
def test_only_a_run_that_is_shorter_than_the_bound_leaves_a_time_out_open(
    *, answered: bool, waited: float, patience: float, open_: bool
) -> None:
    assert still_waiting(answered=answered, waited=waited, patience=patience) is open_
