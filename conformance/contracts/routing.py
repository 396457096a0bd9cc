"""Family ROUTE: a plugin-backed tool reaches a host that has the plugin, or says which do.

Where the host's `requires_plugin` wraps the tool, the host decides REFRESH, REACHES and DISABLED; they are judged
only on tools with routing of their own.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from conformance.contracts.registry import GUIDE, clause, field_sense
from conformance.outcomes import Finding, Level, NotApplicable
from conformance.rig.samples import BASE_URL_PARAMETER, takes_address
from conformance.rig.surroundings import HOSTS, NULL, PLAIN_FORM
from conformance.rig.trial import Call, names_host

if TYPE_CHECKING:
    from conformance.backing import Backing
    from conformance.observations import Observations

MUST = Level.MUST
HAVING = tuple(plan for plan in HOSTS if plan.has_plugin)
LACKING = tuple(plan for plan in HOSTS if not plan.has_plugin)
FIRST, SECOND = HAVING
DEFAULT = next(plan for plan in HOSTS if plan.default)


async def backed(observed: Observations, tool: str) -> Backing:
    """Give how a tool is bound to its plugin; raises NotApplicable for one that is bound to none."""
    backing = await observed.backing(tool)
    if backing is None:
        raise NotApplicable("it is backed by no plugin")
    return backing


async def own_routing(observed: Observations, tool: str) -> None:
    """Raise NotApplicable for a tool that does not find its host by itself."""
    if (await backed(observed, tool)).by_host:
        raise NotApplicable("decided by the host: requires_plugin wraps it")


@clause(
    "ROUTE-KEYWORD",
    level=MUST,
    source=GUIDE.section("Plugin-backed tools and requires_plugin"),
    needs=("EXT-NONEMPTY",),
    fix=(
        "Give the decorated coroutine the parameter `gerrit_base_url: str | None = None`: routing hands the "
        "chosen host over in it."
    ),
    example="""
        @ctx.mcp.tool()
        @requires_plugin("task", ctx.plugin_registry)
        async def get_tasks(change_id: str, gerrit_base_url: str | None = None) -> Tasks: ...
    """,
    per_tool=True,
    neighbours=("ROUTE-OPTIONAL", "ROUTE-ORDER", "TOOL-WORKS"),
)
async def the_address_is_taken_as_a_keyword(observed: Observations, tool: str) -> None:
    """A plugin-backed tool accepts `gerrit_base_url` as a keyword argument."""
    backing = await backed(observed, tool)
    if backing.by_host:
        if not backing.takes_keyword:
            raise Finding(
                expected=f"a function that can be called with {backing.parameter}=…", saw="a signature that refuses it"
            )
    elif not takes_address(await observed.tool(tool)):
        raise Finding(expected="a parameter gerrit_base_url", saw="none in the tool's inputSchema")


@clause(
    "ROUTE-OPTIONAL",
    level=MUST,
    source=GUIDE.section("Routing behavior"),
    needs=("EXT-NONEMPTY", "ROUTE-KEYWORD"),
    fix="Give the parameter the default None: `gerrit_base_url: str | None = None`.",
    example="""
        async def get_tasks(change_id: str, gerrit_base_url: str | None = None) -> Tasks: ...
    """,
    per_tool=True,
    neighbours=("ROUTE-KEYWORD", "TOOL-WORKS"),
)
async def the_address_may_be_left_out(observed: Observations, tool: str) -> None:
    """A plugin-backed tool can be called without `gerrit_base_url`, and with null for it."""
    backing = await backed(observed, tool)
    schema = (await observed.tool(tool)).get("inputSchema") or {}
    if backing.parameter in schema.get("required", ()):
        raise Finding(
            expected=f"{backing.parameter} to be optional", saw="it is among the required properties of the inputSchema"
        )
    if backing.parameter != BASE_URL_PARAMETER or not takes_address(await observed.tool(tool)):
        return
    without, seen = (await observed.plain()).call(tool), await observed.typed_addresses()
    null, given = seen.call(tool, NULL), seen.call(tool, PLAIN_FORM)
    if without.succeeded and not null.succeeded:
        raise Finding(expected="null to count as left out", saw=null.saw(), evidence=null.evidence())
    if given.succeeded and not without.succeeded:
        raise Finding(
            expected="a call without an address to do what one with an address does",
            saw=without.saw(), evidence=(*without.evidence(), *given.evidence()),
        )  # fmt: skip


@clause(
    "ROUTE-ORDER",
    level=MUST,
    source=GUIDE.section("Plugin-backed tools and requires_plugin"),
    needs=("EXT-NONEMPTY",),
    fix="Write `@ctx.mcp.tool()` above `@requires_plugin(…)`: what stands below is what the tool runs.",
    example="""
        @ctx.mcp.tool()
        @requires_plugin("task", ctx.plugin_registry)  # below: this is what the tool runs
        async def get_tasks(change_id: str, gerrit_base_url: str | None = None) -> Tasks: ...
    """,
    per_tool=True,
    neighbours=("ROUTE-KEYWORD", "TOOL-WORKS"),
)
async def the_tool_decorator_stands_outside(observed: Observations, tool: str) -> None:
    """What is registered as the tool is what `requires_plugin` made, not the function that was handed to it."""
    backing = await backed(observed, tool)
    if not backing.by_host:
        raise NotApplicable("it brings routing of its own")
    if not backing.wrapper_used:
        raise Finding(
            expected="the tool to run through requires_plugin",
            saw="the undecorated function registered, and the routing wrapper thrown away",
        )


@clause(
    "ROUTE-REACHES",
    level=MUST,
    source=GUIDE.section("Routing behavior"),
    needs=("TOOL-WORKS",),
    excused_by=("TOOL-EXIT",),
    fix="Raise an exception with a text, and make it a ToolError of the SDK: version 2 hides the text of any other.",
    example="""
        class RefusalError(ToolError, RuntimeError):
            \"\"\"Its text reaches the caller on every SDK.\"\"\"

        raise RefusalError(f"{url} lacks the plugin task; it is on {', '.join(having)}")
    """,
    per_tool=True,
    neighbours=("ROUTE-NAMES", "ROUTE-NONE"),
)
async def a_refusal_reaches_the_caller_with_its_text(observed: Observations, tool: str) -> None:
    """What a tool raises when no suitable host is found reaches the caller as an error with its text."""
    await own_routing(observed, tool)
    named = (await observed.routed("some")).call(tool, "lacks it")
    if named.succeeded and not named.own:
        raise Finding(
            expected="isError, as the host that was given lacks the plugin", saw=named.saw(), evidence=named.evidence()
        )
    for call in (named, (await observed.routed("nowhere")).call(tool, "no address")):
        if call.reply is not None and call.reply.is_error and not _gives_a_reason(call, tool):
            raise Finding(
                expected="an error that says why: a plugin, or a host",
                saw=f"only {call.text!r}{MASKED if _is_masked(call, tool) else ''}",
                evidence=call.evidence(),
                hint=SAY_IT_BY_A_TOOL_ERROR if _is_masked(call, tool) else None,
            )


MASKED = ", the SDK's mask: of what a tool raises, version 2 of the SDK lets through the text of a ToolError alone"
SAY_IT_BY_A_TOOL_ERROR = (
    "Raise a ToolError, or an exception of a class that is one as well, such as `class RefusalError(ToolError, "
    "RuntimeError)`: version 2 of the SDK hides the text of any other from the caller."
)


def _is_masked(call: Call, tool: str) -> bool:
    """Tell whether the SDK's mask is all that came, while what the tool raised had a text."""
    raised = [about for about in call.told("tool_raised") if about["tool"] == tool]
    return not _said(call, tool) and bool(raised) and bool(str(raised[-1]["text"]).strip())


def _gives_a_reason(call: Call, tool: str) -> bool:
    """Tell whether more than the SDK's mask came through: the word plugin, or a host."""
    text = _said(call, tool)
    return "plugin" in text.lower() or any(names_host(text, plan) for plan in HOSTS)


def _said(call: Call, tool: str) -> str:
    """Give the text of an error without what the SDK puts in front."""
    return re.sub(rf"^Error (?:executing|calling) tool '?{re.escape(tool)}'?:?", "", call.text.strip()).strip()


@clause(
    "ROUTE-FIRST",
    level=MUST,
    source=GUIDE.section("Routing behavior"),
    needs=("TOOL-WORKS",),
    excused_by=("TOOL-EXIT",),
    fix=(
        "Leave the choice to requires_plugin, or ask the hosts in the order of gerrit_hosts and take the "
        "first that has the plugin."
    ),
    example="""
        for host in ctx.plugin_registry.configured_hosts():
            if await ctx.plugin_registry.host_has_plugin(host, "task"):
                return host
    """,
    per_tool=True,
    neighbours=("ROUTE-GIVEN", "ROUTE-ORDER"),
)
async def without_an_address_the_first_host_with_the_plugin_is_asked(observed: Observations, tool: str) -> None:
    """Without `gerrit_base_url`, the first host in the order of `gerrit_hosts` that has the plugin is asked."""
    await backed(observed, tool)
    call = (await observed.routed("some")).call(tool, "no address")
    judge_reached(call, FIRST.name, f"{FIRST.url}, the first configured host with the plugin, to be asked")


def judge_reached(call: Call, host: str, expected: str) -> None:
    """Raise a Finding unless a call succeeded and its own requests reached one host, and that alone."""
    reached = sorted(call.hosts)
    if reached != [host]:
        raise Finding(
            expected=expected, saw=f"{' and '.join(reached) or 'no host'} asked; {call.saw()}", evidence=call.evidence()
        )
    if not call.succeeded:
        raise Finding(expected=expected, saw=call.saw(), evidence=call.evidence())


@clause(
    "ROUTE-GIVEN",
    level=MUST,
    source=GUIDE.section("Routing behavior"),
    needs=("TOOL-WORKS",),
    excused_by=("TOOL-EXIT",),
    fix="Use the gerrit_base_url that arrives in the tool: ctx.get_base_url(gerrit_base_url).",
    example="""
        if url is not None and await ctx.plugin_registry.host_has_plugin(url, "task"):
            return ctx.get_base_url(url)
    """,
    per_tool=True,
    neighbours=("ROUTE-FIRST", "TOOL-BASE"),
)
async def a_given_host_with_the_plugin_is_asked(observed: Observations, tool: str) -> None:
    """With the address of a host that has the plugin, that host alone is asked, with one look at its list at most."""
    await backed(observed, tool)
    call = (await observed.routed("some")).call(tool, "has it")
    judge_reached(call, SECOND.name, f"{SECOND.url} alone to be asked, as it was given and has the plugin")
    if len(call.lists) > 1:
        raise Finding(
            expected="at most one request for the list of plugins",
            saw=f"{len(call.lists)} of them",
            evidence=call.evidence(),
        )


@clause(
    "ROUTE-REFRESH",
    level=MUST,
    source=GUIDE.section("Routing behavior"),
    needs=("TOOL-WORKS",),
    excused_by=("TOOL-EXIT",),
    fix=(
        "When the given host lacks the plugin, fetch its list once more "
        "(ctx.plugin_registry.invalidate(url)) before refusing."
    ),
    example="""
        if not await registry.host_has_plugin(url, "task"):
            registry.invalidate(url)
            if not await registry.host_has_plugin(url, "task"):
                raise RefusalError(...)
    """,
    per_tool=True,
    neighbours=("ROUTE-NAMES", "ROUTE-GIVEN"),
)
async def a_list_without_the_plugin_is_fetched_once_more(observed: Observations, tool: str) -> None:
    """When the given host lacks the plugin, its list is fetched again, exactly once for each call that fails."""
    await own_routing(observed, tool)
    seen = await observed.routed("some")
    seen.call(tool, "lacks it")
    call = seen.call(tool, "lacks it, again")
    lists = [entry for entry in call.lists if entry.host == DEFAULT.name]
    if len(lists) != 1:
        raise Finding(
            expected=f"one request for the list of {DEFAULT.url}", saw=f"{len(lists)} of them", evidence=call.evidence()
        )


@clause(
    "ROUTE-NAMES",
    level=MUST,
    source=GUIDE.section("Routing behavior"),
    needs=("TOOL-WORKS", "ROUTE-REACHES"),
    fix="Let requires_plugin raise: a tool that catches its RuntimeError hides where the plugin is.",
    example="""
        having = await ctx.plugin_registry.hosts_with_plugin("task")
        raise RefusalError(f"{url} lacks the plugin task; it is on {', '.join(having)}")
    """,
    per_tool=True,
    neighbours=("ROUTE-SKIPPED", "ROUTE-NONE"),
)
async def a_refusal_names_every_host_with_the_plugin(observed: Observations, tool: str) -> None:
    """A call to a host without the plugin is refused, naming each configured host that has it.

    A host without it is named only as the one that was asked for.
    """
    await backed(observed, tool)
    call = (await observed.routed("some")).call(tool, "lacks it")
    expected = f"an error that names {' and '.join(plan.url for plan in HAVING)}"
    if call.succeeded:
        raise Finding(expected=expected, saw=call.saw(), evidence=call.evidence())
    missing = [plan.url for plan in HAVING if not names_host(call.text, plan)]
    if missing:
        raise Finding(expected=expected, saw=f"{call.saw()}, without {' and '.join(missing)}", evidence=call.evidence())
    wrong = [plan.url for plan in LACKING if plan is not DEFAULT and names_host(call.text, plan)]
    if wrong:
        raise Finding(
            expected=f"{expected}, and no host without the plugin",
            saw=f"{' and '.join(wrong)} named too: {call.saw()}",
            evidence=call.evidence(),
        )


@clause(
    "ROUTE-NONE",
    level=MUST,
    source=GUIDE.section("Routing behavior"),
    needs=("TOOL-WORKS",),
    fix="Let requires_plugin raise when no host has the plugin; there is no host to fall back to.",
    example="""
        having = await ctx.plugin_registry.hosts_with_plugin("task")
        if not having:
            raise RefusalError("no configured host has the plugin task")
    """,
    per_tool=True,
    neighbours=("ROUTE-NAMES", "ROUTE-SKIPPED"),
)
async def nowhere_is_an_error(observed: Observations, tool: str) -> None:
    """When no configured host has the plugin, the call is an error."""
    await backed(observed, tool)
    call = (await observed.routed("nowhere")).call(tool, "no address")
    if call.succeeded:
        raise Finding(expected="isError, as no host has the plugin", saw=call.saw(), evidence=call.evidence())


@clause(
    "ROUTE-SKIPPED",
    level=MUST,
    source=field_sense("a refused call must not have acted: whoever reads the error would act again"),
    needs=("TOOL-WORKS",),
    fix=(
        "Decide the route before anything else is asked or done; with requires_plugin outside, the body "
        "does not run at all."
    ),
    example="""
        base_url = await host_with_plugin(ctx, gerrit_base_url)  # may raise: first of all
        body = await ctx.run_curl([f"{base_url}/changes/..."], base_url)
    """,
    per_tool=True,
    neighbours=("ROUTE-NAMES", "ROUTE-NONE"),
)
async def a_refused_call_asks_for_nothing(observed: Observations, tool: str) -> None:
    """When routing fails, the tool itself does not run: nothing but lists of plugins is asked for."""
    await backed(observed, tool)
    refused = [
        (await observed.routed("some")).call(tool, "lacks it"),
        (await observed.routed("nowhere")).call(tool, "no address"),
    ]
    for call in refused:
        if not call.succeeded and call.own:
            asked = f"{call.own[0].method} {call.own[0].target} on {call.own[0].host}"
            raise Finding(
                expected="only /plugins/ to be asked for before the refusal", saw=asked, evidence=call.evidence()
            )


@clause(
    "ROUTE-DISABLED",
    level=MUST,
    source=GUIDE.section("Plugin-backed tools and requires_plugin"),
    needs=("TOOL-WORKS", "ROUTE-FIRST"),
    excused_by=("TOOL-EXIT",),
    fix='Leave out entries of the list with "disabled": true; an enabled plugin has no such key.',
    example="""
        has = name in plugins and plugins[name].get("disabled") is not True
    """,
    per_tool=True,
    neighbours=("ROUTE-FIRST",),
)
async def a_disabled_plugin_counts_as_absent(observed: Observations, tool: str) -> None:
    """A plugin that is listed with `disabled: true` counts as absent; without the key, or with false, as present."""
    await own_routing(observed, tool)
    seen, disabled = await observed.routed("disabled-first"), HOSTS[0]
    judge_reached(
        seen.call(tool, "no address"), FIRST.name, f"{FIRST.url} to be asked, as {disabled.url} has the plugin disabled"
    )
    call = seen.call(tool, "disabled there")
    if call.succeeded and disabled.name in call.hosts:
        raise Finding(
            expected=f"a refusal, as {disabled.url} has the plugin disabled", saw=call.saw(), evidence=call.evidence()
        )
