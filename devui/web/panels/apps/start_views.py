"""`/`: the apps, and the most recent sessions."""

import asyncio
import sqlite3

from starlette.requests import Request
from starlette.responses import Response

from devui.debugger.apps.adk_files import unread_services
from devui.debugger.apps.apps import AppFolder
from devui.web.lookup import theme_of
from devui.web.panels.apps.lists import app_card, session_items, unused_file
from devui.web.panels.apps.parts import AppsPage, UnusedFile
from devui.web.panels.jobs.panel import job_list
from devui.web.panels.session.notices import server_notices, sign_in_note
from devui.web.services import services_of

_RECENT = 10


async def show(request: Request) -> Response:
    """Show every app that was found."""
    services = services_of(request)
    counts = await services.journal.sessions.counts()
    recent = await services.journal.sessions.recent(_RECENT)
    cards = []
    for name in services.apps.names():
        count, last_used = counts.get(name, (0, None))
        about = services.apps.about(name)
        cards.append(app_card(services.workers.status(name), about, count, last_used))
    left_out, unused_files = await asyncio.to_thread(_unused, services.apps)
    page = AppsPage(
        theme=theme_of(request),
        folder=str(services.settings.agents),
        apps=tuple(cards),
        left_out=left_out,
        unused_files=unused_files,
        recent=await session_items(services, recent, show_app=True),
        journal=server_notices(services),
        jobs=job_list(services.jobs, None),
        data_folder=str(services.journal.path),
        sqlite=sqlite3.sqlite_version,
        unsigned=sign_in_note(services.refusals),
    )
    return services.render.page(page)


def _unused(apps: AppFolder) -> tuple[tuple[UnusedFile, ...], tuple[UnusedFile, ...]]:
    """Return unlisted and partly supported files. They are read from disk, so call this in a
    thread."""
    files = unread_services(apps.path) if apps.only is None else []
    return tuple(map(unused_file, apps.left_out())), tuple(map(unused_file, files))
