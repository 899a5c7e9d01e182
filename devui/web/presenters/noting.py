"""Notes and stars as the pages show them."""

from collections.abc import Iterable

from markupsafe import Markup

from devui.debugger.feed import Batch
from devui.debugger.news import NoteChanged
from devui.store.rows import NoteRow
from devui.web.links import note_url
from devui.web.parts.notes import NoteForm, NoteMark
from devui.web.push import fill
from devui.web.services import Services
from devui.web.text.visible import readable, visible


def note_mark(note: NoteRow | None) -> NoteMark:
    """What stands at the left of a row."""
    return NoteMark() if note is None else NoteMark(visible(note.text), note.starred)


def note_form(session: int, number: int, note: NoteRow | None) -> NoteForm:
    """The star and the note of an event, or with 0 of the session."""
    action = note_url(session, number)
    if note is None:
        return NoteForm(number, action)
    by = f"by {visible(note.actor)}" if note.text else ""
    return NoteForm(number, action, readable(note.text), note.starred, by)


def marked(found: Services, notes: Iterable[NoteRow]) -> Markup:
    """The marks of rows that have changed, for the page that shows them."""
    part = found.render.part
    return Markup("").join(fill(f"#nm-{note.number}", part(note_mark(note))) for note in notes)


class LiveNotes:
    """The marks for one reader: at first all there are, for notes are told to who listens alone."""

    def __init__(self, found: Services, session: int) -> None:
        self._found = found
        self._session = session
        self._first = True

    async def changes(self, batch: Batch) -> Markup:
        """The marks that are new."""
        notes = [news.note for news in batch.news if isinstance(news, NoteChanged)]
        if self._first:
            self._first = False
            notes = [*(await self._found.journal.notes.of(self._session, first=1)).values()]
        return marked(self._found, notes)
