"""The streams: one per page, from where the page stands (R58)."""

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

from devui.debugger.feed import TooFarBehind, follow
from devui.debugger.filters import Filter, Typed
from devui.debugger.news import APPS, SessionChanged
from devui.store.rows import SessionRow
from devui.web.cursor import Cursor, ForeignCursor
from devui.web.errors import NotFound
from devui.web.presenters.lists import app_card, app_head
from devui.web.presenters.live import LivePage, deleted
from devui.web.presenters.servernotices import server_notices
from devui.web.push import fill, replace
from devui.web.services import Services, services
from devui.web.sse import Message, stream_response
from devui.web.views.lookup import session_of

_PAUSE = 0.05
"""Seconds between two messages at the least; what comes meanwhile goes out together."""
_EVENT = 0.01
"""Seconds more for each event in a message: that many can a browser show, and nobody read."""
_LONGEST = 1.0
"""Seconds between two messages at the most."""
_RESET = "reset"
"""Event name: what the page shows cannot be completed; it has to be read anew."""
_SHARE = 3
"""A message is followed by at least so many times the time it took to render."""


async def session(request: Request) -> Response:
    """Everything that happens in a session after `after`, or after the last message received.

    Who stands in another journal is told to read the page anew, whether or not this journal has a
    session of the same number; who comes back to a session that was deleted meanwhile, of that.
    """
    here = services(request)
    try:
        after = _position(request, here.journal.id)
    except ForeignCursor:
        return stream_response(_reset(), streams=here.streams)
    try:
        found, row = await session_of(request)
    except NotFound:
        if not after:
            raise
        return stream_response(_deleted(here), streams=here.streams)
    tail = request.query_params.get("tail")
    wanted = Typed.read(request.query_params.get("filter")).filter
    messages = _session_messages(found, row, after, tail=tail, wanted=wanted)
    return stream_response(messages, streams=found.streams)


async def apps(request: Request) -> Response:
    """Changes of the apps: loaded, changed on disk, broken."""
    found = services(request)
    return stream_response(_app_messages(found), streams=found.streams)


async def _session_messages(
    found: Services, row: SessionRow, after: int, *, tail: str | None, wanted: Filter | None
) -> AsyncGenerator[Message, None]:
    is_tail, past = tail not in {"no", "past"}, tail == "past"
    page = LivePage(found, row, tail=is_tail, past=past, wanted=wanted)
    await page.begin(after)
    try:
        news = follow(found.journal, found.bus, row.key, after, APPS)
        with found.runs.viewing(row.key):
            async with aclosing(news) as batches:
                async for batch in batches:
                    begun = time.monotonic()
                    html = await page.render(batch)
                    if html:
                        yield Message(html, id=str(Cursor(found.journal.id, batch.seq)))
                    spent = _SHARE * (time.monotonic() - begun)
                    shown = min(_EVENT * len(batch.news), _LONGEST)
                    if SessionChanged(None) in batch.news:
                        return
                    await asyncio.sleep(max(_PAUSE, spent, shown))
    except TooFarBehind:
        yield Message("", event=_RESET)


async def _app_messages(found: Services) -> AsyncGenerator[Message, None]:
    while not found.bus.closed:
        with found.bus.subscribe(APPS) as reader:
            news = True
            while news:  # at once, too: something may have changed since the page was made
                yield Message(await _apps_now(found))
                await asyncio.sleep(_PAUSE)
                news = bool(await reader.batch())


async def _apps_now(found: Services) -> Markup:
    """Every app as the list of apps shows it, and as its own page does."""
    counts = await found.journal.sessions.counts()
    pieces = Markup("")
    for name in found.apps.names():
        app, about = found.workers.status(name), found.apps.about(name)
        card = app_card(app, about, *counts.get(name, (0, None)))
        pieces += replace(f"#app-{name}", found.render.part(card))
        pieces += replace(f"#head-{name}", found.render.part(app_head(app, about)))
    return pieces + fill("#journal", found.render.parts(server_notices(found)))


async def _deleted(found: Services) -> AsyncGenerator[Message, None]:
    yield Message(deleted(found.render))


async def _reset() -> AsyncGenerator[Message, None]:
    yield Message("", event=_RESET)


def _position(request: Request, journal: str) -> int:
    """The seq that the reader has come to; raises ForeignCursor."""
    named = (request.query_params.get("after"), request.headers.get("last-event-id"))
    return max(Cursor.read(text, journal).seq for text in named)
