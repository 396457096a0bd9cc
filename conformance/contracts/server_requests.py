"""Clauses about a server's `run_curl`: what it sends, as whom, what it gives back, and how long it waits."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from conformance.contracts.registry import GUIDE, clause, field_sense
from conformance.contracts.server_asked import MCP, answer, usual
from conformance.outcomes import Finding, Inconclusive, Level
from conformance.rig.answers import XSSI_PREFIX
from conformance.rig.surroundings import HOSTS
from conformance.scenes import server_context as scenes
from conformance.scenes import server_requests as requests

if TYPE_CHECKING:
    from conformance.scenes.server_asking import Answer, Asked
    from conformance.server_observations import ServerObservations
    from mock_gerrit.journal import Entry

MUST, SHOULD = Level.MUST, Level.SHOULD
CREDENTIALS = ("authorization", "cookie")


@clause(
    "SRV-CTX-RUN-CURL",
    level=MUST,
    source=GUIDE.section("The ExtensionContext"),
    needs=(MCP,),
    fix="Make it a coroutine that runs curl with the arguments and the credentials of the host that base_url names.",
    example="""
        async def run_curl(self, args, base_url):
            status, body = await curl([*credentials_of(host_of(base_url)), *args])
            if status:
                raise RuntimeError(f"curl failed with exit code {status}")
            return body.removeprefix(")]}'").strip()
    """,
    neighbours=("SRV-CTX-GET-BASE-URL", "SRV-TIMEOUT"),
)
async def run_curl_asks_as_the_host_wants_it(observed: ServerObservations) -> None:
    """`await run_curl(args, base_url)` runs curl with the credentials of that host, and gives the body as a str.

    The body comes without Gerrit's prefix, and otherwise unharmed; all of the arguments reach curl. Tried on hosts of
    the types http_basic and git_cookies, and on one without authentication if the server takes it; not gob_curl, whose
    program is not to be had. The credentials of a host go out for its own base_url only. It raises when curl fails; of
    an HTTP error it may raise or give the body. Blanks around the body are left open.
    """
    seen = await usual(observed)
    _judge_hosts(observed, seen, dict.fromkeys(scenes.SIGNING, "http_basic"))
    _judge_body(answer(seen, "text"), requests.TEXT)
    _judge_http_error(answer(seen, "not there"))
    _judge_written(answer(seen, "written"))
    _judge_across(observed, answer(seen, "across"))
    for key, what in requests.FAILING.items():
        told = answer(seen, key)
        if not told.raised:
            expected = f"an exception from run_curl, for {what}"
            raise Finding(expected=expected, saw=told.saw(), evidence=told.call.evidence())
    signed = await observed.of(scenes.signed)
    if not signed.served.in_session:
        raise Finding(
            expected="a session with hosts of the types http_basic and git_cookies",
            saw=signed.served.session_trouble,
            evidence=signed.served.evidence(),
        )
    _judge_hosts(observed, signed, scenes.SIGNING)
    _judge_unsigned(observed, await observed.of(scenes.unsigned))


def _judge_hosts(observed: ServerObservations, seen: Asked, kinds: Mapping[str, str]) -> None:
    """Raise unless each host was asked, as itself wants it and nobody else, and its answer came back whole."""
    for plan in HOSTS:
        told, what = answer(seen, requests.asking(plan)), f"{plan.name}, whose authentication is {kinds[plan.name]}"
        arrived = [one for one in told.call.own if one.host == plan.name]
        if not arrived:
            raise Finding(expected=f"a request to {what}", saw=f"none; {told.saw()}", evidence=told.call.evidence())
        sent = {name for entry in arrived for name in _credentials(observed, entry)}
        accepted = any(one.user is not None and one.status == 200 for one in arrived)
        if sent != {plan.name} or not accepted:
            whose = " and ".join(sorted(sent))
            answers = ", then ".join(str(one.status or "nothing") for one in arrived)
            raise Finding(
                expected=f"the credentials of {what}, which it accepts",
                saw=f"{f'those of {whose}' if whose else 'no credentials'}, answered by {answers}",
                evidence=told.call.evidence(),
            )
        _judge_body(told, requests.CHANGE)


def _credentials(observed: ServerObservations, entry: Entry) -> list[str]:
    """Name the hosts whose credentials a request carries."""
    return observed.rig.masking.leaks("\n".join(entry.header(name) or "" for name in CREDENTIALS))


def _judge_body(told: Answer, path: str) -> None:
    """Raise unless the host's answer was awaited, is a text, and is that of the host but for the prefix."""
    expected = f"the body of {path} from run_curl, without {XSSI_PREFIX}"
    if not told.told or "missing" in told.told or told.raised:
        raise Finding(expected=expected, saw=told.saw(), evidence=told.call.evidence())
    if not told.told["awaited"]:
        raise Finding(expected="a run_curl to be awaited", saw=f"{told.told['kind']} at once",
                      evidence=told.call.evidence())  # fmt: skip
    if not told.told["is_text"]:
        raise Finding(expected="a body of type str", saw=told.saw(), evidence=told.call.evidence())
    text = str(told.value)
    answers = [one.response_body.decode(errors="replace") for one in told.call.own if one.gerrit_path == path]
    sent = answers[-1] if answers else ""
    if text.lstrip().startswith(XSSI_PREFIX) or _read(text) != _read(sent.removeprefix(XSSI_PREFIX)):
        raise Finding(expected=expected, saw=told.saw(), evidence=told.call.evidence())


def _read(text: str) -> Any:  # noqa: ANN401 - any JSON value
    """Give the JSON in a text, or the text without blanks around it."""
    with suppress(ValueError):
        return json.loads(text)
    return text.strip()


def _judge_written(told: Answer) -> None:
    """Raise unless the request had the method and the body that stood in the arguments."""
    expected = f"PUT {requests.TOPIC} with the body of the arguments"
    entry = next((one for one in told.call.own if one.gerrit_path == requests.TOPIC), None)
    if entry is None:
        raise Finding(expected=expected, saw=f"no such request; {told.saw()}", evidence=told.call.evidence())
    if entry.method != "PUT" or _read(entry.body.decode(errors="replace")) != json.loads(requests.BODY):
        saw = f"{entry.method} with {entry.body.decode(errors='replace')[:200] or 'no body'}"
        raise Finding(expected=expected, saw=saw, evidence=told.call.evidence())
    _judge_body(told, requests.TOPIC)


def _judge_http_error(told: Answer) -> None:
    """Raise unless an HTTP error was raised or came back as a text."""
    if not told.told or not (told.raised or told.told.get("is_text")):
        raise Finding(
            expected="an exception, or the body as a str, for an answer of 404",
            saw=told.saw(),
            evidence=told.call.evidence(),
        )


def _judge_across(observed: ServerObservations, told: Answer) -> None:
    """Raise if the credentials of the host in the arguments went out, though base_url names another."""
    base, other = HOSTS[0], HOSTS[-1]
    if not told.told:
        raise Finding(expected="a body or an exception from run_curl", saw=told.saw(), evidence=told.call.evidence())
    for entry in told.call.entries:
        if other.name in _credentials(observed, entry):
            raise Finding(
                expected=f"no credentials of {other.name} in a request whose base_url is that of {base.name}",
                saw=f"them, because the arguments name {other.name}",
                evidence=told.call.evidence(),
            )


def _judge_unsigned(observed: ServerObservations, seen: Asked) -> None:
    """Raise if a host that wants no credentials was sent some; a server need not take such a host at all."""
    told = seen.answers.get(requests.asking(scenes.ELM))
    if told is None:
        return
    sent = {name for one in told.call.own if one.host == scenes.ELM.name for name in _credentials(observed, one)}
    if sent:
        raise Finding(
            expected=f"no credentials in a request to {scenes.ELM.name}, which has no authentication",
            saw=f"those of {' and '.join(sorted(sent))}",
            evidence=told.call.evidence(),
        )


@clause(
    "SRV-TIMEOUT",
    level=SHOULD,
    source=field_sense("whoever waits for a silent host without end has no tool left, and nobody learns why"),
    needs=(MCP, "SRV-CTX-RUN-CURL"),
    fix="Give curl a limit for the whole request, and raise when it is over.",
    example="""
        process = await create_subprocess_exec("curl", "--max-time", "30", *args, ...)
    """,
    neighbours=("SRV-CTX-RUN-CURL",),
)
async def run_curl_gives_up_on_a_silent_host(observed: ServerObservations) -> None:
    """`run_curl` raises within a minute when the host takes the request and never answers.

    The reference server is told to wait for a second (`curl_timeout_seconds`); any other may take 60 seconds, and goes
    on afterwards.
    """
    seen = await observed.of(scenes.silent)
    told = answer(seen, "silent")
    if told.raised:
        return
    patience = min(scenes.PATIENCE_SECONDS, observed.rig.settings.limit_seconds)
    if still_waiting(answered=told.call.reply is not None, waited=told.call.seconds, patience=patience):
        raise Inconclusive(
            f"run_curl still waited after {patience:g} s, which is all that this run may take",
            supply=f"--conformance-limit-seconds={scenes.PATIENCE_SECONDS:g}",
            evidence=told.call.evidence(),
        )
    raise Finding(
        expected=f"an exception from run_curl within {scenes.PATIENCE_SECONDS:g} s, for a host that never answers",
        saw=told.saw(),
        evidence=told.call.evidence(),
    )


def still_waiting(*, answered: bool, waited: float, patience: float) -> bool:
    """Tell whether a call was given up by a run that takes less time than run_curl may."""
    return not answered and patience < scenes.PATIENCE_SECONDS and waited >= patience
