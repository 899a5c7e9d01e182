"""Markdown as plain words, complete or truncated, with or without line breaks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devui.web.text.plain_text import LONGEST, without_markdown


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("I found **three flights** and _one_ `train`.", "I found three flights and one train."),
        ("# Title\n\nSome text", "Title Some text"),
        (
            "See [the page](http://a.example/b) or <http://b.example>",
            "See the page or http://b.example",
        ),
        ("Flights: * **BA 117**, 9:00 * ~~UA 3~~ * LH", "Flights: BA 117, 9:00 · UA 3 · LH"),
        ("- one\n- two\n\n> three", "one · two three"),
        ("1. one\n2. two", "1. one 2. two"),
        ("Done. ## Plan - buy - pay", "Done. Plan buy · pay"),
        ("| a | b | |---|--:| | 1 | 2 |", "a · b · 1 · 2"),
        ("Run ```python print(1)``` or\n```sh\nls\n```", "Run python print(1) or ls"),
        ("![a picture](http://x.example/p.png)", "a picture"),
        ("I found **three fli…", "I found three fli…"),
        ("See [the page](http://exam…", "See the page…"),
        ("2 * 3 * 4 = 24, it costs $5 - or $6", "2 * 3 * 4 = 24, it costs $5 - or $6"),
        ("some_snake_case in C:\\x & <b>", "some_snake_case in C:\\x & <b>"),
        ("[only]: http://definition.example", "[only]: http://definition.example"),
        ("***", "***"),
        ("", ""),
    ],
)
def test_markdown_syntax_is_removed(text: str, words: str) -> None:
    assert without_markdown(text) == words


@given(st.text(st.sampled_from("ab*_`[](#)!<>|-~$\\ 1.\n…&;")))
def test_any_text_becomes_short_and_is_never_lost(text: str) -> None:
    words = without_markdown(text)
    assert len(words) <= 2 * LONGEST
    assert bool(words) == bool(text)
