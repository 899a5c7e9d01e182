"""The bar at the bottom: where the page is in the session, and where it can go."""

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise
from typing import Final

from devui.debugger.events.matches import beside, matches
from devui.debugger.predicates.filters import Filter
from devui.store.rows import EventRow, SessionRow
from devui.store.summaries import Kind
from devui.web.links import breakpoints_url, hit_url, moment_url, session_url, writes_url
from devui.web.page_query import EVERYTHING, PageQuery
from devui.web.panels.session.parts import CursorLinks, Marks, Ticks, Transport
from devui.web.panels.timeline.kinds import LOUDNESS, WORDS, kind_of
from devui.web.services import Services

BINS: Final = 300
_RARE: Final = 4
"""A kind is rare if at most one in this many bins has it."""
_LOW: Final = 5
"""Height in pixels of a bin without a rare kind."""
WIDTH: Final = 998
"""The picture's width of 1000, less the width of a mark."""
HEIGHT: Final = 24
_OF_EVENTS: Final = ("event", "raw")
"""Tabs that show nothing about the present."""


async def transport(
    services: Services,
    session: SessionRow,
    row: EventRow | None,
    tab: str | None,
    *,
    query: PageQuery = EVERYTHING,
) -> Transport:
    """Return the bar for a page with `row` in its inspector, shown as of `query.at`."""
    kinds = await services.journal.totals.kinds(session.key)
    count = len(kinds)
    number, at = row.number if row else None, query.at.number if query.at else None
    view = query.view
    before, after = await _beside(services, session, query, number, last=at or count)

    def link(to: int | None) -> str | None:
        return session_url(session.key, event=to, tab=tab, at=at, view=view) if to else None

    return Transport(
        action=session_url(session.key),
        ticks=await ticks_of(services, session.key, query.filter_field.filter),
        selected_number=number,
        value_text=_label(kinds, at or number),
        previous_href=link(before),
        next_href=link(after),
        live_href=session_url(
            session.key, tab=None if tab in _OF_EVENTS else tab, only=query.filter, view=view
        ),
        break_action=breakpoints_url(session.key),
        hit_hrefs=(
            hit_url(session.key, "previous", event=number, tab=tab, view=view),
            hit_url(session.key, "next", event=number, tab=tab, view=view) if number else None,
        ),
        cursor=replace(
            _cursor(session, at or number, count, tab, query, past=at),
            gap=await _gap(services, query.at or row, count),
        ),
    )


async def _gap(services: Services, here: EventRow | None, count: int) -> float | None:
    """Return the seconds to the next event; None if there is none."""
    if here is None or here.number >= count:
        return None
    following = await services.journal.events.page(here.session, after=here.seq, limit=1)
    return max(following[0].timestamp - here.timestamp, 0.0) if following else None


async def _beside(
    services: Services, session: SessionRow, query: PageQuery, number: int | None, *, last: int
) -> tuple[int | None, int | None]:
    """Return the previous and next event among those that match the filter."""
    event_filter = query.filter_field.filter
    if event_filter is None:
        return (
            number - 1 if number else last
        ) or None, number + 1 if number and number < last else None
    return await beside(
        services.journal, session.key, event_filter, services.prices, number=number, until=last
    )


def _label(kinds: Sequence[str], number: int | None) -> str:
    count = len(kinds)
    if number is None:
        return f"live, {count} events"
    return f"event {number} of {count}, {WORDS[kind_of(kinds[number - 1])]}"


def _cursor(
    session: SessionRow,
    here: int | None,
    count: int,
    tab: str | None,
    query: PageQuery,
    *,
    past: int | None,
) -> CursorLinks:
    """Return the links from `here`: the page's event, or the selected one; None for now."""
    key, pin = session.key, query.pin
    since = query.since.number if query.since else None
    before = (here or count + 1) - 1
    on = here + 1 if here and here < count else None
    only, view = query.filter, query.view

    def moment(number: int) -> str:
        return moment_url(key, number, tab=tab, pin=pin, since=since, only=only, view=view)

    def change(way: str) -> str:
        return writes_url(
            key, way, at=here, tab=tab, pin=pin, every=True, since=since, only=only, view=view
        )

    return CursorLinks(
        at=past,
        back=moment(before) if before >= 1 else None,
        on=moment(on) if on else None,
        gap=None,
        change_back=change("previous"),
        change_on=change("next") if on else None,
    )


async def ticks_of(
    services: Services, session: int, event_filter: Filter | None, *, count: int | None = None
) -> Ticks:
    """Return the picture of a session, or of its first `count` events."""
    totals = services.journal.totals
    kinds, failures = await totals.kinds(session), await totals.failures(session)
    if event_filter is None:
        return ticks(kinds[:count], failures)
    result = await matches(services.journal, session, event_filter, services.prices)
    return ticks(kinds[:count], failures, result.numbers)


def ticks(
    kinds: Sequence[str], failures: Iterable[int] = (), matches: Iterable[int] | None = None
) -> Ticks:
    """Return the marks of all events of a session, in order, by their kinds as stored.

    `failures` and `matches` are numbers of events; with `matches`, the other events aren't marked
    as matches.
    """
    marked = [*kinds]
    for number in failures:
        if number <= len(marked):
            marked[number - 1] = "error"
    return _draw(tuple(marked), None if matches is None else tuple(matches))


@lru_cache(maxsize=16)
def _draw(names: tuple[str, ...], matches: tuple[int, ...] | None) -> Ticks:
    """Draw the marks, which are the same in every view of a session."""
    kinds, count = [kind_of(kind) for kind in names], len(names)
    size = min(count, BINS)
    bins = [*pairwise(count * i // size for i in range(size + 1))] if count else []
    if matches is None:
        loud = [{*kinds[a:b]} for a, b in bins]
        if count > BINS:
            rare = _rare(loud)
            loud = [each & rare for each in loud]
    else:
        ends = [bisect_right(matches, b) for _, b in bins]
        loud = [{kinds[n - 1] for n in matches[a:b]} for a, b in pairwise([0, *ends])]
    marks = []
    for each, (a, b) in zip(loud, bins, strict=True):
        kind = _loudest(each) if each else Counter(kinds[a:b]).most_common(1)[0][0]
        height = LOUDNESS[kind] if each or count <= BINS else _LOW
        marks.append((kind, matches is None or bool(each), height))
    return Ticks(count, _marks(marks))


def _rare(bins: Sequence[set[Kind]]) -> set[Kind]:
    """Return the rare kinds, and errors. A kind that almost every bin has, such as a message, would
    turn the picture into a fence, so it is drawn low. Errors never are, even if there are many."""
    counts = Counter(kind for each in bins for kind in each)
    return {kind for kind, count in counts.items() if count <= len(bins) / _RARE} | {"error"}


def _loudest(kinds: Iterable[Kind]) -> Kind:
    return max(kinds, key=lambda kind: (LOUDNESS[kind], kind))


def _marks(marks: Sequence[tuple[Kind, bool, int]]) -> tuple[Marks, ...]:
    """Return one shape per kind: three hundred elements would be as much work as the rest of the
    page. Matches are drawn above other events; in each group, failures are on top."""
    last = max(len(marks) - 1, 1)
    paths: defaultdict[tuple[Kind, bool], list[str]] = defaultdict(list)
    for index, (kind, is_match, height) in enumerate(marks):
        x = round(WIDTH * index / last, 1)
        paths[kind, is_match].append(f"M{x:g} {HEIGHT - height}h2v{height}h-2z")
    order = sorted(paths, key=lambda each: (each[1], each[0] == "error"))
    return tuple(Marks(kind, "".join(paths[kind, yes]), yes) for kind, yes in order)
