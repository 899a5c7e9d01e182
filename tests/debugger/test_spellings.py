"""A secret is found in each of its escaped forms (R64)."""

import html
import json
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markupsafe import escape

from devui.debugger.secrets.redaction import MARK, Redactor, Secret
from tests.kit.rounds import rounds

CHARACTERS = st.sampled_from([*"aB3x9Zq'\"\\\\&<>;#/ éüß€😀你*`~%+{}$", "\t", "\n"])
WAYS = (
    json.dumps,
    lambda text: json.dumps(text, ensure_ascii=False),
    html.escape,
    lambda text: str(escape(text)),
    repr,
    ascii,
    quote,
    lambda text: quote(text, safe=""),
    quote_plus,
)


@pytest.mark.slow
@pytest.mark.req("R64")
@settings(max_examples=rounds(100, 500), deadline=None)
@given(
    secret=st.text(CHARACTERS, min_size=8, max_size=24),
    ways=st.lists(st.sampled_from(WAYS), max_size=3),
)
def test_a_secret_is_redacted_however_often_it_is_escaped(secret, ways):
    text = f"before {secret} after"
    for way in ways:
        text = way(text)
    clean = Redactor([Secret(secret, "a test")], shapes=False).text(text)
    assert MARK in clean
    assert "before" in clean
    assert "after" in clean


@pytest.mark.slow
@settings(max_examples=rounds(50, 200), deadline=None)
@given(secret=st.text(CHARACTERS, min_size=8, max_size=24), other=st.text(CHARACTERS, max_size=40))
def test_a_text_without_the_secret_is_unchanged(secret, other):
    letters = "".join(each for each in secret if each.isalnum())
    if letters and letters not in "".join(each for each in other if each.isalnum()):
        assert Redactor([Secret(secret, "a test")], shapes=False).text(other) == other
