"""The services of a running server, which views get from the application's state."""

import asyncio
from collections.abc import Callable
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
from devui.store.sqlite.folder import JournalRisk
from devui.web.basic_parts import Notice
from devui.web.coding_agents.sessions import McpSessions
from devui.web.panels.editor.editors import Editor
from devui.web.render import Renderer
from devui.web.security.redaction import CREDENTIALS_LIMIT, VIEW, KnownSecrets, View
from devui.web.security.refusals import Refusals
from devui.web.sse import Streams


class DismissedNotices:
    """The notices that have been dismissed, for all users of the server."""

    def __init__(self) -> None:
        self._keys: set[str] = set()

    def dismiss(self, key: str) -> None:
        """Dismiss the notice with this key."""
        self._keys.add(key)

    def remaining(self, notices: tuple[Notice, ...]) -> tuple[Notice, ...]:
        """Return the notices that nobody has dismissed, each with its key."""
        with_keys = (replace(each, key=_name(each)) for each in notices)
        return tuple(each for each in with_keys if each.key not in self._keys)


def _name(notice: Notice) -> str:
    return sha256(f"{notice.title}\n{notice.text}".encode()).hexdigest()[:16]


PAGES_AT_ONCE: Final = 2
"""How many session pages, or messages to them, are built at the same time: one is rendered while
another reads. However many are open, other requests wait for only this many."""


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
    known_secrets: KnownSecrets
    view: View
    """What the reader of this response may see."""
    streams: Streams
    refusals: Refusals
    clock: ClockWatch
    dismissed_notices: DismissedNotices
    jobs: Jobs
    search_index: SearchIndex
    mcp: McpSessions
    editor: Editor | None
    """The editor that opens lines of code, if people use the server on their own machine."""
    chooses_editor: bool
    """Whether each browser may choose another editor, because `DEVUI_EDITOR` doesn't set one."""
    dangers: tuple[JournalRisk, ...]
    """The risks of the place where the journal is stored."""
    new_link: Callable[[], str]
    """Creates a link that signs one browser in, once."""
    rendering: asyncio.Semaphore = field(
        default_factory=lambda: asyncio.Semaphore(PAGES_AT_ONCE), repr=False
    )
    """Held while a session page, or a message to one, is built; its holders wait only for the
    journal."""

    @property
    def apps(self) -> AppFolder:
        """The folder of the apps."""
        return self.workers.folder

    async def know_credentials(self) -> None:
        """Redact the credentials that people gave in the journal's sessions, and those they will
        give.

        Call this again after a whole session has been imported.
        """
        self.journal.events.on_said = self.known_secrets.remember
        for data in await self.journal.replays.credentials(CREDENTIALS_LIMIT):
            self.known_secrets.remember(data)


def services_of(request: Request) -> Services:
    """Return the services of the server that answers this request, with the view of its reader."""
    services: Services = request.app.state.services
    return replace(services, view=request.scope.get(VIEW, services.view))
