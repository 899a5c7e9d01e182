"""The bar at the bottom: where in the session the page stands, and where it can go."""

from collections.abc import Sequence
from dataclasses import replace

from devui.debugger.matches import beside
from devui.store.rows import EventRow, SessionRow
from devui.web.links import breakpoints_url, hit_url, moment_url, session_url, writes_url
from devui.web.parts import every as parts
from devui.web.presenters.breaking import NOTHING_ASKED, Asked
from devui.web.presenters.kinds import WORDS, kind_of
from devui.web.presenters.ticks import ticks
from devui.web.services import Services


async def transport(
    found: Services,
    session: SessionRow,
    row: EventRow | None,
    tab: str | None,
    *,
    asked: Asked = NOTHING_ASKED,
) -> parts.Transport:
    """The bar for a page that shows `row` in its inspector, and is as of `asked.at`."""
    kinds = await found.journal.totals.kinds(session.key)
    count = len(kinds)
    number, at = row.number if row else None, asked.at.number if asked.at else None
    before, after = await _beside(found, session, asked, number, last=at or count)

    def link(to: int | None) -> str | None:
        return session_url(session.key, event=to, tab=tab, at=at) if to else None

    return parts.Transport(
        action=session_url(session.key),
        ticks=ticks(kinds),
        selected=number,
        spoken=_spoken(kinds, at or number),
        previous_href=link(before),
        next_href=link(after),
        live_href=session_url(session.key, only=asked.filter),
        break_action=breakpoints_url(session.key),
        hit_hrefs=(
            hit_url(session.key, "previous", event=number, tab=tab),
            hit_url(session.key, "next", event=number, tab=tab) if number else None,
        ),
        cursor=replace(
            _cursor(session, at or number, count, tab, asked, past=at),
            gap=await _gap(found, asked.at or row, count),
        ),
    )


async def _gap(found: Services, here: EventRow | None, count: int) -> float | None:
    """Seconds to the next event; None where there is none."""
    if here is None or here.number >= count:
        return None
    following = await found.journal.events.page(here.session, after=here.seq, limit=1)
    return max(following[0].timestamp - here.timestamp, 0.0) if following else None


async def _beside(
    found: Services, session: SessionRow, asked: Asked, number: int | None, *, last: int
) -> tuple[int | None, int | None]:
    """The events before and after one, of those that the filter lets through."""
    wanted = asked.typed.filter
    if wanted is None:
        return (
            number - 1 if number else last
        ) or None, number + 1 if number and number < last else None
    return await beside(found.journal, session.key, wanted, found.prices, number=number, until=last)


def _spoken(kinds: Sequence[str], number: int | None) -> str:
    count = len(kinds)
    if number is None:
        return f"live, {count} events"
    return f"event {number} of {count}, {WORDS[kind_of(kinds[number - 1])]}"


def _cursor(
    session: SessionRow,
    here: int | None,
    count: int,
    tab: str | None,
    asked: Asked,
    *,
    past: int | None,
) -> parts.CursorLinks:
    """From the cursor; without one from the selected event, or from now."""
    key, pin = session.key, asked.pin
    since = asked.since.number if asked.since else None
    before = (here or count + 1) - 1
    on = here + 1 if here and here < count else None
    only = asked.filter

    def moment(number: int) -> str:
        return moment_url(key, number, tab=tab, pin=pin, since=since, only=only)

    def change(way: str) -> str:
        return writes_url(key, way, at=here, tab=tab, pin=pin, every=True, since=since, only=only)

    return parts.CursorLinks(
        at=past,
        back=moment(before) if before >= 1 else None,
        on=moment(on) if on else None,
        gap=None,
        change_back=change("previous"),
        change_on=change("next") if on else None,
    )
