"""Routing of servers under test: what is left open, and what is put down to another cause."""

from __future__ import annotations

from pathlib import Path

from conformance.contracts.registry import catalogue
from conformance.outcomes import Judgement, Level, Outcome

from .server_bench import REFERENCE, judged

CLAUSES = tuple(one.id for one in catalogue() if one.id.startswith("SRV-ROUTE-"))
SHOULD = {"SRV-ROUTE-UNREADABLE", "SRV-ROUTE-SINGLE"}


async def judged_as(folder: Path, source: str, *clauses: str) -> dict[str, Judgement]:
    (folder / "routes.py").write_text(source)
    return await judged(folder, "factory:routes", *clauses)


def test_there_is_a_clause_for_each_of_the_eighteen() -> None:
    assert len(CLAUSES) == 18
    assert {one for one in CLAUSES if catalogue()[one].level is Level.SHOULD} == SHOULD


async def test_a_command_is_judged_by_the_same_calls(tmp_path: Path) -> None:
    wanted = ("SRV-ROUTE-FIRST", "SRV-ROUTE-APPEARS", "SRV-ROUTE-UNCONFIGURED", "SRV-ROUTE-SAMEHOST")
    seen = await judged(tmp_path, REFERENCE, *wanted)
    assert {one: two.outcome for one, two in seen.items()} == dict.fromkeys(wanted, Outcome.PASS)


WITHOUT = """
import gerrit_mcp_server.extensions as surface
from reference_server.factory import build

del surface.requires_plugin
"""


async def test_a_server_without_the_decorator_leaves_all_of_it_open(tmp_path: Path) -> None:
    seen = await judged_as(tmp_path, WITHOUT, "SRV-ROUTE-FIRST", "SRV-ROUTE-SCHEMA", "SRV-ROUTE-ERROR")
    assert {one.outcome for one in seen.values()} == {Outcome.INCONCLUSIVE}
    assert "gerrit_mcp_server.extensions" in seen["SRV-ROUTE-FIRST"].supply
    assert "requires_plugin" in seen["SRV-ROUTE-FIRST"].reason


REFUSES_TO_DECORATE = """
import gerrit_mcp_server.extensions as surface
from reference_server.factory import build


def requires_plugin(name, registry):
    raise LookupError(f"nobody has {name} yet")


surface.requires_plugin = requires_plugin
"""


async def test_a_decorator_that_raises_is_one_finding(tmp_path: Path) -> None:
    seen = await judged_as(tmp_path, REFUSES_TO_DECORATE, "SRV-ROUTE-SCHEMA", "SRV-ROUTE-FIRST", "SRV-ROUTE-NONE")
    assert "LookupError: nobody has task yet" in seen["SRV-ROUTE-SCHEMA"].findings[0].saw
    for other in ("SRV-ROUTE-FIRST", "SRV-ROUTE-NONE"):
        assert (seen[other].outcome, seen[other].blocked_by) == (Outcome.BLOCKED, "SRV-ROUTE-SCHEMA")


ALWAYS_THE_DEFAULT = """
from reference_server import context, factory, gerrit

context.ExtensionContext.get_base_url = lambda self, url=None: gerrit.get_base_url()
build = factory.build
"""


async def test_what_the_context_does_with_the_address_is_not_held_against_routing(tmp_path: Path) -> None:
    seen = await judged_as(tmp_path, ALWAYS_THE_DEFAULT, "SRV-ROUTE-FIRST", "SRV-ROUTE-GIVEN", "SRV-ROUTE-NAMES")
    for other in ("SRV-ROUTE-FIRST", "SRV-ROUTE-GIVEN"):
        assert (seen[other].outcome, seen[other].blocked_by) == (Outcome.BLOCKED, "SRV-CTX-GET-BASE-URL")
    assert seen["SRV-ROUTE-NAMES"].outcome is Outcome.PASS


LEAVES_HOSTS_ALONE = """
import time

from reference_server import factory
from reference_server.plugin_registry import PluginRegistry


class Registry(PluginRegistry):
    def _fresh(self, listing, ttl):
        failed_lately = listing.problem is not None and time.monotonic() - listing.read_at < 60
        return failed_lately or super()._fresh(listing, ttl)


def build():
    factory.PluginRegistry = Registry
    return factory.build()
"""


async def test_a_host_that_is_left_alone_for_a_while_is_no_finding(tmp_path: Path) -> None:
    """It may be a minute or the hour of a good list: nobody waits so long, so it is left open."""
    seen = await judged_as(tmp_path, LEAVES_HOSTS_ALONE, "SRV-ROUTE-FAULTY", "SRV-ROUTE-UNREADABLE")
    assert seen["SRV-ROUTE-FAULTY"].outcome is Outcome.INCONCLUSIVE
    assert "was not asked for its list again" in seen["SRV-ROUTE-FAULTY"].reason
    assert seen["SRV-ROUTE-UNREADABLE"].outcome is Outcome.PASS
