"""The law of the kill matrix, in both directions."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from conformance.contracts.registry import catalogue
from conformance.families import about
from conformance.specimens import bad_specimens, good_specimens

FIXTURES = Path(__file__).parents[2] / "fixtures"


def test_no_clause_is_without_two_specimens_that_break_it():
    counts = Counter(specimen.clause for specimen in bad_specimens())
    assert not [one for one in catalogue().ids() if counts[one] < 2]


def test_no_folder_of_specimens_is_without_a_clause():
    for folder, kind in (("extensions", "extension"), ("servers", "server")):
        there = {one.name for one in (FIXTURES / folder / "bad").iterdir() if one.is_dir()}
        assert there == {one.id for one in about(catalogue(), kind)}


def test_company_that_a_specimen_declares_is_made_of_clauses():
    declared = {one for specimen in (*bad_specimens(), *good_specimens()) for one in specimen.also_violates}
    assert declared <= set(catalogue().ids())


def test_no_specimen_declares_its_own_clause_as_company():
    assert not [one.label for one in bad_specimens() if one.clause in one.also_violates]


def test_there_are_good_extensions_in_every_form():
    forms = {
        ("project" if (one.path / "pyproject.toml").exists() else "package") if one.path.is_dir() else "module"
        for one in good_specimens()
    }
    assert forms == {"project", "package", "module"}
