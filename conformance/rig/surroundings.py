"""The Gerrit hosts around one trial: four of them, alike in content, unlike in plugins.

The first host in the configuration and the default host never have the plugin unless all have it, so that a tool that
takes either without asking is seen to go wrong.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from conformance.rig.content import add_content
from conformance.rig.states import add_states

if TYPE_CHECKING:
    from conformance.profile import CannedAnswer
    from mock_gerrit.host import Host
    from mock_gerrit.world import World

Placement = Literal["some", "everywhere", "nowhere", "disabled-first"]
NO_EXTENSIONS_KEY = object()
"""Stands for a configuration without the key `extensions` at all."""


@dataclass(frozen=True, kw_only=True)
class HostPlan:
    """One configured host, before there is a world."""

    name: str
    url: str
    internal_url: str
    has_plugin: bool
    default: bool = False


HOSTS = (
    HostPlan(
        name="rowan",
        url="https://rowan.example.com",
        internal_url="http://rowan.internal.example",
        has_plugin=False,
    ),
    HostPlan(
        name="sycamore",
        url="https://sycamore.example.com",
        internal_url="http://sycamore.internal.example",
        has_plugin=True,
    ),
    HostPlan(
        name="cedar",
        url="https://cedar.example.com",
        internal_url="http://cedar.internal.example",
        has_plugin=False,
        default=True,
    ),
    HostPlan(
        name="elm",
        url="https://elm.example.com/r",
        internal_url="http://elm.internal.example/r",
        has_plugin=True,
    ),
)
"""In the order of `gerrit_hosts`, which is not that of their names, addresses or lengths."""

NULL = "null"
"""The step in which the address is given as null."""

PLAIN_FORM = "as configured"
"""The step in which the address is given as it stands in the configuration."""

BASE_FORMS: Mapping[str, tuple[str, str]] = {
    "no scheme": ("sycamore", "sycamore.example.com"),
    "http": ("sycamore", "http://sycamore.example.com"),
    PLAIN_FORM: ("sycamore", "https://sycamore.example.com"),
    "trailing slash": ("sycamore", "https://sycamore.example.com/"),
    "internal name": ("sycamore", "http://sycamore.internal.example"),
    "context path": ("elm", "https://elm.example.com/r"),
    "context path without scheme": ("elm", "elm.example.com/r/"),
}
"""The forms in which people type an address, with the host that each means."""

IMPORT_SECONDS = 10.0
"""How long importing, and then registering, may take (contract EXT-EXIT)."""

SIMULATED_PLUGINS = ("code-owners", "depends-on", "task")
"""Plugins that the simulated Gerrit knows; others need canned answers."""

USER = "conformance"


@dataclass(frozen=True, kw_only=True)
class Credentials:
    """One random token a host, so that a leak is known for what it is."""

    tokens: Mapping[str, str] = field(
        default_factory=lambda: {plan.name: f"tok-{secrets.token_hex(12)}" for plan in HOSTS}
    )

    def __repr__(self) -> str:
        """Never show a token."""
        return "Credentials(…)"


@dataclass(frozen=True, kw_only=True)
class Surroundings:
    """All that makes one trial differ from another."""

    plugins: tuple[str, ...] = ()
    """Ids of the plugins that are placed."""
    placement: Placement = "everywhere"
    extensions: Any = field(default_factory=dict)
    """What stands under `extensions` in the configuration file; `NO_EXTENSIONS_KEY` leaves the key out."""
    returns_http_errors: bool = False
    """True: `run_curl` hands the body of an HTTP error back, as upstream's does; False: it raises."""
    keeps_prefix: bool = False
    """True: `run_curl` hands a body over as it came, with Gerrit's first line in front."""
    masks_errors: bool = False
    """True: of an exception that is no ToolError only what the SDK lets through reaches the caller (SDK 2: no text)."""
    plugin_list_ttl_seconds: float = 3600
    curl_timeout_seconds: float = 5
    canned: tuple[CannedAnswer, ...] = ()
    third_parties: tuple[str, ...] = ()
    """Names of hosts other than Gerrit that are there and answer."""
    instructions: Mapping[str, Any] = field(default_factory=dict)
    """What the child is to do or to watch beyond the usual; see `conformance.rig.hosting.serve`."""
    unbidden: frozenset[tuple[str, str]] = frozenset()
    """Methods and paths that the subject asks for by itself; see `conformance.rig.unbidden`."""


def configuration(surroundings: Surroundings, credentials: Credentials) -> dict[str, Any]:
    """Write the `gerrit_config.json` of a trial as a dictionary."""
    document: dict[str, Any] = {
        "default_gerrit_base_url": next(plan.url for plan in HOSTS if plan.default),
        "gerrit_hosts": [
            {
                "name": plan.name,
                "external_url": plan.url,
                "internal_url": plan.internal_url,
                "authentication": {"type": "http_basic", "username": USER, "auth_token": credentials.tokens[plan.name]},
            }
            for plan in HOSTS
        ],
        "plugin_list_ttl_seconds": surroundings.plugin_list_ttl_seconds,
        "curl_timeout_seconds": surroundings.curl_timeout_seconds,
        "extension_load_seconds": 6 * IMPORT_SECONDS,  # the suite's own limit decides, not the host's
    }
    if surroundings.extensions is not NO_EXTENSIONS_KEY:
        document["extensions"] = surroundings.extensions
    return document


def build_world(surroundings: Surroundings, credentials: Credentials) -> World:
    """Make the four hosts with their content, and the plugins where the placement wants them."""
    from mock_gerrit.world import World  # noqa: PLC0415 - dulwich is loaded only when something runs

    world = World()
    for plan in HOSTS:
        host = world.host(plan.url, internal_url=plan.internal_url, name=plan.name)
        _fill(host, credentials.tokens[plan.name])
        _place(host, plan, surroundings)
    return world


def _place(host: Host, plan: HostPlan, surroundings: Surroundings) -> None:
    placement = surroundings.placement
    first = plan is HOSTS[0]
    for plugin in surroundings.plugins:
        answers = [one for one in surroundings.canned if one.plugin == plugin]
        if placement == "everywhere" or (placement in {"some", "disabled-first"} and plan.has_plugin):
            added = host.add_plugin(plugin, canned=canned_answers(answers))
            added.says_enabled = placement == "disabled-first"
        elif placement == "disabled-first" and first:
            host.add_plugin(plugin, disabled=True)
    host.add_plugin("replication")  # every real host has some plugin that nobody asked about


def third_party_answers(surroundings: Surroundings) -> dict[str, dict[str, dict[str, Any]]]:
    """Give what each host that is no Gerrit answers."""
    from conformance.profile import plain_host_name  # noqa: PLC0415 - the profile is not for the child

    answers: dict[str, list[CannedAnswer]] = {name: [] for name in surroundings.third_parties}
    for one in surroundings.canned:
        if one.host is not None:
            answers.setdefault(plain_host_name(one.host), []).append(one)
    return {name: canned_answers(told) for name, told in answers.items()}


def canned_answers(answers: list[CannedAnswer]) -> dict[str, dict[str, Any]]:
    """Put a profile's canned answers into the form that the simulated Gerrit takes."""
    return {
        f"{one.method} {one.path}": {
            "status": one.status,
            **({"text": one.text} if one.text is not None else {"json": one.json_}),
        }
        for one in answers
    }


def _fill(host: Host, token: str) -> None:
    """Give a host the same people, project and changes as any other of the rig."""
    host.account(USER, name="Conformance Rig", email="conformance@example.com", http_password=token, admin=True)
    alice = host.account("alice", name="Alice Ash", email="alice@example.com", http_password=f"{token}-alice")
    bob = host.account("bob", name="Bob Beech", email="bob@example.com", http_password=f"{token}-bob")
    host.project("demo", branches=("master",))
    host.change(
        "demo", owner=alice, subject="Count the leaves", topic="leaves", reviewers=(bob,),
        files={"leaves.py": "def count(tree):\n    return len(tree)\n", "docs/guide.md": "# Leaves\n"},
        votes={"Code-Review": 2},
        comments=({"path": "leaves.py", "line": 2, "message": "Count the twigs, too?", "author": bob},),
    )  # fmt: skip
    host.change("demo", owner=bob, subject="Water the roots", files={"roots.py": "WATER = 3\n"})
    host.change("demo", owner=alice, subject="Prune the twigs", files={"twigs.py": "TWIGS = []\n"})
    add_states(host, host.account_of(USER))
    add_content(host)
