"""Values are found on the line where a reader would look for them."""

from __future__ import annotations

import pytest

from mock_gerrit.tomllines import line_of

TEXT = '''\
seed = 1

[[hosts]]
url = "https://a"
"odd = key" = 3
text = """
[[hosts]]
url = "not this one"
"""
plugins = [
  "task",
]

[[hosts.accounts]]
username = "alice"

[[hosts.accounts]]
username = "bob"

[hosts.accounts.more]
deep.down = 1

[[hosts]]
url = "https://b"
[[hosts.accounts]]  # the first of the second
username = "carol"
'''


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ((), 1),
        (("seed",), 1),
        (("hosts", 0), 3),
        (("hosts", 0, "url"), 4),
        (("hosts", 0, "odd = key"), 5),
        (("hosts", 0, "text"), 6),
        (("hosts", 0, "plugins", 0), 10),
        (("hosts", 0, "accounts", 0, "username"), 15),
        (("hosts", 0, "accounts", 1), 17),
        (("hosts", 0, "accounts", 1, "more", "deep", "down"), 21),
        (("hosts", 1, "url"), 24),
        (("hosts", 1, "accounts", 0), 25),
        (("hosts", 1, "accounts", 0, "username"), 26),
        (("hosts", 1, "accounts", 0, "nothing"), 25),
        (("nothing",), 1),
    ],
)
def test_the_line_is_that_of_the_value_or_of_what_is_around_it(path, line):
    assert line_of(TEXT, path) == line
