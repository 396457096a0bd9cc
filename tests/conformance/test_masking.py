"""Planted credentials are found in every form, and never shown."""

from __future__ import annotations

import base64
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.rig.masking import MASK, Masking
from conformance.rig.surroundings import USER, Credentials

CREDENTIALS = Credentials()
MASKING = Masking(CREDENTIALS)
HOST, TOKEN = next(iter(CREDENTIALS.tokens.items()))


@pytest.mark.parametrize(
    "form",
    [
        TOKEN,
        quote(TOKEN, safe=""),
        base64.b64encode(TOKEN.encode()).decode(),
        f"Basic {base64.b64encode(f'{USER}:{TOKEN}'.encode()).decode()}",
        TOKEN.encode().hex(),
        TOKEN[::-1],
    ],
    ids=["as it is", "quoted", "base64", "Basic", "hexadecimal", "backwards"],
)
def test_a_token_is_found_and_masked_in_each_form(form):
    text = f"before {form} after"
    assert MASKING.leaks(text) == [HOST]
    masked = MASKING.mask(text)
    assert MASK in masked
    assert MASKING.leaks(masked) == []


@given(st.text(), st.text(), st.sampled_from(range(len(CREDENTIALS.tokens))))
def test_whatever_stands_around_a_token_it_is_masked(before, after, index):
    token = list(CREDENTIALS.tokens.values())[index]
    assert token not in MASKING.mask(before + token + after)


@given(st.text())
def test_a_text_without_a_token_is_left_as_it_is(text):
    assert MASKING.mask(text) == text


def test_a_quotation_of_a_leak_shows_where_it_was_and_not_what():
    [(place, host, around)] = MASKING.leaks_in({"server.log": f"user={USER} token={TOKEN} end"})
    assert (place, host) == ("server.log", HOST)
    assert TOKEN not in around
    assert "token=" in around


def test_credentials_do_not_show_themselves():
    assert TOKEN not in repr(CREDENTIALS)


def test_every_rig_draws_tokens_of_its_own():
    assert not set(CREDENTIALS.tokens.values()) & set(Credentials().tokens.values())
