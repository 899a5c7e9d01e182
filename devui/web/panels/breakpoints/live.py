"""The gutter of an open page, updated when breakpoints change."""

from typing import Final

from markupsafe import Markup

from devui.store.rows import SessionRow
from devui.web.htmx import fill
from devui.web.panels.breakpoints.gutter import Gutter
from devui.web.services import Services

_FOLLOWED: Final = 1000
"""How many of the newest events get new marks when breakpoints change."""


class LiveGutter:
    """The gutter of an open page, updated when breakpoints change."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._last: Gutter | None = None

    async def changes(self, session: SessionRow) -> Markup:
        """Return the HTML of the marks that changed since the last call; at first, of all."""
        before = self._last or Gutter(self._services.prices)
        now = self._last = Gutter.of(self._services.book, self._services.prices, session)
        pieces = Markup("")
        if before == now:
            return pieces
        for row in await self._services.journal.events.page(session.key, limit=_FOLLOWED):
            summary = row.summary
            mark = now.mark(row, summary)
            if mark != before.mark(row, summary):
                pieces += fill(f"#g-{row.number}", self._services.render.part(mark))
        return pieces
