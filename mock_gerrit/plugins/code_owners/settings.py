"""How code-owners is configured for a project: `code-owners.config` of the project and of those it inherits from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from io import BytesIO
from typing import Literal, get_args

from dulwich.config import ConfigFile

from mock_gerrit.host import Host

FILE = "code-owners.config"
SECTION = (b"codeOwners",)
Fallback = Literal["NONE", "ALL_USERS"]
FALLBACKS = frozenset(get_args(Fallback))


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What holds for a project.

    Attributes:
        disabled: whether approvals of owners are not asked for.
        label, value: the vote that counts as an owner's approval.
        fallback: who owns what nobody owns.
        global_owners: addresses that own everything; `*` stands for everybody.
    """

    disabled: bool = False
    label: str = "Code-Review"
    value: int = 1
    fallback: str = "NONE"
    global_owners: tuple[str, ...] = ()

    @classmethod
    def of(cls, host: Host, project: str) -> Settings:
        """The settings of a project; what it leaves open, those above it decide."""
        values: dict[str, tuple[str, ...]] = {}
        for one in reversed(host.ancestors(project)):
            values.update(_values(one.settings.get(FILE, "")))
        label, sign, number = _split_vote(values.get("requiredapproval", ("Code-Review+1",))[-1])
        return cls(
            disabled=values.get("disabled", ("false",))[-1].lower() == "true",
            label=label,
            value=int(f"{sign}{number}"),
            fallback=values.get("fallbackcodeowners", ("NONE",))[-1],
            global_owners=values.get("globalcodeowner", ()),
        )


def _values(text: str) -> dict[str, tuple[str, ...]]:
    config = _parsed(text)
    keys = {key.lower() for section in config.sections() if _is_ours(section) for key, _ in config.items(section)}
    return {key.decode(): tuple(value.decode() for value in config.get_multivar(SECTION, key)) for key in keys}


def _is_ours(section: tuple[bytes, ...]) -> bool:
    return len(section) == 1 and section[0].lower() == SECTION[0].lower()


def _parsed(text: str) -> ConfigFile:
    return ConfigFile.from_file(BytesIO(text.encode()))


def _split_vote(written: str) -> tuple[str, str, str]:
    """`Code-Review+1` in its parts."""
    at = max(written.rfind("+"), written.rfind("-"))
    return written[:at], written[at], written[at + 1 :]


def label_of(written: str) -> str:
    """The label of a vote that is written like `Code-Review+1`."""
    return _split_vote(written)[0]


def change_settings(host: Host, project: str, values: Mapping[str, str]) -> None:
    """Writes some values into the project's own configuration."""
    settings = host.projects[project].settings
    config = _parsed(settings.get(FILE, ""))
    for key, value in values.items():
        config.set(SECTION, key.encode(), value.encode())
    written = BytesIO()
    config.write_to_file(written)
    settings[FILE] = written.getvalue().decode()
