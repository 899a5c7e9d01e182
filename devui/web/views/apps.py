"""`/`: the apps, and the sessions used last."""

import sqlite3

from starlette.requests import Request
from starlette.responses import Response

from devui.web.pages.apps import AppsPage
from devui.web.presenters.listing import session_items
from devui.web.presenters.lists import app_card
from devui.web.presenters.servernotices import server_notices, unsigned
from devui.web.services import services
from devui.web.views.lookup import theme_of

_RECENT = 10


async def show(request: Request) -> Response:
    """Every app that was found."""
    found = services(request)
    counts = await found.journal.sessions.counts()
    recent = await found.journal.sessions.recent(_RECENT)
    cards = []
    for name in found.apps.names():
        count, used = counts.get(name, (0, None))
        about = found.apps.about(name)
        cards.append(app_card(found.workers.status(name), about, count, used))
    page = AppsPage(
        theme=theme_of(request),
        folder=str(found.settings.agents),
        apps=tuple(cards),
        recent=await session_items(found, recent, show_app=True),
        journal=server_notices(found),
        kept=str(found.journal.path),
        sqlite=sqlite3.sqlite_version,
        unsigned=unsigned(found.refusals),
    )
    return found.render.page(page)
