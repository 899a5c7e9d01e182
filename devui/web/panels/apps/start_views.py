"""`/`: the apps, and the most recent sessions."""

import asyncio
import sqlite3
from typing import NamedTuple

from starlette.requests import Request
from starlette.responses import Response

from devui.debugger.apps.adk_files import unread_services
from devui.debugger.apps.apps import AppFolder, AppSource
from devui.web.lookup import theme_of
from devui.web.panels.apps.lists import app_card, other_folders, session_items, unused_file
from devui.web.panels.apps.parts import AppsPage, OtherFolders, UnusedFile
from devui.web.panels.jobs.panel import job_list
from devui.web.panels.session.notices import server_notices, sign_in_note
from devui.web.services import services_of

_RECENT = 10


async def show(request: Request) -> Response:
    """Show every app that was found."""
    services = services_of(request)
    counts = await services.journal.sessions.counts()
    recent = await services.journal.sessions.recent(_RECENT)
    files = await asyncio.to_thread(_read, services.apps)
    cards = [
        app_card(services.workers.status(name), source, *counts.get(name, (0, None)))
        for name, source in files.sources.items()
        if services.apps.has(name)
    ]
    page = AppsPage(
        theme=theme_of(request),
        folder=str(services.settings.agents),
        apps=tuple(cards),
        left_out=files.left_out,
        others=files.others,
        unused_files=files.unused_files,
        recent=await session_items(services, recent, show_app=True),
        journal=server_notices(services),
        jobs=job_list(services.jobs, None),
        data_folder=str(services.journal.path),
        sqlite=sqlite3.sqlite_version,
        refusals_note=sign_in_note(services.refusals),
    )
    return services.render.page(page)


class _Files(NamedTuple):
    sources: dict[str, AppSource]
    """Of each app by name."""
    left_out: tuple[UnusedFile, ...]
    others: OtherFolders | None
    unused_files: tuple[UnusedFile, ...]


def _read(apps: AppFolder) -> _Files:
    """Read the agents folder: call this in a thread."""
    names, left_out = apps.names(), apps.left_out()
    return _Files(
        {name: apps.source(name) for name in names},
        tuple(map(unused_file, left_out)),
        other_folders(apps.others(names, left_out)),
        tuple(map(unused_file, unread_services(apps.path) if apps.only is None else ())),
    )
