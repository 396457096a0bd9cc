"""Which hosts a subject reached, and by what means: read from what the proxy heard and what the child told."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from conformance.outcomes import Inconclusive
from conformance.profile import plain_host_name
from conformance.rig.surroundings import HOSTS

if TYPE_CHECKING:
    from conformance.rig.trial import Call, Trial

GERRIT_NAMES: Mapping[str, str] = {
    plain_host_name(url): plan.name for plan in HOSTS for url in (plan.url, plan.internal_url)
}
"""The configured hosts by their names in the internet."""

TAKING_URLS = frozenset(
    {"curl", "gob-curl", "wget", "wget2", "http", "https", "xh", "git", "aria2c", "lynx", "w3m", "rsync", "sftp", "ftp"}
)
"""Programs that are started to reach the hosts of the URLs among their arguments."""

TAKING_NAMES = frozenset(
    {"ssh", "scp", "nc", "ncat", "netcat", "telnet", "socat", "openssl", "dig", "host", "nslookup", "ping"}
)
"""Programs that are started to reach a host that is named without a URL."""

_GIT_REACHES = frozenset({"clone", "fetch", "pull", "push", "ls-remote", "archive", "submodule"})
"""The commands of git that reach another host."""

_NAME = r"(?:[a-z0-9-]+\.)+[a-z]{2,}"
_IN_URL = re.compile(rf"[a-z]+://(?:[^/\s@]*@)?({_NAME})", re.IGNORECASE)
_ALONE = re.compile(rf"(?<![\w./-])(?:\w+@)?({_NAME})(?![\w./-])", re.IGNORECASE)
_FILES = (".py", ".json", ".txt", ".pem", ".key", ".crt", ".log", ".sh", ".conf", ".pub")


@dataclass(frozen=True, kw_only=True)
class Contact:
    """One host that is reached, or was meant to be."""

    host: str
    """Its name or address, in lower case, without a port."""
    how: str
    """What was seen of it, as a phrase such as `asked through the proxy`."""
    tool: str = ""
    """The tool during whose call it was, where that can be told."""
    line: str = ""
    """The line of the subject, where that can be told."""

    @property
    def gerrit(self) -> str:
        """The name of the configured Gerrit host that it is; empty for any other."""
        return GERRIT_NAMES.get(self.host, "")


def through_the_proxy(trial: Trial) -> Iterator[Contact]:
    """Give the hosts that are no Gerrit and that the proxy was asked for, with the tool that was running."""
    for call in trial.calls:
        for target in call.refused:
            yield Contact(host=plain_host_name(target), how="asked through the proxy", tool=call.tool)
        for request in call.elsewhere:
            yield Contact(host=plain_host_name(request.authority), how="asked through the proxy", tool=call.tool)
    for refused in trial.gateway.refused:
        if refused.kind in {"connect", "http"}:
            yield Contact(host=plain_host_name(refused.target), how="asked through the proxy")
    for request in trial.elsewhere:
        yield Contact(host=plain_host_name(request.authority), how="asked through the proxy")


def past_the_proxy(facts: Sequence[Any]) -> Iterator[Contact]:
    """Give the hosts that were reached for without the proxy, by whoever is not the host of the run.

    Args:
        facts: those of a trial, or of one call in it.
    """
    for fact in facts:
        about = fact.about
        if fact.kind == "reached_out":
            host = str(about["host"]).rstrip(".").lower()
            yield Contact(host=host, how=str(about["how"]), tool=str(about["tool"]), line=str(about["line"]))
        elif fact.kind == "spawned":
            for host, program in _reached_by(str(about["command"])):
                how = f"given to {program}"
                yield Contact(host=host, how=how, tool=str(about["tool"]), line=str(about["line"]))


def _reached_by(command: str) -> Iterator[tuple[str, str]]:
    """Give the hosts that a command line is to reach, with the program that reaches them."""
    words = [PurePath(word).name for word in re.split(r"[\s;|&()'\"`]+", command)]
    program = next((word for word in words if word in TAKING_URLS | TAKING_NAMES), "")
    if not program or (program == "git" and _GIT_REACHES.isdisjoint(words)):
        return
    named = _IN_URL.findall(command)
    alone = [name for name in _ALONE.findall(command) if not name.lower().endswith(_FILES)]
    named += [name for name in alone if program in TAKING_NAMES or name.lower() in GERRIT_NAMES]
    yield from ((name, program) for name in dict.fromkeys(map(str.lower, named)))


# --- what a call lacked -----------------------------------------------------------------------------------------------


def missing_host(call: Call) -> Inconclusive | None:
    """Say what to supply where a call may have failed for a host other than Gerrit that does not answer as usual."""
    for target in call.refused:
        why = f"it asked {target}, which the suite does not let it reach"
        return _open(call, why, _naming(plain_host_name(target)))
    for request in call.elsewhere:
        if request.answered_by == "default":
            host, path = plain_host_name(request.authority), request.target.partition("?")[0]
            why = f"it asked for {request.method} {request.url}, and nobody told what {host} answers"
            return _open(call, why, _answering(host, request.method, path))
    for contact in past_the_proxy(call.facts):
        if not contact.gerrit:
            why = f"{contact.host} was {contact.how}, and no client gets out of the suite but through its proxy"
            return _open(call, why, f"{_HONOUR_THE_PROXY}\n\n{_naming(contact.host)}")
    return None


_HONOUR_THE_PROXY = "a client that honours https_proxy (aiohttp does with trust_env=True), and the name of the host:"


def _open(call: Call, why: str, supply: str) -> Inconclusive:
    return Inconclusive(why, supply=supply, evidence=call.evidence())


def _naming(host: str) -> str:
    """Write the piece of a profile that names a host, ready to paste; for a Gerrit host there is none."""
    if host in GERRIT_NAMES:
        return "arguments with which it asks Gerrit where it is configured, and nowhere else"
    return f'[tool.gerrit-conformance.extension]\nthird_party_hosts = ["{host}"]'


def _answering(host: str, method: str, path: str) -> str:
    """Write the piece of a profile that tells what a host other than Gerrit answers, ready to paste."""
    lines = [f'host = "{host}"', f'method = "{method}"', f'path = "{path}"', "json = {}"]
    return "\n".join(["[[tool.gerrit-conformance.canned]]", *lines])
