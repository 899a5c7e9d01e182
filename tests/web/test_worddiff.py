"""Differences between two texts, found with a bounded amount of work."""

import random

import pytest

from devui.web.text.worddiff import MATCHES, word_diff


def sides(before: str, after: str) -> tuple[str, str]:
    """Return both texts, reassembled from their differences."""
    pieces = word_diff(before, after)
    old = "".join(text for kind, text in pieces if kind != "added")
    new = "".join(text for kind, text in pieces if kind != "removed")
    return old, new


def test_differing_words_include_the_space_before_them() -> None:
    assert word_diff("Be kind now.\n\nEnd", "Be stern now.") == [
        ("same", "Be"),
        ("removed", " kind"),
        ("added", " stern"),
        ("same", " now."),
        ("removed", "\n\nEnd"),
    ]


def test_equal_texts_are_one_piece() -> None:
    assert word_diff("a b\n", "a b\n") == [("same", "a b\n")]
    assert word_diff("", "") == []


@pytest.mark.parametrize("seed", range(40))
def test_nothing_of_either_text_is_lost(seed: int) -> None:
    chance = random.Random(seed)
    texts = ["".join(chance.choices("ab \n\té", k=chance.randrange(60))) for _ in range(2)]
    assert sides(*texts) == tuple(texts)


def test_beyond_the_bound_texts_are_compared_by_lines_or_as_a_whole() -> None:
    words = "the same " * int(MATCHES**0.5)
    before, after = f"one\n{words}\nx\n{words}\n", f"two\n{words}\ny\n{words}\n"
    kinds = [kind for kind, _ in word_diff(before, after)]
    assert kinds == ["removed", "added", "same", "removed", "added", "same"]
    lines = "a\nb\n" * int(MATCHES**0.5)
    assert [kind for kind, _ in word_diff(f"x\n{lines}y", f"z\n{lines}w")] == ["removed", "added"]
