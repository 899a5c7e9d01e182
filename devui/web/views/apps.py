"""`/`: the apps, and the sessions used last."""

from starlette.requests import Request
from starlette.responses import Response

from devui.web.pages import AppsPage
from devui.web.presenters.chip import newest_run
from devui.web.presenters.lists import app_card, session_item
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
    forks = await found.journal.forks.among([row.key for row in recent])
    page = AppsPage(
        theme=theme_of(request),
        folder=str(found.settings.agents),
        apps=tuple(cards),
        recent=tuple(
            [
                session_item(
                    row,
                    await newest_run(found, row.key),
                    fork=forks.get(row.key),
                    show_app=True,
                )
                for row in recent
            ]
        ),
    )
    return found.render.page(page)
