"""The command-line options and ini keys of the plugin: one table, from which both are made and read.

Loaded by every pytest run, so it imports nothing beyond what pytest itself has loaded.

PYTEST_DONT_REWRITE: it asserts nothing, and imported plainly it can use the byte code that the installer has compiled.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    import pytest

    from conformance.settings import Settings


class Option(NamedTuple):
    """One option `--conformance…`, and the ini key of the same name with underscores."""

    flag: str
    kind: Literal["targets", "text", "path", "switch"]
    metavar: str
    help: str

    @property
    def key(self) -> str:
        """The ini key, which is also where argparse keeps the value."""
        return self.flag.removeprefix("--").replace("-", "_")


TARGETS = Option(
    "--conformance",
    "targets",
    "TARGET",
    "certify this: a module, a distribution, a project folder, a wheel; stdio:COMMAND or a URL (repeatable)",
)
AS_KIND = Option(
    "--conformance-as",
    "text",
    "KIND",
    "the kind of subject: extension, or gerrit-host for a server; it follows from the target",
)
HOST = Option("--conformance-host", "text", "HOST", "load it on: reference (default), or factory:MODULE:CALLABLE")
REPORT = Option("--conformance-report", "path", "DIR", "write certificate.json and junit.xml into this folder")
PROFILE = Option("--conformance-profile", "path", "FILE", "sample arguments, canned answers and waivers (TOML)")
LOG = Option("--conformance-log", "text", "FILE", "where a server under test writes its server.log")
BASELINE = Option("--conformance-baseline", "path", "FILE", "excuse what failed in this earlier certificate.json")
STRICT = Option("--conformance-strict", "switch", "", "a SHOULD that is not kept fails, too")
LIMIT_SECONDS = Option("--conformance-limit-seconds", "text", "SECONDS", "the longest that one trial may take (60)")
LIMIT_MEMORY = Option("--conformance-limit-memory", "text", "SIZE", "the most memory that a trial may hold (512M)")

OPTIONS = (TARGETS, AS_KIND, HOST, REPORT, PROFILE, LOG, BASELINE, STRICT, LIMIT_SECONDS, LIMIT_MEMORY)
NODE_ROOT = "conformance"
"""The first part of the node id of every clause."""
KINDS = ("extension", "gerrit-host", "protocol", "manifest")
HOSTS = ("reference", "installed", "factory:MODULE:CALLABLE")


def add(parser: pytest.Parser) -> None:
    """Tell pytest about every option and its ini key."""
    group = parser.getgroup("gerrit-conformance", "certifying extensions of the Gerrit MCP server")
    for option in OPTIONS:
        if option.kind == "switch":
            group.addoption(option.flag, dest=option.key, action="store_true", default=None, help=option.help)
        else:
            action = "append" if option.kind == "targets" else "store"
            group.addoption(
                option.flag, dest=option.key, action=action, default=None, metavar=option.metavar, help=option.help
            )
        parser.addini(option.key, f"{option.help} (see {option.flag})", type=_INI_TYPES[option.kind], default=None)


_INI_TYPES: dict[str, Any] = {"targets": "linelist", "text": "string", "path": "string", "switch": "bool"}


def targets(config: pytest.Config, given: object = None) -> list[str]:
    """Give what is to be certified, from the command line or else the ini file; empty keeps the plugin idle.

    Args:
        config: pytest's configuration.
        given: the parsed options, where `config` does not have them yet.
    """
    return list(getattr(given or config.option, TARGETS.key, None) or config.getini(TARGETS.key) or ())


def is_clause_id(argument: str) -> bool:
    """Tell whether a command-line argument is a node id of ours, as pasted from a report, and not a path."""
    return argument.startswith(f"{NODE_ROOT}::")


def profile_path(config: pytest.Config) -> Path | None:
    """Give the profile's file, if one is named."""
    return _path(config, PROFILE)


def baseline_path(config: pytest.Config) -> Path | None:
    """Give the earlier certificate whose failures are excused, if one is named."""
    return _path(config, BASELINE)


def as_kind(config: pytest.Config) -> str | None:
    """Give the kind that the subjects are to be judged as, if one is named; `settings` has checked it."""
    return _value(config, AS_KIND) or None


def settings(config: pytest.Config) -> Settings:
    """Collect how the run was asked to go.

    Raises:
        UsageError: if a value is of the wrong form.
    """
    from conformance.settings import Settings, parse_seconds, parse_size  # noqa: PLC0415 - idle runs do without

    told: dict[str, Any] = {"strict": bool(_value(config, STRICT)), "report_dir": _path(config, REPORT)}
    if host := _value(config, HOST):
        told["host"] = _known_host(host)
    if kind := _value(config, AS_KIND):
        _check_kind(kind)
    if log := _value(config, LOG):
        told["log"] = log
    if seconds := _value(config, LIMIT_SECONDS):
        told["limit_seconds"] = parse_seconds(seconds)
    if memory := _value(config, LIMIT_MEMORY):
        told["limit_memory"] = parse_size(memory)
    return Settings(**told)


def reject_misspelt(arguments: Sequence[str]) -> None:
    """Refuse an option that begins like ours and that no plugin knows; `arguments` are those that pytest left over.

    Raises:
        pytest.UsageError: naming the nearest right option.
    """
    import pytest  # noqa: PLC0415 - only a type in the rest of this file

    from conformance.usage import UsageError, did_you_mean  # noqa: PLC0415 - idle runs do without

    for argument in arguments:
        flag = argument.partition("=")[0]
        if flag.startswith("--conform"):
            problem = UsageError(f"there is no option {flag}", "", did_you_mean(flag, [one.flag for one in OPTIONS]))
            raise pytest.UsageError(str(problem))


def reject_misspelt_keys(config: pytest.Config) -> None:
    """Refuse an ini key that begins like ours and is none of them.

    Raises:
        UsageError: naming the file and the nearest right key.
    """
    from conformance.usage import UsageError, did_you_mean  # noqa: PLC0415 - idle runs do without

    known = [one.key for one in OPTIONS]
    written = vars(config).get("_inicfg") or vars(config).get("inicfg") or {}  # the public name is going to be removed
    for key in written:
        if key.startswith("conformance") and key not in known:
            raise UsageError(f"{config.inipath}: there is no key {key}", "", did_you_mean(key, known))


def _value(config: pytest.Config, option: Option) -> Any:  # noqa: ANN401 - text or bool, as the option's kind says
    given = getattr(config.option, option.key, None)
    return config.getini(option.key) if given is None else given


def _path(config: pytest.Config, option: Option) -> Path | None:
    """Resolve a path against the current folder, or against the ini file's where it stands there."""
    given = getattr(config.option, option.key, None)
    if given is not None:
        return Path(config.invocation_params.dir, given)
    written = config.getini(option.key)
    return Path(config.inipath.parent if config.inipath else config.rootpath, written) if written else None


def _check_kind(kind: str) -> None:
    from conformance.usage import UsageError, did_you_mean  # noqa: PLC0415 - idle runs do without

    what = f"{AS_KIND.flag}={kind} cannot be judged"
    if kind not in KINDS:
        raise UsageError(what, "there is no such kind of subject", did_you_mean(kind, KINDS))
    if kind not in {"extension", "gerrit-host"}:
        raise UsageError(
            what, "this version judges extensions of the Gerrit MCP server, and servers", "leave the option out"
        )


def _known_host(host: str) -> str:
    """Take a host on which this version can load an extension; anything else is refused rather than left aside."""
    from conformance.usage import UsageError, did_you_mean  # noqa: PLC0415 - idle runs do without

    if host == "reference" or (host.startswith("factory:") and host.count(":") in {1, 2} and host != "factory:"):
        return host
    what = f"{HOST.flag}={host} cannot be used"
    if host == "installed" or len(host.split()) > 1:
        why = "this version loads extensions on the reference server, or on what a factory builds"
        raise UsageError(what, why, "leave the option out, or say factory:MODULE:CALLABLE")
    raise UsageError(what, "there is no such host", did_you_mean(host, HOSTS))
