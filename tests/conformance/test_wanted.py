"""What belongs into the gaps of a suggested profile is said in words of TOML."""

import tomllib

import pytest

from conformance.rig.samples import UnknownArguments, sample_arguments, stanza
from conformance.rig.wanted import wanted

SIZE = {"anyOf": [{"$ref": "#/$defs/Size"}, {"type": "null"}]}
DEFINITIONS = {"Size": {"type": "object", "properties": {}}}


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"type": "integer"}, "integer, such as 1"),
        ({"type": "string"}, "string"),
        ({"type": "array", "items": {"type": "integer"}}, "list of integer, such as [1]"),
        ({"type": "array", "items": {"type": "string"}}, 'list of string, such as ["text"]'),
        ({"type": "array"}, 'list of anything, such as ["text"]'),
        ({"type": ["boolean", "null"]}, "boolean, such as true"),
        ({"anyOf": [{"type": "integer"}, {"type": "string"}]}, "integer, such as 1 or string"),
        ({"enum": ["dark", "mild"]}, 'one of "dark", "mild"'),
        (SIZE, "object, such as { key = 1 }"),
        ({}, ""),
        (None, ""),
        (True, ""),
    ],
)
def test_what_a_schema_wants_is_said_with_an_example(schema, words):
    assert wanted(schema, DEFINITIONS) == words


def test_a_stanza_tells_behind_each_gap_what_belongs_there():
    number, numbers = {"type": "integer"}, {"type": "array", "items": {"type": "integer"}}
    properties = {"change_id": {"type": "string"}, "flavour": number, "blends": numbers}
    tool = {"name": "mix", "inputSchema": {"properties": properties, "required": list(properties)}}
    with pytest.raises(UnknownArguments) as raised:
        sample_arguments(tool, None)
    assert raised.value.supply.splitlines()[1:] == [
        'change_id = "1"',
        'flavour = "…"  # integer, such as 1',
        'blends = "…"  # list of integer, such as [1]',
    ]
    arguments = tomllib.loads(raised.value.supply)["tool"]["gerrit-conformance"]["tools"]["mix"]["arguments"]
    assert arguments == raised.value.arguments


def test_a_value_that_looks_like_a_gap_of_another_name_gets_no_comment():
    assert "#" not in stanza("mix", {"flavour": "…"}, {"blend": "integer"})
