"""Family TOOL, continued: whom a tool speaks to, by what means, and what it tells about itself."""

from __future__ import annotations

import base64
import re
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote_plus

from conformance.contracts.registry import GUIDE, MCP_SPEC, clause, field_sense
from conformance.outcomes import Evidence, Finding, Level
from conformance.profile import plain_host_name
from conformance.rig.accounting import unexplained
from conformance.rig.contacts import GERRIT_NAMES, Contact, past_the_proxy, through_the_proxy
from conformance.rig.surroundings import HOSTS
from conformance.rig.targets import authority

if TYPE_CHECKING:
    from conformance.observations import Observations
    from conformance.rig.masking import Masking
    from conformance.rig.trial import Trial
    from mock_gerrit.journal import Entry
    from mock_gerrit.serving.elsewhere import StrangeRequest

MUST, SHOULD = Level.MUST, Level.SHOULD
LOADING = "before any call"
LONGEST = 256 * 1024
"""How much of a body is searched for credentials."""

_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{16,}")


@clause(
    "TOOL-AUTH",
    level=MUST,
    source=GUIDE.section("The ExtensionContext"),
    needs=("EXT-NONEMPTY",),
    fix=(
        "Ask Gerrit with `await ctx.run_curl([url], base_url)` and nothing else: the host chooses the credentials, "
        "the time limit and the way through."
    ),
    example="""
        base_url = ctx.get_base_url(gerrit_base_url)
        body = await ctx.run_curl([f"{base_url}/changes/{quote(change_id, safe='')}/detail"], base_url)
    """,
    per_tool=True,
    neighbours=("TOOL-LEAK", "TOOL-EGRESS", "TOOL-WORKS"),
)
async def requests_to_gerrit_go_through_run_curl(observed: Observations, tool: str) -> None:
    """Every request to a configured Gerrit host goes through `ctx.run_curl`.

    Judged on every request that reached a host during any call, and on every attempt to reach one past the proxy, even
    where that came to nothing. What the host of the run asks for itself, such as lists of plugins, is not counted.
    """
    (await observed.plain()).call(tool)
    async for trial in observed.trials_with_calls():
        others = {id(entry) for call in trial.calls if call.tool != tool for entry in call.entries}
        for call in trial.calls:
            if call.tool == tool:
                entries = [entry for entry in call.entries if id(entry) not in others]  # of calls at once, nobody's
                when = f"during a call of {tool}"
                _judge_means(unexplained(entries, trial), call.facts, call.evidence(), when, tool)
    survey = await observed.survey()
    _judge_means(unexplained([*survey.world.journal], survey), survey.facts, (), LOADING)


def _judge_means(
    entries: Sequence[Entry], facts: Sequence[Any], evidence: tuple[Evidence, ...], when: str, tool: str = ""
) -> None:
    """Raise where Gerrit was reached by other means."""
    contacts = [one for one in past_the_proxy(facts) if one.tool in {"", tool}]
    clients = [fact.about for fact in facts if fact.kind == "own_client" and fact.about["tool"] in {"", tool}]
    told = [*map(_told, contacts), *(f"{one['line'] or 'somewhere'}: a client of its own" for one in clients)]
    means = tuple(Evidence(kind="line", text=text) for text in dict.fromkeys(told[:5]))
    expected = "every request to a Gerrit host to go through ctx.run_curl"
    if entries:
        saw = f"{entries[0].method} {entries[0].url} by other means, {when}"
        raise Finding(expected=expected, saw=saw, evidence=(*means, *evidence))
    tried = next((one for one in contacts if one.gerrit), None)
    if tried is not None:
        raise Finding(expected=expected, saw=f"{tried.host} {tried.how}, {when}", evidence=(*means, *evidence))


def _told(contact: Contact) -> str:
    return f"{contact.line or 'somewhere'}: {contact.host} {contact.how}"


@clause(
    "TOOL-LEAK",
    level=MUST,
    source=field_sense("whoever is sent the credentials of a Gerrit host can act there in its user's name"),
    needs=("EXT-NONEMPTY",),
    fix=(
        "Send nothing of `gerrit_hosts` anywhere, and give run_curl URLs of no other host than its base URL names: the "
        "base URL decides whose credentials are sent, the URLs where to."
    ),
    example="""
        await ctx.run_curl([f"{base_url}/changes/1/detail"], base_url)  # both of the same host
        async with httpx.AsyncClient() as client:  # to anybody else: with its own key, or with none
            await client.get("https://status.example.org/builds", headers={"X-Key": options["status_key"]})
    """,
    neighbours=("TOOL-AUTH", "TOOL-EGRESS", "TOOL-SECRETS"),
)
async def credentials_go_to_their_own_host_only(observed: Observations) -> None:
    """The credentials of a Gerrit host never reach another host, be it configured, named by the profile, or neither.

    Looked for in addresses, headers and bodies, plain or encoded, of everything that was sent while the extension was
    loaded and called. Nothing of it leaves the machine: the suite itself answers for all other hosts.

    A call of run_curl with a URL of another host than its base URL names counts as well: a host adds the credentials of
    the base URL to whatever is asked, and need not look whom. All names of one host are as good as each other.
    """
    await _all_called(observed)
    masking = observed.rig.masking
    async for trial in _loading_and_calls(observed):
        _judge_run_curl(masking, trial)
        for call in trial.calls:
            for entry in call.entries:
                _judge_sent(masking, entry, own=entry.host, tool=call.tool, evidence=call.evidence())
        requests = {id(one): call.tool for call in trial.calls for one in call.elsewhere}
        for request in trial.elsewhere:
            _judge_sent(masking, request, own="", tool=requests.get(id(request), ""))
        _judge_names(masking, trial)


def _judge_sent(
    masking: Masking, sent: Entry | StrangeRequest, *, own: str, tool: str, evidence: tuple[Evidence, ...] = ()
) -> None:
    """Raise where a request carries the credentials of another host than the one that is asked."""
    for place, text in _places(sent).items():
        for form in _forms(text):
            wrong = [host for host in masking.leaks(form) if host != own]
            if wrong:
                raise Finding(
                    expected=f"the credentials of {wrong[0]} sent to {wrong[0]} only",
                    saw=f"them in {place} of a {sent.method} to {masking.mask(sent.authority)}",
                    tool=tool or None,
                    evidence=evidence if masking.leaks(text) else (),  # in another form nobody could mask it
                )


def _places(sent: Entry | StrangeRequest) -> dict[str, str]:
    """Give every text of a request in which a credential can stand."""
    headers = {f"the header {name}": value for name, value in sent.headers}
    return {"the address": sent.url, **headers, "the body": sent.body[:LONGEST].decode("utf-8", "replace")}


def _forms(text: str) -> Iterator[str]:
    """Give a text as it is and percent-decoded, and whatever may be base64 in it decoded."""
    plain = unquote_plus(text)
    yield from (text, plain)
    for form in {text, plain}:
        for found in _BASE64.findall(form):
            for first in range(4):  # a word of a path may stand right before it
                yield _decoded(found[first:])


def _decoded(run: str) -> str:
    """Undo base64, in either alphabet, without its padding."""
    whole = run[: len(run) - (len(run) % 4 == 1)]
    padded = whole.replace("+", "-").replace("/", "_") + "=" * (-len(whole) % 4)
    return base64.urlsafe_b64decode(padded).decode("utf-8", "replace")


_PLACES = {plan.name: frozenset(map(authority, (plan.url, plan.internal_url))) for plan in HOSTS}


def _judge_run_curl(masking: Masking, trial: Trial) -> None:
    """Raise where run_curl was to ask one host with the base URL, and so with the credentials, of another."""
    for about in trial.told("run_curl"):
        named = (GERRIT_NAMES.get(plain_host_name(url), "") for url in about["base_urls"])
        own = next(filter(None, named), "")  # none: nobody's credentials are chosen
        for place in about["asked"] if own else ():
            if authority(place) and authority(place) not in _PLACES[own]:
                line = str(about["line"])
                raise Finding(
                    expected=f"run_curl with the base URL of {own}, whose credentials it sends, to ask {own} only",
                    saw=f"it was to ask {masking.mask(place)}, which would be sent them",
                    tool=str(about["tool"]) or None,
                    evidence=(Evidence(kind="line", text=line),) if line else (),
                )


def _judge_names(masking: Masking, trial: Trial) -> None:
    """Raise where a name that is looked up, or a command that reaches another host, carries credentials."""
    for about in trial.told("reached_out"):
        _judge_text(masking, str(about["host"]), "the name of a host", about)
    for refused in trial.gateway.refused:
        if refused.kind == "connect":
            _judge_text(masking, refused.target, "the name of a host", {})
    for about in trial.told("spawned"):
        contacts = past_the_proxy([fact for fact in trial.facts if fact.about is about])
        if any(not contact.gerrit for contact in contacts):
            _judge_text(masking, str(about["command"]), "the arguments of a command that reaches another host", about)


def _judge_text(masking: Masking, text: str, place: str, about: Mapping[str, Any]) -> None:
    leaks = [host for form in _forms(text) for host in masking.leaks(form)]
    if leaks:
        line = str(about.get("line", ""))
        raise Finding(
            expected=f"the credentials of {leaks[0]} sent to {leaks[0]} only",
            saw=f"them in {place}",
            tool=str(about.get("tool", "")) or None,
            evidence=(Evidence(kind="line", text=line),) if line else (),
        )


@clause(
    "TOOL-EGRESS",
    level=SHOULD,
    source=field_sense(
        "a tool works behind somebody's firewall, on somebody's source code: where it sends things must be known"
    ),
    needs=("EXT-NONEMPTY",),
    fix=(
        "Contact nobody but Gerrit, or name the host in `third_party_hosts` of [tool.gerrit-conformance.extension], "
        "and in your documentation."
    ),
    example="""
        # pyproject.toml
        [tool.gerrit-conformance.extension]
        third_party_hosts = ["status.example.org"]
    """,
    neighbours=("TOOL-AUTH", "TOOL-LEAK", "TOOL-WORKS"),
)
async def other_hosts_are_named_beforehand(observed: Observations) -> None:
    """Hosts other than the configured Gerrit hosts are contacted only if the profile names them.

    Judged on the import, on `register` and on every call. A look-up of a name counts, and so does an attempt that comes
    to nothing; addresses of the machine itself do not.
    """
    named = frozenset(observed.profile.third_parties())
    found: dict[str, list[Contact]] = {}
    async for trial in _loading_and_calls(observed):
        for contact in [*through_the_proxy(trial), *past_the_proxy(trial.facts)]:
            if not contact.gerrit and contact.host not in named:
                found.setdefault(contact.host, []).append(contact)
    if not found:
        await _all_called(observed)
        return
    tools = [one.tool for several in found.values() for one in several if one.tool]
    raise Finding(
        expected="only hosts that the profile names to be contacted",
        saw="; ".join(f"{host} {several[0].how} ({_when(several)})" for host, several in sorted(found.items())),
        evidence=tuple(Evidence(kind="line", text=line) for line in _lines(found)),
        tool=tools[0] if tools else None,
    )


def _when(contacts: Iterable[Contact]) -> str:
    tools = dict.fromkeys(f"during {one.tool}" for one in contacts if one.tool)
    return ", ".join(tools) or "outside of any call"


def _lines(found: Mapping[str, Sequence[Contact]]) -> list[str]:
    return list(dict.fromkeys(_told(one) for several in found.values() for one in several if one.line))[:5]


@clause(
    "TOOL-DESCRIBE",
    level=SHOULD,
    source=MCP_SPEC.section("Tools"),
    needs=("EXT-NONEMPTY",),
    fix="Write a docstring, which becomes the description, and annotate every parameter with the type that it takes.",
    example='''
        @ctx.mcp.tool()
        async def get_topic(change_id: str, gerrit_base_url: str | None = None) -> Topic:
            """Get the topic of a change."""
    ''',
    per_tool=True,
    neighbours=("TOOL-SCHEMA", "TOOL-WORKS"),
)
async def a_tool_says_what_it_does_and_takes(observed: Observations, tool: str) -> None:
    """A tool has a description, and each of its parameters a type.

    A model chooses tools and arguments by nothing else. An alternative, a reference, a constant or a list of values
    counts as a type. A parameter without an annotation has none, although the SDK calls it a string.
    """
    entry = await observed.tool(tool)
    if not str(entry.get("description") or "").strip():
        raise Finding(expected="a description", saw="none in tools/list")
    facts = next((about for about in (await observed.survey()).told("tool") if about["name"] == tool), {})
    parameters = (entry.get("inputSchema") or {}).get("properties", {})
    untyped = [name for name, schema in parameters.items() if not _has_type(schema) or name in facts.get("bare", ())]
    if untyped:
        raise Finding(
            expected="a type for each parameter",
            saw=f"none for {' and '.join(untyped)}",
            evidence=tuple(Evidence(kind="fact", text=f"{name}: {parameters[name]}") for name in untyped),
        )


_TYPING = ("type", "enum", "const", "$ref", "anyOf", "oneOf", "allOf", "not", "properties", "items", "pattern")


def _has_type(schema: object) -> bool:
    """Tell whether the schema of a parameter says of what type it is."""
    if not isinstance(schema, Mapping):
        return False
    alternatives = [one for key in ("anyOf", "oneOf") for one in schema.get(key, ())]
    return any(key in schema for key in _TYPING) and all(_has_type(one) for one in alternatives)


async def _loading_and_calls(observed: Observations) -> AsyncIterator[Trial]:
    """Yield every trial, those in which nothing is called included."""
    yield await observed.survey()
    for trial in (await observed.configured()).values():
        yield trial
    async for trial in observed.trials_with_calls():
        yield trial


async def _all_called(observed: Observations) -> None:
    """See that every tool was called; raises Inconclusive where one could not be."""
    plain = await observed.plain()
    for tool in await observed.tools():
        plain.call(str(tool["name"]))
