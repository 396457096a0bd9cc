"""What `mock-gerrit serve` tells: how to reach each host, as text to paste from or as JSON for machines."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping

from typing_extensions import TypedDict

from mock_gerrit.entities import Account, Plugin
from mock_gerrit.host import Host


class PluginNote(TypedDict):
    """A plugin of a host."""

    id: str
    version: str
    disabled: bool


class AccountNote(TypedDict):
    """Somebody who can sign in; `password` is for HTTP Basic, `cookie` a whole pair, each None where there is none."""

    username: str
    password: str | None
    cookie: str | None
    admin: bool


class HostNote(TypedDict):
    """A host: `url` through the proxy, `loopback_url` without it."""

    name: str
    url: str
    internal_url: str | None
    loopback_url: str
    plugins: list[PluginNote]
    accounts: list[AccountNote]


class Announcement(TypedDict):
    """All that a client needs: `environment` sends it through the proxy and makes it trust the file `ca`."""

    proxy: str
    ca: str
    environment: dict[str, str]
    hosts: list[HostNote]


def announce(*, proxy: str, ca: str, environment: Mapping[str, str], hosts: list[tuple[Host, str]]) -> Announcement:
    """Put together what there is to tell; each host comes with its loopback URL."""
    return Announcement(
        proxy=proxy,
        ca=ca,
        environment=dict(environment),
        hosts=[_host(host, loopback_url) for host, loopback_url in hosts],
    )


def _host(host: Host, loopback_url: str) -> HostNote:
    return HostNote(
        name=host.name,
        url=host.url,
        internal_url=host.internal_url,
        loopback_url=loopback_url,
        plugins=[_plugin(plugin) for _, plugin in sorted(host.plugins.items())],
        accounts=[_account(account) for account in host.accounts.values() if account.username],
    )


def _plugin(plugin: Plugin) -> PluginNote:
    return PluginNote(id=plugin.id, version=plugin.version, disabled=plugin.disabled)


def _account(account: Account) -> AccountNote:
    return AccountNote(
        username=account.username or "",
        password=next(iter(account.passwords.values()), None),
        cookie=next(iter(sorted(account.cookies)), None),
        admin=account.admin,
    )


def as_text(told: Announcement) -> str:
    """Render for people: the hosts, then lines to paste into a shell, then a first request."""
    return "\n".join(_lines(told)) + "\n"


def _lines(told: Announcement) -> Iterator[str]:
    for host in told["hosts"]:
        yield f"{host['name']}  {host['url']}"
        if host["internal_url"]:
            yield f"  inside    {host['internal_url']}"
        yield f"  here      {host['loopback_url']}"
        yield f"  plugins   {', '.join(map(_plugin_words, host['plugins'])) or 'none'}"
        yield f"  accounts  {', '.join(map(_account_words, host['accounts']))}"
        yield ""
    yield "The real names work through the proxy. Paste into the shell of your client:"
    yield ""
    for name, value in told["environment"].items():
        yield f"  export {name}={shlex.quote(value)}"
    yield ""
    first = told["hosts"][0]
    able = sorted((one for one in first["accounts"] if one["password"]), key=lambda one: one["admin"])
    account = able[0] if able else None
    yield f"Try: {_curl(account, first['url'])}"


def _plugin_words(plugin: PluginNote) -> str:
    words = f"{plugin['id']} {plugin['version']}".strip()
    return f"{words} (disabled)" if plugin["disabled"] else words


def _account_words(account: AccountNote) -> str:
    words = f"{account['username']}:{account['password']}" if account["password"] else account["username"]
    remarks = [f"cookie {account['cookie']}"] if account["cookie"] else []
    remarks += ["administrator"] if account["admin"] else []
    return f"{words} ({', '.join(remarks)})" if remarks else words


def _curl(account: AccountNote | None, url: str) -> str:
    if account is None:
        return f"curl {url}/changes/"
    return f"curl --user {account['username']}:{account['password']} {url}/a/changes/"
