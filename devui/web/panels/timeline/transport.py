"""The bar at the bottom: where in the session the page stands, and where it can go."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise
from typing import Final

from devui.debugger.events.matches import beside
from devui.store.rows import EventRow, SessionRow
from devui.store.summaries import Kind
from devui.web.links import breakpoints_url, hit_url, moment_url, session_url, writes_url
from devui.web.page_query import EVERYTHING, PageQuery
from devui.web.panels.session.parts import CursorLinks, Marks, Ticks, Transport
from devui.web.panels.timeline.kinds import LOUDNESS, WORDS, kind_of
from devui.web.services import Services

BINS: Final = 300
WIDTH: Final = 998
"""Of a picture 1000 wide, less the width of a mark."""
HEIGHT: Final = 24


async def transport(
    services: Services,
    session: SessionRow,
    row: EventRow | None,
    tab: str | None,
    *,
    query: PageQuery = EVERYTHING,
) -> Transport:
    """The bar for a page that shows `row` in its inspector, and is as of `query.at`."""
    kinds = await services.journal.totals.kinds(session.key)
    count = len(kinds)
    number, at = row.number if row else None, query.at.number if query.at else None
    view = query.view
    before, after = await _beside(services, session, query, number, last=at or count)

    def link(to: int | None) -> str | None:
        return session_url(session.key, event=to, tab=tab, at=at, view=view) if to else None

    return Transport(
        action=session_url(session.key),
        ticks=ticks(kinds),
        selected_number=number,
        value_text=_label(kinds, at or number),
        previous_href=link(before),
        next_href=link(after),
        live_href=session_url(session.key, only=query.filter, view=view),
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
    """Seconds to the next event; None where there is none."""
    if here is None or here.number >= count:
        return None
    following = await services.journal.events.page(here.session, after=here.seq, limit=1)
    return max(following[0].timestamp - here.timestamp, 0.0) if following else None


async def _beside(
    services: Services, session: SessionRow, query: PageQuery, number: int | None, *, last: int
) -> tuple[int | None, int | None]:
    """The events before and after one, of those that the filter lets through."""
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
    """From the cursor; without one from the selected event, or from now."""
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


def ticks(kinds: Sequence[str]) -> Ticks:
    """The marks of all events of a session, in order, by their kinds as the journal has them."""
    return _draw(tuple(kinds))


@lru_cache(maxsize=16)
def _draw(names: tuple[str, ...]) -> Ticks:
    """Every look at a session draws the same."""
    kinds, count = [kind_of(kind) for kind in names], len(names)
    if count <= BINS:
        return Ticks(count, _marks(kinds))
    starts = [count * i // BINS for i in range(BINS + 1)]
    bins = (kinds[a:b] for a, b in pairwise(starts))
    return Ticks(count, _marks([max(members, key=LOUDNESS.__getitem__) for members in bins]))


def _marks(kinds: Sequence[Kind]) -> tuple[Marks, ...]:
    """One shape per kind: three hundred elements would be as much work as the rest of the page."""
    last = max(len(kinds) - 1, 1)
    paths: defaultdict[Kind, list[str]] = defaultdict(list)
    for index, kind in enumerate(kinds):
        x, height = round(WIDTH * index / last, 1), LOUDNESS[kind]
        paths[kind].append(f"M{x:g} {HEIGHT - height}h2v{height}h-2z")
    return tuple(Marks(kind, "".join(path)) for kind, path in paths.items())
