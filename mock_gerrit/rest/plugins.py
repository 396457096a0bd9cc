"""/plugins/, as https://gerrit-review.googlesource.com/Documentation/rest-api-plugins.html has it."""

from __future__ import annotations

import re
from typing import NotRequired
from urllib.parse import quote

from typing_extensions import TypedDict

from mock_gerrit.entities import Plugin
from mock_gerrit.errors import GerritError, bad_request, not_permitted
from mock_gerrit.rest import matching
from mock_gerrit.rest.call import Call, Created
from mock_gerrit.rest.matching import name_test
from mock_gerrit.rest.options import flag, integer
from mock_gerrit.rest.routes import Routes

routes = Routes()


class PluginInfo(TypedDict):
    """A plugin as the list shows it; `disabled` only where it is true, `api_version` only for jars."""

    id: str
    version: str
    api_version: NotRequired[str]
    index_url: str
    filename: str
    disabled: NotRequired[bool]


def plugin_info(plugin: Plugin) -> PluginInfo:
    """How the list shows a plugin."""
    info: PluginInfo = {
        "id": plugin.id,
        "version": plugin.version,
        "index_url": f"plugins/{quote(plugin.id, safe='')}/",
        "filename": plugin.filename,
    }
    if plugin.api_version is not None:
        info["api_version"] = plugin.api_version
    if plugin.disabled or plugin.says_enabled:
        info["disabled"] = plugin.disabled
    return info


def may_view_plugins(call: Call) -> None:
    """Lets those through who may see the list; 403 for others, before anything else is looked at."""
    permitted = call.user is not None and (call.user.admin or call.user.may_view_plugins)
    if call.host.forbid_plugin_list or not permitted:
        raise not_permitted("view plugins")


LIST_OPTIONS = (
    flag("all", "a"),
    integer("limit", "n"),
    integer("start", "S"),
    *matching.OPTIONS,
)


@routes.get("/plugins/", options=LIST_OPTIONS, permit=may_view_plugins, doc="#list-plugins")
def list_plugins(call: Call) -> dict[str, PluginInfo]:
    """The installed plugins by id; those switched off only with `all`."""
    options = call.options
    fits = name_test(options)
    found = [
        call.host.plugins[id_]
        for id_ in sorted(call.host.plugins)
        if fits(id_) and (options.flag("all") or not call.host.plugins[id_].disabled)
    ]
    start = options.integer("start") or 0
    limit = options.integer("limit") or 0
    chosen = found[start : start + limit] if limit > 0 else found[start:]
    return {plugin.id: plugin_info(plugin) for plugin in chosen}


@routes.get("/plugins/{plugin}/status", doc="#get-plugin-status")
def status(_: Call, *, plugin: Plugin) -> PluginInfo:
    """One plugin; unlike the list, for everybody."""
    return plugin_info(plugin)


@routes.post("/plugins/{plugin}/enable", doc="#enable-plugin")
def enable(call: Call, *, plugin: Plugin) -> PluginInfo:
    """Switches a plugin on."""
    call.require_admin()
    plugin.disabled = False
    return plugin_info(plugin)


@routes.post("/plugins/{plugin}/disable", doc="#disable-plugin")
def disable(call: Call, *, plugin: Plugin) -> PluginInfo:
    """Switches a plugin off; its endpoints, options and operators are gone with it."""
    call.require_admin()
    plugin.disabled = True
    return plugin_info(plugin)


@routes.post("/plugins/{plugin}/reload", doc="#reload-plugin")
def reload(call: Call, *, plugin: Plugin) -> PluginInfo:
    """Loads a plugin again, which changes nothing here."""
    call.require_admin()
    return plugin_info(plugin)


@routes.delete("/plugins/{plugin}", doc="#delete-plugin")
def remove(call: Call, *, plugin: Plugin) -> PluginInfo:
    """What Gerrit calls deleting: the plugin is switched off."""
    return disable(call, plugin=plugin)


@routes.put("/plugins/{plugin}", creates=True, raw=True, doc="#install-plugin")
def install(call: Call, *, plugin: str) -> Created:
    """Installs a JavaScript plugin; a jar is refused, there being no code here that could run it."""
    call.require_admin()
    name, dot, kind = plugin.rpartition(".")
    if not dot or kind != "js" or not re.fullmatch(r"[A-Za-z0-9][\w.-]*", name, re.ASCII):
        raise _not_installable(plugin)
    found = re.search(r"-(\d[\w.]*)$", name)
    added = call.host.add_plugin(name, version=found[1] if found else "", content=call.body.raw)
    return Created(value=plugin_info(added))


@routes.put("/plugins/{plugin}", raw=True, doc="#install-plugin")
def overwrite(call: Call, *, plugin: Plugin) -> PluginInfo:
    """Installs another version of a JavaScript plugin; of others no other version can be."""
    call.require_admin()
    if plugin.content is None:
        raise _not_installable(plugin.id)
    plugin.content = call.body.raw
    return plugin_info(plugin)


def _not_installable(name: str) -> GerritError:
    reason = f"Invalid plugin file /plugins/{name}: cannot get plugin name"
    return bad_request(f"cannot install {name}:\ncom.google.gerrit.server.plugins.PluginInstallException: {reason}")
