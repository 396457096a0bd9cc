"""The simulated Gerrit beside a real one: both are asked the same, one after the other, and must answer alike.

The scenarios build upon each other, so they run in their order and in one process: `make oracle`.
"""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from mock_gerrit.serving.authority import CertificateAuthority
from mock_gerrit.serving.background import in_thread
from mock_gerrit.serving.gateway import Gateway
from tests.mock_gerrit.comparison import without_what_varies
from tests.mock_gerrit.replay import Outcome
from tests.real_gerrit.scenarios.catalogue import SCENARIOS
from tests.real_gerrit.side_by_side import SideBySide
from tests.real_gerrit.tools import CORE, Visit, without_ids

pytestmark = pytest.mark.real_gerrit


@dataclass(frozen=True, kw_only=True)
class Known:
    """A difference that is known; `sometimes` for one that depends on when a second ends."""

    request: str
    why: str
    sometimes: bool = False

    def explains(self, name: str) -> bool:
        return re.search(self.request, name) is not None


@cache
def known_differences() -> tuple[Known, ...]:
    table = tomllib.loads(Path(__file__).with_name("differences.toml").read_text(encoding="utf-8"))
    return tuple(Known(**entry) for entry in table["difference"])


EXPLAINED: set[Known] = set()
"""The known differences that were seen."""


def _unexplained(scenario: str, outcome: Outcome) -> str | None:
    name = f"{scenario}: {outcome.step.step}"
    found = [known for known in known_differences() if known.explains(name)]
    EXPLAINED.update(found)
    return None if found else "\n    ".join([name, *map(str, outcome.differences[:5])])


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_scenario_is_answered_as_by_a_real_gerrit(side_by_side: SideBySide, name: str) -> None:
    found = side_by_side.scenario(name, SCENARIOS[name])
    unlike = [_unexplained(name, outcome) for outcome in found if outcome.verdict != "identical"]
    told = [text for text in unlike if text]
    assert not told, "\n" + "\n".join(told)


def test_every_known_difference_is_still_there(side_by_side: SideBySide) -> None:
    stale = [known.request for known in known_differences() if known not in EXPLAINED and not known.sometimes]
    assert not stale, f"these no longer differ; take them out of differences.toml: {stale}"


async def test_the_core_tools_say_the_same_of_both(
    side_by_side: SideBySide, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "gerrit_config.json"
    login = {"type": "http_basic", "username": "ada", "auth_token": "ada-pw"}
    host = {"name": "gerrit", "external_url": f"{side_by_side.url}/", "authentication": login}
    config.write_text(json.dumps({"default_gerrit_base_url": host["external_url"], "gerrit_hosts": [host]}))
    monkeypatch.setenv("GERRIT_CONFIG_PATH", str(config))
    for name in ("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY", "GERRIT_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("CURL_CA_BUNDLE", str(side_by_side.trusted))
    clock = side_by_side.twin.clock
    real = Visit()
    simulated = Visit(lambda number: clock.go_to(real.moments[number]))
    await real.everything()
    with in_thread(Gateway(side_by_side.twin.world, authority=CertificateAuthority(tmp_path))) as gateway:
        monkeypatch.setenv("https_proxy", gateway.proxy_url)
        monkeypatch.setenv("CURL_CA_BUNDLE", str(gateway.authority.pem))
        await simulated.everything()
        assert not gateway.refused
    assert real.called == CORE
    assert [_told(*one) for one in simulated.told] == [_told(*one) for one in real.told]


def _told(name: str, result: object) -> str:
    """A call and its result; changes by number, since those of one second come in any order."""
    if isinstance(result, dict) and isinstance(result.get("changes"), list):
        result = {**result, "changes": sorted(result["changes"], key=lambda change: change["number"])}
    return without_what_varies(without_ids(f"{name} -> {json.dumps(result, indent=1, sort_keys=True)}"))
