"""A pytest plugin that replaces the clauses and the examination by small ones whose outcomes a test chooses.

Loaded with `-p stand_in` into a pytest process of its own, where the environment variable STAND_IN holds, as JSON, the
outcome of each clause that does not pass, or one of the words `hang`, `crash` and `defect`.
"""

import asyncio
import json
import os
import sys
from types import ModuleType

from conformance.contracts import registry
from conformance.contracts.registry import GUIDE, Catalogue, clause
from conformance.outcomes import Evidence, Finding, Judgement, Level, Outcome
from conformance.usage import UsageError

CLAUSES = {
    "EXT-IMPORT": Level.MUST,
    "EXT-QUIET": Level.MUST,
    "EXT-NONEMPTY": Level.SHOULD,
    "TOOL-WORKS": Level.MUST,
    "ROUTE-NAMES": Level.MUST,
    "ROUTE-HINT": Level.MAY,
}
ABOUT = {
    "host": {"kind": "reference", "name": "gerrit-mcp-reference", "version": "0.1"},
    "sdk": {"name": "mcp", "version": "1.30.0"},
    "python": "3.11.7",
    "platform": "linux-x86_64",
    "containment": {"pid_namespace": True, "network_namespace": False, "guardian": True},
    "trials": 2,
    "gerrit_calls": 5,
    "seconds": 0.5,
}
ROUTING = GUIDE.section("Routing behavior")


def made(clause_id: str, level: Level, *, needs: tuple[str, ...] = ()) -> registry.Clause:
    async def check(examination: object) -> None:
        """It holds.

        Judged by a stand-in.
        """

    clause(clause_id, level=level, source=ROUTING, fix=f"Mend {clause_id}.", needs=needs)(check)
    return getattr(check, registry.MARK)


def catalogue() -> Catalogue:
    return Catalogue(made(clause_id, level) for clause_id, level in CLAUSES.items())


def judgement(clause_id: str, outcome: Outcome) -> Judgement:
    if outcome is Outcome.FAIL:
        proof = (Evidence(kind="reply", text='{"isError": false}'),)
        findings = tuple(
            Finding(expected="an error", saw="isError=false", evidence=proof, tool=tool) for tool in ("get_a", "get_b")
        )
        return Judgement(clause=clause_id, outcome=outcome, findings=findings, seconds=0.01)
    if outcome is Outcome.PASS:
        return Judgement(clause=clause_id, outcome=outcome, seconds=0.01)
    told = {"reason": "it cannot be told", "supply": "a sample", "blocked_by": "host"}
    return Judgement(clause=clause_id, outcome=outcome, **told)


class Observations:
    async def tools(self):
        return [{"name": "get_a"}, {"name": "get_b"}]


class Examination:
    def __init__(self, subject, *, profile=None, settings=None, rig=None, without=frozenset()) -> None:
        self._subject = self.subject = subject
        self.observed = Observations()
        self._wanted = json.loads(os.environ.get("STAND_IN", "{}"))

    async def __aenter__(self):
        if "cannot" in self._wanted:
            raise UsageError("it cannot be built", "the backend said no", "mend it")
        return self

    async def __aexit__(self, *_):
        print("examination closed", file=sys.stderr)

    async def foresee(self) -> None:
        print("everything begun", file=sys.stderr)

    async def judge(self, one) -> Judgement:
        word = self._wanted.get(one.id, "pass")
        if word == "hang":
            print("hanging now", flush=True)
            await asyncio.sleep(60)
        if word == "crash":
            os._exit(3)
        if word == "defect":
            raise ZeroDivisionError("a defect of the suite")
        return judgement(one.id, Outcome(word))

    def about(self):
        return {
            **ABOUT,
            "subject": {"kind": "module", "name": self._subject.name, "version": None, "sha256": "ab" * 32},
        }


def install() -> None:
    registry.catalogue = catalogue
    module = ModuleType("conformance.examine")
    module.Examination = Examination
    sys.modules["conformance.examine"] = module


if "STAND_IN" in os.environ:
    install()
