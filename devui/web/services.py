"""What the views work with: one of each for a server, found on the application's state."""

import asyncio
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Final

from starlette.requests import Request

from devui.debugger.apps.apps import AppFolder
from devui.debugger.background.jobs import Jobs
from devui.debugger.breakpoints.book import BreakpointBook
from devui.debugger.events.bus import Bus
from devui.debugger.events.news import News
from devui.debugger.events.prices import Prices
from devui.debugger.health.clock_watch import ClockWatch
from devui.debugger.runs.queue import Queue
from devui.debugger.runs.registry import Runs
from devui.debugger.search.index import SearchIndex
from devui.debugger.workers.workers import Workers
from devui.settings import Settings
from devui.store.journal import Journal
from devui.store.sqlite.folder import Danger
from devui.web.basic_parts import Notice
from devui.web.coding_agents.sessions import McpSessions
from devui.web.panels.editor.editors import Editor
from devui.web.render import Renderer
from devui.web.security.refusals import Refusals
from devui.web.security.veil import CREDENTIALS_LIMIT, VIEW, Veil, View
from devui.web.sse import Streams


class PutAway:
    """What has been seen, by all who use the server."""

    def __init__(self) -> None:
        self._keys: set[str] = set()

    def put(self, key: str) -> None:
        """Put the notice away that is told by `key`."""
        self._keys.add(key)

    def remaining(self, notices: tuple[Notice, ...]) -> tuple[Notice, ...]:
        """Those that nobody has put away, each with what it takes to do so."""
        with_keys = (replace(each, key=_name(each)) for each in notices)
        return tuple(each for each in with_keys if each.key not in self._keys)


def _name(notice: Notice) -> str:
    return sha256(f"{notice.title}\n{notice.text}".encode()).hexdigest()[:16]


PAGES_AT_ONCE: Final = 2
"""Pages of sessions, and messages to such pages, that are made at the same time: one is rendered
while another reads. However many are open, other requests wait for so many and no more."""


@dataclass(frozen=True, slots=True)
class Services:
    """The parts of a running server."""

    settings: Settings
    journal: Journal
    bus: Bus[News]
    workers: Workers
    runs: Runs
    queue: Queue
    book: BreakpointBook
    prices: Prices
    render: Renderer
    veil: Veil
    view: View
    """What the reader of this answer may see."""
    streams: Streams
    refusals: Refusals
    clock: ClockWatch
    put_away: PutAway
    jobs: Jobs
    search_index: SearchIndex
    mcp: McpSessions
    editor: Editor | None
    """What opens lines of code, if people sit at the machine of the server."""
    chooses_editor: bool
    """Whether each browser may choose another one: `DEVUI_EDITOR` doesn't say which."""
    dangers: tuple[Danger, ...]
    """Those of the place where the journal is."""
    rendering: asyncio.Semaphore = field(
        default_factory=lambda: asyncio.Semaphore(PAGES_AT_ONCE), repr=False
    )
    """Held while a page of a session, or a message to one, is made; by nobody who waits for more
    than the journal."""

    @property
    def apps(self) -> AppFolder:
        """The folder of the apps."""
        return self.workers.folder

    async def know_credentials(self) -> None:
        """Keep those that people gave in sessions of the journal from leaving, also those to come.

        Once more when a session has come in whole.
        """
        self.journal.events.on_said = self.veil.hear
        for data in await self.journal.replays.credentials(CREDENTIALS_LIMIT):
            self.veil.hear(data)


def services_of(request: Request) -> Services:
    """The services of the server that answers this request, with its view."""
    services: Services = request.app.state.services
    return replace(services, view=request.scope.get(VIEW, services.view))
