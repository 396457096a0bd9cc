"""Clauses about the addresses that a server's context makes: `get_base_url` and `normalize_url`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from conformance.contracts.registry import GUIDE, clause
from conformance.contracts.server_asked import MCP, answer, given, usual
from conformance.outcomes import Finding, Level
from conformance.rig.surroundings import BASE_FORMS, HOSTS
from conformance.scenes import server_context as scenes

if TYPE_CHECKING:
    from conformance.scenes.server_asking import Asked
    from conformance.server_observations import ServerObservations

MUST = Level.MUST
CONTEXT = GUIDE.section("The ExtensionContext")


def forms() -> Iterator[tuple[str, str]]:
    """Yield every text that names a host, with the external address of that host."""
    plans = {plan.name: plan for plan in HOSTS}
    for name, text in BASE_FORMS.values():
        yield text, plans[name].url
    for plan in HOSTS:
        for text in (plan.url, plan.internal_url, f"{plan.url}/a"):
            yield text, plan.url


def same_place(told: object, wanted: str) -> bool:
    """Tell whether an address is the one wanted; the case of its host, its port of :443 and its last slash are free."""
    try:
        one, other = urlsplit(str(told)), urlsplit(wanted)
        port = one.port
    except ValueError:
        return False
    same = (one.scheme, one.hostname, one.query) == (other.scheme, other.hostname, "")
    return same and port in {None, 443} and one.path.rstrip("/") == other.path.rstrip("/")


def judge_address(seen: Asked, key: str, wanted: str, why: str) -> None:
    """Raise unless a use has given this address."""
    expected = f"{wanted} from {key}, {why}"
    if not same_place(given(seen, key, expected=expected), wanted):
        told = answer(seen, key)
        raise Finding(expected=expected, saw=told.saw(), evidence=told.call.evidence())


@clause(
    "SRV-CTX-GET-BASE-URL",
    level=MUST,
    source=CONTEXT,
    needs=(MCP,),
    fix="Take the argument, else GERRIT_BASE_URL, else the configured default, and normalise whichever it is.",
    example="""
        named = url or os.environ.get("GERRIT_BASE_URL") or config["default_gerrit_base_url"]
        return self.normalize_url(named)  # https, external, with /a where requests are signed
    """,
    neighbours=("SRV-CTX-NORMALIZE-URL", "SRV-CTX-RUN-CURL"),
)
async def get_base_url_resolves_a_base_url(observed: ServerObservations) -> None:
    """`get_base_url(url)` gives the address to build on: of the argument, else `GERRIT_BASE_URL`, else the default.

    Whichever it is, it is normalised: the external address, with https, and `/a` where requests are signed (http_basic,
    git_cookies), whatever form it was given in: without scheme, with http or a last slash, internal, with `/a`. Whether
    the answer ends in a slash is left open, and so is a host without authentication where the server refuses that.
    """
    seen = await usual(observed)
    for call in ("get_base_url()", "get_base_url(null)"):
        judge_address(seen, call, f"{scenes.CEDAR.url}/a", "the default of the configuration")
    for text, url in forms():
        judge_address(seen, f"get_base_url({json.dumps(text)})", f"{url}/a", "another form of that host")
    signed = await observed.of(scenes.signed)
    if not signed.served.in_session:
        raise Finding(
            expected="a session where GERRIT_BASE_URL is set and hosts are of the types http_basic and git_cookies",
            saw=signed.served.session_trouble,
            evidence=signed.served.evidence(),
        )
    for call in ("get_base_url()", "get_base_url(null)"):
        why = f"with GERRIT_BASE_URL={scenes.FROM_VARIABLE}"
        judge_address(signed, call, f"{scenes.SYCAMORE.url}/a", why)
    key = f"get_base_url({json.dumps(scenes.ROWAN.url)})"
    judge_address(signed, key, f"{scenes.ROWAN.url}/a", "with another host in GERRIT_BASE_URL")
    _judge_unsigned(await observed.of(scenes.unsigned), "get_base_url")


@clause(
    "SRV-CTX-NORMALIZE-URL",
    level=MUST,
    source=CONTEXT,
    needs=(MCP,),
    fix="Look the host up by either of its addresses, with or without /a; give the external one, with /a if it signs.",
    example="""
        host = find(url.removesuffix("/").removesuffix("/a"))
        return f"https://{external(host)}" + ("/a" if host["authentication"]["type"] in SIGNED else "")
    """,
    neighbours=("SRV-CTX-GET-BASE-URL",),
)
async def normalize_url_gives_the_external_address(observed: ServerObservations) -> None:
    """`normalize_url(url)` turns any address of a configured host into its external one, with `/a` when needed.

    Needed it is where requests are signed (http_basic, git_cookies). What was normalised before stays what it is:
    nothing is added twice. Whether the answer ends in a slash is left open.
    """
    seen = await usual(observed)
    for text, url in forms():
        judge_address(seen, f"normalize_url({json.dumps(text)})", f"{url}/a", "another form of that host")
    signed = await observed.of(scenes.signed)
    for plan in HOSTS:
        key = f"normalize_url({json.dumps(plan.internal_url)})"
        if key in signed.answers:
            judge_address(signed, key, f"{plan.url}/a", f"of a host with {scenes.SIGNING[plan.name]}")
    _judge_unsigned(await observed.of(scenes.unsigned), "normalize_url")


def _judge_unsigned(seen: Asked, member: str) -> None:
    """Raise if a host without authentication gets an `/a`; a server need not take such a host at all."""
    for text in (scenes.ELM.url, scenes.ELM.internal_url):
        key = f"{member}({json.dumps(text)})"
        told = seen.answers.get(key)
        if told is not None and told.told and not told.raised:
            judge_address(seen, key, scenes.ELM.url, "of a host without authentication, where no /a is needed")
