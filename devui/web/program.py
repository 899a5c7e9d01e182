"""Assembles a server from its parts and runs it until it ends."""

import asyncio
import logging
import os
import socket
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial

from starlette.applications import Starlette
from starlette.routing import WebSocketRoute

from devui.debugger.apps.apps import AppFolder, UnknownApp
from devui.debugger.apps.engines import Engines
from devui.debugger.background.jobs import Jobs, JobStopped
from devui.debugger.background.tasks import Tasks
from devui.debugger.breakpoints.book import BreakpointBook
from devui.debugger.events.bus import Bus
from devui.debugger.events.news import APPS, News, NoticesChanged
from devui.debugger.events.prices import Prices
from devui.debugger.health.clock_watch import ClockWatch
from devui.debugger.health.journal import Health
from devui.debugger.questions.answers import AlreadyAnswered, CallNotFound, ForeignQuestion
from devui.debugger.runs.limits import TooManyRuns
from devui.debugger.runs.queue import Queue
from devui.debugger.runs.registry import NoSuchRun, Runs
from devui.debugger.search.index import SearchIndex
from devui.debugger.workers.hosted import on_hang_up
from devui.debugger.workers.workers import Workers
from devui.interpreter import Interpreter
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
    NotQueued,
    ReadOnly,
    RunActive,
    SessionExists,
    SessionNotFound,
    StaleSession,
    StoreError,
)
from devui.store.journal import Journal
from devui.store.sqlite.folder import dangers
from devui.web.assets import ICON_PATH, STATIC_PATH, Assets, StaticFiles
from devui.web.coding_agents.sessions import McpSessions
from devui.web.error_pages import ErrorAnswers
from devui.web.errors import (
    BadRequest,
    Conflict,
    DiskUnavailable,
    NotFound,
    TooLarge,
    Unavailable,
    Unprocessable,
    Unreadable,
)
from devui.web.lazy_modules import LazyModule
from devui.web.memory import MemoryTrimming, give_back_large_blocks, spare_collections
from devui.web.panels.editor.editors import VARIABLE, Editor, choices
from devui.web.render import Renderer
from devui.web.routes import apis, routes
from devui.web.routing import EncodedPaths, Route
from devui.web.security.access import Access
from devui.web.security.guard import Guard
from devui.web.security.hosts import Hosts, Origins, is_loopback
from devui.web.security.login import LOGIN_PATH, Login
from devui.web.security.policy import Policy
from devui.web.security.redaction import KnownSecrets
from devui.web.security.refusals import Refusals
from devui.web.server import Server
from devui.web.server import settings as uvicorn_settings
from devui.web.services import DismissedNotices, Services
from devui.web.sse import AWAY, Streams

Announce = Callable[[str], None]

_log = logging.getLogger(__name__)
_words_of = LazyModule("devui.web.text.plain_text").call("without_markdown")
_DIGITS = 19
"""Texts with this many digits or more can't be session keys."""
_SECONDS, _SELDOM = 1.0, 60.0
"""The first and the longest wait between attempts to publish the server's URL, in seconds."""

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
    AlreadyAnswered: Conflict,
    CallNotFound: Unprocessable,
    NotQueued: Conflict,
    StaleSession: Conflict,
    ReadOnly: Conflict,
    EventConflict: Conflict,
    JobStopped: Conflict,
    BadValue: BadRequest,
    JournalBusy: DiskUnavailable,
    JournalFull: DiskUnavailable,
    JournalFailed: DiskUnavailable,
    JournalGone: DiskUnavailable,
    JournalDamaged: Unreadable,
}
"""The errors of the lower layers, and how they are answered."""

_REFUSALS = {
    ForeignQuestion: "an answer to a question from no run here",
    TooLarge: "a body over the limit",
    TooManyRuns: "a run over the limit",
    Unavailable: "a live stream over the limit",
}
"""Errors that every page reports, because they may be an attack or hit a limit (R31, R67)."""


async def serve(
    settings: Settings, access: Access, listeners: list[socket.socket], announce: Announce
) -> None:
    """Run a server on the listening sockets until a signal arrives or its host exits.

    `announce` is called with the URL to open once the server answers requests. Raises the errors of
    `open_services`.
    """
    spare_collections()
    async with open_services(settings, access) as services:
        server = Server(uvicorn_settings(application(services, access)))
        server.before_shutdown(lambda: leave(services))
        if settings.hosted is not None:
            on_hang_up(settings.hosted.control, server.leave)
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(_announce(server, settings, access, announce))
            await server.serve(sockets=listeners)
            server.ready.set()


def _renderer(
    settings: Settings, editor: Editor | None, editors: tuple[tuple[str, str], ...]
) -> Renderer:
    return Renderer(
        Assets.find(),
        needs_sign_in=settings.auth,
        editor="your editor" if editors else editor.name if editor else "",
        editors=editors,
        folder=str(settings.agents.resolve()),
    )


@asynccontextmanager
async def open_services(settings: Settings, access: Access) -> AsyncIterator[Services]:
    """Open the parts of a server, and close them in order at the end.

    Raises JournalInUse and other StoreErrors if the data folder can't be used, WrongPrices if the
    price table beside the apps is invalid, WrongPython if the interpreter isn't one.
    """
    give_back_large_blocks()
    bus: Bus[News] = Bus()
    folder = _folder(settings)
    prices = Prices.load(folder.path)
    interpreter = Interpreter.at(settings.python, settings.environment)
    async with (
        await Journal.open(settings.data_dir) as journal,
        Health(journal, bus),
        ClockWatch(bus) as clock,
        SearchIndex(journal) as search_index,
        Workers(
            folder, bus, await Engines.load(journal, settings, interpreter), settings.workers
        ) as workers,
        Runs(
            journal,
            workers,
            bus,
            book := await BreakpointBook.load(journal, bus),
            prices,
            settings.limits,
        ) as runs,
        McpSessions(settings.url) as mcp,
    ):
        runs.words_of = _words_of
        queue = Queue(journal, bus, runs)
        editor = Editor.find() if is_loopback(settings.host) else None
        chooses = is_loopback(settings.host) and VARIABLE not in os.environ
        known_secrets = KnownSecrets(folder, partial(_app_of, journal))
        services = Services(
            settings=settings,
            journal=journal,
            bus=bus,
            workers=workers,
            runs=runs,
            queue=queue,
            book=book,
            prices=prices,
            render=_renderer(settings, editor, choices(editor) if chooses else ()),
            known_secrets=known_secrets,
            view=known_secrets.for_everybody,
            streams=Streams(),
            refusals=Refusals(),
            clock=clock,
            dismissed_notices=DismissedNotices(),
            jobs=Jobs(),
            search_index=search_index,
            mcp=mcp,
            editor=editor,
            chooses_editor=chooses,
            dangers=tuple(dangers(journal.path)),
            new_link=partial(_new_link, settings, access),
        )
        services.refusals.on_news = lambda: bus.publish(APPS, NoticesChanged())
        await services.know_credentials()
        access.on_revoke(services.streams.close)
        async with _findable(journal, settings.url, access.new_key() if settings.auth else ""):
            yield services


def _folder(settings: Settings) -> AppFolder:
    if settings.hosted is None:
        return replace(AppFolder.at(settings.agents), has_same_python=settings.python is None)
    return AppFolder(settings.agents.resolve(), objects=settings.hosted.apps)


def application(services: Services, access: Access, *, hosts: Iterable[str] = ()) -> Guard:
    """Return the ASGI application: the guard, which wraps everything, error responses included.

    `hosts` are additional host names by which the server is reached.
    """
    settings = services.settings
    policy = Policy(
        hosts=Hosts.here(settings.port, host=settings.host, extra=hosts),
        access=access if settings.auth else None,
        port=settings.port,
        origins=Origins.read(settings.allow_origins),
    )
    login = Login(policy, services.render, services.refusals.count)
    static = StaticFiles(services.render.assets)
    app = Starlette(
        routes=[
            Route(LOGIN_PATH, login.show, methods=["GET"]),
            Route(LOGIN_PATH, login.submit, methods=["POST"]),
            Route(STATIC_PATH, static.show, methods=["GET"]),
            Route(ICON_PATH, static.icon, methods=["GET"]),
            WebSocketRoute("/run_live", LazyModule("devui.web.adk.unsupported_routes").live_socket),
            *(routes if settings.pages else apis),
        ],
        exception_handlers=ErrorAnswers(
            services.render, _AT_THE_EDGE, refusals=_REFUSALS, count=services.refusals.count
        ).handlers(),
    )
    app.state.services = services
    inner = MemoryTrimming(EncodedPaths(app))
    return Guard(
        inner, policy, login, services.known_secrets, services.refusals, services.workers.groups
    )


async def leave(services: Services) -> None:
    """End all streams and start ending the workers, before the server waits for them (R56)."""
    services.streams.close(AWAY)
    services.bus.close()
    try:
        await services.runs.interrupt()
    finally:
        services.workers.leave()


async def _app_of(journal: Journal, kind: str, name: str) -> str | None:
    """Return the app of an entry of `sessions` or `runs`; None if there is none or the journal
    fails."""
    try:
        if kind == "runs":
            run = await journal.runs.get(name)
            key = run.session if run else None
        else:
            key = int(name) if name.isdecimal() and len(name) < _DIGITS else None
        session = await journal.sessions.get(key) if key is not None else None
    except StoreError:
        return None
    return session.app if session else None


@asynccontextmanager
async def _findable(journal: Journal, url: str, key: str) -> AsyncIterator[None]:
    """Publish the server's URL to programs of the same user; retry while the disk is full."""
    missing = journal.announce(url, key)
    for each in missing:
        _log.warning("%s", each)
    if not missing:
        yield
        return
    async with Tasks() as tasks:
        again = tasks.start(_announce_again(journal, url, key), "announcing the server")
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
    _log.warning("the terminal can find this server now")


async def _announce(server: Server, settings: Settings, access: Access, announce: Announce) -> None:
    await server.ready.wait()
    if not server.should_exit:
        announce(_new_link(settings, access))


def _new_link(settings: Settings, access: Access) -> str:
    """Return a link that signs one browser in, once; without sign-in, a link to the pages."""
    base = f"{settings.url}/"
    return f"{base}login?code={access.new_code()}" if settings.auth else base
