"""Arguments for tools that nobody described."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import validate

from conformance.outcomes import Inconclusive
from conformance.rig.meanings import MEANINGS
from conformance.rig.samples import certain, sample_arguments, stanza


def tool(properties, required=None, **schema):
    required = list(properties) if required is None else required
    return {"name": "t", "inputSchema": {"type": "object", "properties": properties, "required": required, **schema}}


def test_a_change_id_is_a_text_or_a_number_as_the_schema_wants():
    assert sample_arguments(tool({"change_id": {"type": "string"}}), None) == {"change_id": "1"}
    assert sample_arguments(tool({"change_id": {"type": "integer"}}), None) == {"change_id": 1}
    assert sample_arguments(tool({"change_ids": {"type": "array"}}), None) == {"change_ids": [1]}


def test_optional_parameters_and_the_address_are_left_out():
    schema = {"change_id": {"type": "string"}, "limit": {"type": "integer"}, "gerrit_base_url": {"type": "string"}}
    assert sample_arguments(tool(schema, ["change_id", "gerrit_base_url"]), None) == {"change_id": "1"}


def test_the_profile_wins_over_everything():
    assert sample_arguments(tool({"x": {"type": "string"}}), {"x": "told"}) == {"x": "told"}


def test_an_enum_a_const_and_a_default_are_taken():
    schema = {"a": {"enum": ["p", "q"]}, "b": {"const": 3}, "c": {"type": "string", "default": "d"}}
    assert sample_arguments(tool(schema), None) == {"a": "p", "b": 3, "c": "d"}


def test_a_nested_model_is_filled_by_its_own_parameters():
    definitions = {"In": {"type": "object", "properties": {"project": {"type": "string"}}, "required": ["project"]}}
    assert sample_arguments(tool({"where": {"$ref": "#/$defs/In"}}, **{"$defs": definitions}), None) == {
        "where": {"project": "demo"}
    }


def test_a_parameter_of_unknown_meaning_is_inconclusive_with_a_stanza_to_paste():
    with pytest.raises(Inconclusive) as caught:
        sample_arguments(tool({"change_id": {"type": "string"}, "frobnication": {"type": "string"}}), None)
    pasted = tomllib.loads(caught.value.supply)["tool"]["gerrit-conformance"]["tools"]["t"]["arguments"]
    assert set(pasted) == {"change_id", "frobnication"}


def test_a_cyclic_schema_ends():
    definitions = {"A": {"$ref": "#/$defs/A"}}
    with pytest.raises(Inconclusive):
        sample_arguments(tool({"x": {"$ref": "#/$defs/A"}}, **{"$defs": definitions}), None)


def test_a_model_that_requires_itself_ends():
    node = {"type": "object", "properties": {"child": {"$ref": "#/$defs/Node"}}, "required": ["child"]}
    with pytest.raises(Inconclusive):
        sample_arguments(tool({"x": {"$ref": "#/$defs/Node"}}, **{"$defs": {"Node": node}}), None)


def argument(name, schema, **more):
    return sample_arguments(tool({name: schema}, **more), None)[name]


@pytest.mark.parametrize(
    ("name", "schema", "value"),
    [
        ("limit", {"type": "integer", "minimum": 10}, 10),
        ("limit", {"type": "integer", "maximum": 3}, 3),
        ("limit", {"type": "integer", "exclusiveMinimum": 7}, 8),
        ("limit", {"type": "number", "minimum": 5.5}, 6),
        ("limit", {"type": "integer", "multipleOf": 25}, 25),
        ("start", {"type": "integer", "minimum": 1}, 1),
        ("patchset", {"type": "integer"}, 1),
        ("revision", {"type": "integer"}, 1),
        ("revision", {"type": "string"}, "current"),
        ("change_id", {"type": "string", "pattern": "~"}, "demo~1"),
        ("change_id", {"type": "string", "examples": ["12345"]}, "1"),
        ("branch", {"type": "string", "pattern": "^refs/heads/"}, "refs/heads/master"),
        ("path", {"type": "string", "pattern": r"\.md$"}, "docs/guide.md"),
        ("file", {"type": "string", "enum": ["x.py", "leaves.py"]}, "leaves.py"),
        ("files", {"type": "array", "items": {"type": "string"}, "minItems": 2}, ["leaves.py", "docs/guide.md"]),
        ("files", {"type": "string"}, "leaves.py"),
        ("reviewer", {"type": "array", "items": {"type": "string"}}, ["bob@example.com"]),
        ("change_ids", {"type": "array", "items": {"type": "string"}}, ["1"]),
        ("hashtags", {"type": "array", "items": {"type": "string"}}, ["leaves"]),
        ("message", {"type": "string", "maxLength": 10}, "A note"),
        ("start_date", {"type": "string", "format": "date"}, "2000-01-01"),
        ("user", {"anyOf": [{"type": "null"}, {"type": "string", "format": "email"}]}, "alice@example.com"),
        ("labels", {"type": "object", "additionalProperties": {"type": "integer"}}, {"Code-Review": 1}),
    ],
)
def test_a_value_fits_what_its_own_schema_demands(name, schema, value):
    assert argument(name, schema) == value


@pytest.mark.parametrize(
    ("name", "schema"),
    [
        ("confirm", {"type": "boolean"}),
        ("flags", {"type": "array", "items": {"type": "string"}}),
        ("options", {"type": "object"}),
        ("branch_name", {"type": "string"}),
        ("new_branch", {"type": "string"}),
        ("project_name", {"type": "string"}),
        ("name", {"type": "string"}),
        ("sha", {"type": "string"}),
        ("status", {"type": "string"}),
        ("body", {"type": "string"}),
        ("count", {"type": "integer"}),
        ("account_id", {"type": "integer"}),
        ("project", {"type": "string", "minLength": 9}),
        ("project", {"type": "string", "pattern": "(broken"}),
        ("change_id", {"type": "string", "pattern": "^I[0-9a-f]{40}$"}),
        ("limit", {"type": "integer", "minimum": 9, "maximum": 8}),
        ("change", {"type": "object", "properties": {"number": {"type": "integer"}}}),
        ("limit", {"type": "no-such-type"}),
    ],
)
def test_what_nobody_can_know_is_inconclusive(name, schema):
    with pytest.raises(Inconclusive, match=name):
        argument(name, schema)


def test_a_parameter_of_a_known_name_that_is_a_model_is_filled_by_its_own_parameters():
    change = {
        "type": "object",
        "properties": {"project": {"type": "string"}, "number": {"type": "integer"}},
        "required": ["project", "number"],
    }
    definitions = {"$defs": {"Change": change}}
    assert argument("change", {"$ref": "#/$defs/Change"}, **definitions) == {"project": "demo", "number": 1}
    assert argument("change", {"anyOf": [{"$ref": "#/$defs/Change"}, {"type": "null"}]}, **definitions) == {
        "project": "demo",
        "number": 1,
    }
    assert argument("changes", {"type": "array", "items": {"$ref": "#/$defs/Change"}}, **definitions) == [
        {"project": "demo", "number": 1}
    ]


def test_a_model_with_a_part_of_unknown_meaning_is_inconclusive():
    model = {
        "type": "object",
        "properties": {"project": {"type": "string"}, "colour": {"type": "string"}},
        "required": ["project", "colour"],
    }
    with pytest.raises(Inconclusive):
        argument("change", model)


def test_each_name_has_one_meaning():
    names = [name for meaning in MEANINGS for name in meaning.names]
    assert len(names) == len(set(names))


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"change_id": "1"},
        {"change_id": 1, "path": "leaves.py", "revision": "current"},
        {"change": {"project": "demo", "change_id": 1}, "path": "leaves.py"},
        {"project": "demo", "branch": "master", "limit": 25},
        {"reviewers": ["bob@example.com"], "change_ids": [1, 2]},
        {"change_id": "1", "gerrit_base_url": "https://elm.example.com/r"},
    ],
)
def test_arguments_that_name_what_the_world_has_are_certain(arguments):
    assert certain(arguments)


@pytest.mark.parametrize(
    "arguments",
    [
        {"change_id": "7"},
        {"change_id": "1", "message": "hello"},
        {"change_id": "1", "mode": "FAST"},
        {"query": "status:open"},
        {"project": "demo", "branch": "master", "path": "leaves.py"},
        {"change": {}},
        {"limit": "many"},
        {"files": [], "change_id": 1},
    ],
)
def test_arguments_of_any_other_kind_are_not_certain(arguments):
    assert not certain(arguments)


@given(
    st.dictionaries(
        st.sampled_from(["change_id", "project", "limit", "query", "reviewers", "flag", "message", "labels", "vote"]),
        st.sampled_from(["string", "integer", "boolean", "array", "null"]),
        min_size=1,
    )
)
def test_whatever_is_given_keeps_the_schema(kinds):
    entry = tool({name: {"type": kind} for name, kind in kinds.items()})
    try:
        arguments = sample_arguments(entry, None)
    except Inconclusive:
        return
    validate(arguments, entry["inputSchema"])


@given(st.text(min_size=1), st.dictionaries(st.sampled_from(["a", "b_c"]), st.text() | st.integers()))
def test_a_stanza_is_toml_that_gives_back_what_it_was_made_of(name, arguments):
    table = tomllib.loads(stanza(name, arguments))["tool"]["gerrit-conformance"]["tools"]
    assert table == {name: {"arguments": arguments}}
