"""The filter language: what is read, what is refused, and what holds for an event."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devui.debugger.events.summary import summarize
from devui.debugger.predicates.facts import FLAGS, Facts
from devui.debugger.predicates.filters import (
    FIELDS,
    FIGURES,
    Filter,
    FilterError,
    shared_beginnings,
    toggled,
)
from devui.store.rows import EventRow, NoteRow
from devui.wire.events import Event

CALL = {
    "id": "ev-1",
    "author": "Planner",
    "content": {
        "role": "model",
        "parts": [
            {"text": "I look\nit up: a long answer"},
            {"functionCall": {"id": "c", "name": "search_flights", "args": {"to": "Köln"}}},
        ],
    },
    "actions": {"stateDelta": {f"key{n}": n for n in range(12)}},
    "usageMetadata": {"totalTokenCount": 236},
}


def facts(*, read: bool = False) -> Facts:
    summary = summarize(Event.of(CALL), final=False)
    text = json.dumps(CALL, ensure_ascii=False)
    row = EventRow(
        9, 3, 1, "run", "ev-1", "inv", "Planner", "root.left", 5.0, summary.kind, False, "", 4, 999
    )
    note = NoteRow(1, 3, "why?", True, "ada", 6.0)
    facts = Facts.of(row, summary, seconds=1.5, note=note).but({"cost": 0.02})
    return facts.reading(text) if read else facts


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("", True),
        ("kind:call", True),
        ("KIND:Call,result", True),
        ("kind:result", False),
        ("-kind:result author:planner", True),
        ("agent:plan*", True),
        ("author:plan", True),
        ("author:anner", False),
        ('author:"plan"', False),
        ('author:"PLANNER"', True),
        ('author:"plan*"', True),
        ("author:plan*r", True),
        ("author:*plan", False),
        ('author:"plan","planner"', True),
        ('author:ann,"plan"', False),
        ("kind:ca", True),
        ("kind:te", False),
        ('kind:"call"', True),
        ("is:star", True),
        ("-is:fail", True),
        ("tool:search", True),
        ("tool:flights", False),
        ("branch:le", True),
        ('branch:"le"', False),
        ("tool:search_flights", True),
        ("tool:*hotels*,*flights", True),
        ("branch:left", True),
        ("is:starred is:noted is:streamed is:state -is:error", True),
        ("tokens>200 tokens<=236 cost>0.01 seconds>=1.5 size<1000", True),
        ("tokens:236 -tokens>236", True),
        ("key:key3", True),
        ("key:ke", True),
        ("key:key11", None),  # the row has only the first keys
        ("key:key11 kind:result", False),
        ("search_flights", True),
        ('"search_flights(to="', True),
        ("answer", None),  # the row of a call doesn't show the text of its event
        ("-planner", False),
    ],
)
def test_a_filter_is_decided_by_the_row_if_possible(text: str, holds: bool | None) -> None:
    assert Filter.read(text).holds(facts()) is holds


@pytest.mark.parametrize(("kind", "word"), [("human", "asks"), ("checkpoint", "saved")])
def test_a_kind_can_be_given_by_the_word_that_its_row_shows(kind: str, word: str) -> None:
    kind_alone = Facts(values={"kind": kind})
    for name in (kind, word, word.upper(), f"call,{word}"):
        assert Filter.read(f"kind:{name}").holds(kind_alone) is True
        assert Filter.read(f"-kind:{name}").holds(kind_alone) is False
    assert Filter.read(f"kind:{word}").holds(facts()) is False


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("key:key11", True),
        ("key:key1", True),
        ('key:"key"', False),
        ("key:nothing", False),
        ('"long answer"', True),
        ('-"long answer"', False),
        ("KÖLN", True),
        ("parts", False),  # a field of the format, not something that was said
    ],
)
def test_a_filter_that_the_row_cannot_decide_is_decided_by_the_body(text: str, holds: bool) -> None:
    assert Filter.read(text).holds(facts(read=True)) is holds


@pytest.mark.parametrize(
    ("text", "at", "told"),
    [
        ("ok foo:bar", 3, "Unknown field: foo. Use kind:"),
        ("kind:called", 0, "Unknown kind: called. Use user, text"),
        ('kind:"te"', 0, "Unknown kind: te. Use user, text"),
        ("kind:text,xy", 0, "Unknown kind: xy. Use user, text"),
        ("is:odd", 0, "Unknown flag: odd. Use error"),
        ("tokens>many", 0, "write tokens>NUMBER"),
        ("author>3", 0, "write author:NAME"),
        ("tool:", 0, "write tool:NAME"),
        ("a -", 2, "put a term after the minus"),
        ("x" * 1001, 1000, "at most 1000"),
    ],
)
def test_an_invalid_filter_is_refused_with_its_place(text: str, at: int, told: str) -> None:
    with pytest.raises(FilterError, match=told) as caught:
        Filter.read(text)
    assert caught.value.at == at


NAMES = st.text(st.characters(blacklist_categories=["Cs", "Zs", "Cc", "Zl", "Zp"]), min_size=1)


@given(NAMES.filter(lambda name: "*" not in name))
def test_a_quoted_name_matches_itself_and_nothing_else(name: str) -> None:
    quoted = json.dumps(name, ensure_ascii=False)
    own, other = (Facts(values={"agent": each}) for each in (name, f"{name}x"))
    assert Filter.read(f"author:{quoted}").holds(own) is True
    assert Filter.read(f"author:{quoted}").holds(other) is False
    assert Filter.read(f"-author:{quoted}").holds(own) is False


SCRAPS = st.sampled_from([*FIELDS, *FIGURES, *FLAGS, ":", ">", '"', "-", " ", ",", "*"])


@given(st.text(max_size=60) | st.lists(SCRAPS).map("".join))
def test_any_text_is_read_or_refused_with_its_place(text: str) -> None:
    answer: bool | None = False
    at = 0
    try:
        answer = Filter.read(text).holds(facts(read=True))
    except FilterError as error:
        at = error.at
    assert answer is not None
    assert 0 <= at <= len(text)


@pytest.mark.parametrize(
    ("names", "shared"),
    [
        ((), set()),
        (("Story", "story", "tale"), set()),
        (("storyflow", "Story", "story", "tale", "a", "STORYGENERATOR"), {"story"}),
    ],
)
def test_names_that_other_names_begin_with_are_found(
    names: tuple[str, ...], shared: set[str]
) -> None:
    assert shared_beginnings(names) == shared


def test_no_kind_or_flag_begins_with_another_one() -> None:
    for name in ("kind", "is"):
        assert not shared_beginnings(FIELDS[name].words)


@pytest.mark.parametrize(
    ("text", "name", "after"),
    [
        ("", "Story", 'author:"Story"'),
        ('author:"Story"', "Tale, a", 'author:"Story","Tale, a"'),
        ('late author:"Story","Tale, a" -x', "story", 'late author:"Tale, a" -x'),
        ("author:story", "Story", ""),
        ("author:story", "StoryFlow", 'author:story,"StoryFlow"'),
        ('author:story,"StoryFlow"', "StoryFlow", "author:story"),
    ],
)
def test_toggling_a_name_matches_it_alone(text: str, name: str, after: str) -> None:
    assert toggled(text, "author", name) == after
    assert Filter.read(after)


@pytest.mark.parametrize(
    ("text", "name", "after"),
    [
        ("", "call", "kind:call"),
        ("tokens>5 late", "call", "tokens>5 late kind:call"),
        ("kind:text -late", "call", "kind:text,call -late"),
        ("-late KIND:text,Call (size > 1)", "call", "-late kind:text (size > 1)"),
        ("a kind:call b", "call", "a b"),
        ("-kind:call", "call", "-kind:call kind:call"),
        ('tool == "kind:call"', "call", '(tool == "kind:call") kind:call'),
    ],
)
def test_toggling_adds_a_name_to_a_filter_or_removes_it(text: str, name: str, after: str) -> None:
    assert toggled(text, "kind", name) == after
    assert Filter.read(after)
