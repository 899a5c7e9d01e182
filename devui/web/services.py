"""What the views work with: one of each for a server, found on the application's state."""

from dataclasses import dataclass

from starlette.requests import Request

from devui.debugger.apps import AppFolder
from devui.debugger.breakpoints.book import BreakpointBook
from devui.debugger.bus import Bus
from devui.debugger.clockwatch import ClockWatch
from devui.debugger.news import News
from devui.debugger.prices import Prices
from devui.debugger.runs import Runs
from devui.debugger.workers import Workers
from devui.settings import Settings
from devui.store.journal import Journal
from devui.store.place import Danger
from devui.web.putaway import PutAway
from devui.web.render import Renderer
from devui.web.security.refusals import Refusals
from devui.web.security.veil import GIVEN, Veil
from devui.web.sse import Streams


@dataclass(frozen=True, slots=True)
class Services:
    """The parts of a running server."""

    settings: Settings
    journal: Journal
    bus: Bus[News]
    workers: Workers
    runs: Runs
    book: BreakpointBook
    prices: Prices
    render: Renderer
    veil: Veil
    streams: Streams
    refusals: Refusals
    clock: ClockWatch
    put_away: PutAway
    dangers: tuple[Danger, ...]
    """Those of the place where the journal is."""

    @property
    def apps(self) -> AppFolder:
        """The folder of the apps."""
        return self.workers.folder

    async def know_credentials(self) -> None:
        """Keep those that people gave in sessions of the journal from leaving, also those to come.

        Once more when a session has come in whole.
        """
        self.journal.events.on_said = self.veil.hear
        for data in await self.journal.replays.credentials(GIVEN):
            self.veil.hear(data)


def services(request: Request) -> Services:
    """The services of the server that answers this request."""
    found: Services = request.app.state.services
    return found
