"""A timeline is the same however its history arrives: at once, in windows, or one by one."""

from collections.abc import Sequence
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from devui.debugger.timeline import Changes, Entry, Heading, Item, Line, News, Timeline, fold
from devui.store.rows import EditRow, EventRow, NewEdit


def row(number: int, invocation: str) -> EventRow:
    return EventRow(
        number, number, 1, "r", f"e{number}", invocation, "A", None, 1.0, "text", False, "{}", 0, 2
    )


DROP = EditRow(
    1, 1, NewEdit("r", "before_commit", "A", None, None, "e", "drop", "ada", 1.0, "{}", "null")
)

histories = st.lists(
    st.tuples(st.sampled_from("ab"), st.booleans(), st.booleans()), max_size=30
).map(
    lambda each: [
        DROP if dropped else Entry(row(number, invocation), shown)
        for number, (invocation, shown, dropped) in enumerate(each, 1)
    ]
)


def grown(page: list[Item], changes: Changes) -> list[Item]:
    """Apply changes to a page as a browser does."""
    if changes.heading is not None:
        place = max(n for n, item in enumerate(page) if isinstance(item, Heading))
        page = [*page[:place], changes.heading, *page[place + 1 :]]
    return [*page, *changes.items]


@given(histories, st.lists(st.integers(0, 30)))
def test_a_history_in_pieces_makes_the_same_page_as_the_whole(
    news: Sequence[News], cuts: list[int]
) -> None:
    whole, changes = fold(Timeline(), news)
    timeline, page = Timeline(), list[Item]()
    bounds = [0, *sorted(cuts), len(news)]
    for first, end in pairwise(bounds):
        timeline, more = fold(timeline, news[first:end])
        page = grown(page, more)
    assert page == [*changes.items]
    assert timeline == whole


@given(histories)
def test_each_shown_event_is_under_the_heading_of_its_invocation(news: Sequence[News]) -> None:
    _, changes = fold(Timeline(), news)
    rows = [item.row for item in news if isinstance(item, Entry) and item.is_shown]
    assert [item.row for item in changes.items if isinstance(item, Line)] == rows
    heading = None
    for item in changes.items:
        heading = item if isinstance(item, Heading) else heading
        if isinstance(item, Line):
            assert heading
            assert heading.row.invocation_id == item.row.invocation_id


def test_a_window_that_begins_inside_an_invocation_has_a_continued_heading() -> None:
    _, changes = fold(Timeline(row(1, "a")), [Entry(row(2, "a")), Entry(row(3, "b"))])
    headings = [item for item in changes.items if isinstance(item, Heading)]
    assert [(each.continued, each.row.number) for each in headings] == [(True, 2), (False, 3)]
