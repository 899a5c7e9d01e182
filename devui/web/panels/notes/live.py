"""Notes and stars on open pages: updates of their marks."""

from collections.abc import Iterable

from markupsafe import Markup

from devui.debugger.events.feed import Batch
from devui.debugger.events.news import NoteChanged
from devui.store.rows import NoteRow
from devui.web.htmx import fill
from devui.web.panels.notes.parts import note_mark
from devui.web.services import Services


def marks_of(services: Services, notes: Iterable[NoteRow]) -> Markup:
    """Return updates of the marks of these notes, for a page with their rows."""
    part = services.render.part
    return Markup("").join(fill(f"#nm-{note.number}", part(note_mark(note))) for note in notes)


class LiveNotes:
    """One reader's marks. The first update has all: changes made before it were not delivered."""

    def __init__(self, services: Services, session: int) -> None:
        self._services = services
        self._session = session
        self._first = True

    async def changes(self, batch: Batch) -> Markup:
        """Return the updates of new and changed marks."""
        notes = [news.note for news in batch.news if isinstance(news, NoteChanged)]
        if self._first:
            self._first = False
            notes = [*(await self._services.journal.notes.of(self._session, first=1)).values()]
        return marks_of(self._services, notes)
