"""Puts a server together and runs it to its end: the one place where everything meets."""

import asyncio
import logging
import socket
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.routing import Route

from devui.debugger.answering import AnsweredAlready, ForeignQuestion
from devui.debugger.apps import AppFolder, UnknownApp
from devui.debugger.breakpoints.book import BreakpointBook
from devui.debugger.bus import Bus
from devui.debugger.clockwatch import ClockWatch
from devui.debugger.health import Health
from devui.debugger.limits import TooManyRuns
from devui.debugger.news import APPS, News, NoticesChanged
from devui.debugger.prices import Prices
from devui.debugger.runs import NoSuchRun, Runs
from devui.debugger.tasks import Tasks
from devui.debugger.workers import Workers
from devui.settings import Settings
from devui.store.errors import (
    BadValue,
    BreakpointChanged,
    BreakpointNotFound,
    EventConflict,
    EventNotFound,
    JournalBusy,
    JournalDamaged,
    JournalFailed,
    JournalFull,
    JournalGone,
    Overtaken,
    ReadOnly,
    RunActive,
    SessionExists,
    SessionNotFound,
)
from devui.store.journal import Journal
from devui.store.place import dangers
from devui.web.assets import Assets
from devui.web.error_pages import ErrorAnswers
from devui.web.errors import (
    BadRequest,
    Conflict,
    NotFound,
    TooLarge,
    Unavailable,
    Unreadable,
    Unwritten,
)
from devui.web.putaway import PutAway
from devui.web.render import Renderer
from devui.web.routes import apis, routes
from devui.web.security.access import Access
from devui.web.security.guard import Guard
from devui.web.security.hosts import Hosts
from devui.web.security.login import LOGIN_PATH, Login
from devui.web.security.policy import Policy
from devui.web.security.refusals import Refusals
from devui.web.security.veil import Veil
from devui.web.server import Server
from devui.web.server import settings as uvicorn_settings
from devui.web.services import Services
from devui.web.sse import AWAY, Streams
from devui.web.static import ICON_PATH, STATIC_PATH, StaticFiles

Announce = Callable[[str], None]

_log = logging.getLogger(__name__)
_SECONDS, _SELDOM = 1.0, 60.0
"""Between two tries to tell where the server is: at first, and after many in vain."""

_AT_THE_EDGE = {
    UnknownApp: NotFound,
    NoSuchRun: NotFound,
    SessionNotFound: NotFound,
    EventNotFound: NotFound,
    BreakpointNotFound: NotFound,
    BreakpointChanged: Conflict,
    SessionExists: Conflict,
    RunActive: Conflict,
    TooManyRuns: Conflict,
    ForeignQuestion: Conflict,
    AnsweredAlready: Conflict,
    Overtaken: Conflict,
    ReadOnly: Conflict,
    EventConflict: Conflict,
    BadValue: BadRequest,
    JournalBusy: Unwritten,
    JournalFull: Unwritten,
    JournalFailed: Unwritten,
    JournalGone: Unwritten,
    JournalDamaged: Unreadable,
}
"""What errors of the floors below are to whoever made the request."""

_REFUSALS = {
    ForeignQuestion: "an answer to what no run here has asked",
    TooLarge: "a body over the limit",
    TooManyRuns: "a run over the limit",
    Unavailable: "a live stream over the limit",
}
"""Errors that every page tells of: what may be an attack, and limits (R31, R67)."""


async def serve(
    settings: Settings, access: Access, listeners: list[socket.socket], announce: Announce
) -> None:
    """Run a server on the listening sockets until a signal ends it.

    `announce` gets the address to open, once requests are answered. Raises what `opened` does.
    """
    async with opened(settings, access) as found:
        server = Server(uvicorn_settings(application(found, access)))
        server.before_shutdown(lambda: leave(found))
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(_announced(server, settings, access, announce))
            await server.serve(sockets=listeners)
            server.ready.set()


@asynccontextmanager
async def opened(settings: Settings, access: Access) -> AsyncIterator[Services]:
    """The parts of a server, closed in order at the end.

    Raises JournalInUse and other StoreErrors when the data folder cannot be used, and WrongPrices
    when the table of prices beside the apps cannot.
    """
    bus: Bus[News] = Bus()
    folder = AppFolder.at(settings.agents)
    prices = Prices.load(folder.path)
    async with (
        await Journal.open(settings.data_dir) as journal,
        Health(journal, bus),
        ClockWatch(bus) as clock,
        Workers(folder, bus) as workers,
        Runs(
            journal,
            workers,
            bus,
            book := await BreakpointBook.load(journal, bus),
            prices,
            settings.limits,
        ) as runs,
    ):
        found = Services(
            settings=settings,
            journal=journal,
            bus=bus,
            workers=workers,
            runs=runs,
            book=book,
            prices=prices,
            render=Renderer(Assets.find(), guarded=settings.auth),
            veil=Veil(settings.agents),
            streams=Streams(),
            refusals=Refusals(),
            clock=clock,
            put_away=PutAway(),
            dangers=tuple(dangers(journal.path)),
        )
        found.refusals.on_news = lambda: bus.publish(APPS, NoticesChanged())
        await found.know_credentials()
        access.on_revoke(found.streams.close)
        async with _findable(journal, settings.url, access.new_key() if settings.auth else ""):
            yield found


def application(found: Services, access: Access, *, hosts: Iterable[str] = ()) -> Guard:
    """The ASGI application: the guard around everything, answers to errors included.

    `hosts` are more names by which it is reached.
    """
    settings = found.settings
    policy = Policy(
        hosts=Hosts.here(settings.port, host=settings.host, extra=hosts),
        access=access if settings.auth else None,
        port=settings.port,
    )
    login = Login(policy, found.render, found.refusals.count)
    static = StaticFiles(found.render.assets)
    app = Starlette(
        routes=[
            Route(LOGIN_PATH, login.show, methods=["GET"]),
            Route(LOGIN_PATH, login.submit, methods=["POST"]),
            Route(STATIC_PATH, static.show, methods=["GET"]),
            Route(ICON_PATH, static.icon, methods=["GET"]),
            *(routes if settings.pages else apis),
        ],
        exception_handlers=ErrorAnswers(
            found.render, _AT_THE_EDGE, refusals=_REFUSALS, count=found.refusals.count
        ).handlers(),
    )
    app.state.services = found
    return Guard(app, policy, login, found.veil, found.refusals, found.workers.groups)


async def leave(found: Services) -> None:
    """Send readers home, and begin to end the workers, before the server waits for them (R56)."""
    found.streams.close(AWAY)
    found.bus.close()
    try:
        await found.runs.interrupt()
    finally:
        found.workers.leave()


@asynccontextmanager
async def _findable(journal: Journal, url: str, key: str) -> AsyncIterator[None]:
    """Tell programs of the same user where the server is, or as soon as a full disk takes that."""
    missing = journal.announce(url, key)
    for each in missing:
        _log.warning("%s", each)
    if not missing:
        yield
        return
    async with Tasks() as tasks:
        again = tasks.start(_announce_again(journal, url, key), "telling where the server is")
        try:
            yield
        finally:
            again.cancel()


async def _announce_again(journal: Journal, url: str, key: str) -> None:
    wait = _SECONDS
    await asyncio.sleep(wait)
    while journal.announce(url, key):
        wait = min(2 * wait, _SELDOM)
        await asyncio.sleep(wait)
    _log.warning("the terminal finds this server now")


async def _announced(
    server: Server, settings: Settings, access: Access, announce: Announce
) -> None:
    await server.ready.wait()
    if not server.should_exit:
        base = f"{settings.url}/"
        announce(f"{base}login?code={access.new_code()}" if settings.auth else base)
