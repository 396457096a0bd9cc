"""What the owner of a subject tells about it: sample arguments, canned answers, settings, known failures.

Read from `[tool.gerrit-conformance]` of a `pyproject.toml`, or from a TOML file of its own.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, get_args
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from conformance.usage import UsageError, did_you_mean, nearest

PLACEHOLDER = "…"
"""Stands in a suggested profile for what only the owner knows."""


class Table(BaseModel):
    """A table of the profile: an unknown key is an error, never ignored."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class ExtensionTable(Table):
    """`[extension]`: the settings that the extension reads."""

    config_name: str | None = None
    """The name that it gives to `ctx.extension_config`."""
    config: dict[str, Any] = Field(default_factory=dict)
    """A block of settings with which it works."""
    required_options: list[str] = Field(default_factory=list)
    """Settings without which `register` may raise, naming them."""
    third_party_hosts: list[str] = Field(default_factory=list)
    """Hosts other than Gerrit that it is meant to contact, by name (`api.example.org`); each answers `{}` to every
    request that `[[canned]]` has no answer for."""


class ToolTable(Table):
    """`[tools.NAME]`: how to call one tool."""

    arguments: dict[str, Any] = Field(default_factory=dict)
    """Arguments with which the tool works on the simulated hosts."""


class CannedAnswer(Table):
    """`[[canned]]`: what a plugin that the simulated Gerrit does not know answers, or another host than Gerrit."""

    plugin: str | None = None
    """The id of the plugin, which the rig installs on the hosts that are to have it; it or `host` has to be given."""
    host: str | None = None
    """The name of a host that is no Gerrit, in place of `plugin`; it counts as one of `third_party_hosts`."""
    path: str
    """The path after the host's own, for example `/changes/1/my-plugin~status`; `*` stands for one segment."""
    method: str = "GET"
    status: int = 200
    json_: Any = Field(default=None, alias="json")
    text: str | None = None

    @model_validator(mode="after")
    def _answers_for_one(self) -> CannedAnswer:
        if (self.plugin is None) == (self.host is None):
            raise ValueError("expected either plugin or host: who gives this answer")
        return self


class ServerTable(Table):
    """`[server]`: how a server under test is told where things are."""

    environment: dict[str, str] = Field(default_factory=dict)
    """Variables that it needs, beside PATH and language; `{home}` stands for the folder of the trial."""
    command: str = ""
    """What starts a server whose target is a URL, as one would type it; `{port}` stands for the port to listen on."""
    config_variable: str = "GERRIT_CONFIG_PATH"
    """The variable by which it finds its configuration file."""
    log: str | None = None
    """Where it writes its server.log: a path, in which `{home}` stands for the folder of the trial. Where this is left
    out, the suite names a file in GERRIT_MCP_LOG_PATH and looks whether it is written."""


class Profile(Table):
    """The whole profile; every table may be left out."""

    extension: ExtensionTable = ExtensionTable()
    server: ServerTable = ServerTable()
    tools: dict[str, ToolTable] = Field(default_factory=dict)
    canned: list[CannedAnswer] = Field(default_factory=list)
    waivers: dict[str, str] = Field(default_factory=dict)
    """Known failures: a clause id and the reason why it is accepted for now."""

    def third_parties(self) -> tuple[str, ...]:
        """Give the names of all hosts but Gerrit's that the profile names, in lower case, without scheme and port."""
        told = [*self.extension.third_party_hosts, *(one.host for one in self.canned if one.host is not None)]
        return tuple(dict.fromkeys(map(plain_host_name, told)))


def plain_host_name(text: str) -> str:
    """Give the name in what somebody wrote for a host: its name, its authority, or a URL on it."""
    try:
        name = urlsplit(text if "//" in text else f"//{text}").hostname
    except ValueError:
        name = None
    return (name or text).rstrip(".").lower()


def load_profile(path: Path | None, root: Path | None = None) -> Profile:
    """Read the profile in `path`, else the table in `root/pyproject.toml`, else give an empty one.

    Raises:
        UsageError: the file is missing or is no TOML, or a key is unknown or of the wrong type; the nearest right key
        is named.
    """
    if path is not None:
        if not path.is_file():
            raise UsageError(f"there is no profile {path}", "--conformance-profile names a TOML file", "check the path")
        document = _toml(path)
        whole = document if path.name != "pyproject.toml" else {}
        return profile_from(_own_table(document, whole), where=str(path))
    file = root / "pyproject.toml" if root else None
    if file is None or not file.is_file():
        return Profile()
    return profile_from(_own_table(_toml(file), {}), where=str(file))


def shipped_server_table(program: str) -> ServerTable:
    """Give what this package knows of a server by the name of its program; the defaults for all others."""
    file = Path(__file__).parent / "server_profiles" / f"{program}.toml"
    return profile_from(_toml(file), where=str(file)).server if program and file.is_file() else ServerTable()


def _own_table(document: dict[str, Any], otherwise: dict[str, Any]) -> Any:  # noqa: ANN401 - checked by the model
    tool = document.get("tool")
    return tool.get("gerrit-conformance", otherwise) if isinstance(tool, dict) else otherwise


def reject_unknown_tools(profile: Profile, names: Iterable[str]) -> None:
    """Refuse arguments for a tool that does not exist: left aside, they would be believed to be in use.

    Args:
        profile: what the owner tells.
        names: the tools of every subject for which the profile holds.

    Raises:
        UsageError: naming the nearest tool.
    """
    known = list(names)
    for name in profile.tools:
        if name not in known:
            raise UsageError(
                f"the profile has arguments for {name}, which is no tool of the subject",
                "it stands under tools in [tool.gerrit-conformance]",
                did_you_mean(name, known) if known else "remove the table: the subject registers no tools",
            )


def profile_from(table: Any, *, where: str) -> Profile:  # noqa: ANN401 - whatever the file holds
    """Check a table and make it a profile; `where` is named in messages."""
    try:
        profile = Profile.model_validate(table)
    except ValidationError as problem:
        raise _usage_error(problem, where) from None
    for left in _placeholders("", profile.model_dump(by_alias=True)):
        raise UsageError(f"{where}: {left} is still to be filled in", f'it holds "{PLACEHOLDER}"', "give it a value")
    return profile


def _placeholders(where: str, value: Any) -> Iterator[str]:  # noqa: ANN401 - whatever a profile can hold
    """Name each place that was suggested and not filled in."""
    if value == PLACEHOLDER:
        yield where
    named = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in named:
        yield from _placeholders(f"{where}.{key}" if where else str(key), inner)


def _toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise UsageError(f"{path} cannot be read", str(problem), "mend the file: it has to be TOML") from None


def _usage_error(problem: ValidationError, where: str) -> UsageError:
    first = problem.errors(include_url=False, include_input=False)[0]
    location = [str(part) for part in first["loc"]]
    dotted = ".".join(location)
    if first["type"] == "extra_forbidden":
        known = _keys_at(location[:-1])
        near = nearest(location[-1], known)
        return UsageError(
            f"{where}: {dotted} is not a key of a profile",
            f"{'.'.join(location[:-1]) or 'the top level'} has {', '.join(known)}",
            f"did you mean {near}?" if near else "remove it",
        )
    expected = _WORDS.get(first["type"])
    return UsageError(
        f"{where}: {dotted or '[tool.gerrit-conformance]'} is not as it should be",
        f"expected {expected}" if expected else first["msg"],
        "see the page on profiles for its form",
    )


_WORDS = {
    "model_type": "a table",
    "dict_type": "a table",
    "list_type": "a list",
    "string_type": "a text",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "missing": "a value, and there is none",
}
"""What is expected, in words of TOML, by the type of the model's complaint."""


def _keys_at(location: list[str]) -> list[str]:
    """The keys that the table at `location` may have."""
    model: type[BaseModel] = Profile
    for part in location:
        field = model.model_fields.get(part)
        if field is None:
            continue  # a tool's name or an index: the model stays
        inner = [field.annotation, *get_args(field.annotation)]
        model = next((one for one in inner if isinstance(one, type) and issubclass(one, BaseModel)), model)
    return [field.alias or name for name, field in model.model_fields.items()]
