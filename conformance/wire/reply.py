"""Answers as they came: parsed for reading, with the raw bytes beside."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, kw_only=True)
class RpcError:
    """The error member of a JSON-RPC answer."""

    code: int
    message: str
    data: Any = None

    def __str__(self) -> str:
        """Render as one line."""
        return f"{self.message} ({self.code})"


@dataclass(frozen=True, kw_only=True)
class Reply:
    """One JSON-RPC answer: either a result or an error."""

    id: int | str | None
    result: Any = None
    error: RpcError | None = None
    raw: bytes = b""
    seconds: float = 0.0
    """From sending the request to the arrival of the answer."""

    @property
    def ok(self) -> bool:
        """Whether it is a result."""
        return self.error is None


@dataclass(frozen=True, kw_only=True)
class ToolReply:
    """The answer to one `tools/call`.

    A JSON-RPC error counts as an error of the tool too: some servers refuse bad arguments that way.
    """

    raw: bytes
    is_error: bool
    content: tuple[Mapping[str, Any], ...] = ()
    structured: Any = None
    """`structuredContent`; None where there is none (see `has_structured`)."""
    has_structured: bool = False
    error: RpcError | None = None
    """Set where the call was refused by JSON-RPC rather than by a result with `isError`."""
    result: Mapping[str, Any] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def text(self) -> str:
        """The text blocks, one a line; the error's message where the call was refused."""
        if self.error is not None:
            return self.error.message
        return "\n".join(
            str(block["text"]) for block in self.content if block.get("type") == "text" and "text" in block
        )

    @property
    def everything(self) -> str:
        """The raw answer as text, for searching: what stands in any field, escaped or not, is in it."""
        shown = self.raw.decode(errors="backslashreplace")
        try:
            return shown + "\n" + "\n".join(_strings(json.loads(self.raw)))
        except ValueError:
            return shown

    @classmethod
    def of(cls, reply: Reply) -> ToolReply:
        """Read a reply as that of a tool; what has not the shape of a tool's result has no content."""
        if reply.error is not None:
            return cls(raw=reply.raw, is_error=True, error=reply.error, seconds=reply.seconds)
        result = reply.result if isinstance(reply.result, dict) else {}
        blocks = result.get("content")
        return cls(
            raw=reply.raw,
            is_error=result.get("isError") is True,
            content=tuple(block for block in blocks if isinstance(block, dict)) if isinstance(blocks, list) else (),
            structured=result.get("structuredContent"),
            has_structured="structuredContent" in result,
            result=result,
            seconds=reply.seconds,
        )


def _strings(value: Any) -> list[str]:  # noqa: ANN401 - any JSON value
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for pair in value.items() for one in pair for text in _strings(one)]
    if isinstance(value, list):
        return [text for one in value for text in _strings(one)]
    return []
