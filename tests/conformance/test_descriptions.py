"""What parameters mean by what their authors wrote about them."""

import pytest

from conformance.rig.descriptions import described, meaning_by_text
from conformance.rig.samples import UnknownArguments, sample_arguments


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("The change number.", "change_id"),
        ("Gerrit change ID, for example 12345", "change_id"),
        ("the number of the change", "change_id"),
        ("ID of the Gerrit change", "change_id"),
        ("The numeric change id", "change_id"),
        ("Name of the project to look at", "project"),
        ("The repository", "project"),
        ("Path of the file in the change", "path"),
        ("patch set number", "revision"),
        ("A Gerrit query such as status:open", "query"),
        ("Maximum number of results", "limit"),
        ("How many changes to return", "limit"),
        ("e-mail address of the account", "email"),
    ],
)
def test_the_beginning_of_a_description_tells_what_is_meant(text: str, name: str) -> None:
    meaning = meaning_by_text(text)
    assert meaning is not None
    assert name in meaning.names


@pytest.mark.parametrize(
    "text",
    [
        "",
        "The name of the new project to create",
        "project prefix to search for",
        "What to change",
        "The id of the comment in the change",
        "Number of context lines",
        "Path of the file on disk",
        "Label to vote on the change number",
        "Text that is posted to the change",
        "Change description",
        "Revisions to compare, as a range",
    ],
)
def test_what_is_not_certain_is_left_open(text: str) -> None:
    assert meaning_by_text(text) is None


GOOGLE = """Give the state of a review.

Args:
    ident: The change number.
    area (str): Name of the project.
        A second line of it.
    colour: Which colour to use.

Returns:
    limit: no parameter
"""
NUMPY = """Give the state of a review.

Parameters
----------
ident : int
    The change number.
area
    Name of the project.

Returns
-------
state
    The state.
"""
SPHINX = """Give the state of a review.

:param int ident: The change number.
:param area: Name of the project.
:returns: the state
"""


@pytest.mark.parametrize("text", [GOOGLE, NUMPY, SPHINX], ids=["google", "numpy", "sphinx"])
def test_parameters_are_told_of_in_the_three_styles(text: str) -> None:
    told = described({"name": "get_state", "description": text})
    assert told["ident"] == "The change number."
    assert told["area"] == "Name of the project."
    assert "limit" not in told
    assert "state" not in told


def tool(description: str, **properties: object) -> dict:
    return {
        "name": "get_state",
        "description": description,
        "inputSchema": {"type": "object", "properties": properties, "required": list(properties)},
    }


def test_arguments_come_from_descriptions_where_names_tell_nothing() -> None:
    seen = sample_arguments(tool(GOOGLE, ident={"type": "integer"}, area={"type": "string"}), None)
    assert seen == {"ident": 1, "area": "demo"}
    own = {"type": "string", "description": "The change number"}
    assert sample_arguments(tool("Look.", thing=own), None) == {"thing": "1"}


def test_a_name_wins_over_a_description() -> None:
    odd = {"type": "string", "description": "The change number"}
    assert sample_arguments(tool("Look.", project=odd), None) == {"project": "demo"}


def test_names_are_known_in_any_case_and_with_the_prefix_of_the_system() -> None:
    seen = sample_arguments(
        tool("Look.", changeId={"type": "string"}, gerrit_project={"type": "string"}, filePath={"type": "string"}), None
    )
    assert seen == {"changeId": "1", "gerrit_project": "demo", "filePath": "leaves.py"}


def test_what_neither_tells_stays_unknown() -> None:
    with pytest.raises(UnknownArguments, match="colour"):
        sample_arguments(tool(GOOGLE, ident={"type": "integer"}, colour={"type": "string"}), None)
