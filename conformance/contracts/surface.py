"""Family EXT, continued: what an extension touches of its host: modules, context members, settings, the log."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from conformance.contracts.registry import GUIDE, clause
from conformance.outcomes import Evidence, Finding, Inconclusive, Level
from conformance.rig.belongings import FIRST_LINE, LOG_CUT, LOG_PLANTED, OPENED, READ, SETTING
from conformance.rig.surface import BEYOND, EXPORTING, REGISTRY
from conformance.scenes.surface import shared_belongings

if TYPE_CHECKING:
    from conformance.observations import Observations
    from conformance.rig.trial import Trial

MUST, SHOULD = Level.MUST, Level.SHOULD

MOST_NAMED = 5


@clause(
    "EXT-SURFACE",
    level=MUST,
    source=GUIDE.section("The ExtensionContext"),
    fix=(
        "Use the documented members of the context, and import from the host nothing but what "
        "gerrit_mcp_server.extensions exports; what else you need, write yourself or ask the host's authors for."
    ),
    example="""
        from gerrit_mcp_server.extensions import requires_plugin

        def register(ctx):
            @ctx.mcp.tool()
            @requires_plugin("task", ctx.plugin_registry)
            async def get_tasks(change_id: str, gerrit_base_url: str | None = None) -> Tasks:
                base_url = ctx.get_base_url(gerrit_base_url)
                ...
    """,
    neighbours=("EXT-SURFACE-REGISTRY", "EXT-IMPORT", "EXT-RETURNS"),
)
async def only_the_documented_surface_of_the_host_is_touched(observed: Observations) -> None:
    """An extension touches of its host only the documented members of the context and what is exported for it.

    The members: `mcp`, `get_base_url`, `normalize_url`, `run_curl`, `load_config`, `extension_config`, `log_path` and
    `plugin_registry`. The exports: `ExtensionContext`, `ExtensionLoader`, `PluginRegistry` and `requires_plugin` of
    `gerrit_mcp_server.extensions`.

    Watched in the process itself, at import, at registration and in every call. The attempt counts, by whatever way and
    whether the host has it or not: an import in a `try`, `hasattr(ctx, …)`, a name set on the context, a private
    attribute of the plugin registry. Dunders and imports under `TYPE_CHECKING` do not count, nor does what other
    libraries do. What lies behind `ctx.mcp` belongs to the SDK and is not judged here.
    """
    touched = [about for about in await _touched(observed) if not about["mild"]]
    if touched:
        raise Finding(
            expected="only documented members of the context and exports of gerrit_mcp_server.extensions",
            saw=f"{_some([str(about['what']) for about in touched])}, which is not for extensions",
            evidence=_places("asked for {what}", touched),
        )


@clause(
    "EXT-SURFACE-REGISTRY",
    level=SHOULD,
    source=GUIDE.section("Plugin-backed tools and requires_plugin"),
    fix="Write `from gerrit_mcp_server.extensions import requires_plugin`.",
    example="""
        from gerrit_mcp_server.extensions import requires_plugin
    """,
    neighbours=("EXT-SURFACE", "EXT-IMPORT"),
)
async def exports_are_taken_from_the_exporting_module(observed: Observations) -> None:
    """`requires_plugin` and `PluginRegistry` are imported from `gerrit_mcp_server.extensions`, not from behind it.

    The module `gerrit_mcp_server.plugin_registry` has them as well, and is the host's own.
    """
    touched = [about for about in await _touched(observed) if about["mild"]]
    if touched:
        raise Finding(
            expected=f"an import from {EXPORTING}",
            saw=f"{_some([str(about['what']) for about in touched if about['what'] != REGISTRY] or [REGISTRY])} used",
            evidence=_places("asked for {what}", touched),
        )


async def _touched(observed: Observations) -> list[Mapping[str, Any]]:
    """Give what was touched beyond the surface, each thing once."""
    found = {about["what"]: about for trial in await _all_trials(observed) for about in _told(trial, BEYOND)}
    return list(found.values())


async def _all_trials(observed: Observations) -> list[Trial]:
    survey = await observed.survey()
    return [survey, *([trial async for trial in observed.trials_with_calls()] if survey.in_session else ())]


def _told(trial: Trial, kind: str) -> list[Mapping[str, Any]]:
    """Give facts of one kind, also those that the child told on its way out."""
    trial.gather()
    return trial.told(kind)


@clause(
    "EXT-CONFIG",
    level=SHOULD,
    source=GUIDE.section("Namespaced configuration"),
    needs=("EXT-IMPORT",),
    fix=(
        'Read every setting from `ctx.extension_config("NAME")`, with one name of your own; of what `load_config` '
        "gives, use the hosts and the default address only."
    ),
    example="""
        def register(ctx):
            options = ctx.extension_config("change_links")
            domain = options.get("short_domain", "")
    """,
    neighbours=("EXT-RETURNS", "EXT-LOG"),
)
async def settings_are_read_from_one_block_of_its_own(observed: Observations) -> None:
    """An extension reads its settings by `extension_config`, under one name, and leaves those of others alone.

    Judged by the keys that it asks for in what `load_config` gives, where the settings of the host itself are free for
    all, by the names that it gives to `extension_config`, and by who opens the file. Copying or dumping the whole
    configuration, or walking through all of it, is no question for a setting. Environment variables and files of its
    own are not judged. A distribution may use one name for each module that it advertises.
    """
    belongings = [fact for trial in (await observed.of(shared_belongings)).trials for fact in _settings(trial)]
    if belongings:
        raise Finding(
            expected="settings read by extension_config only",
            saw=_some(list(dict.fromkeys(str(about["said"]) for about in belongings))),
            evidence=_places("{said}", belongings),
        )
    asked = [about for trial in await _all_trials(observed) for about in trial.told("extension_config")]
    names = sorted({str(about["name"]) for about in asked})
    if len(names) > len(observed.bench.subject.modules):
        lines = {about["name"]: f"{about['line']} asked for {about['name']!r}" for about in asked}
        raise Finding(
            expected="one block of settings",
            saw=f"extension_config asked for {' and '.join(map(repr, names))}",
            evidence=tuple(Evidence(kind="line", text=line) for line in lines.values()),
        )


def _settings(trial: Trial) -> list[Mapping[str, Any]]:
    """Say which settings were read past `extension_config`, each once, and where."""
    read = [{**about, "said": _item(about)} for about in astray(_told(trial, READ))]
    opened = [{**about, "said": "the configuration file opened"} for about in _told(trial, OPENED)]
    return list({(about["said"], about["where"]): about for about in [*read, *opened]}.values())


def _item(about: Mapping[str, Any]) -> str:
    return "load_config()" + "".join(f"[{key!r}]" for key in (*about["path"], about["key"]))


CORE = frozenset(
    {
        "default_gerrit_base_url",
        "gerrit_hosts",
        "plugin_list_ttl_seconds",
        "curl_timeout_seconds",
        "extension_load_seconds",
    }
)
"""The keys of the configuration that are the host's own."""


def astray(reads: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """Give the look-ups in the configuration that ask for a setting which is not the host's.

    Args:
        reads: each with the `path` to the object, the `key` that was asked for and the `spot` in the code. A spot that
            asks for a key which nobody knows walks through all of them, and one that asks for the same key in the
            host's own settings looks everywhere; neither is after a setting.
    """
    walking = {one["spot"] for one in reads if not one["path"] and one["key"] == SETTING}
    everywhere = {(one["spot"], one["key"]) for one in reads if one["path"] and one["path"][0] in CORE}
    for one in reads:
        first = (*one["path"], one["key"])[0]
        if first not in CORE and one["spot"] not in walking and (one["spot"], one["key"]) not in everywhere:
            yield one


@clause(
    "EXT-LOG",
    level=SHOULD,
    source=GUIDE.section("The ExtensionContext"),
    needs=("EXT-IMPORT",),
    fix=(
        'Open ctx.log_path with "a", or give it to a logging.FileHandler as it is; all extensions and the host write '
        "there. A log that you rotate or begin anew has to be a file of your own."
    ),
    example="""
        handler = logging.FileHandler(ctx.log_path)  # mode "a" is its default
        logging.getLogger("change_links").addHandler(handler)
    """,
    neighbours=("EXT-CONFIG", "EXT-RESOURCES"),
)
async def the_log_only_grows(observed: Observations) -> None:
    """The file at `log_path` is appended to, never truncated, removed or replaced.

    Judged where the log is old and longer than 10 MiB, as a handler that rotates shows itself only then: by what stands
    in it at the end, and by what the process was seen to do with it.
    """
    trials = (await observed.of(shared_belongings)).trials
    for trial in trials:
        cuts = _told(trial, LOG_CUT)
        evidence = _places("{how}", cuts)
        if cuts:
            raise Finding(expected="a log that is appended to", saw=str(cuts[0]["how"]), evidence=evidence)
        left = trial.let_out()["server.log"]
        if _told(trial, LOG_PLANTED) and not left.startswith(FIRST_LINE):
            evidence = (Evidence(kind="log", text=left[:300] or "(nothing is left)"),)
            raise Finding(
                expected="a log that is appended to", saw="what stood in it before is gone", evidence=evidence
            )
    if not any(_told(trial, LOG_PLANTED) for trial in trials):
        raise Inconclusive(
            "the host keeps its log where the suite leaves it alone",
            supply="a host that writes to the file that GERRIT_MCP_LOG_PATH names",
        )


def _some(names: list[str]) -> str:
    shown = ", ".join(names[:MOST_NAMED])
    return shown if len(names) <= MOST_NAMED else f"{shown} and {len(names) - MOST_NAMED} more"


def _places(said: str, facts: list[Mapping[str, Any]]) -> tuple[Evidence, ...]:
    told = [Evidence(kind="fact", text=f"{said.format(**one)}: {one['where']}") for one in facts[:MOST_NAMED]]
    lines = dict.fromkeys(f"{one['line']}: {said.format(**one)}" for one in facts[:MOST_NAMED] if one["line"])
    return (*told, *(Evidence(kind="line", text=line) for line in lines))
