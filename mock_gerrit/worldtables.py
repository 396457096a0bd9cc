"""The tables of a world file, as pydantic checks them; `docs` and error messages take the keys from here."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints, model_validator

from mock_gerrit.changes import ChangeStatus
from mock_gerrit.entities import ProjectState
from mock_gerrit.faults import Kind


class Table(BaseModel):
    """A table that knows all its keys and takes no value for another type."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


Asked = Annotated[str, StringConstraints(pattern=r"^(GET|POST|PUT|DELETE) /")]
"""What a canned answer answers: `METHOD /path`, the path as after `/a`."""


class CannedTable(Table):
    """A fixed answer of a plugin: `json` with Gerrit's prefix, or `text` as it is."""

    status: int = 200
    json_: Any = Field(default=None, alias="json")
    text: str | None = None

    @model_validator(mode="after")
    def _one_body(self) -> Self:
        if self.text is not None and self.json_ is not None:
            raise ValueError("expected json or text, got both")
        return self


class PluginTable(Table):
    """A plugin of a host."""

    id: str
    version: str | None = None
    disabled: bool = False
    canned: dict[Asked, CannedTable] = {}


def _named(value: object) -> object:
    """A plugin's id alone stands for a table of it."""
    return {"id": value} if isinstance(value, str) else value


class AccountTable(Table):
    """Somebody who can sign in: by `password` (HTTP), by `cookie`, or not at all."""

    username: str
    name: str | None = None
    email: str | None = None
    password: str | None = None
    cookie: str | None = None
    admin: bool = False
    may_view_plugins: bool | None = None
    service_user: bool = False


class GroupTable(Table):
    """A group of accounts."""

    name: str
    members: list[str] = []
    description: str | None = None


class ProjectTable(Table):
    """A project; `files` is its first commit, `settings` are files of its refs/meta/config by path."""

    name: str
    parent: str = "All-Projects"
    branches: list[str] = ["master"]
    description: str | None = None
    state: ProjectState = "ACTIVE"
    files: dict[str, str] = {}
    settings: dict[str, str] = {}
    readers: list[str] | None = None


class CommentTable(Table):
    """A published comment on a change; without a path it is on the patch set as a whole."""

    message: str
    path: str | None = None
    line: int | None = None
    author: str | None = None
    unresolved: bool | None = None


class ChangeTable(Table):
    """A change; all but the project has a sensible default."""

    project: str
    owner: str | None = None
    branch: str | None = None
    subject: str | None = None
    message: str | None = None
    files: dict[str, str] | None = None
    parent: int | None = None
    topic: str | None = None
    hashtags: list[str] = []
    votes: dict[str, int | dict[str, int]] = {}
    reviewers: list[str] = []
    cc: list[str] = []
    comments: list[CommentTable] = []
    wip: bool = False
    private: bool = False
    status: ChangeStatus = "NEW"
    number: int | None = None
    change_id: str | None = None


class PopulateTable(Table):
    """How many invented people, projects and changes there are besides; see `mock_gerrit.populate`."""

    people: int = Field(default=5, ge=0)
    projects: int = Field(default=3, ge=0)
    changes: int = Field(default=20, ge=0)
    seed: int = 0


class HostTable(Table):
    """A Gerrit host."""

    url: str
    internal_url: str | None = None
    name: str | None = None
    forbid_plugin_list: bool = False
    operator_aliases: dict[str, str] = {}
    plugins: list[Annotated[PluginTable, BeforeValidator(_named)]] = []
    accounts: list[AccountTable] = []
    groups: list[GroupTable] = []
    projects: list[ProjectTable] = []
    changes: list[ChangeTable] = []
    populate: PopulateTable | None = None


class FaultTable(Table):
    """Something that goes wrong on purpose; see `mock_gerrit.faults.Fault`."""

    kind: Kind
    host: str | None = None
    path: str | None = None
    not_path: str | None = None
    method: Literal["GET", "HEAD", "POST", "PUT", "DELETE"] | None = None
    nth: int | None = None
    times: int | None = None
    delay: float | int = 0.0
    status: int | None = None
    body: str | None = None


class WorldTable(Table):
    """A whole world file."""

    seed: int = 0
    hosts: list[HostTable] = Field(min_length=1)
    faults: list[FaultTable] = []


TABLES: dict[tuple[str, ...], type[Table]] = {
    (): WorldTable,
    ("faults",): FaultTable,
    ("hosts",): HostTable,
    ("hosts", "accounts"): AccountTable,
    ("hosts", "changes"): ChangeTable,
    ("hosts", "changes", "comments"): CommentTable,
    ("hosts", "groups"): GroupTable,
    ("hosts", "plugins"): PluginTable,
    ("hosts", "populate"): PopulateTable,
    ("hosts", "projects"): ProjectTable,
}
"""Which table stands where; canned answers, whose names are free, are not among them."""
