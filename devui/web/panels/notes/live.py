"""Notes and stars on open pages: the marks that change."""

from collections.abc import Iterable

from markupsafe import Markup

from devui.debugger.events.feed import Batch
from devui.debugger.events.news import NoteChanged
from devui.store.rows import NoteRow
from devui.web.htmx import fill
from devui.web.panels.notes.parts import note_mark
from devui.web.services import Services


def marks_of(services: Services, notes: Iterable[NoteRow]) -> Markup:
    """The marks of rows that have changed, for the page that shows them."""
    part = services.render.part
    return Markup("").join(fill(f"#nm-{note.number}", part(note_mark(note))) for note in notes)


class LiveNotes:
    """The marks for one reader: at first all there are, for notes are told to who listens alone."""

    def __init__(self, services: Services, session: int) -> None:
        self._services = services
        self._session = session
        self._first = True

    async def changes(self, batch: Batch) -> Markup:
        """The marks that are new."""
        notes = [news.note for news in batch.news if isinstance(news, NoteChanged)]
        if self._first:
            self._first = False
            notes = [*(await self._services.journal.notes.of(self._session, first=1)).values()]
        return marks_of(self._services, notes)
