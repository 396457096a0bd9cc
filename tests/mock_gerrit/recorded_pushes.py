"""The commits that were pushed while the recordings were made.

The recordings tell hash, subject and message of each; the files are put together from the answers about diffs,
contents and the archive in `11-change-read` and `12-files`, and agree with the blob hashes recorded there.
"""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass

LINES = "".join(f"line {number}\n" for number in range(1, 41))
ROWS = "".join(f"row {number}\n" for number in range(1, 41))
_PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def _lint(expression: str) -> bytes:
    return f"def lint(x):\n    return {expression}\n{LINES}".encode()


@dataclass(frozen=True, kw_only=True)
class PushedCommit:
    """A commit as somebody pushed it.

    Attributes:
        name: what the recorder called the change; its Change-Id is `I` and the SHA-1 of the name.
        parent: the beginning of the recorded hash of the commit it builds on.
        files: content by path, against the parent; None where a file was deleted.
        body: what the message says between subject and Change-Id.
    """

    name: str
    parent: str
    files: dict[str, bytes | None]
    body: str = ""

    @property
    def change_id(self) -> str:
        return "I" + hashlib.sha1(self.name.encode(), usedforsecurity=False).hexdigest()

    def message(self, subject: str) -> str:
        paragraphs = [subject, self.body, f"Change-Id: {self.change_id}\n"]
        return "\n\n".join(paragraph for paragraph in paragraphs if paragraph)


EMPTY = "1bb6c74"
"""The beginning of the hash of the first commit of every project."""

_SEED = PushedCommit(
    name="seed",
    parent=EMPTY,
    files={
        "OWNERS": b"bo@example.org\n",
        "README.md": LINES.encode(),
        "docs/OWNERS": b"set noparent\ncy@example.org\n",
        "docs/guide.md": LINES.encode(),
        "gone.txt": b"going\n",
        "logo.png": _PNG,
        "src/lint.py": _lint("x"),
        "src/old name.txt": ROWS.encode(),
        "umlaut-ä.txt": "ä\n".encode(),
    },
)
_ALPHA_BODY = "A longer text that says why.\n\nBug: 42"
_TABS = b"TAB = '\\t'\n"

COMMITS: dict[str, PushedCommit] = {
    "e1f737a": _SEED,
    "663160f": PushedCommit(
        name="alpha",
        parent="e1f737a",
        files={"src/lint.py": _lint("x.replace('\\t', ' ')"), "src/tabs.py": _TABS},
        body=_ALPHA_BODY,
    ),
    "b064eb2": PushedCommit(
        name="alpha",
        parent="e1f737a",
        files={"src/lint.py": _lint("x.expandtabs()"), "src/tabs.py": _TABS},
        body=_ALPHA_BODY,
    ),
    "4f6b421": PushedCommit(
        name="alpha",
        parent="e1f737a",
        files={"src/lint.py": _lint("x.expandtabs()"), "src/tabs.py": _TABS + b"MESSAGE = 'tab'\n"},
        body=_ALPHA_BODY,
    ),
    "eae45cc": PushedCommit(name="beta", parent="4f6b421", files={"src/beta.py": b"# beta\n"}),
    "ce60f3f": PushedCommit(name="gamma", parent="eae45cc", files={"src/gamma.py": b"# gamma\n"}),
    "08d5fed": PushedCommit(name="delta", parent="ce60f3f", files={"src/delta.py": b"# delta\n"}),
    "1b55afc": PushedCommit(
        name="files",
        parent="e1f737a",
        files={
            "README.md": ("Title\n" + LINES.replace("line 20\n", "").replace("line 30\n", "line\tthirty \n")).encode(),
            "added.bin": b"\0\1\2",
            "docs/guide.md": LINES.replace("line 7\n", "line seven\n").encode(),
            "empty.txt": b"",
            "gone.txt": None,
            "logo.png": _PNG + b"\0more",
            "src/new name.txt": (ROWS + "more\n").encode(),
            "src/old name.txt": None,
            "umlaut-ä.txt": "ö\n".encode(),
        },
    ),
    "c8dab22": PushedCommit(name="wip", parent="e1f737a", files={"wip.txt": b"wip\n"}),
    "878aff1": PushedCommit(name="private", parent="e1f737a", files={"secret.txt": b"plan\n"}),
    "8dc255b": PushedCommit(name="abandoned", parent="e1f737a", files={"no.txt": b"no\n"}),
    "f3093e4": PushedCommit(name="merged", parent="e1f737a", files={"in.txt": b"in\n"}),
    "e2120cb": PushedCommit(
        name="conflict",
        parent="e1f737a",
        files={"README.md": LINES.replace("line 3\n", "line three\n").encode()},
    ),
    "094090d": PushedCommit(
        name="other-side",
        parent="e1f737a",
        files={"README.md": LINES.replace("line 3\n", "LINE 3\n").encode()},
    ),
    "9cd2fd6": PushedCommit(
        name="unicode",
        parent="e1f737a",
        files={"漢字.txt": "漢\n".encode()},
        body="Ünïcode body",
    ),
    "4f2c41d": PushedCommit(name="twice", parent=EMPTY, files={"twice.txt": b"twice\n"}),
    "0159c43": PushedCommit(name="twice", parent=EMPTY, files={"twice.txt": b"twice\n"}),
    "63e054d": PushedCommit(name="topic-docs", parent=EMPTY, files={"half.txt": b"docs\n"}),
    "e231f64": PushedCommit(name="topic-web", parent=EMPTY, files={"app.js": b"let a = 1;\n", "half.txt": b"web\n"}),
    "ec0bdfb": PushedCommit(name="rb-base", parent=EMPTY, files={"first.txt": b"1\n"}),
    "bd7e200": PushedCommit(name="rb-one", parent=EMPTY, files={"second.txt": b"second\n"}),
    "156dc0a": PushedCommit(name="rb-child", parent="bd7e200", files={"third.txt": b"third\n"}),
    "dc269e2": PushedCommit(name="rb-clash", parent=EMPTY, files={"first.txt": b"one\n"}),
    "6b8e55b": PushedCommit(name="link-1", parent=EMPTY, files={"link-1.txt": b"link-1\n"}),
    "cec15cd": PushedCommit(name="link-2", parent="6b8e55b", files={"link-2.txt": b"link-2\n"}),
    "446fff6": PushedCommit(name="link-3", parent="cec15cd", files={"link-3.txt": b"link-3\n"}),
    "8214e3c": PushedCommit(name="cp-src", parent=EMPTY, files={"picked.txt": b"picked\n"}),
}
"""Every pushed commit by the beginning of its recorded hash."""


def commit_of(recorded: str) -> PushedCommit:
    """The commit whose recorded hash begins like this one's; KeyError for a push that nobody described here."""
    return COMMITS[recorded[:7]]
