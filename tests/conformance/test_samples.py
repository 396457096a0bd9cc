"""Arguments for tools that nobody described."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import validate

from conformance.outcomes import Inconclusive
from conformance.rig.samples import sample_arguments, stanza


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


@given(
    st.dictionaries(
        st.sampled_from(["change_id", "project", "limit", "query", "reviewers", "flag", "message"]),
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
