"""What becomes of arguments: where values can be put, what a request says, and what shows that a value broke out."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import quote, quote_plus, urlencode

import pytest

from conformance.contracts.arguments import (
    AMBIGUOUS,
    NOT_FOUND,
    _says_ambiguous,
    _says_so_somewhere,
    _tells_all,
    _the_one_looked_at,
    _the_only_one,
)
from conformance.contracts.registry import catalogue
from conformance.examine import Examination
from conformance.outcomes import Outcome
from conformance.rig import content
from conformance.rig.escapes import escapes
from conformance.rig.hostility import CANARY_TEXT, VALUES, planted_files
from conformance.rig.reached import refused_url, wrong_in
from conformance.rig.refusals import refused_arguments
from conformance.rig.sent import taken_apart
from conformance.rig.slots import choices_of, slots_of
from conformance.rig.surroundings import Credentials, Surroundings, build_world
from conformance.rig.trial import Call, Fact
from conformance.scenes.arguments import ROUNDS, SEARCH, change_slot, with_odd_names
from conformance.scenes.hostile import _takes_strange_texts, _valid_value
from conformance.targets import resolve_target
from conformance.wire.reply import ToolReply
from mock_gerrit.journal import Entry

TRIPLET = f"{content.PROJECT}~{content.BRANCH}~{content.ODD_CHANGE_ID}"


def request(target: str, status: int = 200, body: bytes = b"", method: str = "GET", **facts: object) -> Entry:
    usual: dict = {"number": 0, "host": "rowan", "authority": "rowan.example.com", "scheme": "https"}
    return Entry(
        **usual, method=method, target=target, path=target.partition("?")[0], status=status, body=body,
        started=1.0, finished=2.0, **facts,
    )  # fmt: skip


def call(*entries: Entry, curl: tuple[str, ...] = (), text: str = "", error: bool = False, **facts: object) -> Call:
    reply = ToolReply(raw=text.encode(), is_error=error, content=({"type": "text", "text": text},))
    told = [Fact(kind="curl", about={"args": list(curl)})] if curl else []
    usual: dict = {"tool": "t", "arguments": {}, "reply": reply, "trouble": "", "facts": told, "seconds": 0.0}
    return Call(**{**usual, "entries": entries, **facts})


def tool(properties: dict, required: tuple[str, ...] = (), **more: object) -> dict:
    return {"name": "t", "inputSchema": {"type": "object", "properties": properties, "required": [*required], **more}}


TEXT, WHOLE = {"type": "string"}, {"type": "integer"}


def encoded(name: str) -> str:
    return quote(name, safe="")


# Where values can be put


def test_a_value_can_be_put_into_texts_lists_and_models_but_not_into_addresses_and_lists_of_words():
    definitions = {"Where": {"type": "object", "properties": {"path": TEXT, "lines": {"type": "array", "items": TEXT}}}}
    properties = {
        "change_id": TEXT, "gerrit_base_url": TEXT, "kind": {"enum": ["a", "b"]}, "where": {"$ref": "#/$defs/Where"},
        "topic": {"anyOf": [TEXT, {"type": "null"}]},
    }  # fmt: skip
    labels = [slot.label for slot in slots_of(tool(properties, **{"$defs": definitions}))]
    assert labels == ["change_id", "where.path", "where.lines[0]", "topic"]


def test_a_value_is_put_into_a_copy_whatever_stood_there():
    [slot] = slots_of(tool({"filter": {"type": "object", "properties": {"paths": {"type": "array", "items": TEXT}}}}))
    plain = {"filter": None, "limit": 5}
    assert slot.put("x", plain) == {"filter": {"paths": ["x"]}, "limit": 5}
    assert plain == {"filter": None, "limit": 5}
    assert slot.put("x", {"filter": {"paths": ["a", "b"], "more": 1}}) == {"filter": {"paths": ["x"], "more": 1}}


def test_what_stands_in_a_place_is_what_a_call_says_or_else_the_default():
    lines = {"type": "array", "items": TEXT}
    [revision, line] = slots_of(tool({"revision": {"type": "string", "default": "current"}, "lines": lines}))
    assert (revision.value_in({}), revision.value_in({"revision": "2"})) == ("current", "2")
    assert (line.value_in({}), line.value_in({"lines": []}), line.value_in({"lines": ["a"]})) == (None, None, "a")


def test_choices_are_yes_and_no_and_the_entries_of_a_list():
    kind = {"anyOf": [{"enum": ["a", "b"]}, {"type": "null"}]}
    parts = {"type": "object", "properties": {"deep": {"type": "boolean"}}}
    properties = {"change_id": TEXT, "kind": kind, "parts": parts, "kinds": {"type": "array", "items": {"enum": ["c"]}}}
    found = {slot.label: slot.choices for slot in choices_of(tool(properties))}
    assert found == {"kind": ["a", "b"], "parts.deep": [True, False], "kinds[0]": ["c"]}


@pytest.mark.parametrize(
    "cycle",
    [
        {"type": "array", "items": {"$ref": "#/$defs/A"}},
        {"$ref": "#/$defs/A"},
        {"type": "object", "properties": {name: {"$ref": "#/$defs/A"} for name in "abcdefgh"}},
    ],
)
def test_a_cyclic_schema_has_an_end(cycle):
    assert len(list(slots_of(tool({"x": {"$ref": "#/$defs/A"}}, **{"$defs": {"A": cycle}})))) <= 64


# Names that have to be encoded


def test_the_odd_names_stand_in_every_host_and_move_none_of_the_others():
    world = build_world(Surroundings(), Credentials())
    for host in world.hosts.values() if isinstance(world.hosts, dict) else world.hosts:
        assert {1, 2, 3, content.ODD_NUMBER, *content.TWIN_NUMBERS} <= set(host.changes)
        odd = host.changes[content.ODD_NUMBER]
        assert (odd.project, odd.branch, odd.change_id) == (content.PROJECT, content.BRANCH, content.ODD_CHANGE_ID)
        assert {host.changes[number].change_id for number in content.TWIN_NUMBERS} == {content.TWIN_CHANGE_ID}


def test_every_round_speaks_of_one_change_in_another_form():
    entry = tool({"change_id": TEXT, "path": TEXT, "limit": WHOLE, "branch": TEXT}, ("change_id", "path"))
    plain = {"change_id": "1", "path": "leaves.py"}
    rounds = [with_odd_names(entry, plain, name)[0] for name in ROUNDS]
    assert [one["change_id"] for one in rounds] == ["leaf/litter~7301", TRIPLET, "7301"]
    assert [one.get("branch") for one in rounds] == ["stable/1.0", "refs/heads/stable/1.0", None]
    assert plain == {"change_id": "1", "path": "leaves.py"}


def test_a_parameter_for_a_number_is_given_no_other_form_of_an_id():
    entry = tool({"change_number": TEXT, "project": TEXT}, ("change_number", "project"))
    assert with_odd_names(entry, {}, "odd names")[0] == {"change_number": "7301", "project": "leaf/litter"}
    assert change_slot(entry) is None


def test_an_id_that_a_tool_puts_together_with_more_is_not_judged():
    composed = request("/a/changes/leaf%2Flitter~leaf%2Flitter~7301/detail", status=404)
    assert wrong_in(composed, {"change_id": ["leaf/litter~7301"], "project": ["leaf/litter"]}) == ""


def test_a_number_needs_no_encoding_and_is_not_worth_a_call():
    assert with_odd_names(tool({"change_id": WHOLE}, ("change_id",)), {"change_id": 1}, "odd names")[1] == []


GOOD = [
    ("change_id", TRIPLET, f"/a/changes/{encoded(TRIPLET)}/detail"),
    ("change_id", "leaf/litter~7301", "/a/changes/leaf%2Flitter~7301/detail"),
    ("change_id", TRIPLET, f"/a/changes/{content.ODD_CHANGE_ID}/detail"),
    ("change_id", TRIPLET, f"/a/changes/?{urlencode({'q': f'change:{TRIPLET}'})}"),
    ("path", content.BLANK_FILE, f"/a/changes/1/revisions/current/files/{quote_plus(content.BLANK_FILE)}/diff"),
    ("path", content.BLANK_FILE, "/a/changes/?" + urlencode({"q": f'file:"{content.BLANK_FILE}"'})),
    ("path", content.BLANK_FILE, "/a/changes/?" + urlencode({"q": f"file:{{{content.BLANK_FILE}}}"})),
    ("path", content.NESTED_FILE, f"/a/plugins/gitiles/demo/+/master/{content.NESTED_FILE}"),
    ("email", content.IVY, f"/a/accounts/{encoded(content.IVY)}"),
    ("query", SEARCH, "/a/changes/?" + urlencode({"q": f"({SEARCH}) status:open"})),
    ("project", content.PROJECT, "/a/projects/leaf%2Flitter/branches/"),
]
BAD = [
    ("change_id", "leaf/litter~7301", "/a/changes/leaf/litter~7301/detail", "several segments"),
    ("change_id", "leaf/litter~7301", "/a/changes/leaf%252Flitter~7301/detail", "twice"),
    ("change_id", "leaf/litter~7301", "/a/changes/litter~7301/detail", "another or none"),
    ("change_id", TRIPLET, f"/a/changes/{encoded(TRIPLET).replace('~', '%7E')}/detail", "another or none"),
    ("path", content.NESTED_FILE, "/a/changes/1/revisions/1/files/nested/oak%2Belm.md/diff", "several segments"),
    ("path", content.NESTED_FILE, "/a/changes/1/revisions/1/files/nested%2Foak+elm.md/diff", "as a blank"),
    ("path", content.NESTED_FILE, f"/a/projects/demo/x?path={content.NESTED_FILE}", "as a blank"),
    ("path", content.BLANK_FILE, f"/a/x?path={quote(content.BLANK_FILE, encoding='latin-1')}", "alphabet"),
    ("path", content.BLANK_FILE, "/a/changes/?" + urlencode({"q": f"file:{content.BLANK_FILE}"}), "several words"),
    ("topic", content.TOPIC, f"/a/changes/?q=topic:{content.TOPIC}", "cut at its &"),
    ("project", content.PROJECT, "/a/projects/leaf_litter/branches/", "becomes the project"),
]


@pytest.mark.parametrize(("kind", "name", "target"), GOOD)
def test_a_request_that_names_what_was_asked_for_is_right(kind, name, target):
    assert wrong_in(request(target), {kind: [name]}) == ""


@pytest.mark.parametrize(("kind", "name", "target", "said"), BAD)
def test_a_request_that_names_something_else_is_wrong(kind, name, target, said):
    assert said in wrong_in(request(target, status=404), {kind: [name]})


def test_an_id_that_a_search_decodes_once_more_is_right_if_the_change_is_found():
    target = "/a/changes/?q=change:leaf%252Flitter~7301"
    found = request(target, response_body=f'[{{"change_id":"{content.ODD_CHANGE_ID}"}}]'.encode())
    assert wrong_in(found, {"change_id": ["leaf/litter~7301"]}) == ""
    assert "twice" in wrong_in(request(target, response_body=b"[]"), {"change_id": ["leaf/litter~7301"]})


def test_a_link_in_a_message_is_no_second_encoding():
    body = b'{"message": "see https://rowan.example.com/c/leaf%2Flitter/+/7301"}'
    assert wrong_in(request("/a/changes/7301/abandon", body=body), {"project": [content.PROJECT]}) == ""
    assert "twice" in wrong_in(
        request("/a/changes/", body=b'{"project": "leaf%2Flitter"}'), {"project": ["leaf/litter"]}
    )


def test_only_a_url_with_a_blank_in_it_is_refused_by_curl():
    assert refused_url(["-H", "X: a b", "https://h/a%20b"]) == ""
    assert refused_url(["https://h/a b"]) == "https://h/a b"


# What the schema refuses


def test_what_is_refused_is_left_out_of_a_wrong_type_beyond_a_bound_or_not_listed():
    properties = {
        "change_id": TEXT, "limit": {"type": "integer", "minimum": 1, "maximum": 9}, "kind": {"enum": ["a", "b"]},
        "free": {}, "more": {"type": "object", "additionalProperties": True},
    }  # fmt: skip
    refused = refused_arguments(tool(properties, ("change_id", "limit")), {"change_id": "1", "limit": 5})
    assert refused["no arguments"] == {}
    assert refused["limit left out"] == {"change_id": "1"}
    assert refused["limit as 0, beyond its minimum"] == {"change_id": "1", "limit": 0}
    assert {name.split(" as ")[0] for name in refused if " as " in name} == {"change_id", "limit", "kind", "more"}


def test_a_schema_that_cannot_be_read_refuses_nothing():
    assert refused_arguments(tool({"x": {"type": "string", "pattern": "("}}), {}) == {}


def test_a_required_part_of_a_model_is_missed():
    model = {"type": "object", "properties": {"change_id": TEXT}, "required": ["change_id"]}
    refused = refused_arguments(tool({"where": model}), {"where": {"change_id": "1"}})
    assert refused == {"where as an empty object": {"where": {}}}


# An id of two changes


@pytest.mark.parametrize(
    "text",
    [
        "the id is ambiguous", "Multiple changes found for I7", "found 2 open changes", "expected exactly one change",
        "too many values to unpack (expected 1)", "7302 and 7303",
        "demo: Sweep the yard; leaf/litter: Sweep the old yard",
    ],
)  # fmt: skip
def test_an_error_may_say_in_many_ways_that_an_id_fits_several_changes(text):
    assert _tells_all(call(text=text, error=True))


@pytest.mark.parametrize("text", ["change I7 was not found", "No change found", "Not found: I7", "no such change"])
def test_an_error_that_says_only_that_there_is_none_is_known(text):
    assert NOT_FOUND.search(text)
    assert not AMBIGUOUS.search(text)


def test_a_tool_that_goes_on_with_one_of_the_two_is_known_by_its_requests():
    both = request("/a/changes/?q=x", response_body=b'[{"_number":7302},{"_number":7303}]')
    assert _the_one_looked_at(call(both), [both]) is None
    assert _the_one_looked_at(call(both, request("/a/changes/7303/comments")), [both]) == 7303


def test_who_repeats_the_id_tells_of_no_change():
    twin = content.TWIN_CHANGE_ID
    assert not any(str(number) in twin for number in content.TWIN_NUMBERS)
    assert _the_only_one(f'{{"change_id": "{twin}", "dependents": []}}') is None
    assert _the_only_one(f'{{"change_id": "{twin}", "number": 7303}}') == 7303
    assert not _tells_all(call(text=f'{{"change_id": "{twin}", "number": 7303}}'))


@pytest.mark.parametrize("text", ["a7303", "17303", "73031", "b7302c"])
def test_a_number_is_told_as_a_word_of_its_own(text):
    assert _the_only_one(text) is None


def test_a_change_is_told_of_by_project_and_branch_together():
    assert _tells_all(call(text="demo~master~I7, leaf%2Flitter~stable%2F1.0~I7"))
    assert not _tells_all(call(text='{"project": "demo", "number": 7303}'))


@pytest.mark.parametrize(
    ("status", "body", "told"),
    [
        (404, b"Multiple changes found for I7", True),
        (404, b"Not found: I7", False),
        (200, b'[{"_number":7302},{"_number":7303}]', True),
        (200, b'[{"_number":7303,"_more_changes":true}]', True),
        (200, b'[{"_number":7303}]', False),
        (200, b"[]", False),
    ],
)
def test_gerrit_says_that_there_are_several_by_a_refusal_by_both_or_by_the_mark_of_more(status, body, told):
    assert _says_ambiguous(request("/a/changes/?q=x", status=status, response_body=body)) is told


def test_a_result_says_that_there_are_several_in_a_text_or_by_a_field_that_is_not_empty():
    assert _says_so_somewhere({"number": 7302, "notes": ["several changes have this id"]})
    assert _says_so_somewhere({"number": 7302, "ambiguous": True})
    assert not _says_so_somewhere({"number": 7302, "ambiguous": False, "candidates": []})


# Hostile values


def hostile(kind: str, letter: str = "a") -> str:
    words = {"head": f"zelkova{letter}", "tail": f"quandong{letter}", "canary": f"canary{letter}"}
    return VALUES[kind].format(**words, valid="demo~1")


@pytest.mark.parametrize("kind", VALUES)
def test_a_value_that_is_quoted_breaks_out_of_nothing(kind):
    path, query = f"/a/changes/{encoded(hostile(kind))}/detail", urlencode({"q": hostile(kind)})
    url = f"https://rowan.example.com{path}?{query}"
    assert list(escapes(call(request(f"{path}?{query}"), curl=(url,)), [], [])) == []


@pytest.mark.parametrize("kind", VALUES)
def test_a_value_in_a_body_breaks_out_of_nothing(kind):
    bodies = (json.dumps({"message": hostile(kind)}).encode(), hostile(kind).encode())
    entries = [request("/a/changes/1/abandon", body=body, method="POST") for body in bodies]
    assert list(escapes(call(*entries), [], [])) == []


def test_a_hostile_value_also_stands_behind_a_valid_one_where_one_is_known():
    known = {"revision": {"type": "string", "default": "current"}, "strict": {"type": "string", "pattern": "^[0-9]"}}
    revision, strict, odd = slots_of(tool({**known, "odd": {"type": "string", "pattern": "^!"}}))
    assert _valid_value(revision, {}) == "current"
    assert _valid_value(strict, {"strict": "7"}) == "7"
    assert [_takes_strange_texts(slot, {"strict": "7"}) for slot in (revision, strict, odd)] == [True, True, False]


URL = "https://rowan.example.com/a/projects/"


@pytest.mark.parametrize(
    ("seen", "said"),
    [
        (call(request("/a/changes/zelkovaa2y&x")), "expanded"),
        (call(request("/a/changes/zelkovaa[1-3]x")), "expanded"),
        (call(request("/a/changes/12zelkovaay&x")), "expanded"),
        (call(request("/a/changes/?q=zelkovaa&quandonga=1")), "in the query"),
        (call(request("/a/changes/zelkovaa/../../quandonga/detail")), "several segments"),
        (call(request("/a/changes/1/../../quandonga")), "several segments"),
        (call(request("/a/x"), curl=(f"{URL}zelkovaa#quandonga",)), "cut at the #"),
        (call(request("/a/quandonga"), curl=(f"{URL}zelkovaa/../../quandonga",)), "climbs"),
        (call(request("/a/x", method="POST", body=b'{"message": "zelkovaa", "quandonga": "1"}')), "in the body"),
        (call(request("/a/x", method="POST", body=b'{"message": "zelkovaa""}')), "broke the JSON"),
        (call(request("/a/x", headers=(("quandonga", "1"),))), "header"),
        (call(request("/a/x", body=f"{CANARY_TEXT}-a".encode())), "file"),
        (call(request("/a/x", method="HEAD")), "option"),
        (call(refused=("http://zelkovaa/quandonga",)), "looked for a host"),
    ],
)
def test_a_value_that_breaks_out_is_seen(seen, said):
    assert said in next(escapes(seen, [], [])).what


def test_a_file_that_appears_is_told_with_the_place_of_its_value():
    [escape] = escapes(call(), ["quandongc"], [])
    assert "quandongc" in escape.what
    assert escape.letter == "c"


def test_a_tool_that_always_asks_for_heads_is_not_accused_of_it():
    head = request("/a/x", method="HEAD")
    assert list(escapes(call(head), [], [head])) == []


def test_a_url_in_the_query_and_a_value_that_was_split_honestly_are_no_escape():
    parts = request(
        "/a/changes/?" + urlencode([("q", "zelkovaa[1-3]{x"), ("q", "y}&quandonga=1?quandonga=2#quandonga")])
    )
    link = request("/a/x?url=" + encoded("https://h/zelkovaa/../../quandonga"))
    assert list(escapes(call(parts, link), [], [])) == []


def test_the_planted_files_stand_under_the_names_that_the_values_give():
    assert {hostile("an option with a file").removeprefix("-K"), hostile("a file to read").removeprefix("@")} <= set(
        planted_files()
    )


def test_a_request_is_taken_apart_as_gerrit_does_it():
    sent = taken_apart(request("/a/changes/a%2Fb+c/detail?q=x%20y+z&o", body=b'{"a": [{"b": "c"}]}'))
    assert sent.segments == ("changes", "a/b c", "detail")
    assert sent.query == (("q", "x y z"), ("o", ""))
    assert (sent.keys, sent.texts) == (("a", "b"), ("c",))


# What cannot be judged

SILENT = '''
from typing_extensions import TypedDict


class Sum(TypedDict):
    total: int


def register(ctx):
    @ctx.mcp.tool()
    async def nothing_to_give() -> Sum:
        """Give nought."""
        return {"total": 0}
'''


async def test_a_tool_without_parameters_is_judged_by_none_of_the_four(tmp_path: Path):
    (tmp_path / "silent.py").write_text(SILENT)
    clauses = ("TOOL-ENCODE", "TOOL-HOSTILE", "TOOL-ARGS", "TOOL-AMBIGUOUS")
    async with Examination(resolve_target(f"path:{tmp_path / 'silent.py'}", cwd=tmp_path)) as examination:
        judged = [await examination.judge(catalogue()[one]) for one in clauses]
    assert [one.outcome for one in judged] == [Outcome.NOT_APPLICABLE] * 4
    assert "encoding" in judged[0].reason
    assert "no parameter" in judged[1].reason
