"""The parameters that the core tools share, with the words that stand in their input schemas."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

ChangeId = Annotated[str, Field(description="The change's number, `project~number`, or its Change-Id.")]
HostUrl = Annotated[
    str | None,
    Field(description="One of the configured Gerrit hosts, in any form; the default one where left out."),
]
Limit = Annotated[int | None, Field(ge=1, description="How many results at most; the host's limit where left out.")]
Options = Annotated[list[str] | None, Field(description="Further options (`o=`) of the REST request.")]
FilePath = Annotated[str, Field(description="The file's path in the repository.")]
Votes = Annotated[dict[str, int] | None, Field(description="Votes by label, for example `{'Code-Review': 1}`.")]
